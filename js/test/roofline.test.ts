// The arithmetic of a drag, on the golden file that the Python is held to as well.

import { describe, expect, it } from "vitest";
import golden from "../../tests/golden/roofline.json";
import { attainable, boundOf, bytesAt, isOffChip, isRoof, levelOf, ridgePoint, roofOf } from "../src/roofline.ts";
import type { Chip } from "../src/wire.ts";
import { type Amount, makeChip, makeKernels, makeRoof } from "./helpers.ts";

type Wanted = number | null | "inf";
interface Asked {
  chip: string;
  precision: string;
  memory: string;
  kernel: { flops: Amount; bytes: Amount; time: number | null; precision: string | null };
}
interface Case extends Asked {
  expected: Record<
    | "compute_time"
    | "memory_time"
    | "time"
    | "ai"
    | "attainable"
    | "attainable_fraction"
    | "achieved"
    | "peak_fraction"
    | "utilization",
    Wanted
  > & { bound_by: string; regime: string; above_roof: boolean };
}
interface Figures {
  peak_flops: Record<string, number>;
  memories: Record<string, number | null>;
  default_precision: string;
}

const cases = golden.cases as unknown as Case[];
const refused = golden.refused as unknown as (Asked & { quantity: string; lacking: string })[];
const chips = new Map<string, Chip>(
  Object.entries(golden.chips as Record<string, Figures>).map(([id, figures]) => [
    id,
    makeChip({ id, peaks: figures.peak_flops, memories: figures.memories, precision: figures.default_precision }),
  ]),
);
const chipOf = (asked: Asked) => chips.get(asked.chip) as Chip;
// The model sends a precision in lower case, whatever was asked for.
const precisionOf = (asked: Asked) => asked.precision.toLowerCase();

function boundOfCase(asked: Asked) {
  const roof = makeRoof(chipOf(asked), precisionOf(asked), asked.memory);
  const kernels = makeKernels([asked.kernel]);
  return boundOf(kernels, 0, roof, bytesAt(kernels, roof.chip, roof.level)[0] as number);
}

function same(found: number, wanted: Wanted): boolean {
  if (wanted === null) return Number.isNaN(found);
  if (wanted === "inf") return found === Number.POSITIVE_INFINITY;
  return found === wanted || Math.abs(found - wanted) <= 1e-12 * Math.abs(wanted);
}

describe("the bound of a kernel", () => {
  it("has every quantity that exact fractions give", () => {
    expect(cases.length).toBeGreaterThanOrEqual(300);
    for (const each of cases) {
      const { expected } = each;
      const bound = boundOfCase(each);
      const found: [number, Wanted][] = [
        [bound.computeTime, expected.compute_time],
        [bound.memoryTime, expected.memory_time],
        [bound.time, expected.time],
        [bound.ai, expected.ai],
        [bound.attainable, expected.attainable],
        [bound.attainableFraction, expected.attainable_fraction],
        [bound.achieved, expected.achieved],
        [bound.peakFraction, expected.peak_fraction],
        [bound.utilization, expected.utilization],
      ];
      const context = JSON.stringify(each);
      for (const [value, wanted] of found)
        expect(same(value, wanted), `${value} is not ${wanted}: ${context}`).toBe(true);
      expect([bound.boundBy, bound.regime], context).toEqual([expected.bound_by, expected.regime]);
      expect(bound.aboveRoof, context).toBe(expected.above_roof);
    }
  });
  it("is the same in a table as alone", () => {
    const asked = cases.filter((each) => each.chip === "card" && each.memory === "main" && each.precision === "auto");
    const table = makeKernels(asked.map((each) => each.kernel));
    const roof = makeRoof(chips.get("card") as Chip);
    const bytes = bytesAt(table, roof.chip, roof.level);
    expect(asked.length).toBeGreaterThan(10);
    for (const [row, each] of asked.entries()) {
      expect(boundOf(table, row, roof, bytes[row] as number)).toEqual(boundOfCase(each));
    }
  });
  it("is unknown where the chip has no peak for the kernel's own precision", () => {
    const own = refused.filter((each) => each.quantity === "kernel");
    expect(own.length).toBeGreaterThan(0);
    for (const each of own) {
      const bound = boundOfCase(each);
      expect(bound.regime).toBe("unknown");
      expect([bound.computeTime, bound.time, bound.attainable]).toEqual([Number.NaN, Number.NaN, Number.NaN]);
    }
  });
});

describe("the roof of a chip", () => {
  it("is what the chip lacks where it has no such peak or bandwidth", () => {
    const lacking = refused.filter((each) => each.quantity !== "kernel");
    expect(lacking.length).toBeGreaterThan(0);
    for (const each of lacking) {
      const roof = roofOf(chipOf(each), precisionOf(each), each.memory, {});
      expect(isRoof(roof)).toBe(false);
      expect(roof).toMatchObject({ quantity: each.quantity });
    }
  });
  it("takes what-if rates and keeps those of the data sheet beside them", () => {
    const chip = makeChip({ id: "a", peaks: { bf16: 100, fp8: 200 }, memories: { HBM: 10, L2: 50 } });
    const whatIf = { a: { peak_flops: { bf16: 150 }, bandwidth: { HBM: 20 } }, b: { peak_flops: { bf16: 1 } } };
    const roof = makeRoof(chip, "auto", "main", whatIf);
    expect(roof).toMatchObject({ peak: 150, bandwidth: 20, sheetPeak: 100, sheetBandwidth: 10, level: "HBM" });
    expect(ridgePoint(roof)).toBe(7.5);
    expect(makeRoof(chip, "fp8", "L2", whatIf)).toMatchObject({ peak: 200, bandwidth: 50 });
    expect(makeRoof(chip, "fp8", "main", whatIf).peaks).toEqual(
      new Map([
        ["bf16", 150],
        ["fp8", 200],
      ]),
    );
  });
  it("allows the smaller of its flat and its slope", () => {
    const roof = { peak: 100, bandwidth: 10 };
    expect([0, 1, 10, 20, Number.POSITIVE_INFINITY].map((ai) => attainable(ai, roof))).toEqual([0, 10, 100, 100, 100]);
  });
});

describe("a memory level", () => {
  it("is found in any case, as main, and as any word for the memory outside the chip", () => {
    const card = makeChip({ memories: { GDDR6: 1, L2: 2 } });
    expect(["main", "gddr6", "HBM", "DRAM", "hbm3e", "l2", "L1"].map((word) => levelOf(card, word))).toEqual([
      ...["GDDR6", "GDDR6", "GDDR6", "GDDR6", "GDDR6", "L2"],
      undefined,
    ]);
    expect(levelOf(makeChip({ memories: { VMEM: 1 } }), "HBM")).toBeUndefined();
  });
  it("is outside the chip by one of the usual words", () => {
    for (const word of ["HBM", "hbm2e", "HBM3", "DRAM", "DDR5", "LPDDR5X", "GDDR6X", " main ", "Unified Memory"]) {
      expect(isOffChip(word), word).toBe(true);
    }
    for (const word of ["L2", "VMEM", "SMEM", "HBM read", "cache"]) expect(isOffChip(word), word).toBe(false);
  });
});
