// The points of the time view: compute time against memory time of one launch, for one roof.

import { hasTime, judge } from "../../roofline/bound.ts";
import { emptyPoints, MEASURED, type Points, SIDES, sideOf } from "../../roofline/points.ts";
import { radii } from "../../roofline/positions.ts";
import type { Roof } from "../../roofline/roofline.ts";
import { isProgram, isTotal } from "../../roofline/totals.ts";
import { everyRow, type Kernels } from "../../wire/columns.ts";
import { type Extent, spotAt } from "../scales.ts";

/**
 * Returns points whose x is the compute time and whose y is the memory time of one launch, s. One of the two times may
 * be 0. A kernel has no point if the sum of the two times is 0, infinite or unknown.
 */
export function timePointsOf(kernels: Kernels, roof: Roof | undefined, rows: Int32Array = everyRow(kernels)): Points {
  const points = emptyPoints(kernels, rows.length);
  points.binds.fill(1);
  if (!roof) return points;
  const boundOf = judge(kernels, roof);
  const radiusOf = radii(kernels);
  for (const row of rows) {
    const { computeTime, memoryTime, regime, aboveRoof } = boundOf(row);
    const launches = kernels.count[row] as number;
    const [x, y] = [computeTime / launches, memoryTime / launches];
    if (!(x + y > 0 && Number.isFinite(x + y))) {
      if (!isTotal(kernels, row)) points.notDrawn++;
      continue;
    }
    const measured = hasTime(kernels, row);
    const at = points.n++;
    points.row[at] = row;
    points.roof[at] = measured ? MEASURED : 0;
    points.x[at] = x;
    points.y[at] = y;
    points.side[at] = isProgram(kernels, row) ? SIDES.program : sideOf(regime);
    points.radius[at] = radiusOf(row);
    points.aboveRoof[at] = aboveRoof ? 1 : 0;
    points.home[row] = at;
    if (measured) points.measured++;
  }
  return points;
}

/** The measured time of one launch, s. NaN if the kernel was not measured. */
export const measuredTime = (kernels: Kernels, row: number) =>
  (kernels.time[row] as number) / (kernels.count[row] as number) || Number.NaN;

/**
 * Returns the extents of the two axes, with room for every point at the rates of the data sheet. During a drag the
 * points then move, and the axes do not move. The two axes end at the same time, so the diagonal always ends in a
 * corner.
 */
export function timesShown(kernels: Kernels, points: Points, roof: Roof | undefined): [x: Extent, y: Extent] {
  const [slower, narrower] = fromSheet(roof);
  const before = (now: number, sheet: number) => (now > 0 ? Math.min(now / 1.25, sheet / 3) : Number.POSITIVE_INFINITY);
  const after = (now: number, sheet: number) => Math.max(now * 1.25, sheet * 3);
  const overhead = roof?.conditions.launchOverhead ?? 0;
  let high = overhead * 2;
  let [xLow, yLow] = [before(overhead, overhead), before(overhead, overhead)];
  for (let at = 0; at < points.n; at++) {
    const [x, y] = spotAt(points, at);
    const took = tookAt(kernels, points, at);
    xLow = Math.min(xLow, before(x, x * slower));
    yLow = Math.min(yLow, before(y, y * narrower));
    high = Math.max(high, after(x, x * slower), after(y, y * narrower), took * 2);
  }
  if (high === 0) [xLow, yLow, high] = [1e-6, 1e-6, 1e-2];
  // The extents have room for at least two isochrones.
  const from = (low: number): Extent => [rounded(Math.min(low, high / 100)), rounded(high)];
  return [from(xLow), from(yLow)];
}

/** Returns the measured time of a point; 0 if it is unknown or the point is above its roof. */
const tookAt = (kernels: Kernels, { aboveRoof, row }: Points, at: number) =>
  aboveRoof[at] ? 0 : measuredTime(kernels, row[at] as number) || 0;

/**
 * Returns the ends of linear axes, just beyond the longest times. More room at the ends would leave less room for short
 * times.
 */
export function longestTimes(kernels: Kernels, points: Points, roof: Roof | undefined): [x: number, y: number] {
  const [slower, narrower] = fromSheet(roof);
  let [x, y] = [0, 0];
  for (let at = 0; at < points.n; at++) {
    const [compute, memory] = spotAt(points, at);
    const took = tookAt(kernels, points, at);
    const isUp = memory >= compute;
    x = Math.max(x, compute, compute * slower, isUp ? 0 : took);
    y = Math.max(y, memory, memory * narrower, isUp ? took : 0);
  }
  const least = (roof?.conditions.launchOverhead ?? 0) * 1.5 || Math.max(x, y) / 100 || 1e-2;
  return [rounded(Math.max(x * 1.15, least)), rounded(Math.max(y * 1.15, least))];
}

/**
 * Returns two factors: the compute time at the data sheet's rate divided by the current compute time, and the same
 * quotient for the memory time.
 */
const fromSheet = (roof: Roof | undefined) =>
  roof ? ([roof.peak / roof.sheetPeak, roof.bandwidth / roof.sheetBandwidth] as const) : ([1, 1] as const);

/** Rounds a time, so that rounding errors during a drag do not move the axes. */
const rounded = (time: number) => Number(time.toPrecision(6));
