// Handles pointer and keys on the chart: hover, walk from kernel to kernel, select, and start drags.

import { type Signal, useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { MEASURED, type Points } from "../../roofline/points.ts";
import { ALL_LEVELS } from "../../roofline/roofline.ts";
import type { Store } from "../../state/store.ts";
import { isModified, keyShortcuts, lookUp, UNDO_KEYS, used } from "../../ui/keys.ts";
import { placeIn } from "../../ui/pointer_position.ts";
import type { PointerPosition } from "../layers/rulers.tsx";
import { isShown, nearest, visiblePoints } from "../points/visible.ts";
import { clamp, spotAt } from "../scales.ts";
import { indicesOf, type Scene } from "../scene.ts";
import type { ChartGesture } from "./chart_drag.ts";
import { KERNEL_DRAG_KEYS, KERNEL_KEYS, type KernelDrag } from "./kernel_drag.ts";
import { isAdding, useMarquee } from "./marquee.ts";
import { NAVIGATION_KEYS, useNavigation } from "./navigate.ts";
import { startRoofDrag } from "./roof_drag.tsx";

/**
 * The pointer hovers over the nearest point if the point is within this distance, px. This distance is the radius of
 * the largest point.
 */
const HOVER_PX = 16;
/** A press within this distance of a point, px, is on the point. A press farther away may be on a roof. */
const PRESS_PX = 8;

/** The keys of the chart, except those that zoom and pan. */
export const CHART_KEYS = {
  ArrowRight: "next",
  ArrowLeft: "previous",
  ArrowUp: "higher",
  ArrowDown: "lower",
  Home: "first",
  End: "last",
  Enter: "select",
  " ": "selectMore",
  f: "freeze",
  r: "gaps",
  l: "levels",
  Escape: "leave",
} as const;
/** The key that explains the marks. It works on the toolbar too. */
export const EXPLAIN_KEYS = ["?"] as const;
/** The values of `aria-keyshortcuts`: one value for each plane, and one value while a kernel is dragged. */
const SHORTCUTS = {
  roofline: keyShortcuts(CHART_KEYS, KERNEL_KEYS, NAVIGATION_KEYS, EXPLAIN_KEYS, UNDO_KEYS),
  time: keyShortcuts(CHART_KEYS, NAVIGATION_KEYS, EXPLAIN_KEYS, UNDO_KEYS),
  kernelDrag: keyShortcuts(KERNEL_DRAG_KEYS),
};
/** Keys that do not repeat while they are pressed. */
const ONCE = ["Enter", " ", "f", "l", "m", "r"];

export type Pointing = ReturnType<typeof usePointing>;

interface PointingOptions {
  readonly store: Store;
  readonly scene: Scene;
  readonly gesture: ChartGesture;
  /**
   * The chip of the hovered mark. An unmeasured kernel has a mark on the roof of each chip. This hook sets the signal.
   */
  readonly pointedChip: Signal<string | undefined>;
  /** The drag of kernels. Undefined in the time view, because roofs and kernels cannot be dragged there. */
  readonly kernelDrag?: KernelDrag;
}

export function usePointing({ store, scene, gesture, pointedChip, kernelDrag }: PointingOptions) {
  // The index of the point under the pointer, or -1. The row alone does not identify the point, because an unmeasured
  // kernel has a point on each roof.
  const last = useSignal(-1);
  const pinnedChip = useSignal<string | undefined>(undefined);
  const { points, roofs } = scene;
  const { at } = visiblePoints(scene);
  const hovered = store.rows.pointed.value;
  const found = indexOf(points, hovered, last.value);
  const index = found >= 0 && isShown(scene, found) ? found : -1;
  const navigation = useNavigation(store, scene, gesture);
  const zooms = navigation.tool.value === "zoom";
  const marquee = useMarquee(store, scene, gesture, zooms);
  /** Whether the last press was that of a finger on a point that was not hovered before. */
  const isFirstTap = useRef(false);
  /** The place of the pointer while no point is hovered. */
  const spot = useSignal<PointerPosition | undefined>(undefined);

  function point(next: number) {
    last.value = next;
    // When the pointer leaves, the sentence under the chart describes the selected kernel again. It describes the
    // kernel on the chip on which the user selected it.
    pointedChip.value = next < 0 ? pinnedChip.value : roofs[points.roof[next] ?? MEASURED]?.chip.id;
    store.rows.hover(next < 0 ? null : (points.row[next] as number));
  }
  function choose(row: number, add: boolean) {
    pinnedChip.value = pointedChip.value;
    store.rows.select(chosenRows(store.rows.selected.value, row, add));
  }
  const acts = {
    next: () => walk(1),
    previous: () => walk(-1),
    higher: () => climb(1),
    lower: () => climb(-1),
    first: () => reach(0),
    last: () => reach(-1),
    select: () => hovered !== null && choose(hovered, false),
    selectMore: () => hovered !== null && choose(hovered, true),
    freeze: () => store.view.freeze(),
    gaps: () => store.view.cycleGaps(),
    levels: () => cycleLevels(store),
    leave() {
      if (gesture.drag) return gesture.cancel();
      point(-1);
      store.rows.select([]);
    },
  };
  function actOf(key: string): (() => unknown) | undefined {
    const ofKernel = lookUp(KERNEL_KEYS, key);
    if (ofKernel && kernelDrag) return kernelDrag.acts(index)[ofKernel];
    const name = lookUp(CHART_KEYS, key);
    return name && acts[name];
  }
  function walk(by: number) {
    const rows = rowsInOrder(scene);
    point(points.home[step(rows, rows.indexOf(hovered ?? -1), by)] ?? -1);
  }
  const reach = (place: number) => point(points.home[rowsInOrder(scene).at(place) ?? -1] ?? -1);
  function climb(by: number) {
    if (hovered === null) return;
    const marks = marksOf(scene, hovered);
    point(step(marks, marks.indexOf(index), by));
  }

  function onPointer(event: PointerEvent) {
    // The second of two touches only takes part in a pinch.
    if (!event.isPrimary) return;
    const [x, y] = placeIn(event.currentTarget as HTMLElement, scene.scales.width, event);
    const isPress = event.type === "pointerdown";
    spot.value = undefined;
    if (isPress || gesture.drag?.isVoid?.()) gesture.end();
    const { drag } = gesture;
    if (drag) {
      gesture.move(x, y, event.shiftKey);
      // Stop hovering. Otherwise a click at the end of the drag would select the hovered point.
      if (drag.hasMoved() && (drag.kind === "plane" || (drag.kind === "marquee" && zooms))) point(-1);
      if (gesture.drag) return;
    }
    const pressed = kernelDrag?.indexAt(event) ?? -1;
    if (isPress) {
      // The last drag may have ended without a click, for example after a pinch. Without this call the click of this
      // press would be ignored.
      gesture.takeVoidClick();
      // First try a drag with the toolbar's tool, then a drag that needs no tool.
      if (navigation.start(event, x, y)) return;
      if (zooms) return marquee.start(event, x, y);
      const isOnPoint = pressed >= 0 || nearest(at, x, y, PRESS_PX) >= 0;
      if (kernelDrag && !isOnPoint && startRoofDrag({ store, scene, gesture }, event, x, y)) return point(-1);
    }
    const found = pressed < 0 ? nearest(at, x, y, HOVER_PX) : pressed;
    if (isPress) isFirstTap.current = event.pointerType === "touch" && found !== index;
    point(found);
    if (found < 0 && !isPress && event.pointerType !== "touch") spot.value = { x, y };
    if (!isPress) return;
    if (found < 0) marquee.start(event, x, y);
    else kernelDrag?.press(event, found, x, y);
  }
  return {
    index,
    spot,
    pointedChip,
    /** The style of the cursor while a kernel is dragged, and while the pointer is on a kernel that can be dragged. */
    kernelCursor: kernelDrag?.cursor(index),
    /** The current rectangle of the marquee. */
    marquee: marquee.box,
    navigation,
    shortcuts: SHORTCUTS[store.rows.kernelDrag.value ? "kernelDrag" : kernelDrag ? "roofline" : "time"],
    handlers: {
      ...navigation.handlers,
      onPointerMove: onPointer,
      onPointerDown: onPointer,
      onPointerUp: (event: PointerEvent) => event.isPrimary && gesture.end(event),
      onPointerCancel: (event: PointerEvent) => event.isPrimary && gesture.cancel(),
      // The browser can release the capture without pointerup, for example when a dialog opens. Ignore events from
      // elements inside the chart: such an element captures a touch before the chart does.
      onLostPointerCapture: ({ target, currentTarget }: PointerEvent) => target === currentTarget && gesture.cancel(),
      // At the end of a touch the browser also sends pointerleave. Keep the tooltip of the touched point.
      onPointerLeave: (event: PointerEvent) => {
        spot.value = undefined;
        // During a drag by keys the hovered kernel stays the same.
        if (event.pointerType !== "touch" && !store.rows.kernelDrag.value) point(-1);
      },
      onFocusOut: () => {
        if (gesture.drag?.kind === "kernel") gesture.end();
        point(-1);
      },
      onContextMenu: (event: Event) => {
        // A finger that rests on the roof or on a kernel opens no menu.
        if (gesture.drag?.kind === "roof") event.preventDefault();
        kernelDrag?.preventScroll(event);
      },
      onTouchMove: (event: TouchEvent) => {
        kernelDrag?.preventScroll(event);
        navigation.handlers.onTouchMove(event);
      },
      onClick: (event: MouseEvent) => {
        // Ignore the second click of a double click, because it would deselect the row.
        const isTouch = (event as PointerEvent).pointerType === "touch";
        if (gesture.takeVoidClick() || (event.detail > 1 && !isTouch)) return;
        // The first tap of a finger only shows what a mouse shows over the point. The second tap selects it.
        if (index >= 0 && isFirstTap.current) return;
        if (index >= 0 && hovered !== null) choose(hovered, isAdding(event));
        else if (store.rows.selected.value.length > 0) store.rows.select([]);
      },
      onDblClick: (event: MouseEvent) => {
        const [x, y] = placeIn(event.currentTarget as HTMLElement, scene.scales.width, event);
        if (nearest(at, x, y, HOVER_PX) < 0) navigation.fit();
      },
      onKeyDown: (event: KeyboardEvent) => {
        const around = index < 0 ? undefined : spotAt(at, index);
        const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
        const isAlone = !isModified(event);
        const act = store.rows.kernelDrag.value
          ? isAlone && kernelDrag?.dragAct(key)
          : (navigation.key(event, around) ?? (isAlone && actOf(key)));
        if (!act) return;
        // While a key stays pressed, a walk continues. The keys in ONCE act only at the first event.
        if (!(event.repeat && ONCE.includes(key))) act();
        used(event);
      },
    },
  };
}

/**
 * Returns the selection after a choice of a row: this row alone, or none if it was alone. With `add`, the row is added to
 * the selection or removed from it.
 */
export function chosenRows(selected: readonly number[], row: number, add: boolean): readonly number[] {
  const others = selected.filter((other) => other !== row);
  const isIn = others.length < selected.length;
  if (add) return isIn ? others : [...selected, row];
  return isIn && others.length === 0 ? [] : [row];
}

/** Shows all memory levels, then joins the points of each kernel, then shows the main memory alone. */
export function cycleLevels({ rates, view, lesson }: Pick<Store, "rates" | "view" | "lesson">) {
  const isAll = rates.memory.value === ALL_LEVELS;
  if (isAll && !view.allJoins.value && !lesson.isLocked("view")) return view.setAllJoins(true);
  view.setAllJoins(false);
  const hasLevels = rates.chips.value.some(({ memories }) => [...memories.values()].filter(Boolean).length > 1);
  if (isAll || hasLevels) rates.chooseMemory(isAll ? "main" : ALL_LEVELS);
}

/** Returns the points of a row, from the bottom up. Points at the same height are ordered from left to right. */
export function marksOf(scene: Scene, row: number): number[] {
  const { x, y } = scene.at;
  const away = (a: number, b: number) => (y[b] as number) - (y[a] as number) || (x[a] as number) - (x[b] as number);
  return indicesOf(scene, row).sort(away);
}

/**
 * Returns the element `by` places after `now`, limited to the ends of the list. If `now` is -1: returns the first
 * element for a positive `by`, and the last element for a negative `by`.
 */
export function step(along: readonly number[], now: number, by: number): number {
  const to = now < 0 ? (by > 0 ? 0 : along.length - 1) : now + by;
  return along[clamp(to, 0, along.length - 1)] ?? -1;
}

/**
 * Returns the index of the hovered row's point. If the point `last`, which was last under the pointer, belongs to the
 * row, returns `last`. Otherwise Python has hovered the row, and the function returns the row's main point.
 */
function indexOf(points: Points, hovered: number | null, last: number): number {
  if (hovered === null) return -1;
  return last < points.n && points.row[last] === hovered ? last : (points.home[hovered] ?? -1);
}

/** The rows with a visible point, ordered by rising intensity. */
function rowsInOrder(scene: Scene): number[] {
  const { x, row, home, n } = scene.points;
  const rows: number[] = [];
  for (let index = 0; index < n; index++) {
    if (home[row[index] as number] === index && isShown(scene, index)) rows.push(row[index] as number);
  }
  return rows.sort((a, b) => (x[home[a] as number] as number) - (x[home[b] as number] as number));
}
