// The rates of a chip at another clock, as what-ifs. Mirrors `Chip.at_clock`.

import type { Chip } from "../wire/types.ts";
import type { ChipRate } from "./measured_rates.ts";
import { isOffChip, type Roof } from "./roofline.ts";

/** Two clocks count as equal if their relative difference is smaller than this. */
const CLOCK_TOLERANCE = 1e-9;

/**
 * Returns the rates that go with the clock: peaks, and the bandwidths of memories on the chip. Empty if the clock of the
 * data sheet is unknown.
 */
export function ratesAtClock({ clock, peaks, memories }: Chip, hertz: number): readonly ChipRate[] {
  if (clock === null) return [];
  const share = hertz / clock;
  const [main] = memories.keys();
  const rated = (quantity: ChipRate["quantity"], key: string, sheet: number) => ({
    ...{ quantity, key, sheet },
    rate: sheet * share,
  });
  return [
    ...[...peaks].map(([key, sheet]) => rated("peak_flops", key, sheet)),
    ...[...memories].flatMap(([key, sheet]) =>
      sheet === null || key === main || isOffChip(key) ? [] : [rated("bandwidth", key, sheet)],
    ),
  ];
}

/** Returns the clock at which a roof has all its rates. Undefined if they belong to no one clock, or to an unknown one. */
export function clockOf({ chip, peaks, bandwidths }: Roof): number | undefined {
  if (chip.clock === null) return undefined;
  const shares = ratesAtClock(chip, chip.clock).map(
    ({ quantity, key, sheet }) => ((quantity === "peak_flops" ? peaks : bandwidths).get(key) ?? sheet) / sheet,
  );
  const [first = Number.NaN] = shares;
  const isOne = shares.every((share) => Math.abs(share / first - 1) < CLOCK_TOLERANCE);
  return isOne ? chip.clock * first : undefined;
}
