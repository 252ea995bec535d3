// Which kernels give back most at their roof, on a chip of 100 TFLOP/s and 1 TB/s.

import { describe, expect, it } from "vitest";
import { columnFor, columnsOf, type NumberColumn } from "../../src/panels/table/columns.ts";
import { byFallingTime, inOrder } from "../../src/roofline/filters.ts";
import { rankingOf } from "../../src/roofline/ranking.ts";
import { roofElsewhere } from "../../src/roofline/roofline.ts";
import { sentenceOf } from "../../src/text/describe.ts";
import type { Kernels } from "../../src/wire/columns.ts";
import { makeChip, makeKernels, makeRoof, several } from "../helpers.ts";

const ROOF = makeRoof(makeChip());
const ranked = (kernels: Kernels, rows = several(kernels.n, (row) => row)) =>
  rankingOf(kernels, inOrder(byFallingTime(kernels), Int32Array.from(rows)), ROOF);

const NONE = { count: 0, seconds: 0 };

/** 1 s at its roof, and so many seconds beside it. */
const beside = (...seconds: readonly number[]) => seconds.map((extra) => ({ flops: 1e14, bytes: 1, time: 1 + extra }));

describe("what to fix first", () => {
  it("is what has most seconds between itself and its roof, and tells their share of the time of all", () => {
    const kernels = makeKernels([
      { name: "streams", flops: 0, bytes: 1e12, time: 3 },
      { name: "computes", flops: 4e14, bytes: 1, time: 10 },
      { name: "unknown", flops: null, bytes: 1, time: 7 },
    ]);
    expect(ranked(kernels)).toEqual({ rows: [1, 0], gains: [6, 2], share: 8 / 20, leftOut: NONE });
  });
  it("is never what beats its roof, was not measured or has no work that a roof could judge", () => {
    const kernels = makeKernels([
      { flops: 4e14, bytes: 1, time: 2 },
      { flops: 4e14, bytes: 1, time: null },
      { flops: 0, bytes: 0, time: 5 },
      { flops: 1e14, bytes: 1, time: 1 },
    ]);
    expect(ranked(kernels)).toEqual({ rows: [], gains: [], share: 0, leftOut: NONE });
  });
  it("is five kernels at most, of equal ones the first of the table", () => {
    const { rows, gains } = ranked(makeKernels(beside(1, 3, 2, 3, 0.5, 2, 0.25, 3)));
    expect(rows).toEqual([1, 3, 7, 2, 5]);
    expect(gains.map((gain) => Math.round(gain * 1e9) / 1e9)).toEqual([3, 3, 3, 2, 2]);
  });
  it("is not what takes longest if that is near its roof", () => {
    // 10 s and 7 s are each 1 s from the roof, 5 s are 4 s and 4 s are 2 s from it.
    const specs = (
      [
        [9, 10],
        [1, 5],
        [6, 7],
        [2, 4],
      ] as const
    ).map(([work, time]) => ({ flops: work * 1e14, bytes: 1, time }));
    const kernels = makeKernels(specs);
    expect(ranked(kernels)).toMatchObject({ rows: [1, 3, 0, 2], gains: [4, 2, 1, 1] });
  });
  it("has kernels that save the same in the order of the table, whichever takes longer", () => {
    // Each takes 1 s more than its roof; the second takes longer.
    const kernels = makeKernels([1, 2, 1].map((work) => ({ flops: work * 1e14, bytes: 1, time: work + 1 })));
    expect(ranked(kernels)).toMatchObject({ rows: [0, 1, 2], gains: [1, 1, 1] });
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
  it("is judged by the chip that kernels ran on, whichever has the focus", () => {
    const kernels = makeKernels(beside(1, 3));
    const ran = makeChip({ id: "ran", peaks: { bf16: 2e14 } });
    // 1e14 FLOPs need 0.5 s there.
    expect(ranked({ ...kernels, chip: ran })).toEqual({ rows: [1, 0], gains: [3.5, 1.5], share: 5 / 6, leftOut: NONE });
    expect(ranked({ ...kernels, chip: makeChip() }).gains).toEqual([3, 1]);
    // A chip of which nothing is known judges nothing.
    expect(ranked({ ...kernels, chip: makeChip({ id: "ran", memories: {} }) }).gains).toEqual([3, 1]);
  });
  it("has the seconds of the table's headroom, also where rows contain others", () => {
    const kernels = makeKernels([
      { name: "while", flops: 1e14, bytes: 1, time: 10, selfTime: 1 },
      { name: "body", flops: 1e14, bytes: 1, time: 5, selfTime: 5 },
    ]);
    const { rows, gains } = ranked(kernels);
    expect(rows).toEqual([1, 0]);
    const headroom = columnFor(columnsOf(kernels, ROOF), "headroom") as NumberColumn;
    expect(rows.map((row) => headroom.at(row))).toEqual(gains);
    expect(gains.map((gain) => Math.round(gain * 1e12) / 1e12)).toEqual([4, 0.9]);
  });
  it("leaves out collectives whose bytes over the link are unknown, and counts them", () => {
    const kernels = {
      ...makeKernels([{ name: "all-reduce", flops: 0, bytes: 1e9, time: 9 }, ...beside(1, 2)]),
      unlinked: Int32Array.of(1, 0, 0),
    };
    expect(ranked(kernels)).toMatchObject({ rows: [2, 1], gains: [2, 1], leftOut: { count: 1, seconds: 9 } });
    const headroom = columnFor(columnsOf(kernels, ROOF), "headroom") as NumberColumn;
    expect(several(2, (row) => headroom.at(row))).toEqual([Number.NaN, 1]);
    const untimed = { ...makeKernels([{ time: 0 }, { time: null }, { time: 2 }]), unlinked: Int32Array.of(1, 1, 1) };
    expect(ranked(untimed).leftOut).toEqual({ count: 1, seconds: 2 });
    expect(rankingOf(kernels, Int32Array.of(0, 1, 2), undefined).leftOut).toEqual(NONE);
    expect(sentenceOf(kernels, 0, ROOF)).toMatch(/ of roof$/);
    const fast = { ...makeKernels([{ flops: 0, bytes: 1e12, time: 0.5 }]), unlinked: Int32Array.of(1) };
    expect(sentenceOf(fast, 0, ROOF)).toMatch(/ above its roof: check/);
  });
  it("is nothing without a roof", () => {
    expect(rankingOf(makeKernels(beside(1)), Int32Array.of(0), undefined).rows).toEqual([]);
  });
});

describe("the roof of the chip that kernels ran on", () => {
  const ran = makeChip({ id: "ran", memories: { HBM: 2e12, L2: 4e12, L1: null } });
  const kernels = { ...makeKernels(beside(1)), chip: ran };
  const here = makeChip({ id: "here", memories: { GDDR6: 1e12, L2: 3e12, L1: 5e12 } });
  it("is at the memory that is looked at", () => {
    expect(roofElsewhere(kernels, makeRoof(here))?.level).toBe("HBM");
    expect(roofElsewhere(kernels, makeRoof(here, "auto", "L2"))?.bandwidth).toBe(4e12);
    expect(roofElsewhere(kernels, makeRoof(here, "auto", "all"))?.levels).toHaveLength(2);
    expect(roofElsewhere(kernels, makeRoof(here, "auto", "L1"))).toBeUndefined();
  });
  it("is none where they ran on the chip of the roof, or nobody knows where", () => {
    expect(roofElsewhere(kernels, makeRoof(ran))).toBeUndefined();
    expect(roofElsewhere(makeKernels(beside(1)), makeRoof(here))).toBeUndefined();
  });
  it("is judged by all levels of the chip that kernels ran on where the focus chip has one of them", () => {
    const ran = makeChip({ id: "ran", memories: { HBM: 1e12, L2: 1e12 } });
    const kernels = { ...makeKernels([{ flops: 1, bytes: { HBM: 1e12, L2: 3e12 }, time: 4 }]), chip: ran };
    const all = makeRoof(makeChip(), "auto", "all");
    expect(rankingOf(kernels, Int32Array.of(0), all).gains).toEqual([1]);
    expect(rankingOf(kernels, Int32Array.of(0), ROOF).gains).toEqual([3]);
  });
});
