// Positions and texts of ticks.

import { describe, expect, it } from "vitest";
import { namedTicks } from "../../src/chart/axis_units.ts";
import { type Extent, scaleLinear, scaleLog } from "../../src/chart/scales.ts";
import { PLAIN, ticksOf } from "../../src/chart/ticks.ts";

const values = (domain: Extent, pixels: number, room: number, base: 10 | 2 = 10) =>
  ticksOf(scaleLog(domain, [0, pixels]), room, base).map(({ value }) => value);
const texts = (domain: Extent, pixels: number, base: 10 | 2) =>
  namedTicks(scaleLog(domain, [0, pixels]), 40, base, PLAIN).map(({ text }) => text);

describe("ticks at powers of ten", () => {
  it("are all of the domain where there is room", () => {
    expect(values([0.05, 3e4], 1000, 40)).toEqual([0.1, 1, 10, 100, 1000, 10000]);
    expect(values([1, 1000], 1000, 40)).toEqual([1, 10, 100, 1000]);
  });
  it("are those of every other decade, or fewer, where there is less", () => {
    expect(values([0.05, 3e4], 200, 40)).toEqual([1, 100, 10000]);
    expect(ticksOf(scaleLog([1e9, 1e18], [90, 0]), 30).map(({ value }) => value)).toEqual([1e9, 1e12, 1e15, 1e18]);
  });
  it("have others between them where fewer than three are in sight", () => {
    expect(values([2, 30], 400, 40)).toEqual([2, 5, 10, 20]);
    expect(values([2, 9], 800, 40)).toEqual([2, 3, 4, 5, 6, 7, 8, 9]);
    expect(values([1.15, 2.4], 300, 40)).toEqual([1.5, 2]);
    expect(values([1.15, 2.4], 800, 40)).toEqual([1.2, 1.4, 1.6, 1.8, 2, 2.2, 2.4]);
  });
  it("never stand nearer together than their room", () => {
    for (const base of [10, 2] as const) {
      for (const ratio of [2.2, 5, 40, 1e4, 1e12]) {
        for (const pixels of [30, 90, 200, 1000]) {
          const scale = scaleLog([0.7, 0.7 * ratio], [0, pixels]);
          const marks = ticksOf(scale, 40, base).map(({ value }) => scale(value));
          for (const [index, mark] of marks.entries()) {
            const before = marks[index - 1];
            if (before !== undefined) expect(mark - before, `${base} ${ratio} ${pixels}`).toBeGreaterThan(40 - 1e-6);
          }
        }
      }
    }
  });
});

describe("ticks of a linear axis", () => {
  const even = (domain: Extent, pixels: number) =>
    ticksOf(scaleLinear(domain, [pixels, 0]), 50).map(({ value }) => value);
  it("are multiples of 1, 2 or 5 times a power of ten, with 0", () => {
    expect(even([0, 100], 500)).toEqual([0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100]);
    expect(even([0, 100], 499)).toEqual([0, 20, 40, 60, 80, 100]);
    expect(even([0, 1e-3], 249)).toEqual([0, 5e-4, 1e-3]);
    expect(even([0, 3e-7], 150)).toEqual([0, 1e-7, 2e-7, 3e-7]);
  });
  it("are as round far from 0", () => {
    expect(even([9.911e-3, 10.111e-3], 500)).toEqual([
      9.92e-3, 9.94e-3, 9.96e-3, 9.98e-3, 0.01, 0.01002, 0.01004, 0.01006, 0.01008, 0.0101,
    ]);
  });
});

describe("ticks at powers of two", () => {
  it("are fractions below one and whole numbers above", () => {
    expect(texts([0.2, 20], 600, 2)).toEqual(["1/4", "1/2", "1", "2", "4", "8", "16"]);
    expect(texts([200, 5000], 600, 2)).toEqual(["256", "512", "1024", "2048", "4096"]);
  });
  it("have prefixes of 1024 from 10,000 on, since k is 1000 everywhere else", () => {
    expect(texts([3000, 6e5], 900, 2)).toEqual(["4096", "8192", "16Ki", "32Ki", "64Ki", "128Ki", "256Ki", "512Ki"]);
    expect(texts([1.2e11, 5e12], 600, 2)).toEqual(["128Gi", "256Gi", "512Gi", "1Ti", "2Ti", "4Ti"]);
    expect(texts([5e-5, 3e-4], 200, 2)).toEqual(["1/16Ki", "1/8192", "1/4096"]);
  });
  it("stand at exact powers of two, however large", () => {
    for (const [low, high] of [
      [0.3, 70],
      [1e9, 1e11],
      [1e14, 1e16],
    ] as const) {
      for (const value of values([low, high], 900, 40, 2))
        expect(Number.isInteger(Math.log2(value)), `${value}`).toBe(true);
    }
    // 900 TFLOP/s is a fifth less than 2^50 = 1.126e15.
    expect(values([9e14, 1.2e15], 400, 40, 2)).toContain(2 ** 50);
  });
  it("go by fours or more where there is less room, and by quarters where one is in sight", () => {
    expect(texts([0.9, 1100], 300, 2)).toEqual(["1", "4", "16", "64", "256", "1024"]);
    expect(texts([2.1, 4.9], 400, 2)).toEqual(["2.5", "3", "3.5", "4"]);
    expect(texts([2.2e12, 4.3e12], 400, 2)).toEqual(["2.5Ti", "3Ti", "3.5Ti"]);
  });
});
