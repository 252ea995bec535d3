import { describe, expect, it } from "vitest";
import { rooflineLabels } from "../../src/chart/labels/roofline_labels.ts";
import { gapsOf } from "../../src/chart/layers/gaps.tsx";
import { type KernelSpec, makeChip, makeRoof, several } from "../helpers.ts";
import { labelsOf, scene as sceneOf } from "../scenes.ts";

const ROOF = makeRoof(makeChip({ id: "chip" }));

const scene = (
  specs: readonly KernelSpec[],
  marked: readonly number[] = [],
  width = 760,
  ranked = specs.map((_, row) => row).slice(0, 5),
) => sceneOf(specs, { roofs: [ROOF], marked, ranked, named: specs.map((_, row) => row), above: [] }, width);

const measured = (flops: number, bytes: number, time: number, name = "k") => ({ name, flops, bytes, time });

describe("a gap arrow", () => {
  it("goes from a measured point up to the roof, with its share and what closing it is worth", () => {
    const one = scene([measured(1e12, 1e11, 0.4)]);
    const [gap] = gapsOf(one);
    expect(gap?.from).toBeGreaterThan(gap?.to ?? Number.NaN);
    expect(gap?.to).toBeCloseTo(one.scales.y(1e13));
    expect(labelsOf(one).find(({ key }) => key === "gap 0")?.text).toBe("4× below its roof");
    const marked = scene([measured(1e12, 1e11, 0.4)], [0]);
    const text = labelsOf(marked).find(({ key }) => key === "gap 0")?.text;
    expect(text).toBe("4× below its roof");
  });
  it("says in brief what closing it is worth where there is no room for more", () => {
    const narrow = scene([measured(1e12, 1e11, 0.4)], [], 200);
    expect(labelsOf(narrow).find(({ key }) => key === "gap 0")?.text).toBe("up to 4×");
  });
  it("in the strip is told of right of it, where a line leads to the arrow", () => {
    const one = scene([measured(0, 1e11, 5), measured(1e12, 1e11, 0.4)]);
    const label = labelsOf(one).find(({ key }) => key === "gap 0");
    expect(label?.text).toBe("50× below its roof");
    expect(label?.x).toBe(one.scales.plot.left + 6);
    expect(label?.mark?.x).toBe(one.at.x[0]);
  });
  it("stands for all kernels of about one intensity: of the one to be fixed first", () => {
    const crowd = several(12, (row) => measured(1e12, 1e11, 0.4 * 10 ** (row / 12)));
    expect(gapsOf(scene(crowd, [], 760, [11, 10])).map(({ row }) => row)).toEqual([11]);
    expect(gapsOf(scene(crowd, [5], 760, [11])).map(({ row, isMarked }) => [row, isMarked])).toEqual([[5, true]]);
  });
  it("is not drawn above the roof, at the roof, nor where the peak is unknown", () => {
    expect(gapsOf(scene([measured(1e12, 1e11, 0.05)]))).toEqual([]);
    expect(gapsOf(scene([measured(1e12, 1e11, 0.1)]))).toEqual([]);
    expect(gapsOf(scene([{ ...measured(1e12, 1e11, 0.4), precision: "fp64" }]))).toEqual([]);
    expect(gapsOf(scene([{ name: "k", flops: 1e12, bytes: 1e11 }]))).toEqual([]);
  });
  it("is not drawn on another chip than the one that kernels ran on", () => {
    const one = scene([measured(1e12, 1e11, 0.4)]);
    const ran = makeChip({ id: "ran" });
    expect(gapsOf({ ...one, kernels: { ...one.kernels, chip: ran } })).toEqual([]);
    expect(gapsOf({ ...one, kernels: { ...one.kernels, chip: ROOF.chip } })).toHaveLength(1);
  });
  it("is drawn for every kernel with a badge, and for marked kernels", () => {
    const many = several(40, (row) => measured(1e12, 1e10 * 1.25 ** row, 40));
    expect(gapsOf(scene(many, [], 760, [])).map(({ row }) => row)).toEqual([]);
    expect(gapsOf(scene(many, [], 760, [3, 5])).map(({ row }) => row)).toEqual([3, 5]);
    expect(gapsOf(scene(many, [], 440, [3, 8, 13, 18, 23])).map(({ row }) => row)).toEqual([3, 8, 13, 18, 23]);
    expect(gapsOf(scene(many, [7], 760, [3, 5])).map(({ row }) => row)).toEqual([7, 3, 5]);
  });
  it("has words at rest only if it is the first, and the words of marked kernels in their place", () => {
    const three = [0.4, 0.8, 1.6].map((time, row) => measured(1e12, 1e11 / 20 ** row, time));
    const words = (marked: readonly number[]) => {
      const one = scene(three, marked, 760, [2, 1, 0]);
      return labelsOf(one).flatMap(({ key, text }) => (key.startsWith("gap ") ? [[key, text]] : []));
    };
    expect(words([])).toEqual([["gap 2", "160× below its roof"]]);
    expect(words([0])).toEqual([["gap 0", "4× below its roof"]]);
  });
});

describe("labels", () => {
  it("name the roof and its ridge point", () => {
    const texts = rooflineLabels(scene([]), []).map(({ text }) => text);
    expect(texts).toContain("chip 100 TFLOP/s");
    expect(texts).toContain("HBM 1 TB/s");
  });
  it("stay where they were while choices are given", () => {
    const one = scene([measured(1e12, 1e11, 0.4, "first"), measured(3e12, 1e11, 0.9, "second")]);
    const before = labelsOf(one);
    const choices = new Map(before.map(({ key, choice }) => [key, choice]));
    expect(rooflineLabels(one, gapsOf(one), { before: choices })).toEqual(before);
  });
});
