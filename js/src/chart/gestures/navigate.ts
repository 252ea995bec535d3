// Zooms and pans the plane by wheel, pinch, drag and keys.

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Store } from "../../state/store.ts";
import { lookUp } from "../../ui/keys.ts";
import { placeIn } from "../../ui/pointer_position.ts";
import type { Zoom } from "../../wire/types.ts";
import type { Spot } from "../paths.ts";
import { clamp } from "../scales.ts";
import type { Scene } from "../scene.ts";
import { zoomAround, zoomed } from "../zoom.ts";
import { type ChartGesture, CLICK_PX } from "./chart_drag.ts";

/** The tool decides what a drag over the chart does. */
export type Tool = "select" | "zoom" | "pan";

/** The keys that zoom and pan. A drag while Space is pressed also pans the plane. */
export const NAVIGATION_KEYS = {
  "+": "zoomIn",
  "=": "zoomIn",
  "-": "zoomOut",
  _: "zoomOut",
  "0": "fit",
  w: "up",
  a: "left",
  s: "down",
  d: "right",
} as const;

/** The zoom factor of a button or a key. */
export const STEP = 1.5;
/** The distance that one key press pans, as a share of the plot's size. */
const KEY_STRIDE = 1 / 8;
/**
 * Exponents of the zoom factor. WHEEL: per px of the wheel. PINCH: per px of a touchpad pinch. MAX_EXPONENT: the
 * maximum for one event.
 */
const [WHEEL, PINCH, MAX_EXPONENT] = [0.002, 0.01, 0.35];
/** A pause between two steps of the wheel or of keys that is longer than this, ms, starts a new undo entry. */
const UNDO_PAUSE_MS = 600;
/** The time after the last step, ms, until the motion of the plane counts as finished. */
const REST_MS = 160;
/** How many px one unit of a wheel event stands for. The units are pixel, line and page. */
const WHEEL_UNITS_PX = [1, 16, 400];

export type Navigation = ReturnType<typeof useNavigation>;

export function useNavigation(store: Store, scene: Scene, gesture: ChartGesture) {
  const tool = useSignal<Tool>("select");
  const isStepping = useSignal(false);
  /** Whether Space is pressed. */
  const isSpace = useRef(false);
  const lastStep = useRef({ time: Number.NEGATIVE_INFINITY, run: 0 });
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const { plot, width } = scene.scales;

  /**
   * Returns the current scales. The zoom may have changed since the last frame was drawn, and `scene` contains the
   * scales of that frame.
   */
  const now = () => zoomed(scene.scales.whole ?? scene.scales, store.view.zoom.value);
  const isSame = (next: Zoom | null) => String(next) === String(store.view.zoom.value);
  const isLocked = () => store.lesson.isLocked("view");
  const isBusy = () => store.view.isHeld.value || (gesture.drag !== undefined && gesture.drag.kind !== "kernel");

  /**
   * Creates a drag of the plane. Each move is computed from the plane at the start, so that rounding errors do not add
   * up.
   */
  function planeDrag(from: Spot) {
    const scales = now();
    const zoom = store.view.dragZoom();
    let hasMoved = false;
    function to(place: Spot, factor = 1) {
      hasMoved ||= factor !== 1 || Math.hypot(place[0] - from[0], place[1] - from[1]) > CLICK_PX;
      if (hasMoved) zoom.move(zoomAround(scales, from, place, factor));
    }
    return { to, drag: { kind: "plane", hasMoved: () => hasMoved, end: zoom.end, cancel: zoom.cancel } as const };
  }
  /** Zooms or pans by one step. Steps in quick succession are one undo entry. Returns whether the plane has changed. */
  function step(from: Spot, to: Spot, factor: number, time: number): boolean {
    const next = zoomAround(now(), from, to, factor);
    if (isBusy() || isLocked() || isSame(next)) return false;
    if (time - lastStep.current.time > UNDO_PAUSE_MS) lastStep.current.run = time;
    lastStep.current.time = time;
    store.view.setZoom(next, { stream: true, run: lastStep.current.run });
    isStepping.value = true;
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      isStepping.value = false;
    }, REST_MS);
    return true;
  }
  const middle: Spot = [(plot.left + plot.right) / 2, (plot.top + plot.bottom) / 2];
  const fit = () => isBusy() || store.view.setZoom(null);
  /** Zooms by a factor around a place, by default the middle of the plot. */
  const by = (factor: number, at: Spot = middle, time = performance.now()) => step(at, at, factor, time);

  function keyed(key: string, at: Spot | undefined, time: number): (() => unknown) | undefined {
    const [across, down] = [KEY_STRIDE * (plot.right - plot.left), KEY_STRIDE * (plot.bottom - plot.top)];
    const go = (right: number, up: number) => () => step(middle, [middle[0] + right, middle[1] + up], 1, time);
    const acts = {
      zoomIn: () => by(STEP, at, time),
      zoomOut: () => by(1 / STEP, at, time),
      fit,
      up: go(0, down),
      left: go(across, 0),
      down: go(0, -down),
      right: go(-across, 0),
    };
    const name = lookUp(NAVIGATION_KEYS, key);
    return name && acts[name];
  }
  function fingers(event: TouchEvent): [Spot, number] | undefined {
    const [one, other] = [...event.touches].map((touch) => placeIn(event.currentTarget as Element, width, touch));
    if (!one || !other) return undefined;
    const [dx, dy] = [other[0] - one[0], other[1] - one[1]];
    return [[one[0] + dx / 2, one[1] + dy / 2], Math.max(1, Math.hypot(dx, dy))];
  }
  const endPlaneDrag = () => {
    if (gesture.drag?.kind === "plane") gesture.end();
  };
  return {
    tool,
    fit,
    by,
    isDragged: gesture.drag?.kind === "plane",
    isMoving: gesture.drag?.kind === "plane" || isStepping.value,
    /** Starts a drag of the plane if the press should pan it. Returns whether the drag has started. */
    start(event: PointerEvent, x: number, y: number): boolean {
      const pans = tool.value === "pan" || isSpace.current;
      if (isLocked() || (event.button !== 1 && !(event.button === 0 && pans))) return false;
      const { drag, to } = planeDrag([x, y]);
      gesture.start({ ...drag, move: (x, y) => to([x, y]) }, event);
      return true;
    },
    /** Returns the action of a key. A zoom by key is around the hovered point. */
    key(event: KeyboardEvent, at: Spot | undefined): (() => unknown) | undefined {
      const { altKey, ctrlKey, metaKey, repeat, timeStamp } = event;
      const key = event.key.toLowerCase();
      if (altKey || ctrlKey || metaKey) return undefined;
      if (key !== " " || (at && !isSpace.current)) return keyed(key, at, timeStamp);
      if (!repeat) isSpace.current = true;
      return () => undefined;
    },
    handlers: {
      onKeyUp: ({ key }: KeyboardEvent) => {
        if (key === " ") isSpace.current = false;
      },
      onBlur: () => {
        isSpace.current = false;
      },
      // Without preventDefault, the middle button would start the browser's own scrolling.
      onMouseDown: (event: MouseEvent) => event.button === 1 && event.preventDefault(),
      onWheel(event: WheelEvent) {
        const isControl = event.ctrlKey || event.metaKey;
        const element = event.currentTarget as Element;
        if (!isControl && (event.shiftKey || event.altKey || !element.matches(":focus"))) return;
        const pixels = event.deltaY * (WHEEL_UNITS_PX[event.deltaMode] ?? 1);
        const power = clamp(pixels * (event.ctrlKey ? PINCH : WHEEL), -MAX_EXPONENT, MAX_EXPONENT);
        const has = power !== 0 && by(Math.exp(-power), placeIn(element, width, event), event.timeStamp);
        // If the wheel cannot zoom the chart further, the wheel scrolls the page. The wheel with Ctrl must not zoom the
        // page.
        if (has || isControl || isBusy()) event.preventDefault();
      },
      onTouchStart(event: TouchEvent) {
        const two = event.touches.length === 2 && fingers(event);
        if (!two || isLocked()) return;
        if (gesture.drag?.kind !== "plane") gesture.cancel();
        const [middle, spread] = two;
        const { drag, to } = planeDrag(middle);
        gesture.start({ ...drag, pinch: (middle, now) => to(middle, now / spread) });
      },
      onTouchMove(event: TouchEvent) {
        const pinch = gesture.drag?.pinch;
        const two = pinch && fingers(event);
        if (!two) return;
        pinch(...two);
        // A pinch must not scroll the page.
        if (event.cancelable) event.preventDefault();
      },
      onTouchEnd: endPlaneDrag,
      onTouchCancel: endPlaneDrag,
    },
  };
}
