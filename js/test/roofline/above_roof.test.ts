// Why kernels are above their roof: the first cause that fits most of them.

import { describe, expect, it } from "vitest";
import { causeOf, rowsAbove } from "../../src/roofline/above_roof.ts";
import { everyRow } from "../../src/wire/columns.ts";
import { type ChipSpec, type KernelSpec, type MetadataSpec, makeChip, makeKernels, makeRoof } from "../helpers.ts";

// 100 TFLOP/s at bf16 and 1 TB/s: the ridge point is 100 FLOP/B.
const PLAIN: ChipSpec = { peaks: { bf16: 1e14 }, memories: { HBM: 1e12 } };
/** Kernels of 1 s: at 1 FLOP/B a kernel that moves 1e12 B is at its roof. */
const moving = (name: string, bytes: number, more: KernelSpec = {}): KernelSpec => ({
  ...{ name, flops: bytes, bytes, time: 1 },
  ...more,
});
const computing = (flops: number, more: KernelSpec = {}): KernelSpec => ({ flops, bytes: 1e10, time: 1, ...more });

function cause(specs: readonly KernelSpec[], chip: ChipSpec = PLAIN, told: MetadataSpec = {}) {
  const kernels = makeKernels(specs, told);
  const roof = makeRoof(makeChip({ name: "Example", ...chip }));
  const { name, what } = causeOf(kernels, roof, rowsAbove(kernels, roof, everyRow(kernels)));
  return [name, what];
}

describe("the kernels above the roof", () => {
  it("are those that need less than 1/1.05 of the time that the roof allows", () => {
    const kernels = makeKernels([1.04e12, 1.06e12, 1e11, 3e12].map((bytes) => moving("k", bytes)));
    expect(rowsAbove(kernels, makeRoof(makeChip(PLAIN)), Int32Array.of(3, 2, 1, 0))).toEqual([3, 1]);
  });
});

describe("the likely cause", () => {
  it("is the asynchronous copy whose start and end alone were timed, if most are such", () => {
    expect(cause([moving("copy-start.1", 2e12), moving("copy-done", 2e12), moving("norm", 2e12)])).toEqual([
      "asynchronous",
      "",
    ]);
    expect(cause([moving("MemcpyAsync DtoH", 2e12)])).toEqual(["asynchronous", ""]);
    // One of two is not most of them.
    expect(cause([moving("copy-start", 2e12), moving("norm", 2e12)])).toEqual(["wrong", ""]);
  });
  it("is the slowest narrower precision whose peak explains the rates", () => {
    const chip = { ...PLAIN, peaks: { bf16: 1e14, fp32: 5e13, int8: 2e14, fp4: 4e14, fp8: 2e14 } };
    expect(cause([computing(1.5e14)], chip)).toEqual(["precision", "fp8"]);
    expect(cause([computing(3e14)], chip)).toEqual(["precision", "fp4"]);
    expect(cause([computing(5e14)], chip)).toEqual(["wrong", ""]);
    // A kernel with a precision of its own did not run at another.
    expect(cause([computing(6e13, { precision: "fp32" })], chip)).toEqual(["wrong", ""]);
  });
  it("is the next memory level if its bandwidth explains the bytes", () => {
    const chip = { ...PLAIN, memories: { HBM: 1e12, L2: 4e12, L1: 1e13 } };
    expect(cause([moving("norm", 2e12)], chip)).toEqual(["cache", "L2"]);
    expect(cause([moving("norm", 5e12)], chip)).toEqual(["wrong", ""]);
  });
  it("is the shapes that FLOPs or bytes were computed from", () => {
    const origin = { bytes: ["computed from shapes", "computed from shapes", null] };
    const specs = [2e12, 3e12, 4e12].map((bytes) => moving("norm", bytes));
    expect(cause(specs, PLAIN, { origin })).toEqual(["shapes", ""]);
    expect(cause(specs.slice(2), PLAIN, { origin: { time: ["from shapes"] } })).toEqual(["wrong", ""]);
  });
  it("is another chip, if the file names none and more than half of the time is above the roof", () => {
    const specs = [moving("norm", 2e12, { time: 3, selfTime: 3 }), moving("gelu", 1e11)];
    const fast = specs.map((spec, at) => (at === 0 ? { ...spec, bytes: 6e12, flops: 6e12 } : spec));
    expect(cause(fast, PLAIN, { source: "run.csv" })).toEqual(["chip", "Example"]);
    expect(cause(fast)).toEqual(["wrong", ""]);
    const short = [moving("norm", 2e12), moving("gelu", 1e11, { time: 1 })];
    expect(cause(short, PLAIN, { source: "run.csv" })).toEqual(["wrong", ""]);
  });
  it("is the clock if none is more than 15 % above", () => {
    expect(cause([moving("norm", 1.1e12), moving("gelu", 1.15e12)])).toEqual(["clock", ""]);
    expect(cause([moving("norm", 1.1e12), moving("gelu", 1.16e12)])).toEqual(["wrong", ""]);
  });
});
