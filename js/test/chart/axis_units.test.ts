// The units of the axes, checked with numbers from lecture exercises.

import { describe, expect, it } from "vitest";
import { namedTicks, unitsOf } from "../../src/chart/axis_units.ts";
import { scaleLog } from "../../src/chart/scales.ts";
import { tooltipRows } from "../../src/text/describe.ts";
import { DEFAULT_AXES, makeChip, makeKernels, makeRoof } from "../helpers.ts";

describe("words instead of bytes", () => {
  // A machine of 2 Gword/s and 8 GFLOP/s with 8-byte words; a 2-D stencil with 6 FLOP and 2 words per point.
  const units = unitsOf({ ...DEFAULT_AXES, word: 8 });
  it("are what intensities and bandwidths are counted in", () => {
    expect(units.bandwidth(16e9)).toBe("2 Gword/s");
    expect(units.intensity(8e9 / 16e9)).toBe("4 FLOP/word");
    expect(units.intensity(6 / 16)).toBe("3 FLOP/word");
    expect(units.rate(8e9)).toBe("8 GFLOP/s");
    expect(units.xTitle).toBe("arithmetic intensity (FLOP/word of 8 B)");
  });
  it("move the ticks, not the places", () => {
    const scale = scaleLog([0.1, 100], [0, 300]);
    const ticks = namedTicks(scale, 40, 10, units.x);
    expect(ticks.map(({ text }) => text)).toEqual(["1", "10", "100"]);
    expect(ticks.map(({ value }) => value)).toEqual([0.125, 1.25, 12.5]);
  });
});

describe("balance", () => {
  const units = unitsOf({ ...DEFAULT_AXES, xAxis: "balance" });
  it("is the inverse of intensity, at the same place", () => {
    expect(units.intensity(4)).toBe("0.25 B/FLOP");
    const ticks = namedTicks(scaleLog([0.05, 200], [0, 720]), 40, 2, units.x);
    expect(ticks.map(({ text, value }) => [text, value])).toContainEqual(["1/16", 16]);
    expect(ticks.map(({ text, value }) => [text, value])).toContainEqual(["8", 0.125]);
  });
  it("in words is words per FLOP", () => {
    // The same stencil: 2 words for 6 FLOP.
    const inWords = unitsOf({ ...DEFAULT_AXES, xAxis: "balance", word: 8 });
    expect(inWords.intensity(6 / 16, 4)).toBe("0.3333 word/FLOP");
    expect([inWords.xTitle, inWords.xShort, units.xTitle]).toEqual([
      ...["balance (word/FLOP, words of 8 B)", "balance (word/FLOP, words of 8 B)", "balance (B/FLOP)"],
    ]);
  });
});

describe("powers of two", () => {
  const units = unitsOf({ ...DEFAULT_AXES, tickBase: 2 });
  it("are those of the ticks: what rulers, cards and sentences say stays decimal", () => {
    const ticks = namedTicks(scaleLog([1e12, 5e12], [0, 300]), 40, units.tickBase, units.y);
    // The tick 1Ti is at 1.0995 T.
    expect(ticks.map(({ text, value }) => [text, value])).toContainEqual(["1Ti", 1099511627776]);
    expect(units.rate(1099511627776)).toBe("1.1 TFLOP/s");
    expect(units.intensity(1024, 4)).toBe("1024 FLOP/B");
    expect(units.intensity(32_768)).toBe("32.8 kFLOP/B");
    expect(units.bandwidth(2 ** 40, 4)).toBe("1.1 TB/s");
    const roof = makeRoof(makeChip({ peaks: { bf16: 1e14 }, memories: { HBM: 1e12 } }));
    const rows = tooltipRows(makeKernels([{ flops: 2 ** 50, bytes: 2 ** 40 }]), 0, roof);
    expect(rows).toContainEqual(["AI", "1020 FLOP/B"]);
    expect(rows).toContainEqual(["attainable", "100 TFLOP/s"]);
  });
});

describe("cycles instead of seconds", () => {
  const counted = { ...DEFAULT_AXES, rateUnit: "FLOP/cycle" } as const;
  it("are those of the chip's clock, for rates and bandwidths", () => {
    // 2 cores of 2.2 GHz with 4 FLOP per cycle each: 17.6 GFLOP/s.
    const units = unitsOf(counted, 2.2e9);
    expect(units.rate(17.6e9)).toBe("8 FLOP/cycle");
    expect(units.bandwidth(15e9, 3)).toBe("6.82 B/cycle");
    expect(units.intensity(17.6e9 / 15e9)).toBe("1.17 FLOP/B");
    expect([...units.yTitle, units.movedTitle]).toEqual(["FLOP/cycle", "B/cycle"]);
    expect(unitsOf(counted, 1e9).rate(4096e9, 4)).toBe("4096 FLOP/cycle");
  });
  it("stay seconds where the clock is not known", () => {
    expect(unitsOf(counted, null).rate(17.6e9)).toBe("17.6 GFLOP/s");
    expect(unitsOf(counted, null).yTitle).toEqual(["FLOP/s"]);
  });
});
