// What the pointer and the keys do on the chart: point at a kernel, walk from one to the next, select.

import { type Signal, useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { isModified } from "../keys.ts";
import { MEASURED, type Points } from "../points.ts";
import { nearest } from "../scales.ts";
import type { Store } from "../store.ts";
import type { Grab } from "./grab.tsx";
import { useRubber } from "./rubber.ts";
import { indicesOf, type Scene } from "./scene.ts";

/** A point is found within this many pixels of the pointer: all of the largest. */
const REACH = 16;

/** On a point a press means it, px; beside it the roof that runs there. */
const TOUCH = 8;

export function usePointing(store: Store, scene: Scene, pointedChip: Signal<string | undefined>, grab?: Grab) {
  // A row has several points when it was not measured, one on each roof: this is the one under the pointer.
  const last = useSignal(-1);
  const pinnedChip = useSignal<string | undefined>(undefined);
  const { points, roofs, at } = scene;
  const hovered = store.pointed.value;
  const index = indexOf(points, hovered, last.value);
  const rubber = useRubber(store, scene);
  const grabbed = useRef(false);

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
    Escape: () => {
      if (grab?.isHeld) return grab.takeBack();
      if (rubber.isHeld) return rubber.takeBack();
      point(-1);
      store.select([]);
    },
  };
  function walk(by: number) {
    const rows = rowsInOrder(points);
    point(points.home[step(rows, rows.indexOf(hovered ?? -1), by)] ?? -1);
  }
  function climb(by: number) {
    if (hovered === null) return;
    const marks = marksOf(scene, hovered);
    point(step(marks, marks.indexOf(index), by));
  }

  function onPointer(event: PointerEvent) {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    if (grab?.isHeld) return grab.move(x, y);
    if (rubber.isHeld) return rubber.move(x, y);
    if (event.type === "pointerdown") {
      grabbed.current = nearest(at, x, y, TOUCH) < 0 && grab?.take(event, x, y) === true;
      if (grabbed.current) return point(-1);
    }
    const found = nearest(at, x, y, REACH);
    point(found);
    if (found < 0 && event.type === "pointerdown") rubber.take(event, x, y);
  }
  return {
    index,
    /** The rectangle that is drawn at present. */
    rubber: rubber.box,
    handlers: {
      onPointerMove: onPointer,
      onPointerDown: onPointer,
      onPointerUp: (event: PointerEvent) => {
        grab?.letGo();
        rubber.letGo(isAdding(event));
      },
      onPointerCancel: () => {
        grab?.takeBack();
        rubber.takeBack();
      },
      // A finger that is lifted leaves too, but its tooltip stays to be read.
      onPointerLeave: (event: PointerEvent) => event.pointerType !== "touch" && point(-1),
      onFocusOut: () => point(-1),
      onClick: (event: MouseEvent) => {
        // The browser calls the end of a drag a click, too.
        const wasGrabbed = grabbed.current;
        grabbed.current = false;
        if (rubber.hasDrawn() || wasGrabbed) return;
        if (hovered !== null) choose(hovered, isAdding(event));
        else if (store.selected.value.length > 0) store.select([]);
      },
      onKeyDown: (event: KeyboardEvent) => {
        const act = isModified(event) || !Object.hasOwn(keys, event.key) ? undefined : keys[event.key];
        if (!act) return;
        act();
        event.preventDefault();
        event.stopPropagation();
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

/** Rows that have a place, by rising intensity. */
function rowsInOrder({ x, row, home, n }: Points): number[] {
  const rows: number[] = [];
  for (let index = 0; index < n; index++) if (home[row[index] as number] === index) rows.push(row[index] as number);
  return rows.sort((a, b) => (x[home[a] as number] as number) - (x[home[b] as number] as number));
}
