// Which kernels give back most at their roof, on a chip of 100 TFLOP/s and 1 TB/s.

import { describe, expect, it } from "vitest";
import { rankingOf } from "../src/ranking.ts";
import type { Kernels } from "../src/wire.ts";
import { makeChip, makeKernels, makeRoof } from "./helpers.ts";

const ROOF = makeRoof(makeChip());
const ranked = (kernels: Kernels, rows = Array.from({ length: kernels.n }, (_, row) => row)) =>
  rankingOf(kernels, Int32Array.from(rows), ROOF);

/** 1 s at its roof, and so many seconds beside it. */
const beside = (...seconds: readonly number[]) => seconds.map((extra) => ({ flops: 1e14, bytes: 1, time: 1 + extra }));

describe("what to fix first", () => {
  it("is what has most seconds between itself and its roof, and tells their share of the time of all", () => {
    const kernels = makeKernels([
      { name: "streams", flops: 0, bytes: 1e12, time: 3 },
      { name: "computes", flops: 4e14, bytes: 1, time: 10 },
      { name: "unknown", flops: null, bytes: 1, time: 7 },
    ]);
    expect(ranked(kernels)).toEqual({ rows: [1, 0], gains: [6, 2], share: 8 / 20 });
  });
  it("is never what beats its roof, was not measured or has no work that a roof could judge", () => {
    const kernels = makeKernels([
      { flops: 4e14, bytes: 1, time: 2 },
      { flops: 4e14, bytes: 1, time: null },
      { flops: 0, bytes: 0, time: 5 },
      { flops: 1e14, bytes: 1, time: 1 },
    ]);
    expect(ranked(kernels)).toEqual({ rows: [], gains: [], share: 0 });
  });
  it("is five kernels at most, of equal ones the first of the table", () => {
    const { rows, gains } = ranked(makeKernels(beside(1, 3, 2, 3, 0.5, 2, 0.25, 3)));
    expect(rows).toEqual([1, 3, 7, 2, 5]);
    expect(gains.map((gain) => Math.round(gain * 1e9) / 1e9)).toEqual([3, 3, 3, 2, 2]);
  });
  it("is of the rows that pass the filters, but its share is of all", () => {
    const { rows, share } = ranked(makeKernels(beside(1, 3, 4)), [0, 2]);
    expect(rows).toEqual([2, 0]);
    // 4 and 1 of 2 + 4 + 5 seconds.
    expect(share).toBeCloseTo(5 / 11, 12);
  });
  it("counts a kernel's own time, not that of others within it", () => {
    const { gains, share } = ranked(makeKernels([{ flops: 4e14, bytes: 1, time: 10, selfTime: 5 }]));
    expect(gains[0]).toBeCloseTo(3, 12);
    expect(share).toBeCloseTo(0.6, 12);
  });
  it("is nothing without a roof", () => {
    expect(rankingOf(makeKernels(beside(1)), Int32Array.of(0), undefined).rows).toEqual([]);
  });
});
