// Measured rates that can replace those of a data sheet, and whether they do.

import { describe, expect, it } from "vitest";
import { measuredRates, peaksInUse } from "../../src/roofline/measured_rates.ts";
import type { Ceiling } from "../../src/wire/types.ts";
import { makeChip } from "../helpers.ts";

const ceiling = (rest: Partial<Ceiling>): Ceiling => ({
  ...{ key: "c", name: "c", memory: null, precision: null, rate: 1, measured: true },
  ...rest,
});
const chip = makeChip({
  id: "card",
  precision: "bf16",
  peaks: { bf16: 100, fp8: 200 },
  memories: { HBM: 10, L2: null },
  ceilings: [
    ceiling({ rate: 80 }),
    ceiling({ rate: 90 }),
    ceiling({ rate: 85 }),
    ceiling({ rate: 99, measured: false }),
    ceiling({ precision: "fp8", rate: 150 }),
    ceiling({ precision: "int4", rate: 150 }),
    ceiling({ memory: "HBM", rate: 8 }),
    ceiling({ memory: "L2", rate: 40 }),
  ],
});

describe("the measured rates of a chip", () => {
  it("are the fastest under each figure that the data sheet has", () => {
    expect(measuredRates(chip)).toEqual([
      { quantity: "peak_flops", key: "bf16", rate: 90, sheet: 100 },
      { quantity: "peak_flops", key: "fp8", rate: 150, sheet: 200 },
      { quantity: "bandwidth", key: "HBM", rate: 8, sheet: 10 },
    ]);
  });
});

describe("the rates in force", () => {
  const measured = { peak_flops: { bf16: 90, fp8: 150 }, bandwidth: { HBM: 8 } };
  it("are the printed ones, the measured ones, or neither", () => {
    expect(peaksInUse([chip], {})).toBe("printed");
    expect(peaksInUse([chip], { card: measured })).toBe("achievable");
    expect(peaksInUse([chip], { card: { bandwidth: { HBM: 8 } } })).toBe("changed");
    expect(peaksInUse([chip], { other: measured })).toBe("printed");
  });
  it("are undefined for chips without measured rates", () => {
    expect(peaksInUse([makeChip()], {})).toBeUndefined();
    expect(peaksInUse([], {})).toBeUndefined();
    expect(peaksInUse([makeChip(), chip], { card: measured })).toBe("achievable");
  });
});
