// What clicks do to the selection, which rows of the table are drawn, and which a rectangle on the chart holds.

import { describe, expect, it } from "vitest";
import { rowsWithin } from "../../src/chart/gestures/marquee.ts";
import type { Scene } from "../../src/chart/scene.ts";
import { columnsOf, usualColumns } from "../../src/panels/table/columns.ts";
import { cardLayout, gridLayout, placesInSight, scrollFor, topOf } from "../../src/panels/table/grid.tsx";
import { pick } from "../../src/panels/table/picking.ts";
import { makeChip, makeKernels, makeRoof, several } from "../helpers.ts";

const ORDER = Int32Array.of(4, 2, 0, 3, 1);
const plain = { add: false, range: false };

describe("a click on a row", () => {
  it("selects it alone, and lets it go when it was alone", () => {
    expect(pick({ selected: [4, 1], anchor: null }, ORDER, 2, plain)).toEqual({ selected: [2], anchor: 2 });
    expect(pick({ selected: [4, 1], anchor: null }, ORDER, 4, plain).selected).toEqual([4]);
    expect(pick({ selected: [2], anchor: 2 }, ORDER, 2, plain).selected).toEqual([]);
  });
  it("with a modifier adds it or takes it out", () => {
    expect(pick({ selected: [4], anchor: 4 }, ORDER, 2, { add: true, range: false }).selected).toEqual([4, 2]);
    expect(pick({ selected: [4, 2], anchor: 4 }, ORDER, 4, { add: true, range: false }).selected).toEqual([2]);
  });
  it("with shift selects all from the last one, as the table stands", () => {
    const range = { add: false, range: true };
    expect(pick({ selected: [2], anchor: 2 }, ORDER, 3, range)).toEqual({ selected: [2, 0, 3], anchor: 2 });
    expect(pick({ selected: [2, 0, 3], anchor: 2 }, ORDER, 4, range)).toEqual({ selected: [4, 2], anchor: 2 });
    expect(pick({ selected: [1, 2], anchor: 2 }, ORDER, 0, { add: true, range: true }).selected).toEqual([1, 2, 0]);
  });
  it("with shift and nothing to start from, or what no filter passes any more, selects it alone", () => {
    expect(pick({ selected: [], anchor: null }, ORDER, 3, { add: false, range: true }).selected).toEqual([3]);
    expect(pick({ selected: [9], anchor: 9 }, ORDER, 3, { add: false, range: true }).selected).toEqual([3]);
  });
});

describe("the rows that are drawn", () => {
  const kernels = makeKernels([{ name: "a", flops: 1, bytes: 1 }]);
  const roof = makeRoof(makeChip());
  const columns = usualColumns(columnsOf(kernels, roof), kernels, roof);
  const layout = gridLayout(columns, 336);
  it("are those in sight and a few more, however many there are", () => {
    expect(placesInSight(0, layout, 100_000)).toEqual(several(15, (at) => at));
    expect(placesInSight(280, layout, 100_000)[0]).toBe(9);
    const last = placesInSight(28 * 100_000, layout, 100_000);
    expect(last.at(-1)).toBe(99_999);
    expect(last.length).toBeLessThanOrEqual(15);
    // Scrolled far down a longer list, before the filter.
    expect(placesInSight(28 * 50_000, layout, 20).length).toBeGreaterThanOrEqual(12);
    expect(placesInSight(0, layout, 3)).toEqual([0, 1, 2]);
    expect(placesInSight(500, layout, 0)).toEqual([]);
  });
  it("scroll no farther than is needed", () => {
    expect(scrollFor(3, 0, layout, 336)).toBe(0);
    expect(scrollFor(12, 0, layout, 336)).toBe(28);
    expect(scrollFor(2, 280, layout, 336)).toBe(56);
  });
  it("stand below the captions before them, and the first one's caption scrolls into sight with it", () => {
    const parted = { ...layout, captions: [0, 5] };
    expect([0, 4, 5, 100].map((at) => topOf(at, parted))).toEqual([26, 138, 192, 2852]);
    // Scrolled past both captions, row 98 is the first in sight.
    expect(placesInSight(2800, parted, 1000)).toContain(98);
    expect(placesInSight(2800, parted, 1000)).toContain(109);
    expect([0, 5].map((at) => scrollFor(at, 500, parted, 336))).toEqual([0, 192]);
    expect(scrollFor(20, 0, parted, 336)).toBe(20 * 28 + 52 + 28 - 336);
  });
  it("are cards of two lines where there is little room", () => {
    expect(cardLayout(480)).toEqual({ height: 48, inSight: 10, template: "", width: 0, captions: [] });
  });
});

describe("a rectangle on the chart", () => {
  const kernels = { ...makeKernels([{}, {}, {}, {}]), own: 3 };
  const scene = {
    kernels,
    scales: {},
    points: { n: 5, row: Int32Array.of(2, 0, 0, 1, 3) },
    at: { x: Float32Array.of(10, 20, 90, 50, 15), y: Float32Array.of(10, 20, 90, 50, 15) },
  } as unknown as Scene;
  it("holds each kernel that has a point in it, once, and no total of the program", () => {
    expect(rowsWithin(scene, { left: 0, right: 30, top: 0, bottom: 30 })).toEqual([0, 2]);
    expect(rowsWithin(scene, { left: 0, right: 100, top: 0, bottom: 100 })).toEqual([0, 1, 2]);
    expect(rowsWithin(scene, { left: 60, right: 80, top: 0, bottom: 100 })).toEqual([]);
  });
});
