// Kernels that are known by the two coordinates of a roofline, on the golden file that Python is held to as well.

import { describe, expect, it } from "vitest";
import golden from "../../../tests/golden/ratios.json";
import { cellText, columnsOf, exportedColumns, usualColumns } from "../../src/panels/table/columns.ts";
import { toCsv } from "../../src/panels/table/csv.ts";
import { headroomOf, judge } from "../../src/roofline/bound.ts";
import { moved } from "../../src/roofline/kernel_moves.ts";
import { MEASURED, pointsOf } from "../../src/roofline/points.ts";
import { boundTimes, project } from "../../src/roofline/projection.ts";
import { rankingOf } from "../../src/roofline/ranking.ts";
import { bytesAt } from "../../src/roofline/roofline.ts";
import { withTotals } from "../../src/roofline/totals.ts";
import { rowsWithoutWork, withTypedWork } from "../../src/roofline/typed_work.ts";
import { boundsOf } from "../../src/state/filters.ts";
import { gapText, sentenceOf, tooltipRows } from "../../src/text/describe.ts";
import { possibleWhatIfs } from "../../src/text/moves.ts";
import { everyRow } from "../../src/wire/columns.ts";
import type { Work } from "../../src/wire/types.ts";
import { type KernelSpec, makeChip, makeKernels, makeRoof } from "../helpers.ts";

type Value = number | null | readonly number[];
interface Case {
  readonly title: string;
  readonly kernel: KernelSpec;
  readonly memory?: string;
  readonly options?: { readonly exposed_comm?: number; readonly overlap?: number; readonly launch_overhead?: number };
  readonly expected: Readonly<Record<string, Value>> & { readonly bound_by: string };
  readonly place: readonly [number, number, string] | null;
}

const CHIP = makeChip({ ...golden.chip, precision: "fp64" });
const LAPTOP = makeRoof(makeChip({ name: "Laptop", peaks: { fp64: 1e12 }, memories: { DRAM: 1e11 } }));
const OTHER: KernelSpec = { name: "other", flops: 1e9, bytes: 1e9, time: 0.1 };
const LAB: readonly KernelSpec[] = [
  { name: "triad", intensity: 0.083, rate: 15.4e9 },
  { name: "dgemm", intensity: 12.5, rate: 880e9 },
  { name: "spmv", intensity: 0.17 },
];
const cases = golden.cases as unknown as Case[];
const numberOf = (value: Value | undefined) =>
  Array.isArray(value) ? (value[0] as number) / (value[1] as number) : ((value ?? Number.NaN) as number);
const roofOf = ({ memory = "main", options = {} }: Case) =>
  makeRoof(
    CHIP,
    "auto",
    memory,
    {},
    {
      exposedComm: options.exposed_comm ?? 0,
      overlap: options.overlap ?? 1,
      launchOverhead: options.launch_overhead ?? 0,
    },
  );
const known = (value: number | undefined) => (Number.isNaN(value) ? null : value);

describe("a kernel with an intensity or a rate", () => {
  it.each(cases)("has the shares of the golden file: $title", (one) => {
    const kernels = makeKernels([one.kernel, OTHER]);
    const bound = judge(kernels, roofOf(one))(0);
    const found = {
      ai: bound.ai,
      achieved: bound.achieved,
      attainable: bound.attainable,
      attainable_fraction: bound.attainableFraction,
      utilization: bound.utilization,
      peak_fraction: bound.peakFraction,
    };
    for (const [name, value] of Object.entries(found)) {
      const expected = numberOf(one.expected[name]);
      if (Number.isNaN(expected)) expect(value, name).toBeNaN();
      else expect(Math.abs(value - expected), name).toBeLessThanOrEqual(1e-15 * expected);
    }
    expect(bound.boundBy).toBe(one.expected.bound_by);
    expect(bound.aboveRoof).toBe(numberOf(one.expected["utilization"]) > 1);
    expect(boundsOf(kernels, roofOf(one)).values[0]).toBe(one.expected.bound_by);
  });
  it.each(cases)("has the place of the golden file: $title", (one) => {
    const roof = roofOf(one);
    for (const specs of [[one.kernel], [one.kernel, OTHER]]) {
      const { home, x, y, roof: of, radius } = pointsOf(makeKernels(specs), [roof], roof);
      const at = home[0] as number;
      if (!one.place) {
        expect(at).toBe(-1);
        continue;
      }
      expect([x[at], y[at]].map((value) => Number(value?.toPrecision(15)))).toEqual(one.place.slice(0, 2));
      expect(of[at] === MEASURED ? "measured" : "at most").toBe(one.place[2]);
      if (one.kernel.time === undefined) expect(radius[at]).toBeNaN();
    }
  });
  it.each(cases)("has no seconds and no amounts: $title", (one) => {
    const kernels = makeKernels([one.kernel]);
    const { time, computeTime, memoryTime } = judge(kernels, roofOf(one))(0);
    expect([time, computeTime, memoryTime, headroomOf(kernels, 0, time)].map(known)).toEqual([null, null, null, null]);
    expect(rankingOf(kernels, everyRow(kernels), roofOf(one)).rows).toEqual([]);
    expect(possibleWhatIfs(kernels, 0, roofOf(one))).toEqual({ bytes: false, time: false });
    const times = boundTimes(kernels, roofOf(one));
    expect(project(kernels, times, times, new Set()).time).toBe(one.kernel.time ?? 0);
  });
  it.each(golden.typed)("is completed by typed work: $title", ({ kernel, typed, flops, bytes, time }) => {
    const found = withTypedWork(makeKernels([kernel]), { 0: typed as Work });
    expect([found.totalFlops[0], bytesAt(found, CHIP, "DRAM")[0], found.time[0]].map(known)).toEqual([
      flops,
      bytes,
      time,
    ]);
    expect(found.totalTime).toBe(time ?? 0);
  });
  it("is not offered for typed work, because it is on the chart", () => {
    const kernels = makeKernels([...LAB, { name: "opaque", time: 1 }]);
    expect([...rowsWithoutWork(kernels, everyRow(kernels))]).toEqual([3]);
  });
  it("says in its tooltip what is known, and that its time is unknown", () => {
    const rows = tooltipRows(makeKernels(LAB), 0, LAPTOP);
    expect(rows).toEqual([
      ["on", "Laptop"],
      ["AI", "0.083 FLOP/B"],
      ["achieved", "15.4 GFLOP/s"],
      ["attainable", "8.3 GFLOP/s"],
      ["of roof", "186 %"],
      ["of peak", "1.5 %"],
      ["bound by", "DRAM"],
      ["compute-bound from", "12.05 TB/s (×121)"],
      ["time", "unknown: no amounts given"],
      ["DRAM rate", "186 GB/s · 186 %"],
      ["least time", "unknown"],
    ]);
    expect(tooltipRows(makeKernels(LAB), 2, LAPTOP).map(([label]) => label)).toEqual([
      ...["on", "AI", "attainable", "of peak, at most", "bound by", "compute-bound from", "least time"],
    ]);
  });
  it("has its sentence and the label of its gap", () => {
    const kernels = makeKernels(LAB);
    expect(sentenceOf(kernels, 1, LAPTOP)).toBe(
      "dgemm on Laptop · min(1 TFLOP/s, 12.5 FLOP/B × 100 GB/s) = 1 TFLOP/s attainable · compute-bound · 88 % of peak · 88 % of roof · 1.1× possible",
    );
    expect(gapText(judge(kernels, LAPTOP)(1))).toBe("88 % of roof · up to 1.1×");
  });
  it("has its columns in the table, and no others if nothing else is known", () => {
    const kernels = makeKernels(LAB);
    const columns = columnsOf(kernels, LAPTOP);
    const usual = usualColumns(columns, kernels, LAPTOP);
    const cells = (row: number) => usual.map((column) => [column.key, cellText(column, row)]);
    expect(cells(1)).toEqual([
      ["name", "dgemm"],
      ["utilization", "88 %"],
      ["bound_by", "compute"],
      ["achieved", "880 GFLOP/s"],
      ["attainable", "1 TFLOP/s"],
      ["peak_fraction", "88 %"],
      ["ai:DRAM", "12.5 FLOP/B"],
    ]);
    expect(cells(2).map(([, text]) => text)).toEqual(["spmv", "–", "DRAM", "–", "17 GFLOP/s", "–", "0.17 FLOP/B"]);
    const cell = (key: string) => cellText(columns.find((column) => column.key === key) as (typeof columns)[number], 1);
    expect(["flops", "bytes:DRAM", "time", "bound_time", "headroom", "share"].map(cell)).toEqual(Array(6).fill("–"));
    expect(cell("bandwidth_utilization:DRAM")).toBe("70 %");
  });
  it("is unknown in the columns of times, beside kernels with times", () => {
    const kernels = makeKernels([...LAB, OTHER]);
    const columns = columnsOf(kernels, LAPTOP);
    const usual = usualColumns(columns, kernels, LAPTOP).map((column) => [column.key, cellText(column, 1)]);
    expect(Object.fromEntries(usual)).toMatchObject({
      rank: "–",
      self_time: "–",
      headroom: "–",
      flops: "–",
      utilization: "88 %",
    });
  });
  it("is saved with its two numbers", () => {
    const kernels = makeKernels(LAB);
    const columns = columnsOf(kernels, undefined);
    const [head, first, , last] = toCsv(exportedColumns(columns, [], kernels, undefined), everyRow(kernels)).split(
      "\r\n",
    );
    const cellsOf = (line = "") =>
      Object.fromEntries((head ?? "").split(",").map((key, at) => [key, line.split(",")[at]]));
    expect(cellsOf(first)).toMatchObject({
      name: "triad",
      flops: "",
      time: "",
      intensity: "0.083",
      rate: "15400000000",
    });
    expect(cellsOf(last)).toMatchObject({ name: "spmv", intensity: "0.17", rate: "" });
  });
  it("stays what it is beside the totals of a program, and under a what-if", () => {
    const kernels = withTotals(makeKernels(LAB, { program: [{ name: "all", flops: 1, bytes: 1, time: 1 }] }));
    expect([...(kernels.rate ?? [])].map(known)).toEqual([15.4e9, 880e9, null, null]);
    expect(judge(kernels, LAPTOP)(1).utilization).toBeCloseTo(0.88, 14);
    const under = moved(makeKernels(LAB), { 1: { bytes: 0.5 } }, LAPTOP);
    expect(known(under.factor[0])).toBeNull();
    expect(judge(under.kernels, LAPTOP)(0).achieved).toBe(880e9);
  });
});
