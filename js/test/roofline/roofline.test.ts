// The arithmetic of a drag, on the golden file that the Python is held to as well.

import { describe, expect, it } from "vitest";
import golden from "../../../tests/golden/roofline.json";
import { type Bound, judge } from "../../src/roofline/bound.ts";
import { attainable, isOffChip, isRoof, levelOf, ridgePoint, roofOf } from "../../src/roofline/roofline.ts";
import type { Chip } from "../../src/wire/types.ts";
import { type Amount, makeChip, makeKernels, makeRoof } from "../helpers.ts";

type Wanted = number | null | "inf";
interface Asked {
  chip: string;
  precision: string;
  memory: string;
  options?: { overlap?: number; exposed_comm?: number; launch_overhead?: number };
  kernel: { flops: Amount; bytes: Amount; time: number | null; precision: string | null; count?: number };
}
type Quantity = (typeof QUANTITIES)[number][0];
interface Case extends Asked {
  expected: Partial<Record<Quantity, Wanted>> & {
    memory_time: Wanted | Record<string, Wanted>;
    ai: Wanted | Record<string, Wanted>;
    bound_by: string;
    regime: string;
    above_roof: boolean;
  };
}
const QUANTITIES = [
  ["compute_time", "computeTime"],
  ["network_time", "networkTime"],
  ["overhead_time", "overheadTime"],
  ["time", "time"],
  ["attainable", "attainable"],
  ["attainable_fraction", "attainableFraction"],
  ["achieved", "achieved"],
  ["peak_fraction", "peakFraction"],
  ["utilization", "utilization"],
] as const satisfies readonly (readonly [string, keyof Bound])[];
interface Figures {
  peak_flops: Record<string, number>;
  memories: Record<string, number | null>;
  default_precision: string;
  link?: number;
}

const cases = golden.cases as unknown as Case[];
const everyLevel = golden.all_levels as unknown as Case[];
const refused = golden.refused as unknown as (Asked & { quantity: string; lacking: string })[];
const chips = new Map<string, Chip>(
  Object.entries(golden.chips as Record<string, Figures>).map(([id, figures]) => [
    id,
    makeChip({
      id,
      peaks: figures.peak_flops,
      memories: figures.memories,
      precision: figures.default_precision,
      link: figures.link ?? null,
    }),
  ]),
);
const chipOf = (asked: Asked) => chips.get(asked.chip) as Chip;
// The model sends a precision in lower case, whatever was asked for.
const precisionOf = (asked: Asked) => asked.precision.toLowerCase();

function roofOfCase({ options = {}, ...asked }: Asked) {
  return makeRoof(
    chipOf(asked),
    precisionOf(asked),
    asked.memory,
    {},
    {
      overlap: options.overlap ?? 1,
      exposedComm: options.exposed_comm ?? 0,
      launchOverhead: options.launch_overhead ?? 0,
    },
  );
}

const boundOfCase = (asked: Asked) => judge(makeKernels([asked.kernel]), roofOfCase(asked))(0);

function same(found: number, wanted: Wanted): boolean {
  if (wanted === null) return Number.isNaN(found);
  if (wanted === "inf") return found === Number.POSITIVE_INFINITY;
  return found === wanted || Math.abs(found - wanted) <= 1e-12 * Math.abs(wanted);
}

describe("the bound of a kernel", () => {
  it("has every quantity that exact fractions give", () => {
    expect(cases.length).toBeGreaterThanOrEqual(500);
    for (const each of cases) {
      const { expected } = each;
      const bound = boundOfCase(each);
      const context = JSON.stringify(each);
      const hold = (value: number, wanted: Wanted) =>
        expect(same(value, wanted), `${value} is not ${wanted}: ${context}`).toBe(true);
      for (const [theirs, ours] of QUANTITIES) {
        const wanted = expected[theirs];
        if (wanted !== undefined) hold(bound[ours], wanted);
      }
      hold(bound.memoryTime, expected.memory_time as Wanted);
      hold(bound.ai, expected.ai as Wanted);
      expect([bound.boundBy, bound.regime], context).toEqual([expected.bound_by, expected.regime]);
      expect(bound.aboveRoof, context).toBe(expected.above_roof);
    }
  });
  it("is that of the slowest level whose bytes are known, of all that have a bandwidth", () => {
    expect(everyLevel.length).toBeGreaterThan(20);
    for (const each of everyLevel) {
      const { expected } = each;
      const bound = boundOfCase(each);
      const context = JSON.stringify(each);
      const known = Object.values(expected.memory_time as Record<string, Wanted>).filter((time) => time !== null);
      const slowest = known.length > 0 ? Math.max(...(known as number[])) : null;
      expect(same(bound.memoryTime, slowest), context).toBe(true);
      for (const [theirs, ours] of QUANTITIES) {
        const wanted = expected[theirs];
        if (wanted !== undefined) expect(same(bound[ours], wanted), `${theirs} ${bound[ours]}: ${context}`).toBe(true);
      }
      expect([bound.boundBy, bound.regime], context).toEqual([expected.bound_by, expected.regime]);
    }
  });
  it("is the same in a table as alone", () => {
    const plain = cases.filter(({ options }) => options === undefined);
    const asked = plain.filter((each) => each.chip === "card" && each.memory === "main" && each.precision === "auto");
    const bound = judge(makeKernels(asked.map((each) => each.kernel)), makeRoof(chips.get("card") as Chip));
    expect(asked.length).toBeGreaterThan(10);
    for (const [row, each] of asked.entries()) expect(bound(row)).toEqual(boundOfCase(each));
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
