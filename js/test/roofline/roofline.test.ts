// The arithmetic of a drag, on the golden file that the Python is held to as well.

import { describe, expect, it } from "vitest";
import golden from "../../../tests/golden/roofline.json";
import { type Bound, judge } from "../../src/roofline/bound.ts";
import { boundTimes } from "../../src/roofline/projection.ts";
import {
  attainable,
  bytesAt,
  hasWhatIfs,
  isOffChip,
  isRoof,
  levelOf,
  peakFor,
  ridgePoint,
  roofElsewhere,
  roofOf,
} from "../../src/roofline/roofline.ts";
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
      const intensity = (expected.ai as Record<string, Wanted>)[bound.slowest.name] ?? null;
      expect(same(bound.aiOfSlowest, intensity), context).toBe(true);
    }
  });
  it("is that of the first of two levels that need the same time", () => {
    const chip = makeChip({ memories: { HBM: 1e12, L2: 4e12 } });
    const kernels = makeKernels([{ flops: 1, bytes: { HBM: 1e12, L2: 4e12 } }]);
    expect(judge(kernels, makeRoof(chip, "auto", "all"))(0)).toMatchObject({ boundBy: "HBM", memoryTime: 1 });
  });
  it("counts times that differ by 1e-12 of the shorter as equal: compute comes before memory, a link before launches", () => {
    const chip = makeChip({ peaks: { bf16: 1 }, memories: { HBM: 1 }, link: 1 });
    const regime = (bytes: Record<string, number>, launchOverhead = 0) =>
      judge(makeKernels([{ flops: 1, bytes }]), makeRoof(chip, "auto", "main", {}, { launchOverhead }))(0).regime;
    const [tie, more] = [1 + 1e-12, 1 + 1.001e-12];
    expect([regime({ HBM: tie }), regime({ HBM: more })]).toEqual(["compute", "memory"]);
    expect([regime({ HBM: 0, network: tie }), regime({ HBM: 0, network: more })]).toEqual(["compute", "network"]);
    expect([regime({ HBM: 0 }, tie), regime({ HBM: 0 }, more)]).toEqual(["compute", "overhead"]);
    const [link, launches] = [2, 2 * tie];
    expect(regime({ HBM: 0, network: link }, launches)).toBe("network");
    expect(regime({ HBM: 0, network: link }, 2 * more)).toBe("overhead");
  });
  it("takes half as long over a link that is twice as fast in a what-if", () => {
    const chip = makeChip({ id: "node", peaks: { bf16: 1 }, memories: { HBM: 1 }, link: 2 });
    const kernels = makeKernels([{ flops: 0, bytes: { HBM: 0, network: 8 } }]);
    const whatIf = { node: { bandwidth: { network: 4 } } };
    const [sheet, twice] = [makeRoof(chip), makeRoof(chip, "auto", "main", whatIf)];
    expect([sheet, twice].map((roof) => judge(kernels, roof)(0).time)).toEqual([4, 2]);
    expect([sheet, twice].map((roof) => [...boundTimes(kernels, roof)])).toEqual([[4], [2]]);
    expect([sheet, twice].map(hasWhatIfs)).toEqual([false, true]);
  });
  it("is above the roof from a utilization of more than 1 + 1e-9", () => {
    const roof = makeRoof(makeChip({ memories: { HBM: 1 } }));
    const bound = judge(makeKernels([1 + 1e-9, 1 + 1.001e-9].map((bytes) => ({ flops: 0, bytes, time: 1 }))), roof);
    expect([bound(0).aboveRoof, bound(1).aboveRoof]).toEqual([false, true]);
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

describe("the peak for some FLOPs", () => {
  const roof = makeRoof(makeChip({ peaks: { bf16: 100, fp8: 200, fp8_tensor: 220, vector: 10, matrix: 90 } }));
  const peaks = (...asked: readonly (readonly [string, string | null])[]) =>
    asked.map(([key, own]) => peakFor(roof, key, own));
  it("without a class is that of the kernel's precision, or of the roof", () => {
    expect(peaks(["", null], ["", "fp8"], ["", "fp64"])).toEqual([100, 200, undefined]);
  });
  it("of a precision is that of this precision, never another one", () => {
    expect(peaks(["fp8", null], ["fp8", "bf16"], ["fp64", null])).toEqual([200, 200, undefined]);
  });
  it("of a class is that of the class at the precision, else that of the class, else that of the precision", () => {
    expect(peaks(["tensor", "fp8"], ["matmul", "fp8"], ["vector", "fp8"], ["matmul", null])).toEqual([
      220, 220, 10, 90,
    ]);
    expect(peaks(["transcendental", "fp8"], ["transcendental", null])).toEqual([200, 100]);
  });
  it("of a class is unknown where the chip lacks the kernel's precision", () => {
    expect(peaks(["vector", "fp64"], ["tensor", "fp64"])).toEqual([undefined, undefined]);
  });
});

describe("the bytes of kernels", () => {
  it("outside the chip count for the main memory only if no other level of the chip has their name", () => {
    const kernels = makeKernels([
      { flops: 1, bytes: { HBM: 3, DRAM: 5 } },
      { flops: 1, bytes: { DRAM: 5, L2: 7, L1: 9 } },
    ]);
    const at = (level: string, memories: readonly string[]) => [
      ...bytesAt(kernels, makeChip({ memories: Object.fromEntries(memories.map((name) => [name, 1])) }), level),
    ];
    expect(at("HBM", ["HBM"])).toEqual([3, 5]);
    expect(at("HBM", ["HBM", "DRAM"])).toEqual([3, Number.NaN]);
    expect(at("DRAM", ["HBM", "DRAM"])).toEqual([5, 5]);
    expect(at("L2", ["HBM", "L2", "L1"])).toEqual([Number.NaN, 7]);
    expect(at("L1", ["HBM", "L2", "L1"])).toEqual([Number.NaN, 9]);
    expect(at("L3", ["HBM", "L3"])).toEqual([Number.NaN, Number.NaN]);
  });
  it("are found once for each set of levels, without a copy", () => {
    const kernels = makeKernels([{ flops: 1, bytes: { HBM: 3, HBM2: 5, L2: 7 } }]);
    const [one, other] = [makeChip({ memories: { HBM: 1, "2L": 1 } }), makeChip({ memories: { HBM2: 1, L: 1 } })];
    expect([...bytesAt(kernels, one, "HBM"), ...bytesAt(kernels, other, "HBM2")]).toEqual([3, 5]);
    expect(bytesAt(kernels, one, "HBM")).toBe(bytesAt(kernels, one, "HBM"));
    expect(bytesAt(kernels, one, "2L")).toBe(bytesAt(kernels, one, "2L"));
    const alone = makeKernels([{ flops: 1, bytes: { HBM: 3 } }]);
    expect(bytesAt(alone, one, "HBM")).toBe(alone.bytes.get("HBM"));
  });
});

describe("the roof of the chip that kernels ran on", () => {
  const roof = makeRoof(makeChip({ id: "here", memories: { VMEM: 4, SMEM: 8 } }));
  const elsewhere = (memories: Record<string, number>, of = roof) =>
    roofElsewhere({ ...makeKernels([{}]), chip: makeChip({ id: "there", memories }) }, of);
  it("has its main memory where the roof has its own, whatever their names", () => {
    expect(elsewhere({ HBM: 2, VMEM: 3 })).toMatchObject({ level: "HBM", bandwidth: 2 });
  });
  it("has the level of the same name otherwise, or all levels", () => {
    const inner = makeRoof(roof.chip, "auto", "SMEM");
    expect(elsewhere({ HBM: 2, SMEM: 3 }, inner)).toMatchObject({ level: "SMEM", bandwidth: 3 });
    expect(elsewhere({ HBM: 2 }, inner)).toBeUndefined();
    expect(elsewhere({ HBM: 2, SMEM: 3 }, makeRoof(roof.chip, "auto", "all"))?.levels.length).toBe(2);
  });
  it("is none if they ran on the roof's chip, or on an unknown one", () => {
    expect(roofElsewhere(makeKernels([{}]), roof)).toBeUndefined();
    expect(roofElsewhere({ ...makeKernels([{}]), chip: roof.chip }, roof)).toBeUndefined();
  });
});

describe("a memory level", () => {
  it("is found in any case, as main, and as any word for the memory outside the chip", () => {
    const card = makeChip({ memories: { GDDR6: 1, L2: 2 } });
    expect(["main", "gddr6", "HBM", "DRAM", "hbm3e", "l2", "L1"].map((word) => levelOf(card, word))).toEqual([
      ...["GDDR6", "GDDR6", "GDDR6", "GDDR6", "GDDR6", "L2"],
      undefined,
    ]);
    const onChip = makeChip({ memories: { VMEM: 1, HBM: 2 } });
    expect(["main", "all", "HBM", "DRAM"].map((word) => levelOf(onChip, word))).toEqual([
      "VMEM",
      "VMEM",
      "HBM",
      undefined,
    ]);
    expect(levelOf(makeChip({ memories: {} }), "HBM")).toBeUndefined();
  });
  it("is outside the chip by one of the usual words", () => {
    for (const word of ["HBM", "hbm2e", "HBM3", "DRAM", "DDR5", "LPDDR5X", "GDDR6X", " main ", "Unified Memory"]) {
      expect(isOffChip(word), word).toBe(true);
    }
    for (const word of ["L2", "VMEM", "SMEM", "HBM read", "cache"]) expect(isOffChip(word), word).toBe(false);
  });
});
