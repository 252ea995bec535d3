// Zooming and panning: what is under the pointer stays there, within limits.

import { describe, expect, it } from "vitest";
import { type Scales, scaleLinear, scaleLog } from "../../src/chart/scales.ts";
import { MIN_DECADES, zoomAround, zoomed, zoomToBox } from "../../src/chart/zoom.ts";

// 100 px per decade: 0.01 to 100 FLOP/B, 1e9 to 1e12 FLOP/s; in the strip 1e8 to 1e11 B/s.
const plot = { left: 0, right: 400, top: 0, bottom: 300 };
const whole = {
  ...{ width: 400, height: 340, plot },
  strip: { left: -60, right: -10, top: 0, bottom: 300, y: scaleLog([1e11, 1e14], [300, 0]) },
  x: scaleLog([0.01, 100], [0, 400]),
  y: scaleLog([1e9, 1e12], [300, 0]),
} as Scales;
const round = (zoom: readonly number[] | null) => zoom?.map((value) => Number(value.toPrecision(6)));

describe("a zoom", () => {
  it("shows its part in the whole plot, and the strip follows", () => {
    const part = zoomed(whole, [1, 10, 1e10, 1e11]);
    expect([1, 10].map((ai) => Math.round(part.x(ai)))).toEqual([0, 400]);
    expect([1e10, 1e11].map((rate) => Math.round(part.y(rate)))).toEqual([300, 0]);
    expect(round(part.strip?.y.domain as [number, number])).toEqual([1e10, 1e11]);
    expect(part.whole).toBe(whole);
    expect(zoomed(whole, null)).toBe(whole);
  });
});

describe("a step", () => {
  it("closer keeps what is under the pointer there", () => {
    // Magnified twice around 1 FLOP/B and 1e11 FLOP/s: a decade to each side across, half a decade up.
    expect(round(zoomAround(whole, [200, 100], [200, 100], 2))).toEqual(
      [0.1, 10, 10 ** 10, 10 ** 11.5].map((v) => Number(v.toPrecision(6))),
    );
  });
  it("sideways shows as much as before", () => {
    expect(round(zoomAround(whole, [0, 0], [100, 100]))).toEqual([0.001, 10, 1e10, 1e13]);
  });
  it("with two fingers does both at once", () => {
    // The point at x = 200 moves to 300, at 200 px per decade: 1.5 decades to the left, half a decade to the right.
    const next = zoomAround(whole, [200, 150], [300, 150], 2);
    expect(round(next?.slice(0, 2) ?? null)).toEqual([10 ** -1.5, 10 ** 0.5].map((v) => Number(v.toPrecision(6))));
  });
  it("and back is no zoom any more", () => {
    const zoom = zoomAround(whole, [130, 70], [130, 70], 3);
    expect(zoomAround(zoomed(whole, zoom), [130, 70], [130, 70], 1 / 3)).toBeNull();
    expect(zoomAround(whole, [50, 50], [50, 50])).toBeNull();
  });
  it("goes no closer than a third of a decade, and still follows the hand", () => {
    const [left, right, low, high] = zoomAround(whole, [200, 100], [200, 100], 1e6) as readonly number[] as [
      number,
      number,
      number,
      number,
    ];
    expect(Math.log10(right / left)).toBeCloseTo(MIN_DECADES, 9);
    expect(Math.log10(high / low)).toBeCloseTo(MIN_DECADES, 9);
    const closest = zoomed(whole, [left, right, low, high]);
    const panned = zoomAround(closest, [0, 0], [400, 0], 1) as readonly number[];
    expect(panned[1]).toBeCloseTo(left, 9);
  });
  it("shows nothing beyond what could be computed, measured or built", () => {
    expect(round(zoomAround(whole, [200, 150], [200, 150], 1e-9))).toEqual([1e-6, 1e12, 1, 1e24]);
    expect(round(zoomAround(whole, [0, 0], [1e4, 0]))?.slice(0, 2)).toEqual([1e-6, 0.01]);
    expect(round(zoomAround(whole, [0, 0], [-1e4, 0]))?.slice(0, 2)).toEqual([1e8, 1e12]);
  });
});

describe("on linear axes of times", () => {
  // 10 px per second, from 0.
  const linear = {
    ...whole,
    strip: undefined,
    outer: plot,
    x: scaleLinear([0, 40], [0, 400]),
    y: scaleLinear([0, 30], [300, 0]),
  };
  it("a zoom may begin at 0", () => {
    const part = zoomed(linear as Scales, [0, 10, 0, 5]);
    expect([part.x(0), part.x(5), part.x(10), part.y(0), part.y(1)]).toEqual([0, 200, 400, 300, 240]);
    expect(zoomed(whole, [0, 10, 1e9, 1e10])).toBe(whole);
  });
  it("a step keeps what is under the pointer there", () => {
    expect(zoomAround(linear, [200, 150], [200, 150], 2)).toEqual([10, 30, 7.5, 22.5]);
    expect(zoomAround(linear, [0, 300], [0, 300], 4)).toEqual([0, 10, 0, 7.5]);
    expect(zoomAround(zoomed(linear as Scales, [10, 30, 7.5, 22.5]), [200, 150], [200, 150], 0.5)).toBeNull();
  });
  it("a hand moves the chart as far as 0", () => {
    const part = zoomed(linear as Scales, [10, 30, 7.5, 22.5]);
    expect(zoomAround(part, [0, 0], [100, 0])).toEqual([5, 25, 7.5, 22.5]);
    expect(zoomAround(part, [0, 0], [300, -300])).toEqual([0, 20, 0, 15]);
  });
  it("goes as close as a fiftieth of the upper end, and as far as the longest time", () => {
    const [left, right, low, high] = zoomAround(linear, [400, 0], [400, 0], 1e6) as readonly number[];
    expect([left, right, low, high]).toEqual([39.2, 40, 29.4, 30].map((end) => expect.closeTo(end, 9)));
    expect(zoomAround(linear, [200, 150], [200, 150], 1e-9)).toEqual([0, 1e6, 0, 1e6]);
    // 9.9 to 10.1 s as drawn: an interval of 0.2 s around 10 s.
    const [from = 0, to = 0] = zoomToBox(linear, { left: 99.9, right: 100.1, top: 0, bottom: 300 }, 0) ?? [];
    expect([(to - from) / to, (from + to) / 2]).toEqual([0.02, 10].map((value) => expect.closeTo(value, 9)));
  });
});

describe("a rectangle", () => {
  it("fills the plot with what it holds", () => {
    expect(round(zoomToBox(whole, { left: 100, right: 300, top: 50, bottom: 150 }))).toEqual(
      [0.1, 10, 10 ** 10.5, 10 ** 11.5].map((value) => Number(value.toPrecision(6))),
    );
  });
  it("that is a mere line leaves the other axis as it is", () => {
    expect(round(zoomToBox(whole, { left: 100, right: 300, top: 50, bottom: 54 }))).toEqual([0.1, 10, 1e9, 1e12]);
  });
  it("too small for its ticks is widened around its middle", () => {
    const zoom = zoomToBox(whole, { left: 195, right: 205, top: 0, bottom: 300 }) as readonly number[];
    expect(Math.log10((zoom[1] as number) / (zoom[0] as number))).toBeCloseTo(1 / 3, 9);
    expect((zoom[0] as number) * (zoom[1] as number)).toBeCloseTo(1, 9);
  });
});
