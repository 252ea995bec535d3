// The path of a kernel through series, such as runs.

import { describe, expect, it } from "vitest";
import { kernelLabels } from "../../src/chart/labels/kernel_labels.ts";
import { seriesArrows } from "../../src/chart/layers/compare_runs.tsx";
import { pictureOf } from "../../src/chart/picture.tsx";
import { pointColours } from "../../src/chart/scene.ts";
import { LIGHT } from "../../src/chart/theme.ts";
import { colouringOf } from "../../src/roofline/colouring.ts";
import { type KernelSpec, makeKernels, wireKernels } from "../helpers.ts";
import { onOneChip, scene, storeOf } from "../scenes.ts";

const gemm = (category: string, time: number, more: KernelSpec = {}): KernelSpec => ({
  ...{ name: "gemm", flops: 4e14, bytes: 1e12, time, category },
  ...more,
});
const copy = (category: string): KernelSpec => ({ name: "copy", flops: 1e10, bytes: 1e12, time: 2, category });
// The rows of the second run come first.
const SPECS = [gemm("v2", 5), copy("v2"), gemm("v1", 8), copy("v1"), gemm("v3", 6), gemm("v4", 12, { count: 2 })];
const SAME = Int32Array.of(0, 1, 0, 1, 0, 0);
const V1_FIRST = { values: ["v1", "v2", "v3", "v4"], codes: Int32Array.of(1, 1, 0, 0, 2, 3) };

function runs(marked: readonly number[], selected: readonly number[] = marked) {
  const kernels = { ...makeKernels(SPECS), series: true, same: SAME, category: V1_FIRST };
  const colouring = colouringOf(kernels, "category");
  return { ...scene(SPECS), kernels, colouring, marked, selected: new Set(selected), emphasised: new Set(selected) };
}

describe("a kernel of several series", () => {
  it("has arrows from series to series when it is marked, with the change of its time", () => {
    const found = seriesArrows(runs([4])).map(({ row, text, faster }) => [row, text, faster]);
    // The last run has two launches: the times of one launch are compared, and they are equal.
    expect(found).toEqual([
      [0, "−38 %", true],
      [4, "+20 %", false],
      [5, "±0 %", false],
    ]);
  });
  it("has no arrows when another kernel or none is marked", () => {
    expect(seriesArrows(runs([]))).toEqual([]);
    expect(seriesArrows(runs([1])).map(({ row }) => row)).toEqual([1]);
    expect(seriesArrows({ ...runs([4]), kernels: makeKernels(SPECS) })).toEqual([]);
  });
  it("has the same arrows if several of its points are marked", () => {
    expect(seriesArrows(runs([0, 2, 4]))).toHaveLength(3);
  });
  it("passes over a series whose point a filter hides", () => {
    const all = runs([4]);
    const home = all.points.home.slice();
    home[0] = -1;
    const arrows = seriesArrows({ ...all, points: { ...all.points, home } });
    expect(arrows.map(({ row, text }) => [row, text])).toEqual([
      [4, "−25 %"],
      [5, "±0 %"],
    ]);
  });
  it("is not faded in the other series while it is selected", () => {
    expect([...pointColours(runs([4])).faded]).toEqual([0, 1, 0, 1, 0, 0]);
    expect([...pointColours(runs([])).faded]).toEqual([0, 0, 0, 0, 0, 0]);
  });
  it("is named once, without a number", () => {
    expect(kernelLabels(runs([])).map(({ text }) => text)).toEqual(["gemm", "copy"]);
    expect(kernelLabels(runs([4])).map(({ key, text }) => [key, text])).toEqual([
      ["kernel 4", "gemm"],
      ["kernel 1", "copy"],
    ]);
  });
});

describe("a saved picture", () => {
  it("has the arrows of a selected kernel, without circles at points", () => {
    const same = new DataView(SAME.buffer);
    const store = storeOf(onOneChip(SPECS, { kernels: { ...wireKernels(SPECS), series: true, same }, selected: [2] }));
    const { svg } = pictureOf(store, 700, () => 400, LIGHT);
    expect(svg.match(/<g[^>]* stroke-width="2"><path/g)).toHaveLength(3);
    expect(svg).not.toContain('stroke-dasharray="2 2"');
  });
  it("keeps the sign of a point above its roof if the point's colour is unknown", () => {
    const specs = [gemm("a", 1), gemm("a", 8)];
    const kernels = wireKernels(specs, 0, { extra: { rank: [Number.NaN, 1] } });
    const store = storeOf(onOneChip(specs, { kernels, colour_by: "rank" }));
    const { svg } = pictureOf(store, 700, () => 400, LIGHT);
    expect(svg).toContain(`stroke="${LIGHT.alert}"`);
  });
});
