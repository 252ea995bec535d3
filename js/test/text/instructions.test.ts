// What is said of kernels on the instruction roofline.

import { describe, expect, it } from "vitest";
import { instructionCard, instructionFormula, instructionSentence, peakText } from "../../src/text/instructions.ts";
import { makeInstructions, makeKernels } from "../helpers.ts";

const kernels = makeKernels([{ name: "sort" }, { name: "hash" }, { name: "copy" }]);
const told = makeInstructions();

describe("the tooltip of a kernel on the instruction roofline", () => {
  it("has the rate, each level with its share of the roof, lanes, and transactions of an access", () => {
    expect(instructionCard(kernels, told, 0)).toEqual([
      "sort",
      [
        ["rate", "50 GIPS"],
        // 50 of 0.25 × 437.5, of 2 × 93.65 and of 40 × 25.9.
        ["● per L1 TXN", "0.25 · 46 % of roof"],
        ["■ per L2 TXN", "2 · 27 % of roof"],
        ["◆ per HBM TXN", "40 · 4.8 % of roof"],
        ["of lowest roof", "46 % · L1"],
        ["active lanes", "50 %"],
        ["global accesses", "32 transactions each"],
      ],
    ]);
  });
  it("leaves out what is unknown", () => {
    expect(instructionCard(kernels, told, 1)[1]).toEqual([
      ["rate", "10 GIPS"],
      ["■ per L2 TXN", "5 · 2.1 % of roof"],
      ["active lanes", "100 %"],
    ]);
  });
});

describe("the sentence of a kernel on the instruction roofline", () => {
  it("is its lowest roof as a product, and the share of it", () => {
    expect(instructionFormula(kernels, told, 0)).toBe(
      "sort: 50 GIPS; 46 % of 0.25 per L1 transaction × 437.5 GTXN/s = 109.4 GIPS",
    );
  });
  it("names the peak where instructions bind", () => {
    const bound = { values: ["instructions"], codes: new Int32Array(3) };
    const shown = makeInstructions({ bound, utilization: new Float64Array([50 / 489.6, 1, 1]) });
    expect(instructionFormula(kernels, shown, 0)).toBe("sort: 50 GIPS; 10 % of the peak of 489.6 GIPS");
  });
  it("says what is unknown", () => {
    expect(instructionFormula(kernels, told, 1)).toBe("hash: 10 GIPS; its lowest roof is unknown");
    expect(instructionFormula(kernels, told, 2)).toBe("copy: no count of instructions");
  });
});

describe("the sentence of the instruction roofline", () => {
  it("is its model, and on AMD that the peak is an estimate", () => {
    const model = "roof = min(peak, instructions per transaction × transactions/s)";
    expect(instructionSentence(told)).toBe(model);
    const amd = makeInstructions({ unit: "wavefront", isEstimate: true, peak: 115.2e9 });
    expect(instructionSentence(amd)).toBe(`${model}; the peak is an estimate, one instruction a cycle and CU`);
    expect([peakText(told), peakText(amd)]).toEqual(["489.6 GIPS", "about 115.2 GIPS"]);
  });
  it("says that counts or roofs are missing", () => {
    expect(instructionSentence(null)).toBe("This profile has no counts of instructions.");
    expect(instructionSentence(makeInstructions({ peak: Number.NaN, roofs: new Map() }))).toBe(
      "This profile does not name its chip, so its roofs are unknown.",
    );
  });
});
