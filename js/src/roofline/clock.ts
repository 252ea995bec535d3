// The rates of a chip at another clock, as what-ifs: those of `Chip.at_clock`. Mirrors roofwidget/state/what_if.py.

import { memoize } from "../ui/memoize.ts";
import type { Chip } from "../wire/types.ts";
import type { ChipRate } from "./measured_rates.ts";
import { isOffChip, type Roof } from "./roofline.ts";

/** Two clocks count as equal if their relative difference is smaller than this. */
const CLOCK_TOLERANCE = 1e-9;

/** Whether a memory level has the clock of the chip. The main memory has its own. */
const isOnChip = (memories: Chip["memories"], level: string) => level !== [...memories.keys()][0] && !isOffChip(level);

/**
 * Returns the rates that go with the clock: peaks, and the bandwidths of memories on the chip. Empty if the clock of the
 * data sheet is unknown.
 */
export function ratesAtClock({ clock, peaks, memories }: Chip, hertz: number): readonly ChipRate[] {
  if (clock === null) return [];
  const share = hertz / clock;
  const rated = (quantity: ChipRate["quantity"], key: string, sheet: number) => ({
    ...{ quantity, key, sheet },
    rate: sheet * share,
  });
  return [
    ...[...peaks].map(([key, sheet]) => rated("peak_flops", key, sheet)),
    ...[...memories].flatMap(([key, sheet]) =>
      sheet === null || !isOnChip(memories, key) ? [] : [rated("bandwidth", key, sheet)],
    ),
  ];
}

/**
 * Returns the clock at which a roof has all its rates. Undefined if they belong to no one clock, or to an unknown one. A
 * change of the only rate of a chip is no other clock.
 */
export function clockOf({ chip, peaks, bandwidths }: Roof): number | undefined {
  if (chip.clock === null) return undefined;
  const shares = ratesAtClock(chip, chip.clock).map(
    ({ quantity, key, sheet }) => ((quantity === "peak_flops" ? peaks : bandwidths).get(key) ?? sheet) / sheet,
  );
  const [first = Number.NaN] = shares;
  const isOne = shares.every((share) => Math.abs(share / first - 1) < CLOCK_TOLERANCE);
  return isOne && (shares.length > 1 || first === 1) ? chip.clock * first : undefined;
}

const latencies = memoize<number | undefined>();

/** Returns the latency of the level of a roof, s. A memory on the chip has one of as many cycles at another clock. */
export const latencyOf = (roof: Roof): number | undefined =>
  latencies(roof, [], () => {
    const { chip, level } = roof;
    const sheet = chip.latencies?.[level];
    const now = isOnChip(chip.memories, level) && clockOf(roof);
    return sheet && now && chip.clock ? sheet * (chip.clock / now) : sheet;
  });
