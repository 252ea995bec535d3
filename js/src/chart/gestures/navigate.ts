// Getting around in a plane: the wheel, two fingers, a hand that moves the chart, and keys.

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Store, Zoom } from "../../state/store.ts";
import { placeIn } from "../../ui/pointer_position.ts";
import type { Scales } from "../scales.ts";
import type { Scene } from "../scene.ts";
import { moved, zoomed } from "../zoom.ts";

/** What dragging over the chart does. */
export type Tool = "select" | "zoom" | "pan";

type Spot = readonly [x: number, y: number];

/** A hand on the chart. */
interface Hold {
  /** The plane when it was taken: each step starts from there, and none adds to the error of another. */
  readonly scales: Scales;
  readonly before: Zoom | null;
  readonly from: Spot;
  /** Between two fingers, px; 0 for a pointer. */
  readonly spread: number;
}

/** A step of a button or a key, and how far a key moves the chart, as a share of it. */
export const STEP = 1.5;
const STRIDE = 1 / 8;
/** What a pixel of the wheel and of a pinch on a touchpad does, as exponents, and the most of one event. */
const [WHEEL, PINCH, MOST] = [0.002, 0.01, 0.35];
/** Wheel and keys that pause for longer than this, ms, make two entries of the history; after less the chart rests. */
const [PAUSE, REST] = [600, 160];
/** A hand that shakes this much, px, has clicked. */
const STILL = 4;
/** Lines and pages of a wheel, px. */
const WHEEL_UNITS = [1, 16, 400];

export type Navigation = ReturnType<typeof useNavigation>;

/** What else may be held on the chart. */
interface Others {
  /** Whether something is, which must not be zoomed from under the hand. */
  isHeld(): boolean;
  /** Gives back what is held, when a second finger comes. */
  takeBack(): void;
}

export function useNavigation(store: Store, scene: Scene, others: Others) {
  const tool = useSignal<Tool>("select");
  const hold = useSignal<Hold | undefined>(undefined);
  const isStepping = useSignal(false);
  const hand = useRef({ isSpace: false, hasMoved: false, last: Number.NEGATIVE_INFINITY, run: 0 });
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  // A chart that goes, as with another view, lets go.
  useEffect(
    () => () => {
      clearTimeout(timer.current);
      letGo();
    },
    [],
  );
  const { plot, width } = scene.scales;

  /** The plane as it is by now, also between two pictures. */
  const now = () => zoomed(scene.scales.whole ?? scene.scales, store.zoom.value);
  const isSame = (next: Zoom | null) => String(next) === String(store.zoom.value);
  const isBusy = () => hold.value !== undefined || store.dragging.value || others.isHeld();

  function begin(from: Spot, spread = 0) {
    hold.value = { scales: now(), before: store.zoom.value, from, spread };
    hand.current.hasMoved = false;
    store.holdZoom();
  }
  function follow({ scales, from }: Hold, to: Spot, factor = 1) {
    hand.current.hasMoved ||= factor !== 1 || Math.hypot(to[0] - from[0], to[1] - from[1]) > STILL;
    if (hand.current.hasMoved) store.setZoom(moved(scales, from, to, factor), { stream: true });
  }
  function letGo() {
    if (!hold.value) return;
    hold.value = undefined;
    store.releaseZoom();
  }
  /** One of a run of steps, which are undone together; whether it did anything. */
  function step(from: Spot, to: Spot, factor: number, time: number): boolean {
    const next = moved(now(), from, to, factor);
    if (isBusy() || isSame(next)) return false;
    if (time - hand.current.last > PAUSE) hand.current.run = time;
    hand.current.last = time;
    store.setZoom(next, { stream: true, run: hand.current.run });
    isStepping.value = true;
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      isStepping.value = false;
    }, REST);
    return true;
  }
  const middle: Spot = [(plot.left + plot.right) / 2, (plot.top + plot.bottom) / 2];
  const fit = () => isBusy() || store.setZoom(null);
  /** Larger or smaller around a place, else around the middle. */
  const by = (factor: number, at: Spot = middle, time = performance.now()) => step(at, at, factor, time);

  function keyed(key: string, at: Spot | undefined, time: number): (() => unknown) | undefined {
    const [across, down] = [STRIDE * (plot.right - plot.left), STRIDE * (plot.bottom - plot.top)];
    const go = (right: number, up: number) => () => step(middle, [middle[0] + right, middle[1] + up], 1, time);
    const acts: Record<string, () => unknown> = {
      ...{ "+": () => by(STEP, at, time), "=": () => by(STEP, at, time), "-": () => by(1 / STEP, at, time) },
      ...{ _: () => by(1 / STEP, at, time), "0": fit },
      ...{ w: go(0, down), a: go(across, 0), s: go(0, -down), d: go(-across, 0) },
    };
    return Object.hasOwn(acts, key) ? acts[key] : undefined;
  }
  function fingers(event: TouchEvent): [Spot, number] | undefined {
    const [one, other] = [...event.touches].map((touch) => placeIn(event.currentTarget as Element, width, touch));
    if (!one || !other) return undefined;
    const [dx, dy] = [other[0] - one[0], other[1] - one[1]];
    return [[one[0] + dx / 2, one[1] + dy / 2], Math.max(1, Math.hypot(dx, dy))];
  }
  return {
    tool,
    fit,
    by,
    isHeld: hold.value !== undefined,
    isMoving: hold.value !== undefined || isStepping.value,
    /** Whether a press is of a hand that moves the chart. */
    take(event: PointerEvent, x: number, y: number): boolean {
      const moves = tool.value === "pan" || hand.current.isSpace;
      if (event.button !== 1 && !(event.button === 0 && moves)) return false;
      (event.currentTarget as Element).setPointerCapture(event.pointerId);
      begin([x, y]);
      return true;
    },
    move(x: number, y: number) {
      if (hold.value?.spread === 0) follow(hold.value, [x, y]);
    },
    letGo,
    takeBack() {
      if (hold.value) store.setZoom(hold.value.before, { stream: true });
      letGo();
    },
    isGoing: () => hand.current.hasMoved,
    /** Whether the click that comes now is the end of a drag. */
    hasMoved(): boolean {
      const { hasMoved } = hand.current;
      hand.current.hasMoved = false;
      return hasMoved;
    },
    /** What a key does, around the place that is pointed at. */
    key(event: KeyboardEvent, at: Spot | undefined): (() => unknown) | undefined {
      const { altKey, ctrlKey, metaKey, repeat, timeStamp } = event;
      const key = event.key.toLowerCase();
      if (altKey || ctrlKey || metaKey) return undefined;
      if (key !== " " || (at && !hand.current.isSpace)) return keyed(key, at, timeStamp);
      if (!repeat) hand.current.isSpace = true;
      return () => undefined;
    },
    handlers: {
      onKeyUp: ({ key }: KeyboardEvent) => {
        if (key === " ") hand.current.isSpace = false;
      },
      onBlur: () => {
        hand.current.isSpace = false;
      },
      // Else the middle button would start the browser's own scrolling.
      onMouseDown: (event: MouseEvent) => event.button === 1 && event.preventDefault(),
      onWheel(event: WheelEvent) {
        const isAsked = event.ctrlKey || event.metaKey;
        const element = event.currentTarget as Element;
        if (!isAsked && (event.shiftKey || event.altKey || !element.matches(":focus"))) return;
        const pixels = event.deltaY * (WHEEL_UNITS[event.deltaMode] ?? 1);
        const power = Math.max(-MOST, Math.min(pixels * (event.ctrlKey ? PINCH : WHEEL), MOST));
        const has = power !== 0 && by(Math.exp(-power), placeIn(element, width, event), event.timeStamp);
        // At the end of what can be shown the page may scroll on, but its own size is not what was asked.
        if (has || isAsked || isBusy()) event.preventDefault();
      },
      onTouchStart(event: TouchEvent) {
        const two = event.touches.length === 2 && fingers(event);
        if (!two) return;
        others.takeBack();
        letGo();
        begin(...two);
      },
      onTouchMove(event: TouchEvent) {
        const two = hold.value && hold.value.spread > 0 && fingers(event);
        if (!hold.value || !two) return;
        follow(hold.value, two[0], two[1] / hold.value.spread);
        // One finger scrolls the page, two do not.
        if (event.cancelable) event.preventDefault();
      },
      onTouchEnd: letGo,
      onTouchCancel: letGo,
    },
  };
}
