// Drags the focus roof. The flat moves up and down. The slopes move sideways. The ridge point moves in both directions.

import { signal } from "@preact/signals";
import { ridgePoint } from "../../roofline/roofline.ts";
import type { RateKey } from "../../state/rates.ts";
import type { Store } from "../../state/store.ts";
import { circlePath, px, type Spot } from "../paths.ts";
import { clamp, joined, type Scale, type Scales } from "../scales.ts";
import type { Scene } from "../scene.ts";
import { type Bubble, type ChartGesture, CLICK_PX } from "./chart_drag.ts";

export type RoofPart = "peak" | "bandwidth" | "ridge";

/** The roof at the start of a drag. */
export interface RoofDragStart {
  readonly part: RoofPart;
  readonly scales: Scales;
  /** The horizontal and vertical distances from the pointer to the roof's line at the start of the drag, px. */
  readonly dx: number;
  readonly dy: number;
  /** FLOP/s and bytes/s. */
  readonly peak: number;
  readonly bandwidth: number;
}

/**
 * The ridge point of a dragged roof keeps a distance of this factor from the ends of an axis. For example, if the
 * horizontal axis goes from 1 to 1000, the ridge point stays between 1.05 and 952. Beyond the ends the roof would be
 * out of sight.
 */
const AXIS_MARGIN = 1.05;
/**
 * How far a finger moves for a factor of ten, px, at least. On the small plot of a phone the roof then moves less than
 * the finger, because a finger is not as exact as a mouse.
 */
const TOUCH_PX_PER_DECADE = 120;
/** In fine mode the roof moves this share of the pointer's way. */
const FINE = 0.2;
/** A finger that rests on the roof this long, ms, starts fine mode. */
const LONG_PRESS_MS = 350;

/** Starts a drag if the press is on a part of the roof. Returns whether the drag has started. */
export function startRoofDrag(
  { store, scene, gesture }: { readonly store: Store; readonly scene: Scene; readonly gesture: ChartGesture },
  event: PointerEvent,
  x: number,
  y: number,
): boolean {
  const { focus, scales } = scene;
  const { part, level = "" } = (event.target as SVGElement).dataset;
  if (!focus || event.button !== 0 || !isPart(part)) return false;
  const { units } = scene;
  const { peak } = focus;
  const bandwidth = focus.levels.find(({ name }) => name === level)?.bandwidth ?? focus.bandwidth;
  const flat = scales.y(peak);
  const slope = scales.y(scales.x.invert(x) * bandwidth);
  const dx = part === "ridge" ? scales.x(peak / bandwidth) - x : 0;
  const dy = (part === "bandwidth" ? slope : flat) - y;
  const start: RoofDragStart = { part, scales, dx, dy, peak, bandwidth };
  const keys: RateKey[] = [];
  if (part !== "bandwidth") keys.push({ quantity: "peak_flops" });
  if (part !== "peak") keys.push({ quantity: "bandwidth", level });
  return startPartDrag({ store, gesture, scales }, event, [x, y], {
    keys,
    now: keys.map(({ quantity }) => (quantity === "bandwidth" ? bandwidth : peak)),
    at(x, y) {
      const [peak, bandwidth] = ratesAt(start, x, y);
      return keys.map(({ quantity }) => (quantity === "bandwidth" ? bandwidth : peak));
    },
    textOf: ({ quantity }, rate) => (quantity === "bandwidth" ? units.bandwidth(rate) : units.rate(rate)),
  });
}

/** What a drag of a part of a roof changes. */
interface PartDrag {
  /** The rates that a drag changes, and their values before. */
  readonly keys: readonly RateKey[];
  readonly now: readonly number[];
  /** Returns the rates of a roof whose part is dragged to a place, px. */
  at(x: number, y: number): readonly number[];
  textOf(key: RateKey, rate: number): string;
}

/** Starts a drag of a part of a roof, with fine mode by the Shift key or a long press. */
export function startPartDrag(
  { store, gesture, scales }: { readonly store: Store; readonly gesture: ChartGesture; readonly scales: Scales },
  event: PointerEvent,
  pressed: Spot,
  { keys, now, at, textOf }: PartDrag,
): true {
  const rates = store.rates.dragRates(...keys);
  const isTouch = event.pointerType === "touch";
  const gears = isTouch ? gearsOf(scales, TOUCH_PX_PER_DECADE) : ([1, 1] as const);
  const isFine = signal(false);
  const bubble = signal<Bubble | undefined>(undefined);
  const timer = isTouch ? setTimeout(startFine, LONG_PRESS_MS) : undefined;
  function startFine() {
    isFine.value = true;
    tell(...pressed, now);
  }
  function tell(x: number, y: number, rates: readonly number[]) {
    bubble.value = { x, y, text: keys.map((key, at) => textOf(key, rates[at] as number)).join(" · ") };
  }
  const follow = followerOf(pressed);
  function move(x: number, y: number, isFineKey = false) {
    if (Math.hypot(x - pressed[0], y - pressed[1]) > CLICK_PX) clearTimeout(timer);
    if (!isTouch) isFine.value = isFineKey;
    const gear = isFine.value ? FINE : 1;
    const next = at(...follow([x, y], [gears[0] * gear, gears[1] * gear]));
    rates.move(next);
    tell(x, y, next);
  }
  function end() {
    clearTimeout(timer);
    rates.end();
  }
  function cancel() {
    clearTimeout(timer);
    rates.cancel();
  }
  // A press on the roof never clicks what is under the roof, even if the pointer does not move.
  gesture.start({ kind: "roof", axes: scales, hasMoved: () => true, isFine, bubble, move, end, cancel }, event);
  return true;
}

/** Returns the gears with which a factor of ten is at least `least` px of the pointer's way, at most 1. */
export const gearsOf = ({ x, y }: Scales, least: number): Spot => {
  const gear = (scale: Scale) => Math.min(1, Math.abs(scale(10) - scale(1)) / least);
  return [gear(x), gear(y)];
};

/**
 * Returns a function that follows a pointer from `start`. The function gets each place of the pointer, and returns a
 * place that moves the pointer's way times the gears.
 */
export function followerOf(start: Spot): (to: Spot, gears: Spot) => Spot {
  let [last, at] = [start, start];
  return (to, gears) => {
    const isExact = at === last && gears[0] === 1 && gears[1] === 1;
    at = isExact ? to : [at[0] + (to[0] - last[0]) * gears[0], at[1] + (to[1] - last[1]) * gears[1]];
    last = to;
    return at;
  };
}

export const isPart = (text: string | undefined): text is RoofPart =>
  text === "peak" || text === "bandwidth" || text === "ridge";

/** Returns the rates of a roof that is dragged to (`x`, `y`), limited to the axes. */
export function ratesAt(
  { part, scales, dx, dy, peak, bandwidth }: RoofDragStart,
  x: number,
  y: number,
): [peak: number, bandwidth: number] {
  // Under a zoom, the limits also contain the unzoomed axes. Otherwise a roof that is out of sight would jump into the
  // zoomed part.
  const [[low, high], [least, most]] = [reachOf(scales, "x"), reachOf(scales, "y")];
  const rate = clamp(scales.y.invert(y + dy), least * AXIS_MARGIN, most / AXIS_MARGIN);
  const ridgeOf = (ridge: number) => clamp(ridge, low * AXIS_MARGIN, high / AXIS_MARGIN);
  if (part === "peak") return [asBefore(ridgeOf(rate / bandwidth) * bandwidth, peak), bandwidth];
  if (part === "bandwidth") {
    const slope = scales.y.invert(y + dy) / scales.x.invert(x);
    return [peak, asBefore(peak / ridgeOf(peak / slope), bandwidth)];
  }
  const flat = asBefore(rate, peak);
  return [flat, asBefore(flat / ridgeOf(scales.x.invert(x + dx)), bandwidth)];
}

/** Ignores rounding errors: the logarithm and its inverse do not return exactly the same rate. */
const asBefore = (rate: number, before: number) => (Math.abs(rate / before - 1) < 1e-9 ? before : rate);

const reachOf = ({ whole, ...now }: Scales, axis: "x" | "y") => joined(now[axis].domain, whole?.[axis].domain);

interface Part {
  readonly part: "peak" | "bandwidth";
  readonly level: string | undefined;
  readonly from: Spot;
  readonly to: Spot;
}

/** A roof with the rates that a lesson locks. A part whose rate is locked cannot be dragged. */
interface HandledRoof extends Pick<Scene, "focus" | "levels" | "scales"> {
  readonly isPeakLocked?: boolean;
  readonly isBandwidthLocked?: boolean;
}

/** Returns the visible slopes and the visible flat of the focus roof that can be dragged. */
function partsOf({ focus, levels, scales, isPeakLocked, isBandwidthLocked }: HandledRoof): Part[] {
  if (!focus) return [];
  const { x, y } = scales;
  const slopes = levels.length > 0 ? levels : [{ name: focus.level, bandwidth: focus.bandwidth }];
  const [low, high] = x.domain;
  const last = slopes.reduce((far, { bandwidth }) => Math.max(far, focus.peak / bandwidth), ridgePoint(focus));
  const parts = (isBandwidthLocked ? [] : slopes).flatMap(({ name, bandwidth }): Part[] => {
    // The slope starts at the bottom or at the left edge of the plot.
    const start = Math.max(low, y.domain[0] / bandwidth);
    const end = focus.peak / bandwidth;
    const from: Spot = [x(start), y(start * bandwidth)];
    return start < end ? [{ part: "bandwidth", level: name, from, to: [x(end), y(focus.peak)] }] : [];
  });
  if (last >= high || isPeakLocked) return parts;
  return [...parts, { part: "peak", level: undefined, from: [x(last), y(focus.peak)], to: [x(high), y(focus.peak)] }];
}

interface RoofHandlesProps extends HandledRoof {
  /** Called when the pointer enters a handle, and when it leaves the handle. */
  onHover(event: PointerEvent, isOver: boolean): void;
  /** Called at a click or a tap on a handle. */
  onTap(event: PointerEvent): void;
}

/** The parts of the roof that can be pressed: wide, invisible, and above all other marks. */
export function RoofHandles({ onHover, onTap, ...scene }: RoofHandlesProps) {
  const { focus, scales, isPeakLocked, isBandwidthLocked } = scene;
  if (!focus || (isPeakLocked && isBandwidthLocked)) return null;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the sliders do the same for the keyboard
    <g
      class="rw-handles"
      onPointerOver={(event) => onHover(event, true)}
      onPointerOut={(event) => onHover(event, false)}
      onClick={(event) => onTap(event as unknown as PointerEvent)}
    >
      {partsOf(scene).map(({ part, level, from, to }) => (
        <path
          key={`${part} ${level}`}
          data-part={part}
          data-level={level}
          d={`M${px(from[0])},${px(from[1])}L${px(to[0])},${px(to[1])}`}
        />
      ))}
      <circle
        data-part={isPeakLocked ? "bandwidth" : isBandwidthLocked ? "peak" : "ridge"}
        data-level={focus.level}
        cx={scales.x(ridgePoint(focus))}
        cy={scales.y(focus.peak)}
        r={12}
      />
    </g>
  );
}

/** The place of the grip on a part of the roof, as a share of the part. */
const GRIP_SHARES = { peak: 0.75, bandwidth: 0.4 };
/** The places of a grip's dots along its part, and their radius, px. */
const [DOTS_PX, DOT_PX] = [[-7, 0, 7], 2];

/** Returns the places of the grips, px. `along` is the direction of the part, of length 1. */
export const gripsOf = (scene: HandledRoof) =>
  partsOf(scene).map(({ part, level, from, to }) => {
    const share = GRIP_SHARES[part];
    const [dx, dy] = [to[0] - from[0], to[1] - from[1]];
    const length = Math.hypot(dx, dy) || 1;
    return {
      part,
      level,
      x: from[0] + dx * share,
      y: from[1] + dy * share,
      along: [dx / length, dy / length] as const,
    };
  });

/** Three dots on each part of the roof, for fingers: they show where the roof can be dragged. */
export const RoofGrips = ({ colour, ...scene }: HandledRoof & { readonly colour: string }) => {
  const dots = gripsOf(scene).flatMap(({ x, y, along: [across, down] }) =>
    DOTS_PX.map((by) => circlePath([x + by * across, y + by * down], DOT_PX)),
  );
  return <path class="rw-grips" data-rw="grips" fill={colour} d={dots.join("")} />;
};
