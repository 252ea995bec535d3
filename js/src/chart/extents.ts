// The extents of the roofline plane's axes.

import type { Points } from "../roofline/points.ts";
import type { Roof } from "../roofline/roofline.ts";
import { ridgePoint } from "../roofline/roofline.ts";
import { memoize } from "../ui/memoize.ts";
import type { Snapshot } from "../wire/types.ts";

export type Extent = readonly [low: number, high: number];

/**
 * Returns extents with room for every roof of the data sheets and for every point. A drag then moves the roof, not the
 * axes.
 */
export function extents(
  roofs: readonly Roof[],
  tables: readonly Points[],
  focus: Roof | undefined,
  ghosts: readonly Snapshot[],
): [x: Extent, y: Extent] {
  let [xLow, xHigh] = [0.5, 100];
  let [yLow, yHigh] = [Number.POSITIVE_INFINITY, 0];
  for (const roof of roofs) {
    const sheet = ridgePoint({ peak: roof.sheetPeak, bandwidth: roof.sheetBandwidth });
    xLow = Math.min(xLow, sheet / 20, ridgePoint(roof) / 2);
    xHigh = Math.max(xHigh, sheet * 12, ridgePoint(roof) * 2);
    yHigh = Math.max(yHigh, roof.sheetPeak * 3, roof.peak * 1.5);
  }
  // The ridge points of the faster memory levels are far to the left.
  for (const { bandwidth, sheet } of focus?.levels ?? []) {
    xLow = Math.min(xLow, (focus?.sheetPeak ?? 0) / sheet / 3, (focus?.peak ?? 0) / bandwidth / 2);
  }
  for (const span of tables.map(spanOf)) {
    xLow = Math.min(xLow, span.x[0] / 2);
    xHigh = Math.max(xHigh, span.x[1] * 2.5);
    yLow = Math.min(yLow, span.y[0] / 2.5);
    yHigh = Math.max(yHigh, span.y[1] * 2);
  }
  for (const { peak, bandwidth, kernels } of ghosts) {
    xHigh = Math.max(xHigh, (peak / bandwidth) * 2);
    yHigh = Math.max(yHigh, peak * 1.5);
    for (const [, ai, rate] of kernels) {
      if (!(ai > 0 && Number.isFinite(ai))) continue;
      [xLow, xHigh] = [Math.min(xLow, ai / 2), Math.max(xHigh, ai * 2.5)];
      [yLow, yHigh] = [Math.min(yLow, rate / 2.5), Math.max(yHigh, rate * 2)];
    }
  }
  for (const roof of roofs) yLow = Math.min(yLow, roof.sheetBandwidth * xLow);
  return yHigh > 0
    ? [
        [xLow, xHigh],
        [yLow, yHigh],
      ]
    : [
        [0.1, 1e4],
        [1e10, 1e15],
      ];
}

/** The lowest and highest values of all points. Without points they go from infinity to zero. */
export interface Span {
  /** Intensities of all points outside the strip, FLOP/B. */
  readonly x: Extent;
  /** Rates of the measured points, FLOP/s. */
  readonly y: Extent;
  /** The lowest rate of the points in the strip, bytes/s. */
  readonly slowest: number;
  readonly fastest: number;
}

/** Memoized by column: while a roof is dragged, the columns of measured points do not change. */
const span = memoize<Span>();
export const spanOf = (points: Points): Span => span(points.x, [], () => findSpan(points));

function findSpan({ n, x, y, roof }: Points): Span {
  let [left, right, low, high] = [Number.POSITIVE_INFINITY, 0, Number.POSITIVE_INFINITY, 0];
  let [slowest, fastest] = [Number.POSITIVE_INFINITY, 0];
  for (let at = 0; at < n; at++) {
    const ai = x[at] as number;
    const rate = y[at] as number;
    if (ai === 0) {
      slowest = Math.min(slowest, rate);
      fastest = Math.max(fastest, rate);
      continue;
    }
    if (Number.isFinite(ai)) {
      left = Math.min(left, ai);
      right = Math.max(right, ai);
    }
    if ((roof[at] as number) < 0) {
      low = Math.min(low, rate);
      high = Math.max(high, rate);
    }
  }
  return { x: [left, right], y: [low, high], slowest, fastest };
}
