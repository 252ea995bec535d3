// Index for incremental updates: finds the points whose bound can change when a roof moves.

import { memoize } from "../ui/memoize.ts";
import type { Places } from "./positions.ts";

/** Points sorted into bins by the logarithm of a value. */
interface Index {
  /** The start of each bin in `at`. The additional last entry is the end of the last bin. */
  readonly starts: Int32Array;
  readonly at: Int32Array;
}

/** The bins cover values from 2^-64 to 2^64. */
const [BINS_PER_OCTAVE, BIN_COUNT] = [64, 8192];

const binOf = (value: number) =>
  Math.max(0, Math.min(Math.floor(Math.log2(value) * BINS_PER_OCTAVE) + BIN_COUNT / 2, BIN_COUNT - 1));

const [byAi, byRate, byBandwidth] = [memoize<Index>(), memoize<Index>(), memoize<Index>()];

function indexOf(n: number, of: (point: number) => number): Index {
  const share = new Int16Array(n);
  const starts = new Int32Array(BIN_COUNT + 1);
  for (let point = 0; point < n; point++) {
    const own = binOf(of(point));
    share[point] = own;
    starts[own + 1] = (starts[own + 1] as number) + 1;
  }
  for (let one = 0; one < BIN_COUNT; one++) starts[one + 1] = (starts[one + 1] as number) + (starts[one] as number);
  const [next, at] = [starts.slice(), new Int32Array(n)];
  for (let point = 0; point < n; point++) {
    const own = share[point] as number;
    const place = next[own] as number;
    next[own] = place + 1;
    at[place] = point;
  }
  return { starts, at };
}

/** Returns the points in the bins between the values `one` and `other`. Includes one additional bin on each side. */
function between({ starts, at }: Index, one: number, other: number): Int32Array {
  const [low, high] = [binOf(Math.min(one, other)) - 1, binOf(Math.max(one, other)) + 2];
  return at.subarray(starts[Math.max(0, low)], starts[Math.min(high, BIN_COUNT)]);
}

/** The limits of a roof: one bandwidth, and a peak per precision. */
export interface RoofLimits {
  readonly peaks: Float64Array;
  readonly bandwidth: number;
}

/**
 * Returns the points that may have moved to the other side of the ridge point or of the roof. Some points are listed
 * twice. Returns undefined if a limit is unknown. Also returns undefined if so many points changed that a full pass is
 * cheaper.
 */
export function pointsAffected({ n, x, y }: Places, before: RoofLimits, now: RoofLimits): Int32Array[] | undefined {
  const ais = byAi(x, [], () => indexOf(n, (point) => x[point] as number));
  const rates = byRate(y, [], () => indexOf(n, (point) => y[point] as number));
  const found: Int32Array[] = [];
  for (let of = 0; of < now.peaks.length; of++) {
    const [was, is] = [before.peaks[of] as number, now.peaks[of] as number];
    if (Number.isNaN(was) && Number.isNaN(is)) continue;
    if (!(was > 0 && is > 0)) return undefined;
    const [from, to] = [was / before.bandwidth, is / now.bandwidth];
    if (from !== to) found.push(between(ais, from, to));
    if (was !== is) found.push(between(rates, was, is));
  }
  if (before.bandwidth !== now.bandwidth) {
    // Without FLOPs, the rate is in bytes/s.
    const rateOf = (point: number) => (y[point] as number) / ((x[point] as number) || 1);
    found.push(
      between(
        byBandwidth(x, [y], () => indexOf(n, rateOf)),
        before.bandwidth,
        now.bandwidth,
      ),
    );
  }
  return found.reduce((sum, { length }) => sum + length, 0) > n / 4 ? undefined : found;
}
