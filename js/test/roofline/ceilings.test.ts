// What lies under the focus roof: which ceilings there are, which are on, and what they look like.

import { describe, expect, it } from "vitest";
import { commonPrecision, flatsOf, levelsDrawn, possibleCeilings, subRoofsOf } from "../../src/roofline/ceilings.ts";
import { exposedText } from "../../src/text/describe.ts";
import type { Ceiling } from "../../src/wire/types.ts";
import { type KernelSpec, makeChip, makeKernels, makeRoof } from "../helpers.ts";

const ceiling = (name: string, rate: number, rest: Partial<Ceiling> = {}): Ceiling => {
  const memory = rest.memory ?? null;
  return { key: memory ? `${name} ${memory}` : name, name, rate, memory, precision: null, measured: false, ...rest };
};
const CHIP = makeChip({
  id: "c",
  peaks: { bf16: 100, fp32: 20, fp8: 200 },
  memories: { HBM: 1, L2: 10, L1: null },
  ceilings: [
    ceiling("no FMA", 50),
    ceiling("no sparsity", 150, { precision: "fp8" }),
    ceiling("STREAM", 0.8, { memory: "HBM", measured: true }),
    ceiling("measured", 7, { memory: "L2", measured: true }),
    ceiling("measured", 30, { memory: "L1", measured: true }),
  ],
});
const ROOF = makeRoof(CHIP);
const keys = (memory: string, choice: string[] | null = null, precision = "auto") =>
  possibleCeilings(makeRoof(CHIP, precision, memory), memory, choice).map(({ key, on }) => (on ? key : `(${key})`));

describe("ceilings", () => {
  it("are the chip's own at the chosen precision and level, and the lower peaks of its other precisions", () => {
    expect(keys("main")).toEqual(["no FMA", "STREAM HBM", "(fp32)"]);
    expect(keys("L2", null, "fp8")).toEqual(["no FMA", "no sparsity", "measured L2", "(bf16)", "(fp32)"]);
  });
  it("are those of every level with all of them, also of one that has no other bandwidth", () => {
    expect(keys("all")).toEqual(["no FMA", "STREAM HBM", "measured L2", "measured L1", "(fp32)"]);
  });
  it("have their rate, their unit, and a name that tells levels apart where all levels are drawn", () => {
    const own = { measured: true, on: true };
    expect(possibleCeilings(makeRoof(CHIP, "auto", "L2"), "L2", null)).toEqual([
      { key: "no FMA", name: "no FMA", rate: 50, unit: "FLOP/s", memory: null, measured: false, on: true },
      { key: "measured L2", name: "measured", rate: 7, unit: "B/s", memory: "L2", ...own },
      { key: "fp32", name: "fp32", rate: 20, unit: "FLOP/s", memory: null, measured: false, on: false },
    ]);
    const all = possibleCeilings(makeRoof(CHIP, "auto", "all"), "all", null);
    expect(all.map(({ name }) => name)).toEqual(["no FMA", "STREAM HBM", "measured L2", "measured L1", "fp32"]);
    const dense = makeChip({ ceilings: [ceiling("dense", 60, { key: "dense 2", precision: null })] });
    const [flat] = possibleCeilings(makeRoof(dense, "auto", "all"), "all", null);
    expect([flat?.key, flat?.name]).toEqual(["dense 2", "dense"]);
  });
  it("are no peaks that equal that of the roof", () => {
    const chip = makeChip({ peaks: { bf16: 100, fp16: 100, int8: 90 } });
    expect(possibleCeilings(makeRoof(chip), "main", null).map(({ key, unit }) => [key, unit])).toEqual([
      ["int8", "OP/s"],
    ]);
  });
  it("of one precision are none at another, and count its operations", () => {
    const ceilings = [ceiling("dense", 60, { precision: "int8" }), ceiling("no FMA", 50)];
    const chip = makeChip({ peaks: { bf16: 100, int8: 120 }, ceilings });
    const units = (precision: string) =>
      possibleCeilings(makeRoof(chip, precision), "main", null).map(({ key, unit }) => [key, unit]);
    expect(units("bf16")).toEqual([["no FMA", "FLOP/s"]]);
    expect(units("int8")).toEqual([
      ["dense", "OP/s"],
      ["no FMA", "OP/s"],
      ["bf16", "FLOP/s"],
    ]);
  });
  it("are on as chosen, in any case", () => {
    expect(keys("main", ["FP32", "stream hbm"])).toEqual(["(no FMA)", "STREAM HBM", "fp32"]);
    expect(keys("main", [])).toEqual(["(no FMA)", "(STREAM HBM)", "(fp32)"]);
  });
});

describe("flats of what kernels run at", () => {
  const flats = (kernels: readonly KernelSpec[], peaks: Record<string, number>) =>
    flatsOf(makeKernels(kernels), makeRoof(makeChip({ peaks })), []).map(({ name, peak }) => [name, peak]);
  const peaks = { bf16: 100, fp32: 20, fp8: 200, vector: 5 };
  it("are at the peaks of precisions that compute something, but for the roof's own", () => {
    const kernels = [
      { flops: 10, precision: "bf16" },
      { flops: 10, precision: "fp8" },
      { flops: 0, precision: "fp32" },
      { flops: { fp32: 3 } },
      { flops: 1, precision: "int4" },
    ];
    expect(flats(kernels, peaks)).toEqual([
      ["fp8", 200],
      ["fp32", 20],
    ]);
  });
  it("are named by a class only where it has a peak of its own", () => {
    const kernels = [
      { flops: { tensor: 10 }, precision: "fp8" },
      { flops: { vector: 10 }, precision: "fp32" },
    ];
    expect(flats(kernels, peaks)).toEqual([
      ["fp8", 200],
      ["vector", 5],
    ]);
    expect(flats(kernels, { bf16: 100, fp32: 20, fp8: 200 })).toEqual([
      ["fp8", 200],
      ["fp32", 20],
    ]);
  });
  it("are lines of compute, without those that are drawn", () => {
    const roof = makeRoof(
      makeChip({ peaks: { bf16: 100, fp32: 20, int8: 200, int8_vector: 7, int4: 400 }, memories: { HBM: 3 } }),
    );
    const kernels = makeKernels([
      { flops: 10, precision: "fp32" },
      { flops: 10, precision: "int4" },
      { flops: { int8: 5 } },
      { flops: { vector: 5 }, precision: "int8" },
      { flops: { vector: 5 } },
    ]);
    const line = { kind: "compute", bandwidth: 3, level: "HBM", style: "ceiling" };
    const found = flatsOf(kernels, roof, []);
    expect(found).toEqual([
      { key: "ceiling fp32", name: "fp32", peak: 20, operation: "FLOP", ...line },
      { key: "ceiling int4", name: "int4", peak: 400, operation: "OP", ...line },
      { key: "ceiling int8", name: "int8", peak: 200, operation: "OP", ...line },
      { key: "ceiling vector", name: "vector", peak: 7, operation: "OP", ...line },
    ]);
    expect(flatsOf(kernels, roof, found.slice(1)).map(({ name }) => name)).toEqual(["fp32"]);
  });
  it("are none where no op of the other class is of that precision", () => {
    const kernels = [
      { flops: { tensor: 10 }, precision: "bf16" },
      { flops: { vector: 10, tensor: 0 }, precision: "fp32" },
    ];
    expect(flats(kernels, { bf16: 100, fp32_tensor: 50, fp32: 20 })).toEqual([["fp32", 20]]);
  });
});

describe("the precision of all kernels", () => {
  const common = (...kernels: readonly KernelSpec[]) => commonPrecision(makeKernels(kernels));
  it("is that which all FLOPs share, whether a kernel or its FLOPs state it", () => {
    expect(
      common({ flops: 1, precision: "fp8" }, { flops: { fp8: 2 } }, { flops: { vector: 1 }, precision: "fp8" }),
    ).toBe("fp8");
    expect(common({ flops: 1, precision: "fp8" }, { flops: 0, precision: "bf16" })).toBe("fp8");
  });
  it("is none if precisions differ, if some FLOPs have none, and without FLOPs", () => {
    expect(common({ flops: 1, precision: "fp8" }, { flops: { bf16: 2 } })).toBeUndefined();
    expect(common({ flops: 1, precision: "fp8" }, { flops: 1 })).toBeUndefined();
    expect(common({ flops: 1 }, { flops: { vector: 1 } })).toBeUndefined();
    expect(common({ flops: 0, precision: "fp8" })).toBeUndefined();
  });
});

describe("sub-roofs", () => {
  it("are a flat for compute, a slope for bandwidth, and never mix what was measured with what was not", () => {
    const found = subRoofsOf(ROOF, possibleCeilings(ROOF, "main", null), [], exposedText);
    expect(found).toEqual([
      {
        key: "ceiling no FMA",
        name: "no FMA",
        kind: "compute",
        peak: 50,
        bandwidth: 1,
        level: "HBM",
        style: "ceiling",
        operation: "FLOP",
      },
      {
        key: "ceiling STREAM HBM",
        name: "STREAM",
        kind: "bandwidth",
        peak: 100,
        bandwidth: 0.8,
        level: "HBM",
        style: "measured",
        operation: "FLOP",
      },
    ]);
  });
  it("of exposed communication have one for the share by which kernels are judged, once", () => {
    const judged = { ...ROOF, conditions: { ...ROOF.conditions, exposedComm: 0.3 } };
    const names = (shares: readonly number[]) => subRoofsOf(judged, [], shares, exposedText).map(({ name }) => name);
    expect(names([])).toEqual(["30 % exposed"]);
    expect(names([0.2, 0.3])).toEqual(["20 % exposed", "30 % exposed"]);
    expect(names([0.2])).toEqual(["30 % exposed", "20 % exposed"]);
    const ints = makeRoof(makeChip({ peaks: { int8: 100 }, memories: { HBM: 10 } }));
    expect(subRoofsOf(ints, [], [0.25], exposedText)).toEqual([
      {
        key: "exposed 0.25",
        name: "25 % exposed",
        kind: "communication",
        peak: 75,
        bandwidth: 7.5,
        level: "HBM",
        style: "communication",
        operation: "OP",
      },
    ]);
  });
  it("count the operations of their ceiling", () => {
    const roof = makeRoof(makeChip({ peaks: { bf16: 100, int8: 90 } }));
    const lines = subRoofsOf(roof, possibleCeilings(roof, "main", ["int8"]), [], exposedText);
    expect(lines.map(({ key, operation }) => [key, operation])).toEqual([["ceiling int8", "OP"]]);
  });
  it("of exposed communication are the whole roof lower by its share: 1845.6, 1384.2 and 922.8 TFLOP/s", () => {
    const guide = makeRoof(makeChip({ peaks: { bf16: 2307e12 }, memories: { HBM: 7.2e12 } }));
    const found = subRoofsOf(guide, [], [0.2, 0.4, 0.6], exposedText);
    expect(found.map(({ peak }) => Math.round(peak / 1e11) / 10)).toEqual([1845.6, 1384.2, 922.8]);
    expect(found.map(({ peak, bandwidth }) => Math.round(peak / bandwidth))).toEqual([320, 320, 320]);
    expect(found.map(({ name }) => name)).toEqual(["20 % exposed", "40 % exposed", "60 % exposed"]);
  });
});

describe("the levels that are drawn", () => {
  const roof = makeRoof(CHIP, "auto", "all");
  const drawn = (binding: string[], all = false) => levelsDrawn(roof, new Set(binding), all).map(({ name }) => name);
  it("are the main memory and those that bind, or all whose bandwidth is known", () => {
    expect(drawn([])).toEqual(["HBM"]);
    expect(drawn(["L2"])).toEqual(["HBM", "L2"]);
    expect(drawn([], true)).toEqual(["HBM", "L2"]);
  });
});
