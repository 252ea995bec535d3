// The arithmetic of zooming and panning, for the roofline plane and the time view.

import type { Zoom } from "../wire/types.ts";
import type { Spot } from "./paths.ts";
import { type Box, clamp, type Extent, type Scale, type Scales, scaleLike, stripScale } from "./scales.ts";

/** The ends of a part of an axis, px. */
type Ends = readonly [from: number, to: number];

/** A logarithmic axis shows at least this many decades, so that its ticks differ. */
export const MIN_DECADES = 1 / 3;
/** A linear axis shows at least this share of its upper end. */
const MIN_LINEAR_SHARE = 1 / 50;
/** The limits of each axis, in base units. No hardware and no kernel is beyond these limits. */
const LIMITS: Record<"rates" | "times", readonly [x: Extent, y: Extent]> = {
  rates: [
    [1e-6, 1e12],
    [1, 1e24],
  ],
  times: [
    [1e-15, 1e6],
    [1e-15, 1e6],
  ],
};
/**
 * The maximum distance between the ends of a zoomed view and the ends of the whole view, px, at which the view counts
 * as not zoomed.
 */
const SAME_PX = 0.5;

/**
 * Returns the scales of a zoomed view. The frame of the plot does not change. The roof enters the strip where
 * its slope leaves the plot.
 */
export function zoomed<S extends Scales>(whole: S, zoom: Zoom | null): S {
  // A logarithmic axis cannot show 0.
  if (!zoom || (!whole.x.isLinear && zoom.some((end) => end <= 0))) return whole;
  const { plot, strip } = whole;
  const [left, right, low, high] = zoom;
  return {
    ...whole,
    whole,
    x: scaleLike(whole.x, [left, right], [plot.left, plot.right]),
    y: scaleLike(whole.y, [low, high], [plot.bottom, plot.top]),
    strip: strip && { ...strip, y: stripScale([left, right], [low, high], [plot.bottom, plot.top]) },
  };
}

/**
 * Returns the zoom after a gesture. The gesture moves the point at `from` to `to`, px, and magnifies the view by
 * `factor` around this point. Returns null if the zoom would show the whole plane.
 */
export function zoomAround(scales: Scales, from: Spot, to: Spot, factor = 1): Zoom | null {
  const { plot, x, y } = scales;
  const ends = (start: number, end: number, axis: 0 | 1, scale: Scale): Ends => {
    // An axis at its smallest extent can still be moved, but cannot be magnified.
    const by = Math.min(factor, closer(scale));
    const at = (edge: number) => from[axis] + (edge - to[axis]) / by;
    return [at(start), at(end)];
  };
  return shown(scales, ends(plot.left, plot.right, 0, x), ends(plot.bottom, plot.top, 1, y));
}

/**
 * Zooms to a rectangle. If the rectangle is thinner than `line` px in one direction, the axis in this direction does
 * not change.
 */
export function zoomToBox(scales: Scales, { left, right, top, bottom }: Box, line = 8): Zoom | null {
  const { plot } = scales;
  const across: Ends = right - left < line ? [plot.left, plot.right] : [left, right];
  return shown(scales, across, bottom - top < line ? [plot.bottom, plot.top] : [bottom, top]);
}

/**
 * Returns the zoom to a part of the plane, within the limits. The part is between the ends `across` (horizontal) and
 * `up` (vertical). Returns null if the zoom would show the whole plane.
 */
function shown(scales: Scales, across: Ends, up: Ends): Zoom | null {
  const limits = LIMITS["outer" in scales ? "times" : "rates"];
  const part = (scale: Scale, [from, to]: Ends, limit: Extent) =>
    (scale.isLinear ? legalFromZero : legal)([scale.invert(from), scale.invert(to)], limit);
  const [x, y] = [part(scales.x, across, limits[0]), part(scales.y, up, limits[1])];
  const whole = scales.whole ?? scales;
  const isWhole = (scale: Scale, part: Extent) =>
    part.every((end, at) => Math.abs(scale(end) - scale(scale.domain[at] as number)) < SAME_PX);
  return isWhole(whole.x, x) && isWhole(whole.y, y) ? null : [...x, ...y];
}

/** The largest factor by which an axis can be magnified. */
const closer = ({ domain: [low, high], isLinear }: Scale) =>
  isLinear ? (high - low) / (MIN_LINEAR_SHARE * high) : Math.log10(high / low) / MIN_DECADES;

/**
 * Lengthens the interval `part` of a logarithmic axis to MIN_DECADES if it is shorter. Then moves the interval inside
 * the limits `least` and `most`.
 */
function legal(part: Extent, [least, most]: Extent): Extent {
  // For a position far outside the plot, `invert` may return 0 or infinity.
  const [low, high] = part.map((end) => clamp(end, 1e-150, 1e150)) as [number, number];
  const missing = MIN_DECADES - Math.log10(high / low);
  const [from, to] = missing > 1e-9 ? [low / 10 ** (missing / 2), high * 10 ** (missing / 2)] : [low, high];
  const ratio = Math.min(to / from, most / least);
  const start = clamp(from, least, most / ratio);
  return [start, start * ratio];
}

/**
 * Lengthens an interval of a linear axis if it is too short. Then moves the interval inside the axis. The axis starts
 * at 0 and ends at `most`. `least` is the minimum length of the interval.
 */
function legalFromZero([low, high]: Extent, [least, most]: Extent): Extent {
  const middle = (low + high) / 2;
  // The minimum length is the share MIN_LINEAR_SHARE of the interval's upper end. The upper end of an interval with
  // length `shortest` is `middle` + `shortest` / 2.
  const shortest = Math.max(least, (MIN_LINEAR_SHARE * middle) / (1 - MIN_LINEAR_SHARE / 2));
  const length = high - low < shortest * (1 - 1e-9) ? shortest : Math.min(high - low, most);
  const start = clamp(middle - length / 2, 0, most - length);
  return [start, start + length];
}
