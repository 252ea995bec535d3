// Where a vertical line crosses roofs, levels and ceilings, each with its rate.

import { describe, expect, it } from "vitest";
import type { SubRoof } from "../../src/roofline/ceilings.ts";
import { crossingsAt } from "../../src/roofline/crossings.ts";
import { makeChip, makeRoof } from "../helpers.ts";

const FAST = makeRoof(makeChip({ id: "fast", peaks: { bf16: 100 }, memories: { HBM: 10, L2: 50 } }));
const SLOW = makeRoof(makeChip({ id: "slow", peaks: { bf16: 40 }, memories: { HBM: 2 } }));
const LEVELS = [
  { name: "HBM", bandwidth: 10, sheet: 10 },
  { name: "L2", bandwidth: 50, sheet: 50 },
];
const sub = (rest: Partial<SubRoof>): SubRoof =>
  ({
    key: "c",
    name: "ceiling",
    kind: "compute",
    peak: 60,
    bandwidth: 10,
    level: "HBM",
    style: "given",
    ...rest,
  }) as SubRoof;
const lines = { roofs: [FAST, SLOW], focus: FAST, levels: [], subRoofs: [], names: new Map([["slow", "Slow chip"]]) };

describe("the crossings at one intensity", () => {
  it("have the rate of each roof, the lowest first, and the chip's displayed name", () => {
    expect(crossingsAt(lines, () => 5)).toEqual([
      { key: "roof slow", name: "Slow chip", chip: "slow", ai: 5, rate: 10, isFigure: false },
      { key: "roof fast", name: "fast", chip: "fast", ai: 5, rate: 50, isFigure: false },
    ]);
  });
  it("are figures of the chip on a flat, and without FLOPs", () => {
    expect(crossingsAt(lines, () => 20).map(({ rate, isFigure }) => [rate, isFigure])).toEqual([
      [40, true],
      [100, true],
    ]);
    expect(crossingsAt(lines, () => 0).map(({ ai, rate, isFigure }) => [ai, rate, isFigure])).toEqual([
      [0, 2, true],
      [0, 10, true],
    ]);
  });
  it("have a roof for each level of the focus chip in place of its roof, at the intensity of this level", () => {
    const at = (level?: string) => ({ HBM: 5, L2: 1 })[level as "HBM"] ?? 4;
    expect(crossingsAt({ ...lines, levels: LEVELS }, at).map(({ key, ai, rate }) => [key, ai, rate])).toEqual([
      ["roof slow", 4, 8],
      ["level HBM", 5, 50],
      ["level L2", 1, 50],
    ]);
  });
  it("leave out what has no rate there", () => {
    expect(crossingsAt(lines, () => Number.NaN)).toEqual([]);
    expect(crossingsAt({ ...lines, focus: undefined, subRoofs: [sub({})] }, () => 20).length).toBe(2);
  });
});

describe("a ceiling", () => {
  const shown = (rest: Partial<SubRoof>, ai: number) =>
    crossingsAt({ ...lines, roofs: [], subRoofs: [sub(rest)] }, () => ai).map(({ key, name, chip, rate }) => [
      ...[key, name, chip, rate],
    ]);
  it("of compute is crossed from its ridge point on", () => {
    expect([5.9, 6, 9].map((ai) => shown({}, ai))).toEqual([
      [],
      [["sub c", "ceiling", "fast", 60]],
      [["sub c", "ceiling", "fast", 60]],
    ]);
  });
  it("of a bandwidth is crossed up to its ridge point", () => {
    const slope = { kind: "bandwidth", peak: 100, bandwidth: 5 } as const;
    expect([10, 20, 20.1].map((ai) => shown(slope, ai).map((each) => each[3]))).toEqual([[50], [100], []]);
  });
  it("of communication is crossed everywhere", () => {
    const lower = { kind: "communication", peak: 50, bandwidth: 5 } as const;
    expect([1, 10, 99].map((ai) => shown(lower, ai)[0]?.[3])).toEqual([5, 50, 50]);
  });
  it("has the intensity of its level where levels are shown", () => {
    const asked: (string | undefined)[] = [];
    const at = (level?: string) => {
      asked.push(level);
      return 9;
    };
    crossingsAt({ ...lines, roofs: [], subRoofs: [sub({ level: "L2" })] }, at);
    expect(asked).toEqual([undefined]);
    crossingsAt({ ...lines, roofs: [], levels: LEVELS, subRoofs: [sub({ level: "L2" })] }, at);
    expect(asked.slice(1)).toEqual(["HBM", "L2", "L2"]);
  });
});
