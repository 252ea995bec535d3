import { describe, expect, it } from "vitest";
import { annotations, gapsOf } from "../src/chart/annotations.ts";
import type { Scene } from "../src/chart/scene.ts";
import { pointsOf } from "../src/points.ts";
import { project, scalesOf } from "../src/scales.ts";
import { LIGHT } from "../src/theme.ts";
import { type KernelSpec, makeChip, makeKernels, makeRoof } from "./helpers.ts";

const ROOF = makeRoof(makeChip({ id: "chip" }));

function scene(specs: readonly KernelSpec[], marked: readonly number[] = []): Scene {
  const kernels = makeKernels(specs);
  const points = pointsOf(kernels, [ROOF], ROOF);
  const scales = scalesOf({ width: 760, height: 420 }, [ROOF], points, ROOF);
  return {
    ...{
      kernels,
      points,
      scales,
      marked,
      selected: new Set<number>(),
      roofs: [ROOF],
      focus: ROOF,
      levels: [],
      subRoofs: [],
      theme: LIGHT,
    },
    at: project(points, scales),
    colours: new Map([["chip", "#000000"]]),
    names: new Map([["chip", "chip"]]),
    named: specs.map((_, row) => row),
  };
}

const measured = (flops: number, bytes: number, time: number, name = "k") => ({ name, flops, bytes, time });

describe("a gap arrow", () => {
  it("goes from a measured point up to the roof, with its share and what closing it is worth", () => {
    const one = scene([measured(1e12, 1e11, 0.4)]);
    const [gap] = gapsOf(one);
    expect(gap?.from).toBeGreaterThan(gap?.to ?? Number.NaN);
    expect(gap?.to).toBeCloseTo(one.scales.y(1e13));
    expect(annotations(one, gapsOf(one)).find(({ key }) => key === "gap 0")?.text).toBe("25 % of roof · 4×");
  });
  it("is told of once where kernels stand on one another", () => {
    const told = (time: number) => {
      const both = scene([measured(1e12, 1e11, 0.4), measured(1e12, 1e11, time)]);
      return annotations(both, gapsOf(both)).filter(({ key }) => key.startsWith("gap ")).length;
    };
    expect(told(0.4)).toBe(1);
    expect(told(0.41)).toBe(1);
    expect(told(0.8)).toBe(2);
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
  it("is drawn for each of a few kernels, and of many only for those that are marked", () => {
    const many = Array.from({ length: 40 }, (_, row) => measured(1e12, 1e11 + row * 1e10, 4));
    expect(gapsOf(scene(many.slice(0, 12)))).toHaveLength(12);
    expect(gapsOf(scene(many))).toEqual([]);
    expect(gapsOf(scene(many, [7])).map(({ row }) => row)).toEqual([7]);
  });
});

describe("labels", () => {
  it("name the roof and its ridge point", () => {
    const texts = annotations(scene([]), []).map(({ text }) => text);
    expect(texts).toContain("chip");
    expect(texts).toContain("100 FLOP/B");
  });
  it("stay where they were while choices are given", () => {
    const one = scene([measured(1e12, 1e11, 0.4, "first"), measured(3e12, 1e11, 0.9, "second")]);
    const before = annotations(one, gapsOf(one));
    const choices = new Map(before.map(({ key, choice }) => [key, choice]));
    expect(annotations(one, gapsOf(one), choices)).toEqual(before);
  });
});
