// The box index finds the same overlaps as comparing each pair of boxes.

import { describe, expect, it } from "vitest";
import { addBoxes, areClear, coveredPx, indexBoxes } from "../../src/chart/labels/box_index.ts";
import type { Box } from "../../src/chart/scales.ts";
import { seeded } from "../helpers.ts";

const FAR = Number.POSITIVE_INFINITY;

/** Whether two boxes are clear of each other, from the gaps between them. */
const isClear = (a: Box, b: Box, apart: number) =>
  Math.max(a.left - b.right, b.left - a.right) >= apart || Math.max(a.top - b.bottom, b.top - a.bottom) >= 0;

describe("boxes in strips", () => {
  it("are off the same others as when each is held against each, also of those that come later", () => {
    const next = seeded(5);
    // Above the first strip, across many strips, and below the last.
    const box = (): Box => {
      const [left, top] = [900 * next(), 5000 * next() - 500];
      return { left, top, right: left + 200 * next(), bottom: top + 60 * next() };
    };
    let off = 0;
    for (let turn = 0; turn < 400; turn++) {
      const [some, others, later] = [3, 40, 20].map((length) => Array.from({ length }, box)) as [Box[], Box[], Box[]];
      const apart = turn % 2 === 0 ? 0 : 60 * next();
      const expected = some.every((one) => [...others, ...later].every((other) => isClear(one, other, apart)));
      expect(areClear(some, addBoxes(indexBoxes(others), later), apart), `turn ${turn}`).toBe(expected);
      off += Number(expected);
    }
    expect(off).toBeGreaterThan(50);
    expect(off).toBeLessThan(350);
  });
  it("may touch, and lie apart across alone", () => {
    const one = { left: 0, right: 10, top: 32, bottom: 48 };
    const isOffAt = (across: number, down: number, apart = 0) => {
      const other = { left: across, right: across + 10, top: 32 + down, bottom: 48 + down };
      return areClear([one], indexBoxes([other]), apart) && areClear([other], indexBoxes([one]), apart);
    };
    expect([isOffAt(10, 0), isOffAt(0, 16), isOffAt(9, 15)]).toEqual([true, true, false]);
    expect([isOffAt(16, 0, 6), isOffAt(15, 0, 6), isOffAt(0, 16, 6)]).toEqual([true, false, true]);
  });
  it("may lie at infinity, or nowhere", () => {
    const near = { left: 0, right: 9, top: 0, bottom: 9 };
    const places = [FAR, -FAR, Number.NaN].map((at) => ({ left: 0, right: 9, top: at, bottom: at }));
    expect(areClear([near, ...places], indexBoxes(places))).toBe(true);
    expect(areClear([near], indexBoxes([{ ...near, top: -FAR, bottom: FAR }]))).toBe(false);
  });
});

it("how much of others is covered counts each once, however many strips it is in", () => {
  const tall = { left: 10, right: 14, top: 0, bottom: 100 };
  const wide = { left: 0, right: 50, top: 40, bottom: 44 };
  const others = indexBoxes([tall, wide]);
  expect(coveredPx([{ left: 0, right: 12, top: 10, bottom: 90 }], others)).toBe(2 + 12);
  expect(coveredPx([{ left: 20, right: 30, top: 0, bottom: 40 }], others)).toBe(0);
});
