// What the pointer and the keys do on the chart: point at a kernel, walk from one to the next, select.

import { type Signal, useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { MEASURED, type Points } from "../../roofline/points.ts";
import type { Store } from "../../state/store.ts";
import { isModified, used } from "../../ui/keys.ts";
import { placeIn } from "../../ui/pointer_position.ts";
import type { Spot } from "../layers/rulers.tsx";
import { isShown, nearest, sightOf } from "../points/visible.ts";
import { indicesOf, type Scene } from "../scene.ts";
import type { Carry } from "./kernel_drag.ts";
import { useRubber } from "./marquee.ts";
import { useNavigation } from "./navigate.ts";
import type { Grab } from "./roof_drag.tsx";

/** A point is found within this many pixels of the pointer: all of the largest. */
const REACH = 16;

/** On a point a press means it, px; beside it the roof that runs there. */
const TOUCH = 8;

/** Keys that act once, however long they are pressed. */
const ONCE = ["Enter", " ", "f", "m", "r"];

export type Pointing = ReturnType<typeof usePointing>;

export function usePointing(
  store: Store,
  scene: Scene,
  pointedChip: Signal<string | undefined>,
  grab?: Grab,
  carry?: Carry,
) {
  // A row has several points when it was not measured, one on each roof: this is the one under the pointer.
  const last = useSignal(-1);
  const pinnedChip = useSignal<string | undefined>(undefined);
  const { points, roofs } = scene;
  const { at } = sightOf(scene);
  const hovered = store.pointed.value;
  const stands = indexOf(points, hovered, last.value);
  const index = stands >= 0 && isShown(scene, stands) ? stands : -1;
  const navigation = useNavigation(store, scene, { isHeld: () => rubber.isHeld, takeBack: drop });
  const zooms = navigation.tool.value === "zoom";
  const rubber = useRubber(store, scene, zooms);
  const grabbed = useRef(false);
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
  const keys: Record<string, () => void> = {
    ArrowRight: () => walk(1),
    ArrowLeft: () => walk(-1),
    ArrowUp: () => climb(1),
    ArrowDown: () => climb(-1),
    Enter: () => hovered !== null && choose(hovered, false),
    " ": () => hovered !== null && choose(hovered, true),
    Home: () => reach(0),
    End: () => reach(-1),
    f: () => store.freeze(),
    r: () => store.setRulers(!store.rulers.value),
    Escape: () => {
      if (navigation.isHeld || grab?.isHeld || rubber.isHeld) return takeBack();
      point(-1);
      store.select([]);
    },
  };
  function drop() {
    grab?.takeBack();
    carry?.takeBack();
    rubber.takeBack();
  }
  /** Whatever is held goes back to where it was. */
  function takeBack() {
    navigation.takeBack();
    drop();
  }
  function actOf(key: string): (() => void) | undefined {
    const carrying = carry?.keys(index);
    const all = carrying?.only ? carrying.act : { ...keys, ...carrying?.act };
    return Object.hasOwn(all, key) ? all[key] : undefined;
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
    spot.value = undefined;
    if (navigation.isHeld || (zooms && rubber.isHeld)) {
      navigation.move(x, y);
      rubber.move(x, y);
      // A click that comes now would still mean what is pointed at.
      if (navigation.isGoing() || rubber.box) point(-1);
      return;
    }
    if (grab?.isHeld) return grab.move(x, y);
    if (rubber.isHeld) return rubber.move(x, y);
    if (carry?.follow(event, x, y)) return;
    const isPress = event.type === "pointerdown";
    const carried = carry?.indexAt(event) ?? -1;
    if (isPress) {
      // Not every drag has ended in a click: of a pinch, say, there is none.
      rubber.hasDrawn();
      navigation.hasMoved();
      // A tool that was chosen takes every press; what can be grabbed is there for the hand without one.
      if (navigation.take(event, x, y)) return;
      if (zooms) return rubber.take(event, x, y);
      grabbed.current = carried < 0 && nearest(at, x, y, TOUCH) < 0 && grab?.take(event, x, y) === true;
      if (grabbed.current) return point(-1);
    }
    const found = carried < 0 ? nearest(at, x, y, REACH) : carried;
    point(found);
    if (found < 0 && !isPress && event.pointerType !== "touch") spot.value = { x, y };
    if (!isPress) return;
    if (found < 0) rubber.take(event, x, y);
    else carry?.press(event, found, x, y);
  }
  return {
    index,
    spot,
    /** Whether one is carried, or the one that is pointed at can be. */
    carries: carry?.sign(index),
    /** The rectangle that is drawn at present. */
    rubber: rubber.box,
    navigation,
    handlers: {
      ...navigation.handlers,
      onPointerMove: onPointer,
      onPointerDown: onPointer,
      onPointerUp: (event: PointerEvent) => {
        if (!event.isPrimary) return;
        navigation.letGo();
        grab?.letGo();
        carry?.letGo();
        rubber.letGo(isAdding(event));
      },
      onPointerCancel: (event: PointerEvent) => event.isPrimary && takeBack(),
      // Without an end of the drag, as when a dialog comes between; what is in the chart hands a finger on to it.
      onLostPointerCapture: ({ target, currentTarget }: PointerEvent) => target === currentTarget && takeBack(),
      // A finger that is lifted leaves too, but its tooltip stays to be read.
      onPointerLeave: (event: PointerEvent) => {
        spot.value = undefined;
        // What keys carry stays the one that is told of.
        if (event.pointerType !== "touch" && !store.kernelDrag.value) point(-1);
      },
      onFocusOut: () => {
        carry?.letGo();
        point(-1);
      },
      onContextMenu: (event: Event) => carry?.calm(event),
      onTouchMove: (event: TouchEvent) => {
        carry?.calm(event);
        navigation.handlers.onTouchMove(event);
      },
      onClick: (event: MouseEvent) => {
        // The browser calls the end of a drag a click, too.
        const wasGrabbed = grabbed.current;
        grabbed.current = false;
        if ([rubber.hasDrawn(), navigation.hasMoved(), carry?.hasCarried(), wasGrabbed].includes(true)) return;
        // The second click of two would let go of what the first has selected.
        if (event.detail > 1) return;
        if (index >= 0 && hovered !== null) choose(hovered, isAdding(event));
        else if (store.selected.value.length > 0) store.select([]);
      },
      onDblClick: (event: MouseEvent) => {
        const [x, y] = placeIn(event.currentTarget as HTMLElement, scene.scales.width, event);
        if (nearest(at, x, y, REACH) < 0) navigation.fit();
      },
      onKeyDown: (event: KeyboardEvent) => {
        const around = index < 0 ? undefined : ([at.x[index] as number, at.y[index] as number] as const);
        const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
        const own = isModified(event) ? undefined : actOf(key);
        const act = store.kernelDrag.value ? own : (navigation.key(event, around) ?? own);
        if (!act) return;
        // A key that stays pressed walks on, but does not turn on and off.
        if (!(event.repeat && ONCE.includes(key))) act();
        used(event);
      },
    },
  };
}

const isAdding = (event: MouseEvent) => event.shiftKey || event.ctrlKey || event.metaKey;

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
