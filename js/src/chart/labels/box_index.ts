// Boxes in strips across the chart, so that each is held against those at its height alone.

import type { Box } from "../scales.ts";

/** Boxes by the strips that they reach into, counted from the top; one that is nowhere, at NaN, is in none. */
export type Strips = Map<number, Box[]>;

/** px of a strip, and the last: no chart is so high. */
const [STRIP, LAST] = [16, 255];

/** What lies over the first strip has one of its own, what lies below the last is in that: either may lie at infinity. */
const stripOf = (y: number) => Math.max(-1, Math.min(Math.floor(y / STRIP), LAST));

export const inStrips = (boxes: readonly Box[]) => add(new Map(), boxes);

export function add(strips: Strips, boxes: readonly Box[]): Strips {
  for (const box of boxes) {
    for (let at = stripOf(box.top); at <= stripOf(box.bottom); at++) {
      const strip = strips.get(at);
      if (strip) strip.push(box);
      else strips.set(at, [box]);
    }
  }
  return strips;
}

/** Whether none of the boxes lies over one of the others, nor nearer to it than `apart` at its left or right, px. */
export function isOff(boxes: readonly Box[], others: Strips, apart = 0): boolean {
  for (const box of boxes) {
    for (let at = stripOf(box.top); at <= stripOf(box.bottom); at++) {
      for (const other of others.get(at) ?? []) if (overlap(box, other, apart)) return false;
    }
  }
  return true;
}

/** How much of the others the boxes lie over, px across. */
export function covered(boxes: readonly Box[], others: Strips): number {
  let sum = 0;
  for (const box of boxes) {
    const near = new Set(range(stripOf(box.top), stripOf(box.bottom)).flatMap((at) => others.get(at) ?? []));
    for (const other of near) {
      if (overlap(box, other)) sum += Math.min(box.right, other.right) - Math.max(box.left, other.left);
    }
  }
  return sum;
}

const range = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, at) => first + at);

export const overlap = (a: Box, b: Box, apart = 0) =>
  a.left < b.right + apart && b.left < a.right + apart && a.top < b.bottom && b.top < a.bottom;
