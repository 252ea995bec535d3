// What a chip is called where there is little room.

import { memoize } from "../ui/memoize.ts";
import type { Chip } from "../wire/types.ts";

const named = memoize<ReadonlyMap<string, string>>();

/** By chip id: its name without the vendor, and without what stands in brackets where that keeps names apart. */
export const shortNames = (chips: readonly Chip[]): ReadonlyMap<string, string> =>
  named(chips, [], () => findNames(chips));

function findNames(chips: readonly Chip[]): ReadonlyMap<string, string> {
  const plain = chips.map(({ name, vendor }) =>
    vendor && name.startsWith(`${vendor} `) ? name.slice(vendor.length + 1) : name,
  );
  const bare = plain.map((name) => name.replace(/\s*\([^)]*\)$/, "") || name);
  const names = bare.map((name, index) => (bare.indexOf(name) === bare.lastIndexOf(name) ? name : plain[index]));
  return new Map(chips.map((chip, index) => [chip.id, names[index] ?? chip.name]));
}
