// The totals of a program and of its steps: rows after those of the kernels.

import { describe, expect, it } from "vitest";
import { drawnRows, isProgram, isTotal, withTotals } from "../../src/roofline/totals.ts";
import { type Kernels, textAt } from "../../src/wire/columns.ts";
import { makeKernels, several } from "../helpers.ts";

const KERNELS = makeKernels(
  [
    { name: "a", flops: { bf16: 1 }, bytes: { HBM: 2 }, time: 3, precision: "bf16", category: "loop", short: "A" },
    { name: "b", flops: { bf16: 4 }, bytes: { HBM: 5 }, time: 6, count: 2, selfTime: 5 },
  ],
  {
    program: [
      { name: "step", flops: { fp8: 7 }, bytes: { L2: 8 }, time: 9, category: "step" },
      { name: "all", flops: { bf16: 10 }, bytes: { HBM: 11 }, time: 12, precision: "fp8", category: "program" },
      { name: "again", flops: { bf16: 1 }, bytes: { HBM: 1 }, time: 1, category: "program" },
    ],
  },
);

describe("a table with totals", () => {
  const texts = (table: Kernels, name: "name" | "short" | "precision" | "category") =>
    several(5, (row) => textAt(table[name], row));
  const { NaN: none } = Number;
  it("has the rows of the program after those of the kernels, in every column", () => {
    const table = withTotals(KERNELS);
    expect([table.n, table.own]).toEqual([5, 2]);
    expect(texts(table, "name")).toEqual(["a", "b", "step", "all", "again"]);
    expect(texts(table, "precision")).toEqual(["bf16", null, null, "fp8", null]);
    expect(texts(table, "category")).toEqual(["loop", null, "step", "program", "program"]);
    expect(texts(table, "short").slice(0, 1)).toEqual(["A"]);
    expect([...table.time]).toEqual([3, 6, 9, 12, 1]);
    expect([...table.selfTime]).toEqual([3, 5, 9, 12, 1]);
    expect([...table.count]).toEqual([1, 2, 1, 1, 1]);
    expect([...table.totalFlops]).toEqual([1, 4, 7, 10, 1]);
    expect([...table.flops].map(([key, column]) => [key, [...column]])).toEqual([
      ["bf16", [1, 4, none, 10, 1]],
      ["fp8", [none, none, 7, none, none]],
    ]);
    expect([...table.bytes].map(([key, column]) => [key, [...column]])).toEqual([
      ["HBM", [2, 5, none, 11, 1]],
      ["L2", [none, none, 8, none, none]],
    ]);
    expect(table.byLevel).not.toBe(KERNELS.byLevel);
  });
  it("is the table itself where there are none", () => {
    const plain = makeKernels([{ name: "a" }]);
    expect(withTotals(plain)).toBe(plain);
    const empty = { ...plain, program: { ...plain, n: 0 } };
    expect(withTotals(empty)).toBe(empty);
  });
  it("tells totals from kernels, and the program from its steps", () => {
    const table = withTotals(KERNELS);
    expect(several(4, (row) => [isTotal(table, row), isProgram(table, row)])).toEqual([
      [false, false],
      [false, false],
      [true, false],
      [true, true],
    ]);
    expect(isProgram(makeKernels([{ category: "program" }]), 0)).toBe(false);
  });
  it("is drawn with the program last, or as totals alone, the first on top", () => {
    const table = withTotals(KERNELS);
    expect([...drawnRows(table, Int32Array.of(1, 0), false)]).toEqual([1, 0, 3]);
    expect([...drawnRows(table, Int32Array.of(1, 0), true)]).toEqual([4, 3, 2]);
    expect([...drawnRows(makeKernels([{}, {}]), Int32Array.of(1), false)]).toEqual([1]);
  });
});
