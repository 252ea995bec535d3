// The line that leads from a name to what it names, where that is far.

import type { Box } from "../scales.ts";

export interface Mark {
  readonly x: number;
  readonly y: number;
  readonly radius: number;
}

/** A label further than this from its mark has a line to it, px. */
const FAR = 20;

const within = (at: number, low: number, high: number) => Math.max(low, Math.min(at, high));

/** From a name's box to the rim of its mark: where it begins and where it ends, across and down, or nothing. */
export function lineFrom(box: Box, mark: Mark | undefined, isLed = false): readonly number[] {
  if (!mark || isLed) return [];
  const [x, y] = [within(mark.x, box.left, box.right), within(mark.y, box.top, box.bottom)];
  const length = Math.hypot(mark.x - x, mark.y - y);
  if (length - mark.radius <= FAR) return [];
  const rim = mark.radius / length;
  return [x, y, mark.x + (x - mark.x) * rim, mark.y + (y - mark.y) * rim];
}

/** Spots along a line. */
export function boxesAlong([x = 0, y = 0, toX = 0, toY = 0]: readonly number[]): Box[] {
  const count = Math.floor(Math.hypot(toX - x, toY - y) / 4);
  return Array.from({ length: count }, (_, at) => {
    const [left, top] = [x + ((toX - x) * at) / count, y + ((toY - y) * at) / count];
    return { left, right: left, top, bottom: top };
  });
}
