// A drag of the roof: the rates at each place of the pointer.

import { describe, expect, it } from "vitest";
import { followerOf, gearsOf, type RoofDragStart, ratesAt } from "../../src/chart/gestures/roof_drag.tsx";
import { type Scales, scaleLog } from "../../src/chart/scales.ts";

// 100 px a decade: 0.1 to 1000 FLOP/B, 1 to 10,000 FLOP/s.
const scales = { x: scaleLog([0.1, 1000], [0, 400]), y: scaleLog([1, 1e4], [400, 0]) } as unknown as Scales;
const at = (part: RoofDragStart["part"], x: number, y: number, rest: Partial<RoofDragStart> = {}) =>
  ratesAt({ part, scales, dx: 0, dy: 0, peak: 1000, bandwidth: 10, ...rest }, x, y).map((rate) =>
    Number(rate.toPrecision(6)),
  );

describe("a roof in the hand", () => {
  it("has its flat where the pointer is, wherever that is sideways", () => {
    expect(at("peak", 0, 200)).toEqual([100, 10]);
    expect(at("peak", 400, 200)).toEqual([100, 10]);
  });
  it("has its slope through the pointer", () => {
    expect(at("bandwidth", 100, 300)).toEqual([1000, 10]);
    expect(at("bandwidth", 200, 250)).toEqual([1000, 3.16228]);
  });
  it("has its ridge point where the pointer is", () => {
    expect(at("ridge", 200, 100)).toEqual([1000, 100]);
    expect(at("ridge", 100, 200)).toEqual([100, 100]);
  });
  it("does not jump to a pointer that took hold beside the line", () => {
    expect(at("peak", 50, 105, { dy: -5 })).toEqual([1000, 10]);
    expect(at("bandwidth", 100, 306, { dy: -6 })).toEqual([1000, 10]);
    expect(at("ridge", 290, 96, { dx: 10, dy: 4 })).toEqual([1000, 10]);
  });
  it("keeps to the last bit the rate that the hand does not change", () => {
    // Taking the logarithm and its inverse changes these numbers.
    const [peak, bandwidth] = [459e12, 2.765e12];
    const scales = { x: scaleLog([0.5, 3000], [46, 748]), y: scaleLog([1e12, 2e15], [427, 53]) } as unknown as Scales;
    const [x, y] = [scales.x(peak / bandwidth), scales.y(peak)];
    const held: RoofDragStart = { part: "ridge", scales, dx: 0, dy: 0, peak, bandwidth };
    expect(scales.y.invert(y)).not.toBe(peak);
    expect(ratesAt(held, x, y)).toEqual([peak, bandwidth]);
    expect(ratesAt(held, x - 20, y)[0]).toBe(peak);
    expect(ratesAt({ ...held, part: "peak" }, x + 90, y)).toEqual([peak, bandwidth]);
    const [ai, rate] = [10, 10 * bandwidth];
    expect(ratesAt({ ...held, part: "bandwidth" }, scales.x(ai), scales.y(rate))).toEqual([peak, bandwidth]);
  });
  it("stays within the axes", () => {
    expect(at("peak", 0, -500)).toEqual([9523.81, 10]);
    expect(at("peak", 0, 900)).toEqual([1.05, 10]);
    expect(at("ridge", 900, 100)).toEqual([1000, 1.05]);
    expect(at("bandwidth", 0, -900)).toEqual([1000, 9523.81]);
  });
});

describe("a finger on the roof", () => {
  it("moves a roof of a small plot by a factor of ten over 120 px or more", () => {
    const small = { x: scaleLog([0.1, 1000], [0, 400]), y: scaleLog([1, 1e6], [216, 0]) } as unknown as Scales;
    // 36 px a decade: the roof moves 0.3 of the finger's way.
    expect(gearsOf(small, 120)[1]).toBeCloseTo(0.3, 12);
    expect(gearsOf(scales, 100)).toEqual([1, 1]);
    const start: RoofDragStart = { part: "peak", scales: small, dx: 0, dy: 0, peak: 1000, bandwidth: 10 };
    const follow = followerOf([50, small.y(1000)]);
    const [peak] = ratesAt(start, ...follow([50, small.y(1000) - 36], gearsOf(small, 120)));
    expect(peak / 1000).toBeCloseTo(10 ** 0.3, 6);
  });
  it("moves it from where it is when the gear changes, with no jump", () => {
    const follow = followerOf([10, 10]);
    expect(follow([20, 30], [1, 1])).toEqual([20, 30]);
    expect(follow([30, 40], [0.2, 0.2])).toEqual([22, 32]);
    expect(follow([30, 40], [1, 1])).toEqual([22, 32]);
    expect(follow([40, 40], [1, 1])).toEqual([32, 32]);
  });
});
