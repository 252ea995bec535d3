// Finds overlapping boxes quickly. The chart is divided into horizontal strips. Each strip lists the boxes that overlap
// it.

import { type Box, clamp } from "../scales.ts";
import type { Anchor } from "./candidates.ts";

/**
 * For each strip, the boxes that overlap it. The strips are numbered from the top. A box whose place is NaN is in no
 * strip.
 */
export type BoxIndex = Map<number, Box[]>;

/**
 * The height of a strip, px, and the number of the last strip. The last strip also contains the boxes below this strip.
 */
const [STRIP_PX, LAST_STRIP] = [16, 255];

/**
 * Returns the number of the strip at the height `y`, px. Strip -1 contains the boxes above the chart. `y` may be
 * infinite.
 */
const stripOf = (y: number) => clamp(Math.floor(y / STRIP_PX), -1, LAST_STRIP);

export const indexBoxes = (boxes: readonly Box[] = []) => addBoxes(new Map(), boxes);

export function addBoxes(index: BoxIndex, boxes: readonly Box[]): BoxIndex {
  for (const box of boxes) {
    for (let at = stripOf(box.top); at <= stripOf(box.bottom); at++) {
      const strip = index.get(at);
      if (strip) strip.push(box);
      else index.set(at, [box]);
    }
  }
  return index;
}

/**
 * Returns whether `boxes` overlap no indexed box. A box must also be at least `gap` px away from the indexed boxes to
 * its left and right.
 */
export function areClear(boxes: readonly Box[], index: BoxIndex, gap = 0): boolean {
  for (const box of boxes) {
    for (let at = stripOf(box.top); at <= stripOf(box.bottom); at++) {
      for (const other of index.get(at) ?? []) if (overlap(box, other, gap)) return false;
    }
  }
  return true;
}

/** Returns the total width of the parts of the indexed boxes that `boxes` cover, px. */
export function coveredPx(boxes: readonly Box[], index: BoxIndex): number {
  let sum = 0;
  for (const box of boxes) {
    const [first, last] = [stripOf(box.top), stripOf(box.bottom)];
    const strips = Array.from({ length: last - first + 1 }, (_, at) => index.get(first + at) ?? []);
    for (const other of new Set(strips.flat())) {
      if (overlap(box, other)) sum += Math.min(box.right, other.right) - Math.max(box.left, other.left);
    }
  }
  return sum;
}

/** Whether a box is inside the `bounds`. */
export const isInside = (box: Box, bounds: Box) =>
  box.left >= bounds.left && box.right <= bounds.right && box.top >= bounds.top && box.bottom <= bounds.bottom;

/** Returns the distance of a box from a place, px. */
export const distanceTo = (box: Box, x: number, y: number) =>
  Math.hypot(x - clamp(x, box.left, box.right), y - clamp(y, box.top, box.bottom));

/** Returns the square around a place. `half`: half the side of the square, px. */
export const squareAround = (x: number, y: number, half: number): Box => ({
  ...{ left: x - half, right: x + half, top: y - half, bottom: y + half },
});

/** Returns where a text of this width begins, px. `x`: the place of its anchor. */
export const startOf = (x: number, anchor: Anchor, width: number) =>
  x - (anchor === "start" ? 0 : anchor === "end" ? width : width / 2);

export const overlap = (a: Box, b: Box, gap = 0) =>
  a.left < b.right + gap && b.left < a.right + gap && a.top < b.bottom && b.top < a.bottom;
