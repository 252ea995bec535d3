// The chips that are offered to project a profile onto, when it has only the chip that it ran on.

import type { Chip } from "../../wire/types.ts";

/** A profile does not say of which kind its chip is. It is hardly one of these. */
const CPU = "cpu";
/** How many chips are offered. */
const MAX_CANDIDATES = 3;

const bandwidthOf = ({ memories }: Chip) => memories.values().next().value ?? 0;

/**
 * Returns the next chip and the newest chip of the same vendor, and the newest of other vendors, one of each vendor. All
 * are of the same kind as the chip that `ran`, not older as far as that is known, and have a peak for the precision and a faster peak or memory.
 */
export function candidatesFor(ran: Chip, precision: string, catalogue: readonly Chip[]): readonly Chip[] {
  const peakOf = ({ peaks }: Chip) => peaks.get(precision) ?? 0;
  const better = catalogue.filter(
    (chip) =>
      chip.id !== ran.id &&
      (ran.kind ? chip.kind === ran.kind : chip.kind !== CPU) &&
      (chip.year ?? 0) >= (ran.year ?? 0) &&
      peakOf(chip) > 0 &&
      (peakOf(chip) > peakOf(ran) || bandwidthOf(chip) > bandwidthOf(ran)),
  );
  const oldestFirst = better.sort((a, b) => (a.year ?? 0) - (b.year ?? 0) || peakOf(a) - peakOf(b));
  const own = oldestFirst.filter(({ vendor }) => vendor === ran.vendor);
  const newest = new Map(oldestFirst.filter(({ vendor }) => vendor !== ran.vendor).map((chip) => [chip.vendor, chip]));
  const others = [...newest.values()].sort((a, b) => peakOf(b) - peakOf(a));
  return [...new Set([own[0], own.at(-1), ...others])]
    .filter((chip): chip is Chip => chip !== undefined)
    .slice(0, MAX_CANDIDATES);
}
