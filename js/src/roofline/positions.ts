// Where measured kernels are drawn, and how large their points are. Roofs do not affect these columns, so they are
// reused while a roof is dragged.

import { memoize } from "../ui/memoize.ts";
import type { Kernels } from "../wire/columns.ts";
import { isProgram, isTotal } from "./totals.ts";

/** The value of `roof` for a measured point, which is on no roof. */
export const MEASURED = -1;

/** The points as columns, without the columns that depend on a roof. */
export interface Places {
  readonly n: number;
  readonly row: Int32Array;
  /** Index of the point's roof in the shown roofs; MEASURED for a measured point. */
  readonly roof: Int16Array;
  /** Index of the point's level in the levels of the roof that judges the points. */
  readonly level: Int8Array;
  /**
   * Whether the point is at the level that binds the kernel. If no level binds the kernel, this is true for the point
   * at the kernel's first level.
   */
  readonly binds: Uint8Array;
  /** Intensity in FLOP/B: infinite for zero bytes, 0 for zero FLOPs. */
  readonly x: Float64Array;
  /** Rate in FLOP/s. A point with zero FLOPs has its rate in bytes/s and is drawn in the strip at the left edge. */
  readonly y: Float64Array;
  /** Radius in px; NaN if the size of the point has no meaning. */
  readonly radius: Float32Array;
  /** Whether the kernel of the point takes so little time that its point does not widen the axes. */
  readonly isMinor?: Uint8Array;
  /**
   * For each row: the index of the point that panels refer to. This is the measured point if the row has one, otherwise
   * the point on the focus roof. The index is -1 if the row has neither.
   */
  readonly home: Int32Array;
  /** Number of measured kernels among the points. */
  readonly measured: number;
  /**
   * Number of rows without a point. A row has no point if its FLOPs or its bytes are unknown. A row with 0 FLOPs and 0
   * bytes also has no point.
   */
  readonly notDrawn: number;
}

/** The places of all rows, computed as if every row were measured. `y` is 0 for rows without a place. */
interface RowPlaces {
  readonly x: Float64Array;
  readonly y: Float64Array;
  readonly radius: Float32Array;
}

const measured = memoize<Places | undefined>();
const rowPlaces = memoize<RowPlaces>();

/**
 * Returns the places of the given rows, memoized per rows and bytes. Returns undefined if some of the rows are
 * unmeasured.
 */
export const measuredPlaces = (kernels: Kernels, rows: Int32Array, bytes: Float64Array): Places | undefined =>
  measured(rows, [kernels, bytes], () => findPlaces(kernels, rows, bytes));

function findPlaces(kernels: Kernels, rows: Int32Array, bytes: Float64Array): Places | undefined {
  const { time } = kernels;
  for (let at = 0; at < rows.length; at++) if (!((time[rows[at] as number] as number) > 0)) return undefined;
  // These columns have the places of all rows of the table. Therefore a changed filter does not compute them again.
  const all = rowPlaces(bytes, [kernels], () => rowPlacesOf(kernels, bytes));
  const row = new Int32Array(rows.length);
  const [x, y] = [new Float64Array(rows.length), new Float64Array(rows.length)];
  const radius = new Float32Array(rows.length);
  const isMinor = new Uint8Array(rows.length);
  const isMinorRow = minorRows(kernels);
  const home = new Int32Array(kernels.n).fill(-1);
  const isIdle = idleRows(kernels);
  let [n, notDrawn] = [0, 0];
  for (let at = 0; at < rows.length; at++) {
    const one = rows[at] as number;
    const rate = all.y[one] as number;
    if (rate === 0) {
      if (!isTotal(kernels, one) && !isIdle(one)) notDrawn++;
      continue;
    }
    row[n] = one;
    x[n] = all.x[one] as number;
    y[n] = rate;
    radius[n] = all.radius[one] as number;
    isMinor[n] = Number(isMinorRow(one));
    home[one] = n++;
  }
  return {
    ...{ n, row: row.subarray(0, n), x: x.subarray(0, n), y: y.subarray(0, n), radius: radius.subarray(0, n), home },
    ...{ roof: new Int16Array(n).fill(MEASURED), level: new Int8Array(n), binds: new Uint8Array(n).fill(1) },
    ...{ measured: n, notDrawn, isMinor },
  };
}

function rowPlacesOf(kernels: Kernels, bytes: Float64Array): RowPlaces {
  const { n, totalFlops, time } = kernels;
  const [x, y, radius] = [new Float64Array(n), new Float64Array(n), new Float32Array(n)];
  const radiusOf = radii(kernels);
  for (let row = 0; row < n; row++) {
    const flops = totalFlops[row] as number;
    const moved = bytes[row] as number;
    const rate = (flops > 0 ? flops : moved) / (time[row] as number);
    if (!(rate > 0 && Number.isFinite(rate)) || Number.isNaN(flops + moved)) continue;
    x[row] = flops / moved;
    y[row] = rate;
    radius[row] = radiusOf(row);
  }
  return { x, y, radius };
}

/** The smallest radius of a measured kernel. */
export const MIN_RADIUS_PX = 3;
const [MAX_RADIUS_PX, RADIUS_OF_ALL_PX, PROGRAM_RADIUS_PX] = [12, 24, 9];
/** Radii are rounded to multiples of this, so that many points share one sprite. */
const RADIUS_STEP_PX = 0.5;

/**
 * Returns a function from a row to the radius of its point in px. The area of the point is proportional to the row's
 * share of the busy time. The radius is NaN if the row is unmeasured, or if all kernels take the same time.
 */
export function radii(kernels: Kernels): (row: number) => number {
  const { own, selfTime } = kernels;
  const equal = areEqual(selfTime, own);
  const busy = busyTime(kernels);
  return (row) => {
    if (isTotal(kernels, row)) return isProgram(kernels, row) ? PROGRAM_RADIUS_PX : Number.NaN;
    const seconds = selfTime[row] as number;
    if (equal || Number.isNaN(seconds)) return Number.NaN;
    const radius = RADIUS_OF_ALL_PX * Math.sqrt(seconds / busy);
    return Math.max(MIN_RADIUS_PX, Math.min(Math.round(radius / RADIUS_STEP_PX) * RADIUS_STEP_PX, MAX_RADIUS_PX));
  };
}

/**
 * A kernel is minor if its time is below `MINOR_SHARE` of the time of all kernels. If the minor kernels would then take
 * more than `MINOR_SUM` of the time, a kernel is minor if its time is below `MINOR_SUM` of the mean time of a kernel.
 */
const [MINOR_SHARE, MINOR_SUM] = [0.001, 0.01];

/** Returns a function from a row to whether its kernel is minor. */
export function minorRows(kernels: Kernels): (row: number) => boolean {
  const { own, selfTime } = kernels;
  const busy = busyTime(kernels);
  let sum = 0;
  for (let row = 0; row < own; row++) {
    const seconds = selfTime[row] as number;
    if (seconds < MINOR_SHARE * busy) sum += seconds;
  }
  const limit = busy * (sum <= MINOR_SUM * busy ? MINOR_SHARE : Math.min(MINOR_SHARE, MINOR_SUM / own));
  return (row) => (selfTime[row] as number) < limit && !isTotal(kernels, row);
}

/** Returns whether all measured kernels took the same time. */
function areEqual(seconds: Float64Array, own: number): boolean {
  let first = Number.NaN;
  for (let row = 0; row < own; row++) {
    const now = seconds[row] as number;
    if (Number.isNaN(now) || now === first) continue;
    if (!Number.isNaN(first)) return false;
    first = now;
  }
  return true;
}

/** The category of time in which no kernel is known to run. */
export const IDLE = "idle";

/** Returns the time of all kernels, without idle time, s. */
export function busyTime({ category, selfTime, totalTime }: Kernels): number {
  const idle = category.values.findIndex((word) => word?.toLowerCase() === IDLE);
  let busy = totalTime;
  for (let row = 0; idle >= 0 && row < selfTime.length; row++) {
    if (category.codes[row] === idle) busy -= selfTime[row] || 0;
  }
  return busy;
}

/** Returns whether a row is idle time and no kernel. */
export function idleRows({ category }: Kernels): (row: number) => boolean {
  const idle = category.values.map((word) => word?.toLowerCase() === IDLE);
  return (row) => idle[category.codes[row] as number] ?? false;
}

/** Returns the number of kernels among some rows, or among all rows: idle time is no kernel. */
export function kernelCount(kernels: Kernels, rows?: Int32Array): number {
  const isIdle = idleRows(kernels);
  let count = rows?.length ?? kernels.n;
  for (let at = count - 1; at >= 0; at--) if (isIdle(rows ? (rows[at] as number) : at)) count--;
  return count;
}
