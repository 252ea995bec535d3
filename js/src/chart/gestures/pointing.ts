// What the pointer and the keys do on the chart: point at a kernel, walk from one to the next, select, and start drags.

import { type Signal, useSignal } from "@preact/signals";
import { MEASURED, type Points } from "../../roofline/points.ts";
import type { Store } from "../../state/store.ts";
import { isModified, keyShortcuts, lookUp, UNDO_KEYS, used } from "../../ui/keys.ts";
import { placeIn } from "../../ui/pointer_position.ts";
import type { Spot } from "../layers/rulers.tsx";
import { isShown, nearest, sightOf } from "../points/visible.ts";
import { indicesOf, type Scene } from "../scene.ts";
import type { ChartGesture } from "./chart_drag.ts";
import { KERNEL_DRAG_KEYS, KERNEL_KEYS, type KernelDrag } from "./kernel_drag.ts";
import { isAdding, useMarquee } from "./marquee.ts";
import { NAVIGATION_KEYS, useNavigation } from "./navigate.ts";
import { startRoofDrag } from "./roof_drag.tsx";

/** A point is found within this distance of the pointer, px: the radius of the largest. */
const HOVER_PX = 16;
/** A press this near to a point means the point, px; beside it the roof that runs there. */
const PRESS_PX = 8;

/** The keys of the chart beside those that move around in it. */
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
  r: "rulers",
  Escape: "leave",
} as const;
/** The keys that each plane announces, and a kernel that is dragged. */
const SHORTCUTS = {
  roofline: keyShortcuts(CHART_KEYS, KERNEL_KEYS, NAVIGATION_KEYS, UNDO_KEYS),
  time: keyShortcuts(CHART_KEYS, NAVIGATION_KEYS, UNDO_KEYS),
  kernelDrag: keyShortcuts(KERNEL_DRAG_KEYS),
};
/** Keys that act once, however long they are pressed. */
const ONCE = ["Enter", " ", "f", "m", "r"];

export type Pointing = ReturnType<typeof usePointing>;

interface PointingOptions {
  readonly store: Store;
  readonly scene: Scene;
  readonly gesture: ChartGesture;
  /** Set to the chip on whose roof an unmeasured kernel is pointed at. */
  readonly pointedChip: Signal<string | undefined>;
  /** Where roofs and kernels can be dragged. */
  readonly kernelDrag?: KernelDrag;
}

export function usePointing({ store, scene, gesture, pointedChip, kernelDrag }: PointingOptions) {
  // A row has several points when it was not measured, one on each roof: this is the one under the pointer.
  const last = useSignal(-1);
  const pinnedChip = useSignal<string | undefined>(undefined);
  const { points, roofs } = scene;
  const { at } = sightOf(scene);
  const hovered = store.pointed.value;
  const stands = indexOf(points, hovered, last.value);
  const index = stands >= 0 && isShown(scene, stands) ? stands : -1;
  const navigation = useNavigation(store, scene, gesture);
  const zooms = navigation.tool.value === "zoom";
  const marquee = useMarquee(store, scene, gesture, zooms);
  /** Where the pointer is on empty space. */
  const spot = useSignal<Spot | undefined>(undefined);

  function point(next: number) {
    last.value = next;
    // On leaving, the sentence goes back to what is selected, on the chip where it was.
    pointedChip.value = next < 0 ? pinnedChip.value : roofs[points.roof[next] ?? MEASURED]?.chip.id;
    store.hover(next < 0 ? null : (points.row[next] as number));
  }
  /** Select a row alone, or with a modifier beside the others; what is selected alone is let go. */
  function choose(row: number, add: boolean) {
    const rows = store.selected.value;
    const others = rows.filter((other) => other !== row);
    pinnedChip.value = pointedChip.value;
    if (add) store.select(rows.includes(row) ? others : [...rows, row]);
    else store.select(rows.includes(row) && others.length === 0 ? [] : [row]);
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
    freeze: () => store.freeze(),
    rulers: () => store.setRulers(!store.rulers.value),
    leave() {
      if (gesture.drag) return gesture.cancel();
      point(-1);
      store.select([]);
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
    // Of two fingers on the chart the second only pinches.
    if (!event.isPrimary) return;
    const [x, y] = placeIn(event.currentTarget as HTMLElement, scene.scales.width, event);
    const isPress = event.type === "pointerdown";
    spot.value = undefined;
    if (isPress || gesture.drag?.isVoid?.()) gesture.end();
    const { drag } = gesture;
    if (drag) {
      gesture.move(x, y);
      // A click that comes now would still mean what is pointed at.
      if (drag.hasMoved() && (drag.kind === "plane" || (drag.kind === "marquee" && zooms))) point(-1);
      if (gesture.drag) return;
    }
    const pressed = kernelDrag?.indexAt(event) ?? -1;
    if (isPress) {
      // Not every drag has ended in a click: there is none of a pinch.
      gesture.takeVoidClick();
      // A tool that was chosen takes every press; what can be dragged without one comes after it.
      if (navigation.start(event, x, y)) return;
      if (zooms) return marquee.start(event, x, y);
      const isOnPoint = pressed >= 0 || nearest(at, x, y, PRESS_PX) >= 0;
      if (kernelDrag && !isOnPoint && startRoofDrag({ store, scene, gesture }, event, x, y)) return point(-1);
    }
    const found = pressed < 0 ? nearest(at, x, y, HOVER_PX) : pressed;
    point(found);
    if (found < 0 && !isPress && event.pointerType !== "touch") spot.value = { x, y };
    if (!isPress) return;
    if (found < 0) marquee.start(event, x, y);
    else kernelDrag?.press(event, found, x, y);
  }
  return {
    index,
    spot,
    /** Whether a kernel is dragged, or the one that is pointed at can be. */
    kernelCursor: kernelDrag?.cursor(index),
    /** The rectangle that is drawn at present. */
    marquee: marquee.box,
    navigation,
    shortcuts: SHORTCUTS[store.kernelDrag.value ? "kernelDrag" : kernelDrag ? "roofline" : "time"],
    handlers: {
      ...navigation.handlers,
      onPointerMove: onPointer,
      onPointerDown: onPointer,
      onPointerUp: (event: PointerEvent) => event.isPrimary && gesture.end(event),
      onPointerCancel: (event: PointerEvent) => event.isPrimary && gesture.cancel(),
      // Without an end of the drag, as when a dialog comes between. A finger's events go to what it pressed, inside the
      // chart: that loses its capture as soon as the chart gets it.
      onLostPointerCapture: ({ target, currentTarget }: PointerEvent) => target === currentTarget && gesture.cancel(),
      // A finger that is lifted leaves too, but its tooltip stays to be read.
      onPointerLeave: (event: PointerEvent) => {
        spot.value = undefined;
        // A kernel that keys drag stays the one that is described.
        if (event.pointerType !== "touch" && !store.kernelDrag.value) point(-1);
      },
      onFocusOut: () => {
        if (gesture.drag?.kind === "kernel") gesture.end();
        point(-1);
      },
      onContextMenu: (event: Event) => kernelDrag?.preventScroll(event),
      onTouchMove: (event: TouchEvent) => {
        kernelDrag?.preventScroll(event);
        navigation.handlers.onTouchMove(event);
      },
      onClick: (event: MouseEvent) => {
        // The second click of two would undo the selection of the first.
        if (gesture.takeVoidClick() || event.detail > 1) return;
        if (index >= 0 && hovered !== null) choose(hovered, isAdding(event));
        else if (store.selected.value.length > 0) store.select([]);
      },
      onDblClick: (event: MouseEvent) => {
        const [x, y] = placeIn(event.currentTarget as HTMLElement, scene.scales.width, event);
        if (nearest(at, x, y, HOVER_PX) < 0) navigation.fit();
      },
      onKeyDown: (event: KeyboardEvent) => {
        const around = index < 0 ? undefined : ([at.x[index] as number, at.y[index] as number] as const);
        const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
        const isAlone = !isModified(event);
        const act = store.kernelDrag.value
          ? isAlone && kernelDrag?.dragAct(key)
          : (navigation.key(event, around) ?? (isAlone && actOf(key)));
        if (!act) return;
        // A key that stays pressed walks on, but does not turn on and off.
        if (!(event.repeat && ONCE.includes(key))) act();
        used(event);
      },
    },
  };
}

/** The marks of a row from the lowest up, of one height from left to right; those in one place follow one another. */
export function marksOf(scene: Scene, row: number): number[] {
  const { x, y } = scene.at;
  const away = (a: number, b: number) => (y[b] as number) - (y[a] as number) || (x[a] as number) - (x[b] as number);
  return indicesOf(scene, row).sort(away);
}

/** The one `by` places farther along, or the last of its end; from nowhere the first of its direction. */
export function step(along: readonly number[], now: number, by: number): number {
  const to = now < 0 ? (by > 0 ? 0 : along.length - 1) : now + by;
  return along[Math.max(0, Math.min(to, along.length - 1))] ?? -1;
}

/** The point of the hovered row: the one pointed at last, or, when Python points, the one that stands for the row. */
function indexOf(points: Points, hovered: number | null, last: number): number {
  if (hovered === null) return -1;
  return last < points.n && points.row[last] === hovered ? last : (points.home[hovered] ?? -1);
}

/** Rows that have a place in sight, by rising intensity. */
function rowsInOrder(scene: Scene): number[] {
  const { x, row, home, n } = scene.points;
  const rows: number[] = [];
  for (let index = 0; index < n; index++) {
    if (home[row[index] as number] === index && isShown(scene, index)) rows.push(row[index] as number);
  }
  return rows.sort((a, b) => (x[home[a] as number] as number) - (x[home[b] as number] as number));
}
