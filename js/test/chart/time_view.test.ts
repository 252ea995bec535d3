// The time view: positions of kernels, isochrones, gaps of measured times, and labels.

import { describe, expect, it } from "vitest";
import { spotAt } from "../../src/chart/scales.ts";
import { timeLabels } from "../../src/chart/time/labels.ts";
import { timePointsOf, timesShown } from "../../src/chart/time/points.ts";
import { timeGaps } from "../../src/chart/time/scene.ts";
import { MEASURED } from "../../src/roofline/points.ts";
import { makeChip, makeKernels, several } from "../helpers.ts";
import { expectClear, expectInside } from "../scenes.ts";
import { labelsOf, MATMUL, SLOW, sceneOf, TWICE, textsOf } from "../timescenes.ts";

describe("a kernel's point", () => {
  it("is its compute and memory time, each of one launch", () => {
    const { points } = sceneOf([TWICE]);
    expect([points.n, points.x[0], points.y[0]]).toEqual([1, 5, 10]);
    expect([points.roof[0], points.home[0], points.side[0]]).toEqual([0, 0, 0]);
  });
  it("follows the rates in force", () => {
    expect(sceneOf([TWICE], { peak: 50 }).points.x[0]).toBe(10);
  });
  it("with all levels of memory has the slowest level's time", () => {
    const chip = makeChip({ id: "slow", peaks: { fp32: 100 }, memories: { DRAM: 10, L1: 40 } });
    const spec = { flops: 1000, bytes: { DRAM: 200, L1: 1200 } };
    expect(sceneOf([spec], { chip, memory: "all" }).points.y[0]).toBe(30);
    expect(sceneOf([spec], { chip, memory: "DRAM" }).points.y[0]).toBe(20);
  });
  it("is missing, and counted, where a time is unknown or both are 0", () => {
    const { points } = sceneOf([{ flops: 1000 }, { bytes: 200 }, { flops: 0, bytes: 0 }, { flops: 1, bytes: 1 }]);
    expect([points.n, points.notDrawn]).toEqual([1, 3]);
    expect([...points.home]).toEqual([-1, -1, -1, 0]);
  });
  it("is missing where its chip has no peak for it", () => {
    expect(sceneOf([{ flops: { fp8: 1000 }, bytes: 200, time: 1 }]).points.n).toBe(0);
  });
  it("tells whether it was measured, and faster than it can be", () => {
    const { points } = sceneOf([
      { ...TWICE, time: 40 },
      { ...MATMUL, time: 100 },
    ]);
    expect([...points.roof]).toEqual([MEASURED, MEASURED]);
    expect([...points.side]).toEqual([0, 1]);
    expect([...points.aboveRoof]).toEqual([0, 1]);
    expect(points.measured).toBe(2);
  });
  it("stands in an edge of its own without FLOPs or without bytes", () => {
    const { at, scales } = sceneOf([
      { flops: 0, bytes: 200 },
      { flops: 1000, bytes: 0 },
    ]);
    const { plot, outer } = scales;
    expect(at.x[0]).toBe((outer.left + plot.left) / 2);
    expect(at.y[0]).toBeCloseTo(scales.y(20), 3);
    expect(at.x[1]).toBeCloseTo(scales.x(10), 3);
    expect(at.y[1]).toBe((outer.bottom + plot.bottom) / 2);
    expect(plot.left - outer.left).toBeGreaterThan(30);
  });
  it("needs no such edge when every kernel has both", () => {
    const { plot, outer } = sceneOf([TWICE]).scales;
    expect(plot).toEqual(outer);
  });
});

describe("the axes", () => {
  it("end at the same time, so that the diagonal ends in a corner", () => {
    const { scales } = sceneOf([TWICE, MATMUL]);
    expect(scales.x.domain).toEqual([1.66667, 1200]);
    expect(scales.y.domain).toEqual([3.33333, 1200]);
    expect(scales.x(1200)).toBeCloseTo(scales.plot.right, 9);
    expect(scales.y(1200)).toBeCloseTo(scales.plot.top, 9);
  });
  it("have room for measured times and launches", () => {
    const { scales } = sceneOf([{ ...TWICE, time: 4000 }], { launchOverhead: 3e-3 });
    expect(scales.x.domain).toEqual([1e-3, 4000]);
    expect(scales.y.domain).toEqual([1e-3, 4000]);
  });
  it("stand still while a rate is dragged, until a point would leave them", () => {
    const domainAt = (peak: number) => sceneOf([TWICE, MATMUL], { peak }).scales.x.domain;
    for (const peak of [60, 70, 90, 110, 170]) expect(domainAt(peak)).toEqual([1.66667, 1200]);
    expect(domainAt(10)).toEqual([1.66667, 5000]);
    expect(domainAt(1000)).toEqual([0.4, 1200]);
  });
  it("without kernels or launches run from 1 µs to 10 ms", () => {
    const none = makeKernels([]);
    expect(timesShown(none, timePointsOf(none, undefined), undefined)).toEqual([
      [1e-6, 1e-2],
      [1e-6, 1e-2],
    ]);
  });
});

describe("isochrones", () => {
  it("are the powers of ten whose corner is on the chart", () => {
    expect(sceneOf([TWICE, MATMUL]).isochrones).toEqual([10, 100, 1000]);
  });
  it("leave out what is less than a launch", () => {
    expect(sceneOf([TWICE, MATMUL], { launchOverhead: 20 }).isochrones).toEqual([100, 1000]);
  });
  it("are told by their times", () => {
    const texts = textsOf(sceneOf([{ flops: 1e-4, bytes: 1e-5 }]));
    expect(texts.get("isochrone 0.000001")).toBe("1 µs");
  });
});

describe("a measured kernel's gap", () => {
  it("goes up where memory takes longer, to the time of one launch", () => {
    const scene = sceneOf([{ ...TWICE, time: 80 }]);
    const [gap] = timeGaps(scene);
    expect(gap?.from).toEqual(spotAt(scene.at, 0));
    expect(gap?.to).toEqual([scene.at.x[0], scene.scales.y(40)]);
  });
  it("goes right where compute does", () => {
    const scene = sceneOf([{ ...MATMUL, time: 900 }]);
    expect(timeGaps(scene)[0]?.to).toEqual([scene.scales.x(900), scene.at.y[0]]);
  });
  it("is none for one that was not measured, is at its bound, or beats it", () => {
    const specs = [TWICE, { ...TWICE, time: 20.1 }, { ...MATMUL, time: 100 }];
    expect(timeGaps(sceneOf(specs))).toEqual([]);
  });
  it("is none for what was measured on another chip", () => {
    const scene = sceneOf([{ ...TWICE, time: 80 }]);
    const ranOn = (id: string) => ({ ...scene, kernels: { ...scene.kernels, chip: { ...SLOW, id } } });
    expect(timeGaps(ranOn("slow"))).toHaveLength(1);
    expect(timeGaps(ranOn("other"))).toEqual([]);
  });
  it("says how much of what is possible was reached", () => {
    expect(textsOf(sceneOf([{ ...TWICE, time: 80 }])).get("gap 0")).toBe("25 % of roof · up to 4×");
  });
  it("has its text once for kernels at one place, for the marked one if there is one", () => {
    const twins = ["a", "b", "c"].map((name) => ({ ...TWICE, name, time: 80 }));
    const gaps = (hovered: number | null) =>
      [...textsOf(sceneOf(twins, { hovered })).keys()].filter((key) => key.startsWith("gap"));
    expect(gaps(null)).toHaveLength(1);
    expect(gaps(2)).toEqual(["gap 2"]);
  });
  it("of very many kernels is drawn where it is marked", () => {
    const many = several(500, () => ({ ...TWICE, time: 80 }));
    expect(timeGaps(sceneOf(many))).toEqual([]);
    // The longest has 1 s of compute and took 100 s: above 2 s of compute it is out of sight.
    const one = [{ flops: 100, bytes: 1, time: 100 }];
    expect(timeGaps(sceneOf(one))).toHaveLength(1);
    expect(timeGaps(sceneOf(one, { zoom: [2, 200, 0.01, 200] }))).toEqual([]);
    expect(timeGaps(sceneOf(many, { hovered: 7 })).map(({ row }) => row)).toEqual([7]);
  });
});

describe("what is written", () => {
  const MIXED = [
    { ...TWICE, time: 80 },
    { ...MATMUL, time: 900 },
    { name: "copy", flops: 0, bytes: 300, time: 50 },
    { name: "random", flops: 30_000, bytes: 0, time: 500 },
    { name: "small", flops: 30, bytes: 9, time: 6 },
  ];
  it("names the chip on its diagonal, both regions and the launches", () => {
    const texts = textsOf(sceneOf(MIXED, { launchOverhead: 2 }));
    expect(Object.fromEntries(texts)).toMatchObject({
      diagonal: "Slow: compute = memory",
      "memory region": "memory-bound (DRAM)",
      "compute region": "compute-bound",
      overhead: "launch overhead 2 s",
      "kernel 1": "matmul",
    });
    expect(textsOf(sceneOf(MIXED)).has("overhead")).toBe(false);
  });
  it("cuts the name of a long chip by words, and in little room says what tells it from others", () => {
    const chip = { ...SLOW, name: "Accelerator 4100 (Great Bandwidth Edition)" };
    expect(textsOf(sceneOf(MIXED, { chip })).get("diagonal")).toBe("Accelerator 4100: compute = memory");
    const wide = { ...SLOW, name: "WORKSTATION ACCELERATOR 4100 80GB EDITION" };
    const written = (width: number) => textsOf(sceneOf(MIXED, { chip: wide, width })).get("diagonal");
    expect(written(928)).toBe("WORKSTATION ACCELERATOR 4100…: compute = memory");
    expect(written(240)).toBe("ACCELERATOR 4100");
  });
  it("never overlaps and stays inside the chart, wide or narrow", () => {
    const sizes = [928, 480, 320].flatMap((width) => (["log", "linear"] as const).map((scale) => ({ width, scale })));
    for (const { width, scale } of sizes) {
      const scene = sceneOf(MIXED, { width, scale, launchOverhead: 2, hovered: 1 });
      const labels = labelsOf(scene);
      expect(labels.length).toBeGreaterThan(5);
      expectClear(labels, `${width} px, ${scale}`);
      expectInside(labels, { ...scene.scales.outer, right: width });
    }
  });
  it("stands where it stood while a rate is dragged", () => {
    const before = labelsOf(sceneOf(MIXED, { launchOverhead: 2 }));
    const choices = new Map(before.map(({ key, choice }) => [key, choice]));
    const scene = sceneOf(MIXED, { launchOverhead: 2, peak: 80 });
    const now = timeLabels(scene, timeGaps(scene), { before: choices });
    expect(now.every(({ key, choice }) => choices.get(key) === choice)).toBe(true);
    expect(now.length).toBe(before.length);
  });
  it("says so when no kernel has both its times", () => {
    expect(textsOf(sceneOf([{ flops: 1000 }])).get("empty")).toBe("No kernel has both FLOPs and bytes.");
    expect(textsOf(sceneOf([TWICE])).has("empty")).toBe(false);
  });
});

it.each(["log", "linear"] as const)("while a control is held %s axes become no shorter", (scale) => {
  const long = sceneOf([MATMUL, TWICE], { scale });
  const [held, free] = [sceneOf([TWICE], { scale, last: long }), sceneOf([TWICE], { scale })];
  expect(held.scales.x.domain[1]).toBe(long.scales.x.domain[1]);
  expect(free.scales.x.domain[1]).toBeLessThan(long.scales.x.domain[1]);
});
