// Boxes in strips of the height, so that each is held against those about it alone.

import type { Box } from "../scales.ts";

/** Boxes by the part of the height that they are in: a text is held against those of its own parts. */
export type Strips = Map<number, Box[]>;

/** px of a strip, and the last: no chart is so high, and what lies beyond may lie at infinity. */
const [STRIP, LAST] = [16, 255];

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

export function isOff(boxes: readonly Box[], others: Strips, apart = 0): boolean {
  for (const box of boxes) {
    for (let at = stripOf(box.top); at <= stripOf(box.bottom); at++) {
      for (const other of others.get(at) ?? []) if (overlap(box, other, apart)) return false;
    }
  }
  return true;
}

export const overlap = (a: Box, b: Box, apart = 0) =>
  a.left < b.right + apart && b.left < a.right + apart && a.top < b.bottom && b.top < a.bottom;
