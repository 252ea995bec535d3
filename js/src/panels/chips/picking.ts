// Which chips have a pill in the toolbar, and how the palette searches and groups chips.

import type { Chip } from "../../wire/types.ts";

/** The maximum number of pills. Further chips are only in the palette. */
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

/** A chip of the list, and the letters of its name that the query has. */
export interface Match {
  readonly chip: Chip;
  /** The name without the vendor and without details, such as "B200". */
  readonly name: string;
  /** What the name says in brackets, such as "HGX/DGX, 180GB". */
  readonly detail: string;
  /** The places of the letters of the name that match. */
  readonly letters: readonly number[];
}

const plain = (text: string) => text.toLowerCase().replace(/[\s-]+/g, "");

/** Splits a chip's name into the name without the vendor, and the details at its end. */
export function partsOf({ name, vendor }: Chip): Pick<Match, "name" | "detail"> {
  const own = vendor && name.startsWith(`${vendor} `) ? name.slice(vendor.length + 1) : name;
  const [, head, inside, tail = ""] = /^(.+?)\s*\(([^)]*)\)(.*)$/.exec(own) ?? [];
  return head === undefined ? { name: own, detail: "" } : { name: head, detail: `${inside}${tail}` };
}

/** The places of the letters of `wanted` in `text`, each after the one before. Undefined if a letter is missing. */
function lettersIn(text: string, wanted: string): number[] | undefined {
  const places: number[] = [];
  for (const letter of wanted) {
    const at = text.indexOf(letter, (places.at(-1) ?? -1) + 1);
    if (at < 0) return undefined;
    places.push(at);
  }
  return places;
}

/** The letters of a name that stand for a part of the name without spaces and hyphens. */
function lettersOf(name: string, start: number, count: number): number[] {
  const kept = [...name].flatMap((letter, at) => (/[\s-]/.test(letter) ? [] : [at]));
  return kept.slice(start, start + count);
}

/** The ways in which a chip can match, the best first. */
const [EXACT, START, WORD, PART, LETTERS, OTHER, NONE] = [0, 1, 2, 3, 4, 5, 6];
/** So few letters are in the right order in too many names. */
const MIN_LETTERS = 3;

/** Returns how well a chip matches the query, and the letters of its name that match. */
function matchOf(chip: Chip, query: string): readonly [rank: number, letters: readonly number[]] {
  const { name } = partsOf(chip);
  const wanted = plain(query);
  const own = plain(name);
  const at = own.indexOf(wanted);
  const letters = at < 0 ? [] : lettersOf(name, at, wanted.length);
  const aliases = chip.aliases ?? [];
  if ([name, chip.name, chip.id, ...aliases].some((text) => plain(text) === wanted)) return [EXACT, letters];
  // A number by which drivers know a chip, such as "10de:20b2", matches only as a whole.
  const names = [name, chip.name, chip.id, ...aliases.filter((alias) => !alias.includes(":"))];
  const all = names.map(plain);
  if (all.some((text) => text.startsWith(wanted))) return [START, letters];
  const starts = names.flatMap((text) => text.toLowerCase().split(/[\s-]+/));
  if (starts.some((word) => word.startsWith(wanted))) return [WORD, letters];
  if (all.some((text) => text.includes(wanted))) return [PART, letters];
  const { vendor, family, year } = chip;
  const texts = [...names, vendor, family, `${year ?? ""}`].map((text) => text.toLowerCase());
  const words = query
    .toLowerCase()
    .split(/[\s-]+/)
    .filter(Boolean);
  const isOther = words.every((word) => texts.some((text) => text.includes(word)));
  const scattered = wanted.length >= MIN_LETTERS ? lettersIn(own, wanted) : undefined;
  if (scattered && !isOther) return [LETTERS, lettersIn(name.toLowerCase(), wanted) ?? []];
  return [isOther ? OTHER : NONE, []];
}

const newestFirst = (a: Chip, b: Chip) => (b.year ?? 0) - (a.year ?? 0);

/**
 * Returns the chips that match a query, the best first: the name or the id itself, names that start with the query,
 * names of which a word starts with it, names that contain it, names that have its letters in order, and last the
 * vendor, the family and the year. In each of these, the vendor that is `near` is first, and newer chips are first.
 * Ignores case, and spaces and hyphens within a name: "h100sxm" is "H100 SXM".
 */
export function found(chips: readonly Chip[], query: string, near = ""): readonly Match[] {
  const ranked = chips.map((chip) => ({ chip, match: matchOf(chip, query) })).filter(({ match }) => match[0] < NONE);
  const isFar = ({ vendor }: Chip) => (vendor === near ? 0 : 1);
  ranked.sort((a, b) => a.match[0] - b.match[0] || isFar(a.chip) - isFar(b.chip) || newestFirst(a.chip, b.chip));
  return ranked.map(({ chip, match }) => ({ chip, ...partsOf(chip), letters: match[1] }));
}

/** A part of the list, with its title. */
export interface Section {
  readonly title: string;
  readonly matches: readonly Match[];
  /** The vendor whose generations the first line offers. */
  readonly vendor?: string;
}

/** If fewer chips match, further chips of the same vendor follow. */
const FEW = 4;
/** How many chips of the near vendor are offered first, and how many follow a few matches. */
const [MAX_LIKELY, MAX_ALSO] = [8, 5];

const unmarked = (chip: Chip): Match => ({ chip, ...partsOf(chip), letters: [] });
const isOf =
  (wanted: string) =>
  ({ vendor }: Chip) =>
    vendor === wanted;

interface Words {
  readonly best: string;
  readonly inUse: string;
  readonly otherVendor: string;
  likely(vendor: string): string;
  also(vendor: string): string;
}

/** Returns the list of all chips: those in use, the likely ones, and the others by vendor. */
function everything(chips: readonly Chip[], used: readonly string[], near: string, words: Words): Section[] {
  const inUse = chips.filter(({ id }) => used.includes(id));
  const rest = chips.filter(({ id }) => !used.includes(id)).sort(newestFirst);
  const likely = rest.filter(isOf(near)).slice(0, MAX_LIKELY);
  const vendors = groupBy(
    rest.filter((chip) => !likely.includes(chip)),
    ({ vendor }) => vendor || words.otherVendor,
  );
  return [
    { title: words.inUse, matches: inUse.map(unmarked) },
    { title: words.likely(near), matches: likely.map(unmarked), vendor: near },
    ...vendors.map(([vendor, members]) => ({
      title: vendor,
      matches: members.map(unmarked),
      ...(vendor === near || vendor === words.otherVendor ? {} : { vendor }),
    })),
  ].filter(({ matches }) => matches.length > 0);
}

/**
 * Returns the list for a query. `used`: the ids of the chips in use. `near`: the vendor of the chip in focus, or of the
 * profile.
 */
export function sectionsOf(
  chips: readonly Chip[],
  query: string,
  { used, near, words }: { readonly used: readonly string[]; readonly near: string; readonly words: Words },
): readonly Section[] {
  if (query.trim() === "") return everything(chips, used, near, words);
  const matches = found(chips, query, near);
  const [best] = matches;
  if (!best) return [];
  const vendor = groupBy(chips, ({ vendor }) => vendor).find(([name]) => name && plain(name) === plain(query))?.[0];
  const isFound = (chip: Chip) => matches.some((match) => match.chip === chip);
  const also = chips.filter((chip) => isOf(best.chip.vendor)(chip) && !isFound(chip)).sort(newestFirst);
  return [
    { title: words.best, matches, ...(vendor === undefined ? {} : { vendor }) },
    ...(matches.length < FEW && best.chip.vendor
      ? [{ title: words.also(best.chip.vendor), matches: also.slice(0, MAX_ALSO).map(unmarked) }]
      : []),
  ].filter((section) => section.matches.length > 0);
}

/**
 * Returns one chip of each generation of a vendor, the oldest first: the fastest of each family that has a peak. Chips
 * of other kinds than that of most of them, such as CPUs, are left out.
 */
export function generationsOf(
  chips: readonly Chip[],
  vendor: string,
  peakOf: (chip: Chip) => number | undefined,
): readonly Chip[] {
  const members = chips.filter((chip) => chip.vendor === vendor && peakOf(chip) !== undefined);
  const [kind] = groupBy(members, (chip) => chip.kind).sort(([, a], [, b]) => b.length - a.length)[0] ?? [];
  const families = groupBy(
    members.filter((chip) => chip.kind === kind),
    ({ family }) => family,
  );
  const fastest = families.map(([, family]) =>
    family.reduce((best, chip) => ((peakOf(chip) ?? 0) > (peakOf(best) ?? 0) ? chip : best)),
  );
  return byGeneration(fastest).slice(-MAX_PILLS);
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
