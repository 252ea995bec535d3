// What the scenes of planes share that are drawn as SVG alone: the plot, the radii of points, and the nearest point.

import type { Spot } from "../paths.ts";
import { type Box, isNarrow, type Size } from "../scales.ts";

/** The space around the plot, px. In a narrow chart the rates stand inside the plot. */
const MARGINS = { left: 56, top: 22, right: 1, bottom: 40 };
const NARROW_MARGINS = { left: 0, top: 24, right: 1, bottom: 34 };
const MIN_RADIUS_PX = 4;
/** The radius of the largest point, as a share of the plot's width. */
const MAX_RADIUS_SHARE = 0.014;

/** Returns the plot of a plane without a strip, px. */
export function plotIn(size: Size): Box {
  const { left, top, right, bottom } = isNarrow(size) ? NARROW_MARGINS : MARGINS;
  return { left, top, right: size.width - right, bottom: size.height - bottom };
}

/** Returns the radii of points, px: their areas are as their times. */
export function radiiByTime(times: readonly number[], { left, right }: Box): number[] {
  const longest = Math.max(...times);
  const largest = Math.max(MIN_RADIUS_PX + 1, MAX_RADIUS_SHARE * (right - left));
  return times.map((time) => Math.max(MIN_RADIUS_PX, largest * Math.sqrt((time || 0) / longest)));
}

interface Disc {
  readonly x: number;
  readonly y: number;
  readonly radius: number;
}

/** Returns the point nearest to a place, if its edge is within this distance, px. */
export function nearestOf<T extends Disc>(points: readonly T[], [x, y]: Spot, within: number): T | undefined {
  const away = (point: Disc) => Math.hypot(point.x - x, point.y - y);
  const near = points.filter((point) => Math.max(0, away(point) - point.radius) <= within);
  return near.sort((a, b) => away(a) - away(b))[0];
}

/** Returns a place along the visible part of a slope, px, its angle in degrees, and the length of that part, px. */
export function alongSlope({ bottom }: Box, start: Spot, corner: Spot, share: number) {
  const [dx, dy] = [corner[0] - start[0], corner[1] - start[1]];
  // The slope may begin below the plot.
  const from = start[1] > bottom ? (bottom - start[1]) / dy : 0;
  const at = from + (1 - from) * share;
  const spot: Spot = [start[0] + dx * at, start[1] + dy * at];
  return { spot, angle: (Math.atan2(dy, dx) * 180) / Math.PI, length: Math.hypot(dx, dy) * (1 - from) };
}
