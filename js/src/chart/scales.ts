// The frame and the scales of the roofline plane, from FLOP/B and FLOP/s to px, logarithmic or linear.

import { chipFrame } from "../roofline/chip_frame.ts";
import type { Points } from "../roofline/points.ts";
import { type Roof, ridgePoint } from "../roofline/roofline.ts";
import { memoize } from "../ui/memoize.ts";
import type { Snapshot } from "../wire/types.ts";

export type Extent = readonly [low: number, high: number];

/** A function from values to px. The function also has its domain and its inverse function as properties. */
export interface Scale {
  (value: number): number;
  readonly domain: Extent;
  /** Whether the scale is linear. A linear scale has a place for 0. A logarithmic scale has no place for 0. */
  readonly isLinear: boolean;
  invert(px: number): number;
}

export interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** Returns the attributes of a rectangle for a box. */
export const rectOf = ({ left, top, right, bottom }: Box) => ({
  x: left,
  y: top,
  width: right - left,
  height: bottom - top,
});

/** Whether a position is in a box. */
export const holds = ({ left, right, top, bottom }: Box, x: number, y: number) =>
  x >= left && x <= right && y >= top && y <= bottom;

export interface Scales extends Size {
  readonly plot: Box;
  /** The strip for kernels without FLOPs, with a scale of bytes/s. Undefined if all kernels have FLOPs. */
  readonly strip: (Box & { readonly y: Scale }) | undefined;
  readonly x: Scale;
  readonly y: Scale;
  /** The scales without the zoom. Undefined if the chart is not zoomed. */
  readonly whole?: Scales | undefined;
}

/**
 * Returns the `last` scales if the `next` scales are equal. Otherwise returns the `next` scales. Layers that are drawn
 * with the `last` scales need not be redrawn.
 */
export const stableScales = <S extends Scales>(last: S | undefined, next: S): S =>
  last && keyOf(last) === keyOf(next) ? last : next;

function keyOf({ width, height, plot, x, y, strip, whole }: Scales): string {
  const domains = [...x.domain, ...y.domain, ...(strip?.y.domain ?? [])];
  return [width, height, ...Object.values(plot), x.isLinear, ...domains, whole && keyOf(whole)].join();
}

/** A chart narrower or lower than this is not drawn, px. */
export const MIN_CHART_PX = 40;
/** The minimum height of a chart, and of a chart that should fit the screen, px. */
const [MIN_HEIGHT_PX, MIN_HEIGHT_ON_SCREEN_PX] = [280, 220];

/** The space around the plot, px. In a narrow chart the rates stand inside the plot. */
const MARGINS = { left: 48, top: 22, right: 1, bottom: 40 };
const NARROW_MARGINS = { left: 0, top: 8, right: 1, bottom: 34 };
/** The width of the strip, and of its tick texts at least; in a narrow chart, the strip and what separates it, px. */
const STRIP = { width: 22, ticks: 56 };
const NARROW_STRIP = { width: 20, gap: 6 };
/** A point beyond the axes is drawn so far from the edge of the plot, px. */
export const OFF_SCALE_PX = 14;
/** A point above this multiple of its roof has a wrong rate, and does not widen the axes. */
const MAX_ROOF_MULTIPLE = 10;

/** Whether a chart is narrow. A narrow chart has fewer and shorter texts. */
export const isNarrow = ({ width }: Pick<Size, "width">) => width < 600;

/** The size of a chart, px. */
export interface Size {
  readonly width: number;
  readonly height: number;
}

/**
 * Returns the height of a chart with the given width, px. `room`: the available height, px, if the chart should fit the
 * screen. `fills`: whether the chart may be higher than usual to fill this room.
 */
export function chartHeight(width: number, room = Number.POSITIVE_INFINITY, fills = false): number {
  const usual = fills ? width * 0.75 : Math.min(width * 0.56, Math.max(520, width * 0.28));
  const least = Number.isFinite(room) ? MIN_HEIGHT_ON_SCREEN_PX : MIN_HEIGHT_PX;
  return Math.round(clamp(usual, least, room));
}

/**
 * Builds the scales, with room for the points, for `parts` and for the snapshots in `ghosts`. `ticksWidth` returns the
 * width of the tick texts of the strip. If `before` is given, each axis contains the extent of the same axis in
 * `before`. If `isChipFrame` is true and there are roofs, the axes depend on the roofs alone.
 */
export function scalesOf(
  size: Size,
  roofs: readonly Roof[],
  points: Points,
  focus: Roof | undefined,
  ticksWidth: (bandwidths: Scale) => number = () => 0,
  parts?: Points,
  before?: Scales,
  ghosts: readonly Snapshot[] = [],
  isChipFrame = false,
): Scales {
  const { width, height } = size;
  const narrow = isNarrow(size);
  const margins = narrow ? NARROW_MARGINS : MARGINS;
  const [top, bottom] = [margins.top, height - margins.bottom];
  const judge = focus ?? roofs[0];
  const hasStrip = spanOf(points, judge).fastest > 0 || before?.strip !== undefined;
  const frame = isChipFrame ? chipFrame(roofs) : undefined;
  const now = frame ?? extents(roofs, parts ? [points, parts] : [points], judge, ghosts);
  const [xExtent, yExtent] = [joined(now.x, before?.x.domain), joined(now.y, before?.y.domain)];
  const y = scaleLog(yExtent, [bottom, top]);
  const bandwidths = stripScale(xExtent, yExtent, [bottom, top]);
  const ticks = narrow ? 0 : Math.max(STRIP.ticks, ticksWidth(bandwidths), before?.strip?.left ?? 0);
  const stripWidth = narrow ? NARROW_STRIP.width : STRIP.width;
  const left = margins.left + (hasStrip ? ticks + stripWidth + (narrow ? NARROW_STRIP.gap : 0) : 0);
  const plot = { left, top, right: width - margins.right, bottom };
  return {
    ...{ width, height, plot, y },
    strip: hasStrip ? { left: ticks, right: ticks + stripWidth, top, bottom, y: bandwidths } : undefined,
    x: scaleLog(xExtent, [plot.left, plot.right]),
  };
}

/**
 * Returns the scale of the strip. A bandwidth is at the height at which a roof of this bandwidth enters the plot at its
 * left edge.
 */
export const stripScale = ([low]: Extent, [least, most]: Extent, range: Extent): Scale =>
  scaleLog([least / low, most / low], range);

/** Returns the middle of the strip, px. Points without FLOPs are there. */
export const stripMiddle = ({ strip, plot }: Scales) => (strip ? (strip.left + strip.right) / 2 : plot.left);

/** Whether a point with this rate is above the plot without a zoom, and is drawn at its upper edge. */
export const isOffScale = ({ y, strip, plot, whole }: Scales, ai: number, rate: number): boolean =>
  whole === undefined && !y.isLinear && ((ai === 0 && strip?.y) || y)(rate) < plot.top;

/**
 * Returns extents with room for every roof at the rates of its data sheet and for every point. During a drag the roof
 * then moves, and the axes do not move.
 */
function extents(
  roofs: readonly Roof[],
  tables: readonly Points[],
  judge: Roof | undefined,
  ghosts: readonly Snapshot[],
): { x: Extent; y: Extent } {
  let [xLow, xHigh] = roofs.length > 0 ? [Number.POSITIVE_INFINITY, 0] : [0.5, 100];
  let [yLow, yHigh] = [Number.POSITIVE_INFINITY, 0];
  for (const roof of roofs) {
    const sheet = roof.sheetPeak / roof.sheetBandwidth;
    xLow = Math.min(xLow, sheet / 100, ridgePoint(roof));
    xHigh = Math.max(xHigh, sheet * 8, ridgePoint(roof) * 2);
    yHigh = Math.max(yHigh, roof.sheetPeak * 2.4, roof.peak * 1.2);
  }
  // The extents also contain the ridge points of the faster memory levels, which are far to the left.
  for (const { bandwidth, sheet } of judge?.levels ?? []) {
    xLow = Math.min(xLow, (judge?.sheetPeak ?? 0) / sheet / 2, (judge?.peak ?? 0) / bandwidth);
  }
  const spans = tables.map((points) => spanOf(points, judge));
  for (const span of spans) {
    xLow = Math.min(xLow, span.x[0]);
    xHigh = Math.max(xHigh, span.x[1] * 2);
    yLow = Math.min(yLow, span.y[0]);
    yHigh = Math.max(yHigh, span.y[1] * 1.5);
  }
  for (const { peak, bandwidth, kernels } of ghosts) {
    xHigh = Math.max(xHigh, (peak / bandwidth) * 2);
    yHigh = Math.max(yHigh, peak * 1.5);
    for (const [, ai, rate] of kernels) {
      if (!(ai > 0 && Number.isFinite(ai))) continue;
      [xLow, xHigh] = [Math.min(xLow, ai), Math.max(xHigh, ai * 2)];
      [yLow, yHigh] = [Math.min(yLow, rate), Math.max(yHigh, rate * 1.5)];
    }
  }
  xLow /= 2;
  for (const roof of roofs) yLow = Math.min(yLow, roof.sheetBandwidth * xLow);
  for (const { slowest } of spans) yLow = Math.min(yLow, slowest * xLow);
  // Without roofs and points, the snapshots alone say where the axis begins.
  if (yLow > yHigh) for (const { bandwidth } of ghosts) yLow = Math.min(yLow, bandwidth * xLow);
  return yHigh > 0 ? { x: [xLow, xHigh], y: [yLow / 2, yHigh] } : { x: [0.1, 1e4], y: [1e10, 1e15] };
}

/** The lowest and the highest values of all points. If there are no points, each extent goes from infinity to zero. */
interface Span {
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
const spanOf = (points: Points, judge: Roof | undefined): Span =>
  span(points.x, [judge?.sheetPeak, judge?.sheetBandwidth], () => findSpan(points, judge));

function findSpan({ n, x, y, roof, isMinor }: Points, judge: Roof | undefined): Span {
  const peak = MAX_ROOF_MULTIPLE * (judge?.sheetPeak ?? Number.POSITIVE_INFINITY);
  const bandwidth = MAX_ROOF_MULTIPLE * (judge?.sheetBandwidth ?? Number.POSITIVE_INFINITY);
  let [left, right, low, high] = [Number.POSITIVE_INFINITY, 0, Number.POSITIVE_INFINITY, 0];
  let [slowest, fastest] = [Number.POSITIVE_INFINITY, 0];
  for (let at = 0; at < n; at++) {
    const ai = x[at] as number;
    const rate = y[at] as number;
    if (ai === 0) {
      if (!isMinor?.[at]) slowest = Math.min(slowest, rate);
      fastest = Math.max(fastest, rate);
      continue;
    }
    if (isMinor?.[at]) continue;
    if (Number.isFinite(ai)) {
      left = Math.min(left, ai);
      right = Math.max(right, ai);
    }
    if ((roof[at] as number) < 0) {
      low = Math.min(low, rate);
      if (rate <= Math.min(peak, ai * bandwidth)) high = Math.max(high, rate);
    }
  }
  return { x: [left, right], y: [low, high], slowest, fastest };
}

export const clamp = (value: number, low: number, high: number) => Math.max(low, Math.min(value, high));

/** Returns the smallest extent that contains the extents `now` and `before`. */
export const joined = (now: Extent, before: Extent = now): Extent => [
  Math.min(now[0], before[0]),
  Math.max(now[1], before[1]),
];

/**
 * Creates a logarithmic scale. The scales of a library would add a third to the bundle, because such a library includes
 * colours, dates and interpolation.
 */
export function scaleLog(domain: Extent, [from, to]: Extent): Scale {
  const [low, high] = [Math.log10(domain[0]), Math.log10(domain[1])];
  const slope = (to - from) / (high - low);
  const invert = (px: number) => 10 ** (low + (px - from) / slope);
  return Object.assign((value: number) => from + (Math.log10(value) - low) * slope, {
    domain,
    invert,
    isLinear: false,
  });
}

export function scaleLinear(domain: Extent, [from, to]: Extent): Scale {
  const [low, high] = domain;
  const slope = (to - from) / (high - low);
  const invert = (px: number) => low + (px - from) / slope;
  return Object.assign((value: number) => from + (value - low) * slope, { domain, invert, isLinear: true });
}

/** Creates a scale of the same kind as the given scale: linear or logarithmic. */
export const scaleLike = ({ isLinear }: Scale, domain: Extent, range: Extent): Scale =>
  (isLinear ? scaleLinear : scaleLog)(domain, range);

export interface Spots {
  readonly x: Float32Array;
  readonly y: Float32Array;
  /** The points of minor kernels that are beyond the axes, and are drawn at an edge of the plot. */
  readonly beyond?: readonly number[];
}

/** Returns the two coordinates of a point: its position, px, or its values. */
export const spotAt = ({ x, y }: Pick<Points, "x" | "y"> | Spots, index: number): readonly [x: number, y: number] => [
  x[index] as number,
  y[index] as number,
];

/**
 * The logarithms of the points' values. Memoized, because the values do not change while a chart is zoomed and panned.
 */
interface Logs {
  readonly x: Float64Array;
  readonly y: Float64Array;
}

const logs = memoize<Logs>();
const spots = memoize<Spots>();

/**
 * Returns the positions of points, px. Points without bytes are at the right edge. Points without FLOPs are in the
 * strip. A point above the axes, and the point of a minor kernel beyond the axes, is drawn at their end.
 */
export const project = (points: Points, scales: Scales): Spots =>
  spots(points.x, [scales], () => findSpots(points, scales));

function findSpots(points: Points, scales: Scales): Spots {
  const { plot, strip, whole } = scales;
  const { x: xLogs, y: yLogs } = logs(points.x, [points.y], () => ({
    x: points.x.map(Math.log10),
    y: points.y.map(Math.log10),
  }));
  const x = new Float32Array(points.n);
  const y = new Float32Array(points.n);
  const beyond: number[] = [];
  const middle = stripMiddle(scales);
  const top = whole ? Number.NEGATIVE_INFINITY : plot.top;
  const [xOne, yOne] = [scales.x(1), scales.y(1)];
  const [across, up] = [scales.x(10) - xOne, scales.y(10) - yOne];
  const stripOne = strip ? strip.y(1) : yOne;
  for (let at = 0; at < points.n; at++) {
    const log = xLogs[at] as number;
    const hasNoFlops = log === Number.NEGATIVE_INFINITY;
    x[at] = hasNoFlops ? middle : log === Number.POSITIVE_INFINITY ? plot.right - 8 : xOne + log * across;
    const height = (hasNoFlops ? stripOne : yOne) + (yLogs[at] as number) * up;
    // In the frame of the chips, the strip may have no room for a slow copy.
    const limit = hasNoFlops && !whole ? plot.bottom - OFF_SCALE_PX : Number.POSITIVE_INFINITY;
    y[at] = height < top ? plot.top + OFF_SCALE_PX : Math.min(height, limit);
    if (!points.isMinor?.[at] || whole) continue;
    const left = x[at] as number;
    const isLow = height > plot.bottom;
    const isAside = !hasNoFlops && !(left >= plot.left && left <= plot.right);
    if (isLow) y[at] = plot.bottom - OFF_SCALE_PX;
    if (isAside) x[at] = clamp(left, plot.left + OFF_SCALE_PX, plot.right - OFF_SCALE_PX);
    if (isLow || isAside) beyond.push(at);
  }
  return { x, y, beyond };
}
