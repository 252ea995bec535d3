// The frame of a figure: its plot, its scales, and the ticks and titles of its axes.

import { chipFrame } from "../../roofline/chip_frame.ts";
import { type Roof, ridgePoint } from "../../roofline/roofline.ts";
import type { Store } from "../../state/store.ts";
import { formatSignificant } from "../../text/numbers.ts";
import { figureWords } from "../../words/words.ts";
import type { Units } from "../axis_units.ts";
import { type Box, clamp, type Extent, holds, type Scale, scaleLog } from "../scales.ts";
import { type Counting, endsOf, ticksOf } from "../ticks.ts";
import type { Content, Dot } from "./dots.ts";
import { type FigureStyle, MANY_DOTS, MORE_FOR_PATTERNS, STRIP_EM, textWidth } from "./styles.ts";

export interface Frame {
  readonly plot: Box;
  readonly x: Scale;
  readonly y: Scale;
  /**
   * The strip of kernels without FLOPs. Its rates are on the vertical axis where a kernel at the left edge of the plot
   * would have them, so that its roof continues the slope.
   */
  readonly strip: Box | undefined;
  readonly xTicks: readonly FigureTick[];
  readonly yTicks: readonly FigureTick[];
  readonly xTitle: string;
  readonly yTitle: string;
}

/** A tick: a decade with its number, or a mark between two decades without a number. */
export interface FigureTick {
  readonly at: number;
  readonly text: string;
  readonly isMajor: boolean;
}

/** Points this far above their roof do not widen the axis: their counts or times are wrong. */
const MAX_ABOVE_ROOF = 10;
/** Rates in the strip below this share of the bandwidth are drawn at its lower end. */
const MIN_STRIP_RATE = 1e-4;
/** The room above the highest roof for its name, in font sizes. */
const ROOM_ABOVE_EM = 1.7;

/** The space around the plot, in font sizes. */
const [TOP_EM, BOTTOM_EM, RIGHT_EM, TITLE_EM, TICK_GAP_EM, STRIP_GAP_EM] = [0.6, 3.3, 0.6, 1.35, 0.55, 0.75];

export function frameOf(store: Store, style: FigureStyle, content: Content, units: Units): Frame {
  const { width, height, font } = style;
  const roofs = store.rates.shownRoofs.value;
  const focus = store.rates.focusRoof.value ?? roofs[0];
  const [top, bottom] = [TOP_EM * font, height - BOTTOM_EM * font];
  const extents = extentsOf(store, content, roofs, focus);
  // The highest name needs room above its roof, however many decades are below it.
  const peak = Math.max(0, ...roofs.map((roof) => roof.peak));
  const decades = Math.log10(Math.min(peak || extents.y[1], extents.y[1]) / extents.y[0]);
  const room = ROOM_ABOVE_EM * font;
  const above = peak * 10 ** ((decades * room) / (bottom - top - room));
  const isFree = store.view.zoom.value === null && store.view.axes.frame.value !== "chip";
  const y = scaleLog([extents.y[0], isFree ? Math.max(extents.y[1], above) : extents.y[1]], [bottom, top]);
  const { counting, title } = verticalOf(units, focus?.peak ?? extents.y[1]);
  const yTicks = ticksFor(y, 1.6 * font, units, counting);
  const stripEnd = content.hasStrip ? (STRIP_EM + STRIP_GAP_EM) * font : 0;
  const widest = Math.max(...yTicks.map(({ text }) => textWidth(text, font)));
  const left = stripEnd + TITLE_EM * font + widest + TICK_GAP_EM * font;
  const plot = { left, top, right: width - RIGHT_EM * font, bottom };
  const x = scaleLog(extents.x, [plot.left, plot.right]);
  return {
    ...{ plot, x, y, yTicks, yTitle: title },
    strip: content.hasStrip ? { left: 0.15 * font, right: STRIP_EM * font, top, bottom } : undefined,
    xTicks: ticksFor(x, 3 * font, units, units.x).map((tick) =>
      tick.at + textWidth(tick.text, font) / 2 <= width ? tick : { ...tick, text: "" },
    ),
    xTitle: figureWords.across(units.xTitle),
  };
}

/** A dot at its place. */
export interface Placed extends Dot {
  readonly x: number;
  readonly y: number;
  readonly radius: number;
}

/** Returns the dots inside the axes, largest first. Dots that would look like an earlier one are left out. */
export function placedDots(content: Content, frame: Frame, style: FigureStyle, isPatterned: boolean): Placed[] {
  const { left, right } = frame.plot;
  const largest = (style.maxDot * (right - left)) / 2;
  const least = content.dots.length > MANY_DOTS ? style.minRadiusOfMany : style.minRadius;
  const smallest = Math.min(largest, isPatterned ? least * MORE_FOR_PATTERNS : least);
  const seen = new Set<string>();
  const placed: Placed[] = [];
  for (const dot of content.dots) {
    const own = Number.isNaN(dot.share) ? 1.3 * smallest : 2 * largest * Math.sqrt(dot.share);
    const radius = clamp(own, smallest, largest);
    const [x, y] = spotOf(frame, dot, radius);
    const key = `${x.toFixed(1)} ${y.toFixed(1)} ${radius.toFixed(1)} ${dot.code}`;
    const isNew = content.dots.length <= MANY_DOTS || !seen.has(key);
    seen.add(key);
    if (isNew && (dot.ai === 0 || holds(frame.plot, x, y))) placed.push({ ...dot, x, y, radius });
  }
  return placed.sort((a, b) => b.radius - a.radius);
}

/** Returns the place of a dot. A rate or an intensity without a place of its own is at the end of its axis. */
function spotOf({ plot, strip, x, y }: Frame, { ai, rate }: Dot, radius: number): readonly [number, number] {
  if (ai !== 0) return [Number.isFinite(ai) ? x(ai) : plot.right - radius, y(rate)];
  const at = y(rate * x.domain[0]);
  const inside = Math.min(Math.max(at, plot.top + radius), plot.bottom - radius);
  return [strip ? (strip.left + strip.right) / 2 : plot.left, inside];
}

function extentsOf(
  { view: { zoom, axes } }: Store,
  { dots }: Content,
  roofs: readonly Roof[],
  focus: Roof | undefined,
): { x: Extent; y: Extent } {
  const zoomed = zoom.value;
  if (zoomed?.every((end) => end > 0)) return { x: [zoomed[0], zoomed[1]], y: [zoomed[2], zoomed[3]] };
  const chips = axes.frame.value === "chip" ? chipFrame(roofs) : undefined;
  if (chips) return chips;
  const ridges = roofs.map(ridgePoint);
  const bandwidths = [...roofs, ...(focus?.levels ?? [])].map(({ bandwidth }) => bandwidth);
  let [leftmost, rightmost, lowest, highest] = [Number.POSITIVE_INFINITY, 0, Number.POSITIVE_INFINITY, 0];
  let slowest = Number.POSITIVE_INFINITY;
  for (const { ai, rate } of dots) {
    if (ai === 0) slowest = Math.min(slowest, rate);
    if (ai === 0 || !Number.isFinite(ai)) continue;
    [leftmost, rightmost] = [Math.min(leftmost, ai), Math.max(rightmost, ai)];
    if (focus && rate > MAX_ABOVE_ROOF * Math.min(focus.peak, ai * Math.max(...bandwidths))) continue;
    [lowest, highest] = [Math.min(lowest, rate), Math.max(highest, rate)];
  }
  const levelRidges = (focus?.levels ?? []).map(({ bandwidth }) => (focus?.peak ?? 0) / bandwidth / 3);
  const left = Math.min(leftmost / 2, ...ridges.map((ridge) => ridge / 200), ...levelRidges);
  const low = Number.isFinite(left) ? left : 0.1;
  const right = Math.max(2 * rightmost, ...ridges.map((ridge) => 8 * ridge), roofs.length > 0 ? 8 * low : 1e3 * low);
  const inStrip = low * Math.max(slowest, MIN_STRIP_RATE * (focus?.bandwidth ?? 0));
  const bottom = Math.min(lowest, inStrip, ...roofs.map(({ bandwidth }) => low * bandwidth)) / 2;
  const y0 = Number.isFinite(bottom) ? bottom : 1e9;
  return { x: [low, right], y: [y0, Math.max(2 * highest, ...roofs.map(({ peak }) => 2.4 * peak), 10 * y0)] };
}

/** Returns the vertical axis with the prefix of the focus peak, and its title. */
function verticalOf({ y, yTitle }: Units, peak: number): { counting: Counting; title: string } {
  const isPerSecond = yTitle.every((unit) => unit.endsWith("/s"));
  const power = isPerSecond ? clamp(3 * Math.floor(Math.log10(peak) / 3), 0, 24) : 0;
  const prefix = ["", "k", "M", "G", "T", "P", "E", "Z", "Y"][power / 3];
  const one = Number(`1e${power}`);
  const counting = {
    fromBase: (base: number) => y.fromBase(base) / one,
    toBase: (counted: number) => y.toBase(counted * one),
  };
  return { counting, title: figureWords.performance(yTitle.map((unit) => `${prefix}${unit}`).join(" · ")) };
}

/** Returns the numbered ticks, at least `room` apart, and between decades those of their multiples. */
function ticksFor(scale: Scale, room: number, { tickBase }: Units, counting: Counting): FigureTick[] {
  const major = ticksOf(scale, room, tickBase, counting);
  const ticks = major.map(({ value, shown }) => ({ at: scale(value), text: plainNumber(shown), isMajor: true }));
  if (tickBase === 2) return ticks;
  const [low, high] = endsOf(scale, counting);
  const taken = new Set(ticks.map(({ at }) => Math.round(at * 100)));
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power++) {
    for (let by = 1; by <= 9; by++) {
      const shown = Number(`${by}e${power}`);
      const at = scale(counting.toBase(shown));
      if (shown < low || shown > high || taken.has(Math.round(at * 100))) continue;
      ticks.push({ at, text: "", isMajor: by === 1 });
    }
  }
  return ticks;
}

/** Numbers outside these are written as powers of ten. */
const [MIN_PLAIN, MAX_PLAIN] = [1e-5, 1e6];

/** Formats a number of an axis without prefix: "0.1", "1 000". */
function plainNumber(value: number): string {
  if (value < MIN_PLAIN * 0.99 || value > MAX_PLAIN * 1.01) return value.toExponential().replace("e+", "e");
  const text = formatSignificant(value, 6);
  return /^\d+$/.test(text) ? text.replace(/\B(?=(?:\d{3})+$)/g, "\u00a0") : text;
}
