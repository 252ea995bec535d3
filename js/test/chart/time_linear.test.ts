// The time view on linear axes: from 0, with the same length of a second on both axes.

import { describe, expect, it } from "vitest";
import { isShown, visiblePoints } from "../../src/chart/points/visible.ts";
import type { Zoom } from "../../src/wire/types.ts";
import { type KernelSpec, several } from "../helpers.ts";
import { labelsOf, MATMUL, type Options, sceneOf, TWICE, textsOf } from "../timescenes.ts";

describe("linear axes", () => {
  // The plot is 860 px wide and 454 px high; 460 s across, 15 % more than the longest time of 400 s.
  const linear = (specs: readonly KernelSpec[], options: Options = {}) =>
    sceneOf(specs, { ...options, scale: "linear" });
  const SECOND = 860 / 460;
  it("begin at 0, and a second is as long across as up", () => {
    const { plot, outer, x, y } = linear([TWICE, MATMUL]).scales;
    expect([plot, plot.right - plot.left, plot.bottom - plot.top]).toEqual([outer, 860, 454]);
    expect([x(0), y(0)]).toEqual([plot.left, plot.bottom]);
    expect(x(460)).toBeCloseTo(plot.right, 9);
    expect(x(100) - x(0)).toBeCloseTo(100 * SECOND, 9);
    expect(y(0) - y(100)).toBeCloseTo(100 * SECOND, 9);
  });
  it("put a kernel as far from each axis as it takes time", () => {
    const { at, scales } = linear([TWICE, MATMUL]);
    const away = several(2, (k) => [(at.x[k] as number) - scales.plot.left, scales.plot.bottom - (at.y[k] as number)]);
    expect(away.flat().map((px) => px / SECOND)).toEqual([5, 10, 400, 10].map((time) => expect.closeTo(time, 3)));
  });
  it("have a place for kernels without FLOPs or without bytes: the other axis", () => {
    const { at, scales } = linear([{ flops: 0, bytes: 200 }, { flops: 1000, bytes: 0 }, MATMUL]);
    expect([at.x[0], at.y[1]]).toEqual([scales.plot.left, scales.plot.bottom]);
    expect(at.y[0]).toBeCloseTo(scales.plot.bottom - 20 * SECOND, 3);
    expect(at.x[1]).toBeCloseTo(scales.plot.left + 10 * SECOND, 3);
  });
  it("have room for measured times in the direction of their gaps, and for launches", () => {
    const { scales } = linear([{ ...TWICE, time: 400 }, MATMUL]);
    expect(scales.x.domain[1]).toBeCloseTo(460, 9);
    expect(scales.y.domain[1]).toBeCloseTo((460 * 454) / 860, 9);
    // 15 % more than 200 s, now upwards, needs more than the width.
    const up = linear([{ ...TWICE, time: 800 }, MATMUL]).scales.y.domain;
    expect(up[1]).toBeCloseTo(460, 9);
    expect(linear([TWICE], { launchOverhead: 30 }).scales.y.domain[1]).toBeCloseTo(45, 9);
    expect(linear([]).scales.y.domain[1]).toBeCloseTo(0.01, 9);
  });
  it("stand still while a rate is dragged up, as points stay within them", () => {
    const at = (peak: number) => Math.round(linear([MATMUL], { peak }).scales.x.domain[1] * 1e6) / 1e6;
    expect([100, 120, 500].map(at)).toEqual([460, 460, 460]);
    expect(at(50)).toBe(920);
  });
  it("have isochrones and ticks at the same round times, none for less than a launch", () => {
    // 52 px are 27.8 s.
    expect(linear([TWICE, MATMUL]).isochrones).toEqual([50, 100, 150, 200, 250, 300, 350, 400, 450]);
    expect(linear([TWICE, MATMUL], { launchOverhead: 120 }).isochrones).toEqual([150, 200, 250, 300, 350, 400, 450]);
  });
  it("put a kernel on the isochrone of the longer of its times", () => {
    const bySide = [MATMUL, { flops: 1000, bytes: 1500 }];
    for (const scene of [linear(bySide), sceneOf(bySide)]) {
      const { at, scales } = scene;
      expect([at.x[0], at.y[1]]).toEqual([Math.fround(scales.x(400)), Math.fround(scales.y(150))]);
      expect((at.y[0] as number) > scales.y(400) && (at.x[1] as number) < scales.x(150)).toBe(true);
    }
  });
  it("tell an isochrone at its corner, or where its arm leaves the plot", () => {
    const scene = linear([MATMUL]);
    const placed = new Map(labelsOf(scene).map(({ key, text, x, y }) => [key, { text, x, y }]));
    const { x, y, plot } = scene.scales;
    expect(placed.get("isochrone 100")).toEqual({ text: "100 s", x: x(100) - 8, y: y(100) - 5 });
    // 454 px are 242.8 s.
    expect(placed.get("isochrone 300")).toEqual({ text: "300 s", x: x(300) + 5, y: plot.top + 24 });
  });
  it("under a zoom name the square of the launches where some of it is in sight", () => {
    const named = (zoom: Zoom) => textsOf(linear([MATMUL], { zoom, launchOverhead: 30 })).has("overhead");
    expect([named([10, 100, 0, 100]), named([40, 100, 0, 100]), named([0, 20, 0, 20])]).toEqual([true, false, true]);
  });
  it("under a zoom leave out of sight what stands on an axis that is", () => {
    const specs = [{ flops: 0, bytes: 500 }, { flops: 15_000, bytes: 0 }, MATMUL];
    const scene = linear(specs, { zoom: [100, 200, 0, 100] });
    expect(several(3, (index) => isShown(scene, index))).toEqual([false, true, false]);
    expect(visiblePoints(scene).outside).toBe(2);
    // 52 px upwards are 11.5 s; no isochrone in sight is below 100 s.
    expect(scene.isochrones).toEqual([100, 120, 140, 160, 180, 200]);
    const log = sceneOf(specs, { zoom: [100, 200, 1, 100] });
    expect(several(3, (index) => isShown(log, index))).toEqual([true, true, false]);
  });
});
