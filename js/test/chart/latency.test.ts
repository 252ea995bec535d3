// The latency roof on the chart: whose it is, where its slope ends, and its label.

import { describe, expect, it } from "vitest";
import { rooflineLabels } from "../../src/chart/labels/roofline_labels.ts";
import { gapsOf } from "../../src/chart/layers/gaps.tsx";
import { latencyBoxes, latencyLabelOf, latencyLineOf } from "../../src/chart/layers/latency.tsx";
import type { Scene } from "../../src/chart/scene.ts";
import { makeChip, makeRoof } from "../helpers.ts";
import { expectClear, expectInside, scene } from "../scenes.ts";

const ROOF = makeRoof(
  makeChip({ peaks: { bf16: 989.5e12, fp32: 66.9e12 }, memories: { HBM: 3.35e12 }, latencies: { HBM: 600e-9 } }),
);
const SPECS = [
  { name: "norm", flops: 1e6, bytes: 5e5, time: 30e-6 },
  { name: "gemm", flops: 1e7, bytes: 1e6, time: 40e-6, precision: "fp32" },
  { name: "big", flops: 1e9, bytes: 5e9, time: 2e-3 },
  { name: "hit", flops: 1e6, bytes: 5e5, time: 3e-7 },
];
const sceneOf = (more: Partial<Scene> = {}, width?: number) => scene(SPECS, { roofs: [ROOF], ...more }, width);
const rowOf = (more: Partial<Scene>) => latencyLineOf(sceneOf(more))?.row;

describe("the latency roof", () => {
  it("is that of the hovered or selected kernel, else of the first to fix", () => {
    expect(rowOf({ marked: [1], ranked: [0] })).toBe(1);
    expect(rowOf({ ranked: [0, 1] })).toBe(0);
    expect(latencyLineOf(sceneOf({ marked: [0] }))?.isMarked).toBe(true);
    expect(latencyLineOf(sceneOf({ ranked: [0] }))?.isMarked).toBe(false);
  });
  it("is none where it is unknown, though another kernel has one", () => {
    expect(rowOf({ marked: [2], ranked: [0] })).toBeUndefined();
    expect(rowOf({ ranked: [2, 0] })).toBeUndefined();
    expect(rowOf({ ranked: [] })).toBeUndefined();
  });
  it("is none for a kernel that is faster than it, and none while other kernels are emphasised", () => {
    expect(rowOf({ marked: [3] })).toBeUndefined();
    expect(rowOf({ ranked: [0], emphasised: new Set([2]) })).toBeUndefined();
  });
  it("rises by what latency allows, and ends at the peak of the kernel", () => {
    const rates = latencyLineOf(sceneOf({ marked: [0] }))?.rates;
    expect([rates?.peak, rates?.bandwidth]).toEqual([expect.closeTo(989.5e12, 0), 5e5 / 600e-9]);
    expect(latencyLineOf(sceneOf({ marked: [1] }))?.rates.peak).toBeCloseTo(66.9e12, -3);
  });
  it("is not drawn so near the roof that both look like one", () => {
    const near = scene([{ flops: 1e6, bytes: 1.95e6, time: 1e-5 }], { roofs: [ROOF], marked: [0] });
    expect(latencyLineOf(near)).toBeUndefined();
  });
});

describe("its label", () => {
  const labelsOf = (one: Scene) => {
    const line = latencyLineOf(one);
    if (!line) throw new Error("no line");
    const context = { others: [latencyLabelOf(one, line)], arrows: latencyBoxes(one, line) };
    return rooflineLabels(one, gapsOf(one), context);
  };
  it("runs along the slope, and lies across no other label", () => {
    for (const width of [928, 760, 480]) {
      const one = sceneOf({ marked: [0] }, width);
      const labels = labelsOf(one);
      const label = labels.find(({ kind }) => kind === "latency");
      expect(label?.text).toBe(
        width < 600 ? "latency: at most 833 GB/s" : "at 600 ns, 500 kB in flight: at most 833 GB/s",
      );
      expect(label?.angle).toBeLessThan(-10);
      expectClear(labels, `${width}`);
      expectInside(
        labels.filter(({ kind }) => kind === "latency"),
        one.scales.plot,
      );
    }
  });
});
