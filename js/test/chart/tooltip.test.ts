// The position of the tooltip, and its content where there is little room.

import { describe, expect, it } from "vitest";
import { overlap } from "../../src/chart/labels/box_index.ts";
import { boxOf, type PlacedLabel } from "../../src/chart/labels/engine.ts";
import { cardOf, placesFor } from "../../src/chart/layers/tooltip.tsx";
import type { Box } from "../../src/chart/scales.ts";
import { strings } from "../../src/words/words.ts";
import { makeChip, makeKernels, makeRoof } from "../helpers.ts";

const CHART = { width: 700, height: 400 };
const SIZE = { width: 250, height: 220 };
const first = (x: number, y: number, chart = CHART, below = 40, own: Box[] = []) => {
  const [{ left, top } = { left: Number.NaN, top: Number.NaN }] = placesFor({ x, y }, SIZE, chart, below, own);
  return { left, top };
};

describe("the card", () => {
  it("stands right of its point, or left of it where there is no room on the right", () => {
    expect(first(100, 100)).toEqual({ left: 116, top: 70 });
    expect(first(600, 100)).toEqual({ left: 334, top: 70 });
    expect(placesFor({ x: 350, y: 100 }, SIZE, CHART, 40).map(({ left }) => left)).toEqual([366, 84]);
  });
  it("covers neither the tools nor the sentence under them where the chart is higher than it", () => {
    for (let y = 0; y <= CHART.height; y += 10) {
      const { top } = first(100, y);
      expect(top).toBeGreaterThanOrEqual(4);
      expect(top + SIZE.height).toBeLessThanOrEqual(CHART.height - 22);
    }
  });
  it("never leaves the widget at the top or at the bottom", () => {
    for (let y = 0; y <= 230; y += 10) {
      const { top } = first(100, y, { width: 700, height: 210 });
      expect(top).toBeGreaterThanOrEqual(4);
      expect(top + SIZE.height).toBeLessThanOrEqual(250);
    }
  });
  it("covers no name of its kernel, on whichever side that stands", () => {
    for (const [left, right] of [
      [306, 390],
      [210, 294],
      [250, 350],
    ] as const) {
      const name = { left, right, top: 96, bottom: 110 };
      const [box] = placesFor({ x: 300, y: 104 }, SIZE, { width: 900, height: 400 }, 40, [name]);
      expect(box && overlap(box, name), `${left}`).toBe(false);
    }
  });
  it("covers what else is told of it rather than its name, and rather than the sentence", () => {
    // There is no room on its left.
    const name = { left: 208, right: 292, top: 96, bottom: 110 };
    const gap = { left: 208, right: 400, top: 76, bottom: 90 };
    const beside = (...own: Box[]) => placesFor({ x: 200, y: 104 }, SIZE, CHART, 40, own)[0];
    expect(beside(name, gap)).toEqual({ left: 404, right: 654, top: 74, bottom: 294 });
    expect(beside(name, { ...gap, right: 600 })).toEqual({ left: 75, right: 325, top: 120, bottom: 340 });
    expect(beside(name, { ...gap, right: 600, top: 120, bottom: 134 })).toMatchObject({ left: 75, top: 138 });
    expect(beside(name, { ...gap, right: 600, bottom: 300 })).toEqual({ left: 296, right: 546, top: 74, bottom: 294 });
  });
  it("hides no number of an axis where another place is as good, but rather one than what is told of its kernel", () => {
    // The horizontal axis numbers begin 33 px above the chart's bottom, the vertical ones end 40 px from its left.
    for (let y = 0; y <= CHART.height; y += 10) expect(first(100, y).top + SIZE.height).toBeLessThanOrEqual(367);
    expect(first(300, 100, { ...CHART, width: 560 })).toEqual({ left: 175, top: 116 });
    expect(first(300, 390, { ...CHART, width: 560 })).toEqual({ left: 175, top: 146 });
    const [name, gap] = [
      { left: 306, right: 390, top: 96, bottom: 110 },
      { left: 0, right: 700, top: 120, bottom: 149 },
    ];
    expect(first(300, 100, CHART, 40, [name, gap])).toEqual({ left: 175, top: 153 });
  });
  it("leaves a narrow chart in sight where the widget goes on below it", () => {
    const narrow = { width: 360, height: 280 };
    expect(first(180, 40, narrow, 228)).toEqual({ left: 55, top: 284 });
    expect(first(20, 260, narrow, 500)).toEqual({ left: 4, top: 284 });
  });
  it("goes below or above its point where neither side has room", () => {
    const narrow = { width: 360, height: 280 };
    expect(first(180, 40, narrow, 190)).toEqual({ left: 55, top: 56 });
    expect(first(180, 260, narrow, 0)).toEqual({ left: 55, top: 26 });
  });
});

describe("what the card says", () => {
  const roof = makeRoof(makeChip({ peaks: { bf16: 1e14 }, memories: { HBM: 1e12 } }));
  const kernels = makeKernels([
    { name: "norm", flops: 1e12, bytes: 1e11, time: 0.2, category: "norm", count: 8 },
    { name: "gemm", flops: 1e13, bytes: 1e10, time: 0.3 },
  ]);
  const place = { x: 300, y: 200, anchor: "start", choice: 0 } as const;
  const named = (row: number): PlacedLabel => ({
    key: `kernel ${row}`,
    text: "norm",
    kind: "kernel",
    colour: "",
    ...place,
    x: 308,
  });
  const card = (scales: { width: number; height: number }, names: readonly PlacedLabel[] = []) =>
    cardOf({ kernels, row: 0, roof, names, isSelected: true, x: 300, y: 200, scales, below: 40 });
  const labels = (height: number) => card({ width: 900, height }).rows.map(([label]) => label);
  const words = strings.tooltip;

  it("is all of its rows where they have room, else as many of the first", () => {
    const all = labels(400);
    expect(all).toHaveLength(13);
    expect(all.slice(-3)).toEqual([words.bandwidth("HBM"), words.boundTime, words.launches]);
    // 12 lines with the name take 264 px; 8 px stay free.
    expect(labels(272)).toEqual(all.slice(0, -2));
    expect(labels(271)).toEqual(all.slice(0, -3));
    expect(labels(48)).toEqual([]);
  });
  it("stands beside the name of its own kernel, not of another", () => {
    const own = named(0);
    const name = boxOf(own);
    const [box] = card({ width: 900, height: 400 }, [own]).boxes;
    expect(box && overlap(box, name)).toBe(false);
    expect(card({ width: 900, height: 400 }, [named(1)]).boxes[0]?.left).toBe(316);
  });
});
