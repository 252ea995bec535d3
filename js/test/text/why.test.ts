// Why a kernel is slow: the sentences and counters of Python's `reasons` and `telling`, filled in by the page.

import { describe, expect, it } from "vitest";
import { briefRows, tooltipRows } from "../../src/text/describe.ts";
import { reasonsOf, tellingRows } from "../../src/text/why.ts";
import type { Kernels } from "../../src/wire/columns.ts";
import { decodeKernels } from "../../src/wire/decode.ts";
import type { Reason } from "../../src/wire/types.ts";
import { makeChip, makeKernels, makeRoof, wireKernels } from "../helpers.ts";

const TAIL: Reason = {
  sentence: "{blocks} blocks are {waves per SM} waves: {full waves (%)} of the places are used.",
  suggestion: "Choose another grid.",
  source: "A guide",
  columns: ["waves per SM", "SM active (%)"],
  counters: ["launch__waves", "sm__active"],
};
const STALLS: Reason = {
  ...{ sentence: "Warps wait for {stall 1}.", suggestion: "Wait less.", source: "A guide", counters: [] },
  columns: ["stall 1 (%)", "issue slots busy (%)"],
};
const EXTRA = {
  blocks: [133_000, 8],
  "waves per SM": [1.0075, Number.NaN],
  "full waves (%)": [50.4, Number.NaN],
  "SM active (%)": [50.1, Number.NaN],
  "stall 1": ["barrier", null],
  "stall 1 (%)": [61.4, 30],
  "issue slots busy (%)": [9.5, 8],
};
const SPECS = [
  { flops: 1e9, bytes: 1e7, time: 1 },
  { flops: 1e9, bytes: 1e7, time: 1 },
];
const explained = (reasons: Kernels["reasons"]): Kernels => ({ ...makeKernels(SPECS, { extra: EXTRA }), reasons });

describe("reasons", () => {
  it("have the numbers of the kernel in their sentences, shares in percent", () => {
    const [tail, stalls, ...more] = reasonsOf(explained(new Map([[0, [TAIL, STALLS]]])), 0);
    expect(more).toEqual([]);
    expect(tail).toEqual({
      language: "en",
      sentence: "133,000 blocks are 1.01 waves: 50.4 % of the places are used.",
      suggestion: "Choose another grid.",
      counters: "launch__waves, sm__active",
      source: "A guide",
    });
    expect(stalls?.sentence).toBe("Warps wait for barrier.");
    expect(reasonsOf(explained(new Map([[0, [TAIL]]])), 1)).toEqual([]);
  });
  it("come from the wire by row, in the order of the rules", () => {
    const int32 = (...values: number[]) => new DataView(Int32Array.from(values).buffer);
    const reasons = { rules: [TAIL, STALLS], row: int32(0, 0, 1), rule: int32(0, 1, 1) };
    const kernels = decodeKernels({ ...wireKernels(SPECS), reasons });
    expect([...kernels.reasons]).toEqual([
      [0, [TAIL, STALLS]],
      [1, [STALLS]],
    ]);
    expect(decodeKernels(wireKernels(SPECS)).reasons.size).toBe(0);
  });
});

describe("the telling counters", () => {
  it("are the first two of one reason, and the first of each of two", () => {
    expect(tellingRows(explained(new Map([[0, [TAIL]]])), 0)).toEqual([
      ["waves per SM", "1.01"],
      ["SM active", "50.1 %"],
    ]);
    expect(tellingRows(explained(new Map([[0, [TAIL, STALLS]]])), 0)).toEqual([
      ["waves per SM", "1.01"],
      ["stall 1", "barrier 61.4 %"],
    ]);
  });
  it("are those that the kernel has, and none of a kernel without reasons", () => {
    expect(tellingRows(explained(new Map([[1, [TAIL, STALLS]]])), 1)).toEqual([
      ["stall 1", "30 %"],
      ["issue slots busy", "8 %"],
    ]);
    expect(tellingRows(explained(new Map()), 0)).toEqual([]);
  });
  it("are rows of the tooltip", () => {
    const [kernels, roof] = [explained(new Map([[0, [TAIL]]])), makeRoof(makeChip())];
    expect(briefRows(kernels, 0, roof).slice(-2)).toEqual(tellingRows(kernels, 0));
    expect(tooltipRows(kernels, 0, roof)).toEqual(expect.arrayContaining(tellingRows(kernels, 0)));
  });
});
