// From FLOP/B and FLOP/s to pixels: the extents of the chart, its frame and its log scales.

import { keeping } from "./kept.ts";
import type { Points } from "./points.ts";
import type { Roof } from "./roofline.ts";
import { ridgePoint } from "./roofline.ts";

export type Extent = readonly [low: number, high: number];

/** A logarithmic scale: a function to pixels that knows its domain, and the way back. */
export interface LogScale {
  (value: number): number;
  readonly domain: Extent;
  invert(px: number): number;
}

export interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

export interface Scales {
  readonly width: number;
  readonly height: number;
  readonly plot: Box;
  /** How much of the width right of the plot is a column for the names of roofs, px; 0 when there is none. */
  readonly gutter: number;
  /** Where kernels without FLOPs stand, by bytes/s; undefined when there are none. */
  readonly strip: (Box & { readonly y: LogScale }) | undefined;
  readonly x: LogScale;
  readonly y: LogScale;
}

/** Whether two frames and their scales are the same, so that what was drawn in the one holds for the other. */
export function sameScales(a: Scales, b: Scales): boolean {
  const numbers = ({ width, height, gutter, x, y, strip }: Scales) => [
    ...[width, height, gutter, ...x.domain, ...y.domain],
    ...(strip?.y.domain ?? []),
  ];
  return numbers(a).join() === numbers(b).join();
}

/** Nothing is drawn in less than this, px. */
export const SMALLEST = 40;
const STRIP = 76;
/** The strip ends at this many times the roof, and goes on by this factor beyond its first and last point. */
const [ABOVE, MARGIN] = [10, 1.6];

export function chartHeight(width: number): number {
  return Math.round(Math.max(280, Math.min(520, width * 0.56)));
}

/**
 * `gutterOf` tells from the vertical scale how wide a column the names of the roofs need; `parts` need room too, and
 * what was shown `before` keeps the room that it had.
 */
export function scalesOf(
  size: { width: number; height: number },
  roofs: readonly Roof[],
  points: Points,
  focus: Roof | undefined,
  gutterOf: (y: LogScale) => number = () => 0,
  parts?: Points,
  before?: Scales,
): Scales {
  const { width, height } = size;
  const { slowest, fastest } = spanOf(points);
  const left = 46;
  const [top, bottom] = [12, height - 40];
  const now = extents(roofs, parts ? [points, parts] : [points], focus);
  const [x, yExtent] = [joined(now[0], before?.x.domain), joined(now[1], before?.y.domain)];
  const y = scaleLog(yExtent, [bottom, top]);
  const gutter = gutterOf(y);
  const hasStrip = fastest > 0 || before?.strip !== undefined;
  const plot = { left: left + (hasStrip ? STRIP : 0), top, right: width - 12 - gutter, bottom };
  const judge = focus ?? roofs[0];
  const slow = Math.min(slowest, (judge?.sheetBandwidth ?? fastest) / 30);
  const roof = Math.max(judge?.sheetBandwidth ?? fastest, judge?.bandwidth ?? fastest);
  // What only seems so fast, as the start of an asynchronous copy does, would leave the others no room.
  const fast = Math.max(roof, Math.min(fastest, roof * ABOVE));
  return {
    width,
    height,
    plot,
    gutter,
    strip: hasStrip
      ? {
          left: left + 4,
          right: left + STRIP - 6,
          top: plot.top,
          bottom: plot.bottom,
          y: scaleLog(joined([slow / MARGIN, fast * MARGIN], before?.strip?.y.domain), [plot.bottom, plot.top]),
        }
      : undefined,
    x: scaleLog(x, [plot.left, plot.right]),
    y,
  };
}

/** Room for what is shown now and what was before. */
export const joined = (now: Extent, before: Extent = now): Extent => [
  Math.min(now[0], before[0]),
  Math.max(now[1], before[1]),
];

/** Written out: a library's scale would bring its colours, dates and interpolation, a third of the bundle. */
export function scaleLog(domain: Extent, [from, to]: Extent): LogScale {
  const [low, high] = [Math.log10(domain[0]), Math.log10(domain[1])];
  const slope = (to - from) / (high - low);
  const invert = (px: number) => 10 ** (low + (px - from) / slope);
  return Object.assign((value: number) => from + (Math.log10(value) - low) * slope, { domain, invert });
}

/** Room for every roof on its data sheet and every point, so that a drag moves the roof and not the axes. */
function extents(roofs: readonly Roof[], tables: readonly Points[], focus: Roof | undefined): [x: Extent, y: Extent] {
  let [xLow, xHigh] = [0.5, 100];
  let [yLow, yHigh] = [Number.POSITIVE_INFINITY, 0];
  for (const roof of roofs) {
    const sheet = ridgePoint({ peak: roof.sheetPeak, bandwidth: roof.sheetBandwidth });
    xLow = Math.min(xLow, sheet / 20, ridgePoint(roof) / 2);
    xHigh = Math.max(xHigh, sheet * 12, ridgePoint(roof) * 2);
    yHigh = Math.max(yHigh, roof.sheetPeak * 3, roof.peak * 1.5);
  }
  // The ridge points of the focus chip's faster levels lie far left.
  for (const { bandwidth, sheet } of focus?.levels ?? []) {
    xLow = Math.min(xLow, (focus?.sheetPeak ?? 0) / sheet / 3, (focus?.peak ?? 0) / bandwidth / 2);
  }
  for (const span of tables.map(spanOf)) {
    xLow = Math.min(xLow, span.x[0] / 2);
    xHigh = Math.max(xHigh, span.x[1] * 2.5);
    yLow = Math.min(yLow, span.y[0] / 2.5);
    yHigh = Math.max(yHigh, span.y[1] * 2);
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

/** From the lowest to the highest; of none from infinity to zero. */
interface Span {
  /** Of all points but those in the strip. */
  readonly x: Extent;
  /** Of those that were measured. */
  readonly y: Extent;
  /** Of those in the strip, bytes/s. */
  readonly slowest: number;
  readonly fastest: number;
}

/** While a roof is dragged measured points keep their columns, and what is known of these. */
const span = keeping<Span>();
const spanOf = (points: Points): Span => span(points.x, [], () => findSpan(points));

function findSpan({ n, x, y, roof }: Points): Span {
  let [left, right, low, high] = [Number.POSITIVE_INFINITY, 0, Number.POSITIVE_INFINITY, 0];
  let [slowest, fastest] = [Number.POSITIVE_INFINITY, 0];
  for (let at = 0; at < n; at++) {
    const [ai, rate] = [x[at] as number, y[at] as number];
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

/** The powers of ten of a scale's domain, as many as have `room` pixels each. */
export function decades(scale: LogScale, room: number): number[] {
  const [low, high] = scale.domain;
  const first = Math.ceil(Math.log10(low) - 1e-9);
  const last = Math.floor(Math.log10(high) + 1e-9);
  const pixels = Math.abs(scale(10) - scale(1));
  const step = Math.max(1, Math.ceil(room / pixels));
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, k) => first + k)
    .filter((exponent) => exponent % step === 0)
    .map((exponent) => Number(`1e${exponent}`));
}

export interface Spots {
  readonly x: Float32Array;
  readonly y: Float32Array;
}

const spots = keeping<Spots>();

/** Where each point stands, px: those without bytes at the right edge, those without FLOPs in the strip, to its end. */
export const project = (points: Points, scales: Scales): Spots =>
  spots(points.x, [scales], () => findSpots(points, scales));

function findSpots(points: Points, scales: Scales): Spots {
  const { plot, strip } = scales;
  const x = new Float32Array(points.n);
  const y = new Float32Array(points.n);
  const middle = strip ? strip.left + 0.72 * (strip.right - strip.left) : plot.left;
  for (let at = 0; at < points.n; at++) {
    const ai = points.x[at] as number;
    x[at] = ai === 0 ? middle : Number.isFinite(ai) ? scales.x(ai) : plot.right - 8;
    const rate = points.y[at] as number;
    y[at] = ai === 0 && strip ? strip.y(Math.min(rate, strip.y.domain[1] / MARGIN)) : scales.y(rate);
  }
  return { x, y };
}

/** The point nearest to a place, within `reach` px, or -1. */
export function nearest(at: { x: Float32Array; y: Float32Array }, x: number, y: number, reach: number): number {
  let best = -1;
  let least = reach * reach;
  for (let index = 0; index < at.x.length; index++) {
    const distance = ((at.x[index] as number) - x) ** 2 + ((at.y[index] as number) - y) ** 2;
    if (distance <= least) {
      best = index;
      least = distance;
    }
  }
  return best;
}
