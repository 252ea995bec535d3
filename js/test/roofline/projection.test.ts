// The time of a program elsewhere, on the golden file that the Python is held to as well.

import { describe, expect, it } from "vitest";
import golden from "../../../tests/golden/projection.json";
import { judge } from "../../src/roofline/bound.ts";
import { boundTimes, project, recast } from "../../src/roofline/projection.ts";
import { decodeKernels } from "../../src/wire/decode.ts";
import type { Chip } from "../../src/wire/types.ts";
import { type KernelSpec, makeChip, makeKernels, makeRoof, several, wireChip, wireKernels } from "../helpers.ts";

interface Case {
  name: string;
  table: string;
  source: string;
  chip: string;
  precision?: string;
  memory?: string;
  clock?: number;
  at_roof?: number[];
  expected: {
    before: number;
    time: number;
    speedup: number | null;
    not_scaled: number;
    far: number;
    above: number;
    by_kernel: (number | null)[];
  };
}
interface Figures {
  peak_flops: Record<string, number>;
  memories: Record<string, number>;
  default_precision: string;
}
type Row = KernelSpec & { self_time?: number };

const cases = golden.cases as unknown as Case[];
const tables = golden.tables as unknown as Record<string, Row[]>;

function chipOf(id: string, clock = 1): Chip {
  const { peak_flops, memories, default_precision } = (golden.chips as unknown as Record<string, Figures>)[
    id
  ] as Figures;
  const peaks = Object.fromEntries(Object.entries(peak_flops).map(([name, peak]) => [name, peak * clock]));
  return makeChip({ id, peaks, memories, precision: default_precision });
}

function projected({ table, source, chip, precision, memory, clock, at_roof = [] }: Case) {
  const rows = tables[table] as Row[];
  const kernels = makeKernels(rows.map((row) => ({ ...row, selfTime: row.self_time ?? row.time ?? null })));
  const from = makeRoof(chipOf(source), "auto", memory);
  const to = makeRoof(chipOf(chip, clock), precision ?? from.precision, memory);
  return project(kernels, boundTimes(kernels, from), boundTimes(kernels, to), new Set(at_roof));
}

const near = (found: number, wanted: number | null) =>
  wanted === null ? Number.isNaN(found) : Math.abs(found - wanted) <= 1e-12 * wanted;

describe("the time of a program elsewhere", () => {
  it("is told of in more than thirty cases", () => expect(cases.length).toBeGreaterThan(30));
  it.each(cases)("$name", (asked) => {
    const found = projected(asked);
    const { expected } = asked;
    const both: (readonly [number, number | null])[] = [
      ...expected.by_kernel.map((wanted, row) => [found.byKernel[row] as number, wanted] as const),
      [found.before, expected.before],
      [found.time, expected.time],
      [found.before / found.time, expected.speedup],
      [found.notScaled, expected.not_scaled],
      [found.far, expected.far],
      [found.above, expected.above],
    ];
    expect(found.byKernel.length).toBe(expected.by_kernel.length);
    expect(both.filter(([is, wanted]) => !near(is, wanted))).toEqual([]);
  });
});

describe("the time of kernels far below their roof", () => {
  it("is that of those that are scaled at less than a tenth of it and are not put at it", () => {
    const kernels = makeKernels([
      // Of 1 s each: 5 %, 10 % and 50 % of their roof, and one whose bound is unknown.
      { flops: 5e12, bytes: 1, time: 1 },
      { flops: 1e13, bytes: 1, time: 1 },
      { flops: 5e13, bytes: 1, time: 1 },
      { flops: null, bytes: null, time: 1 },
      // 7.5 %: its roof is that of all its time, though only half of it is its own.
      { flops: 1.5e13, bytes: 1, time: 2, selfTime: 1 },
    ]);
    const times = boundTimes(kernels, makeRoof(makeChip()));
    expect(project(kernels, times, times, new Set()).far).toBe(2);
    expect(project(kernels, times, times, new Set([0])).far).toBe(1);
  });
});

describe("the time of kernels that are not scaled", () => {
  const kernels = makeKernels([{ time: 1 }, { time: 1 }, { time: 0, selfTime: 0 }, { time: null, selfTime: null }]);
  const sums = (there: readonly number[], here: readonly number[]) => {
    const { byKernel, ...rest } = project(kernels, Float64Array.from(there), Float64Array.from(here), new Set());
    return { ...rest, byKernel: [...byKernel] };
  };
  it("is neither far below nor above a roof, whatever was its bound where it ran", () => {
    const none = [Number.NaN, Number.NaN];
    const wanted = { before: 2, time: 2, notScaled: 2, far: 0, above: 0, byKernel: [1, 1, 0, Number.NaN] };
    expect(sums([0.01, 2, ...none], [Number.NaN, Number.NaN, ...none])).toEqual(wanted);
    expect(sums([0.01, 2, ...none], [0, Number.POSITIVE_INFINITY, ...none])).toEqual(wanted);
  });
  it("else counts as far below at less than a tenth of the roof, and as above from 1 + 1e-9 of it", () => {
    expect(sums([0.09, 2, 1, 1], [0.18, 4, 1, 1])).toEqual({
      ...{ before: 2, time: 4, notScaled: 0, far: 1, above: 1, byKernel: [2, 2, 0, Number.NaN] },
    });
    expect(sums([0.1, 1 + 1e-9, 1, 1], [0.2, 1, 1, 1])).toMatchObject({ far: 0, above: 0 });
    expect(sums([0.1, 1 + 2e-9, 1, 1], [0.2, 1, 1, 1])).toMatchObject({ far: 0, above: 1 });
  });
});

describe("the chip that kernels ran on", () => {
  it("comes with them, whether it is among the others or not", () => {
    const chip = wireChip({ id: "old", peaks: { bf16: 3 }, memories: { HBM: 2 } });
    const kernels = decodeKernels({ ...wireKernels([]), chip });
    expect(kernels.chip).toMatchObject({ id: "old", peaks: new Map([["bf16", 3]]), memories: new Map([["HBM", 2]]) });
    expect(decodeKernels({ ...wireKernels([]), chip: null }).chip).toBeNull();
  });
});

describe("the least time of each kernel", () => {
  it("is what a plain roof says of it, of whatever bytes and FLOPs", () => {
    const chip = makeChip({
      peaks: { bf16: 1e14, fp8: 2e14 },
      memories: { HBM: 1e12, L2: 4e12, L1: null },
      link: 1e10,
    });
    const amounts = [null, 0, 3e14, { fp8: 1e14, bf16: 5e13 }, { fp64: 1 }];
    const traffic = [null, 0, 2e12, { HBM: 1e12, L2: 9e12 }, { L2: 1e12 }, { HBM: 1e10, network: 7e10 }];
    const kernels = makeKernels(
      amounts.flatMap((flops) => traffic.map((bytes) => ({ flops, bytes, precision: null }))),
    );
    for (const memory of ["main", "L2", "all"]) {
      const roof = makeRoof(chip, "auto", memory);
      const boundOf = judge(kernels, roof);
      expect([...boundTimes(kernels, roof)]).toEqual(several(30, (row) => boundOf(row).time));
    }
  });
});

describe("work recast to another precision", () => {
  const chip = makeChip({ peaks: { bf16: 100e12, fp8: 200e12, bf16_vector: 10e12 }, memories: { HBM: 1e12 } });
  it("is judged by its peak, whatever was told", () => {
    const kernels = makeKernels([
      { flops: 4e14, bytes: 1e12, precision: "bf16" },
      { flops: { bf16: 2e14, fp8: 2e14 }, bytes: 1e12 },
      { flops: 4e14, bytes: 3e12 },
    ]);
    expect([...boundTimes(recast(kernels), makeRoof(chip, "fp8"))]).toEqual([2, 2, 3]);
    expect([...boundTimes(kernels, makeRoof(chip, "fp8"))]).toEqual([4, 3, 3]);
  });
  it("has no precision, and no other FLOPs than those of classes if there were no others", () => {
    const kernels = makeKernels([
      { flops: { vector: 3 }, bytes: 1, precision: "fp8" },
      { flops: { tensor: 2 }, bytes: 1, precision: "bf16" },
    ]);
    const plain = recast(kernels);
    expect(plain.precision).toEqual({ values: [null], codes: Int32Array.of(0, 0) });
    expect([...plain.flops.keys()]).toEqual(["vector", "tensor"]);
    const both = recast(makeKernels([{ flops: { bf16: 1, vector: 3, fp8: 2 }, bytes: 1 }]));
    expect([...both.flops]).toEqual([
      ["vector", Float64Array.of(3)],
      ["", Float64Array.of(3)],
    ]);
  });
  it("keeps FLOPs of a class in it, and what is unknown unknown", () => {
    const kernels = makeKernels([
      { flops: { vector: 3e13, bf16: 1e14 }, bytes: 1e12, precision: "fp8" },
      { flops: null, bytes: 1e12 },
    ]);
    const times = boundTimes(recast(kernels), makeRoof(chip, "bf16"));
    expect(times[0]).toBe(4);
    expect(times[1]).toBeNaN();
  });
});
