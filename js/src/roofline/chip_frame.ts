// The range of the axes that depends on the chips alone. Mirrors roofwidget/analysis/chip_frame.py: the tests compare
// both files with the same golden file.

import { type Roof, ridgePoint } from "./roofline.ts";

type Range = readonly [low: number, high: number];

/** Ranges in FLOP/B and FLOP/s. */
export interface ChipFrame {
  readonly x: Range;
  readonly y: Range;
}

/** Intensities from LOWEST to HIGHEST are always in the frame, FLOP/B. Elementwise kernels are near LOWEST. */
const [LOWEST, HIGHEST] = [0.05, 100];
/** The frame ends at this multiple of the ridge point: products of large matrices are right of it. */
const BEYOND_RIDGE = 30;
/** The vertical axis begins at this share of the roof at the left end, and ends at this multiple of the highest peak. */
const [BELOW_ROOF, ABOVE_PEAK] = [0.01, 3];
/** Room around a roof that a what-if has moved out of the frame of the data sheets. */
const [RIDGE_ROOM, PEAK_ROOM] = [2, 1.5];

/**
 * Returns the frame of some roofs; undefined if there are none. It uses the highest peak of each chip, because the
 * shown precision may follow the kernels.
 */
export function chipFrame(roofs: readonly Roof[]): ChipFrame | undefined {
  if (roofs.length === 0) return undefined;
  let [left, right, top] = [LOWEST, HIGHEST, 0];
  for (const { chip, peaks, bandwidth, sheetBandwidth, levels } of roofs) {
    const [sheetPeak, peak] = [Math.max(...chip.peaks.values()), Math.max(...peaks.values())];
    const sheet = ridgePoint({ peak: sheetPeak, bandwidth: sheetBandwidth });
    const now = ridgePoint({ peak, bandwidth });
    right = Math.max(right, sheet * BEYOND_RIDGE, now * RIDGE_ROOM);
    top = Math.max(top, sheetPeak * ABOVE_PEAK, peak * PEAK_ROOM);
    left = Math.min(left, sheet / BEYOND_RIDGE, now / RIDGE_ROOM);
    for (const level of levels) {
      left = Math.min(left, sheetPeak / level.sheet / BEYOND_RIDGE, peak / level.bandwidth / RIDGE_ROOM);
    }
  }
  const slowest = Math.min(...roofs.map(({ sheetBandwidth }) => sheetBandwidth));
  return { x: [left, right], y: [slowest * left * BELOW_ROOF, top] };
}

/** Whether a point is inside. Points with no place on a logarithmic axis have places of their own beside it. */
export const isInFrame = ({ x: [left, right], y: [low, high] }: ChipFrame, x: number, y: number) =>
  x === 0 || ((x === Number.POSITIVE_INFINITY || (left <= x && x <= right)) && low <= y && y <= high);
