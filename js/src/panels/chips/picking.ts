// Which chips have a pill in the bar, and how the picker searches and groups chips.

import type { Chip } from "../../wire/types.ts";

/** The maximum number of pills in the bar. Further chips are only in the picker. */
export const MAX_PILLS = 8;

/**
 * Returns the chips with a pill, in the order of `chips`. If there are too many chips, pills are given in this order:
 * the focus chip, shown chips, chips that had a pill before, other chips. Therefore a chip that the user switches off
 * keeps its pill under the pointer.
 */
export function pillsOf(
  chips: readonly Chip[],
  shown: readonly string[],
  focus: string,
  before: readonly string[],
): readonly Chip[] {
  if (chips.length <= MAX_PILLS) return chips;
  const wanted = new Set([focus, ...shown, ...before, ...chips.map(({ id }) => id)].filter((id) => id !== ""));
  const known = new Set(chips.map(({ id }) => id));
  const kept = new Set([...wanted].filter((id) => known.has(id)).slice(0, MAX_PILLS));
  return chips.filter(({ id }) => kept.has(id));
}

/**
 * Returns the chips that match the query. Each word of the query must occur in the chip's names, id, vendor, family or
 * year. Ignores case, and spaces and hyphens within a name: "h100sxm" is "H100 SXM".
 */
export function found(chips: readonly Chip[], query: string): readonly Chip[] {
  const wanted = query
    .toLowerCase()
    .split(/[\s-]+/)
    .filter(Boolean);
  return chips.filter(({ name, id, aliases = [], vendor, family, year }) => {
    const texts = [name, id, ...aliases, vendor, family, `${year ?? ""}`].map((text) => text.toLowerCase());
    const closed = texts.map((text) => text.replace(/[\s-]/g, ""));
    return wanted.every((word) => [...texts, ...closed].some((text) => text.includes(word)));
  });
}

/** Groups the chips by vendor, in order of appearance. The families of a vendor are sorted, oldest generation first. */
export function grouped(chips: readonly Chip[], otherVendor: string) {
  return groupBy(chips, ({ vendor }) => vendor || otherVendor).map(([name, ofVendor]) => ({
    name,
    families: groupBy(byGeneration(ofVendor), ({ family }) => family).map(([family, members]) => ({
      name: family,
      chips: members,
    })),
  }));
}

export const byGeneration = (chips: readonly Chip[]) => [...chips].sort((a, b) => a.generation - b.generation);

export function groupBy(chips: readonly Chip[], keyOf: (chip: Chip) => string): [key: string, chips: Chip[]][] {
  const groups = new Map<string, Chip[]>();
  for (const chip of chips) {
    const key = keyOf(chip);
    groups.set(key, [...(groups.get(key) ?? []), chip]);
  }
  return [...groups];
}
