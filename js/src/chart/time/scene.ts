// Builds the scene of the time view from the state. All layers of the time view draw from the scene.

import type { Points } from "../../roofline/points.ts";
import { roofElsewhere } from "../../roofline/roofline.ts";
import type { Store } from "../../state/store.ts";
import { shortNames } from "../../text/names.ts";
import { formatQuantity } from "../../text/numbers.ts";
import type { Spot } from "../paths.ts";
import { isMeasured, radiusAt } from "../points/painter.ts";
import { isShown } from "../points/visible.ts";
import {
  type Box,
  type Extent,
  joined,
  type Scale,
  type Scales,
  type Size,
  scaleLike,
  scaleLinear,
  scaleLog,
  spotAt,
  stableScales,
} from "../scales.ts";
import {
  fittedPoints,
  isPatternedIn,
  namedIn,
  roofColours,
  type Scene,
  selectionOf,
  shownFocus,
  unitsIn,
} from "../scene.ts";
import type { Theme } from "../theme.ts";
import { ticksOf } from "../ticks.ts";
import { zoomed } from "../zoom.ts";
import { longestTimes, measuredTime, timesShown } from "./points.ts";

export interface TimeScales extends Scales {
  readonly whole?: TimeScales | undefined;
  /**
   * The plot and its edges. On logarithmic axes one edge is a column for kernels without FLOPs, and one edge is a row
   * for kernels without bytes.
   */
  readonly outer: Box;
}

/** A scene of one roof. Points are painted, ringed and hit-tested as in the roofline plane. */
export interface TimeScene extends Scene {
  readonly scales: TimeScales;
  /** The times of the isochrones, s. */
  readonly isochrones: readonly number[];
  /** The launch overhead, s. 0 if the launch overhead is unknown. */
  readonly overhead: number;
}

/** The gap of a measured point, px. It goes from the point to the isochrone of the point's measured time. */
export interface TimeGap {
  readonly row: number;
  readonly from: Spot;
  readonly to: Spot;
}

/**
 * Returns the roof that bounds the kernels. If the focus chip's roof is shown, returns this roof. Otherwise returns the
 * first roof.
 */
export const judgeOf = (store: Store) => shownFocus(store) ?? store.rates.shownRoofs.value[0];

const [ZERO_COLUMN_PX, ZERO_ROW_PX] = [48, 32];
/** If there are more points than this, only marked kernels have gaps. */
const MAX_POINTS_WITH_GAPS = 400;

/** Kernels with their points. */
type PlacedKernels = Pick<Scene, "kernels" | "points">;

/**
 * Builds the scene, with room for the kernels `after`: the moved kernels at their new positions. If the new scales
 * equal the scales of the `last` scene, keeps the last scales. Layers with these scales are then not redrawn.
 */
export function timeSceneOf(
  store: Store,
  all: Points,
  heaviest: readonly number[],
  size: Size,
  theme: Theme,
  last: TimeScene | undefined,
  after?: PlacedKernels,
): TimeScene {
  const kernels = store.rows.drawn.value;
  const focus = judgeOf(store);
  const isLinear = store.view.axes.timeScale.value === "linear";
  const isHeld = last?.scales.width === size.width && last.scales.x.isLinear === isLinear && store.view.isInDrag();
  const before = isHeld ? last.scales : undefined;
  const around = (all: PlacedKernels, room: TimeScales | undefined) =>
    isLinear
      ? linearScales(size, longestTimes(all.kernels, all.points, focus), room)
      : timeScales(size, all.points, timesShown(all.kernels, all.points, focus), room);
  const kept = before?.whole ?? before;
  const whole = around({ kernels, points: all }, after?.points.n ? around(after, kept) : kept);
  const next = zoomed(whole, store.view.zoom.value);
  const scales = stableScales(last?.scales, next);
  const points = fittedPoints(all, scales);
  const overhead = focus?.conditions.launchOverhead ?? 0;
  return {
    kernels,
    points,
    at: place(points, scales),
    roofs: focus ? [focus] : [],
    focus,
    levels: [],
    subRoofs: [],
    colours: roofColours(store, theme),
    ...{ isRoofHovered: false, isPatterned: isPatternedIn(store, theme), allJoins: false },
    gaps: store.lesson.hidesHint("points") ? "none" : store.view.gaps.value,
    names: shortNames(store.rates.chips.value),
    scales,
    units: unitsIn(store, focus),
    theme,
    colouring: store.rows.colouring.value,
    ...namedIn(store, points, heaviest, last),
    ...selectionOf(store),
    // There are no isochrones below the launch overhead, because no launch takes less time.
    isochrones: isochronesIn(scales).filter((time) => time > 0 && time >= Math.max(overhead, startOf(scales))),
    overhead,
  };
}

/**
 * The start of the part of the diagonal in sight, s. `diagonalEnd` is the end of this part. If the diagonal is out of
 * sight, the end is less than the start.
 */
export const diagonalStart = ({ x, y }: Scales) => Math.max(x.domain[0], y.domain[0]);
export const diagonalEnd = ({ x, y }: Scales) => Math.min(x.domain[1], y.domain[1]);

/**
 * Returns the lower limit of the times of isochrones, s. Under a zoom on logarithmic axes, an isochrone is drawn even
 * if only one of its arms is in sight.
 */
const startOf = (scales: TimeScales) =>
  scales.whole && !scales.x.isLinear ? Math.min(scales.x.domain[0], scales.y.domain[0]) : diagonalStart(scales);

function isochronesIn({ x, y, whole }: TimeScales): number[] {
  const domain = whole || x.isLinear ? joined(x.domain, y.domain) : y.domain;
  // Under a zoom, one second may have fewer px on the horizontal axis than on the vertical axis. The ticks must fit on
  // the axis with fewer px per second.
  const along = x.isLinear && x(1) - x(0) < y(0) - y(1) ? x : y;
  const scale = scaleLike(along, domain, [along(domain[0]), along(domain[1])]);
  return ticksOf(scale, roomOf(scale)).map(({ value }) => value);
}

/**
 * Returns the text of a time with five digits. On zoomed linear axes neighbouring ticks differ only in the fourth or
 * fifth digit.
 */
export const tickText = (seconds: number) => formatQuantity(seconds, "s", 5);

/**
 * Returns the minimum distance of ticks on the vertical axis, px. If the axes are linear, this is also the minimum
 * distance on the horizontal axis. Linear axes then have the same ticks.
 */
export const roomOf = ({ isLinear }: Scale) => (isLinear ? 52 : 26);

const outerOf = ({ width, height }: Size): Box => ({ left: 56, top: 26, right: width - 12, bottom: height - 40 });

/** Returns linear axes that start at 0. A second has the same length on the two axes, so isochrones are squares. */
function linearScales(size: Size, [xLongest, yLongest]: readonly [number, number], before?: TimeScales): TimeScales {
  const plot = outerOf(size);
  const [across, up] = [plot.right - plot.left, plot.bottom - plot.top];
  const pixel = Math.max(xLongest / across, yLongest / up, before ? before.x.domain[1] / across : 0);
  const x = scaleLinear([0, pixel * across], [plot.left, plot.right]);
  const y = scaleLinear([0, pixel * up], [plot.bottom, plot.top]);
  return { ...size, plot, outer: plot, strip: undefined, x, y };
}

function timeScales(
  { width, height }: Size,
  points: Points,
  [xTimes, yTimes]: [x: Extent, y: Extent],
  before?: TimeScales,
): TimeScales {
  const outer = outerOf({ width, height });
  const hasZero = (times: Float64Array) => times.subarray(0, points.n).includes(0);
  const plot = {
    ...outer,
    left: Math.max(outer.left + (hasZero(points.x) ? ZERO_COLUMN_PX : 0), before?.plot.left ?? 0),
    bottom: Math.min(outer.bottom - (hasZero(points.y) ? ZERO_ROW_PX : 0), before?.plot.bottom ?? height),
  };
  const x = scaleLog(joined(xTimes, before?.x.domain), [plot.left, plot.right]);
  const y = scaleLog(joined(yTimes, before?.y.domain), [plot.bottom, plot.top]);
  return { width, height, plot, outer, strip: undefined, x, y };
}

/**
 * Returns positions of points, px. If an axis is logarithmic, it has no place for 0. Kernels without FLOPs or bytes are
 * then at an edge.
 */
function place(points: Points, { plot, outer, x, y }: TimeScales): Scene["at"] {
  const at = { x: new Float32Array(points.n), y: new Float32Array(points.n) };
  for (let index = 0; index < points.n; index++) {
    const [compute, memory] = spotAt(points, index);
    at.x[index] = compute > 0 || x.isLinear ? x(compute) : (outer.left + plot.left) / 2;
    at.y[index] = memory > 0 || y.isLinear ? y(memory) : (outer.bottom + plot.bottom) / 2;
  }
  return at;
}

/** Returns the scene with the kernels and points of `after` instead of its own kernels and points. */
export const sceneWith = <T extends PlacedKernels>(scene: TimeScene, after: T): TimeScene & T => ({
  ...{ ...scene, ...after },
  at: place(after.points, scene.scales),
});

/**
 * Returns the gaps. If memory takes longer than compute, the gap goes upwards. If compute takes longer, the gap goes to
 * the right. If there are very many points, only marked kernels have gaps.
 */
export function timeGaps(scene: TimeScene): TimeGap[] {
  const { kernels, points, at, scales, marked, focus } = scene;
  if (scene.gaps === "none") return [];
  // A time measured on one chip says nothing about another chip's roof.
  if (focus && roofElsewhere(kernels, focus)) return [];
  const gaps: TimeGap[] = [];
  const indices =
    points.n <= MAX_POINTS_WITH_GAPS
      ? Array.from({ length: points.n }, (_, k) => k)
      : marked.map((row) => points.home[row] ?? -1);
  for (const index of indices) {
    if (index < 0 || !isMeasured(points, index) || points.aboveRoof[index] || !isShown(scene, index)) continue;
    const row = points.row[index] as number;
    const [x, y] = spotAt(at, index);
    const seconds = measuredTime(kernels, row);
    const up = (points.y[index] as number) >= (points.x[index] as number);
    const to = up ? ([x, scales.y(seconds)] as const) : ([scales.x(seconds), y] as const);
    const length = Math.abs(to[0] - x) + Math.abs(to[1] - y);
    if (length > radiusAt(points, index) + 3) gaps.push({ row, from: [x, y], to });
  }
  return gaps;
}
