// What lies under the focus roof: which ceilings there are, which are on, and what they look like.

import { describe, expect, it } from "vitest";
import { flatsOf, levelsDrawn, possibleCeilings, subRoofsOf } from "../../src/roofline/ceilings.ts";
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
  it("are none where no op of the other class is of that precision", () => {
    const kernels = [
      { flops: { tensor: 10 }, precision: "bf16" },
      { flops: { vector: 10, tensor: 0 }, precision: "fp32" },
    ];
    expect(flats(kernels, { bf16: 100, fp32_tensor: 50, fp32: 20 })).toEqual([["fp32", 20]]);
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
