// The column that gives points their colours.

import { describe, expect, it } from "vitest";
import { huesOf } from "../../src/chart/theme.ts";
import {
  codeAt,
  colouringOf,
  colourKeys,
  familyText,
  type NumberColouring,
  partsOf,
  SCALE_STEPS,
  stepOf,
  type TextColouring,
  valueAt,
} from "../../src/roofline/colouring.ts";
import { makeKernels, several } from "../helpers.ts";

const SPEC = { flops: 1e12, bytes: 1e10, time: 1 };
const numbers = (values: readonly number[]) =>
  colouringOf(
    makeKernels(
      values.map(() => SPEC),
      { extra: { rank: values } },
    ),
    "rank",
  ) as NumberColouring;

describe("the colours of numbers", () => {
  it("are the steps of a linear scale from the lowest to the highest number", () => {
    const scale = numbers([0, 16, 31, 32]);
    expect([scale.low, scale.high, scale.isLog, scale.unknown]).toEqual([0, 32, false, 0]);
    expect(several(4, (row) => codeAt(scale, row))).toEqual([0, 16, 31, 31]);
    expect([0, 0.5, 1].map((share) => valueAt(scale, share))).toEqual([0, 16, 32]);
  });
  it("are logarithmic if the numbers are positive and span more than a factor of 100", () => {
    expect(numbers([1, 100]).isLog).toBe(false);
    expect(numbers([0, 1e6]).isLog).toBe(false);
    const scale = numbers([1, 10, 100, 1e4]);
    expect(scale.isLog).toBe(true);
    expect(several(4, (row) => codeAt(scale, row))).toEqual([0, 8, 16, SCALE_STEPS - 1]);
    expect([0, 0.5, 1].map((share) => valueAt(scale, share))).toEqual([1, 100, 1e4]);
  });
  it("leave out unknown numbers, and count them", () => {
    const scale = numbers([1, Number.NaN, 3]);
    expect([scale.low, scale.high, scale.unknown]).toEqual([1, 3, 1]);
    expect(codeAt(scale, 1)).toBe(-1);
  });
  it("are one colour if all numbers are equal, and none if none is known", () => {
    expect(stepOf(numbers([5, 5]), 5)).toBe(SCALE_STEPS - 1);
    expect(numbers([Number.NaN]).unknown).toBe(1);
  });
  it("do not count the totals of the program", () => {
    const kernels = makeKernels([SPEC, { ...SPEC, time: 2 }], {
      program: [{ ...SPEC, time: 99, category: "program" }],
    });
    expect((colouringOf(kernels, "time") as NumberColouring).high).toBe(2);
  });
});

describe("the colours of texts", () => {
  const kernels = makeKernels(Array(4).fill(SPEC), { extra: { node: ["n10", null, "n2", "n10"] } });
  it("are in the order of their numbers, and unknown without a text", () => {
    const colouring = colouringOf(kernels, "node");
    expect(colouring.kind === "text" && colouring.column.values).toEqual(["n2", "n10"]);
    expect(several(4, (row) => codeAt(colouring, row))).toEqual([1, -1, 0, 1]);
    expect(colouring.unknown).toBe(1);
  });
  it("keep the order of categories, and a colour of their own for kernels without a category", () => {
    const own = makeKernels([
      { ...SPEC, category: null, time: 3 },
      { ...SPEC, category: "b" },
    ]);
    const colouring = colouringOf(own, "category");
    expect(several(2, (row) => codeAt(colouring, row))).toEqual([0, 1]);
    expect(colouring.unknown).toBe(0);
  });
  it("are those of categories if the kernels have no such column", () => {
    expect(colouringOf(kernels, "gone").key).toBe("category");
  });
});

describe("the columns to choose from", () => {
  it("are those with different values", () => {
    const specs = [
      { ...SPEC, category: "a", precision: "bf16" },
      { ...SPEC, category: "b", precision: "bf16", time: 2, count: 3 },
    ];
    const extra = { rank: [0, 1], same: [7, 7], node: ["n1", "n2"], empty: [null, null], some: ["x", null] };
    expect(colourKeys(makeKernels(specs, { extra }))).toEqual(["category", "time", "count", "rank", "node", "some"]);
  });
});

describe("the parts of the time bar", () => {
  const kernels = makeKernels(
    [
      { ...SPEC, category: "copy", time: 2 },
      { ...SPEC, category: "dot", time: 3 },
      { ...SPEC, category: "dot", time: 4 },
      { ...SPEC, category: "Idle", time: 90 },
      { ...SPEC, category: null, time: null },
    ],
    { extra: { node: ["n2", "n10", "n2", "n1", null] } },
  );
  const named = (key: string) => {
    const colouring = colouringOf(kernels, key) as TextColouring;
    return partsOf(kernels, colouring).map(({ codes, kernels: count, seconds }) => [
      codes[0] === -1 ? "unknown" : familyText(colouring, codes),
      count,
      seconds,
    ]);
  };
  it("are the categories by their time, without idle time", () => {
    expect(named("category")).toEqual([
      ["dot", 2, 7],
      ["copy", 1, 2],
      [null, 1, 0],
    ]);
  });
  it("join what has one colour and one meaning: copies of any kind, and collectives", () => {
    const names = ["copy-start", "dot", "copy-done", "all-reduce", "all-gather.1", "copying"];
    const table = makeKernels(names.map((category, at) => ({ ...SPEC, time: at + 1, category })));
    const colouring = colouringOf(table, "category") as TextColouring;
    expect(
      partsOf(table, colouring).map(({ codes, ...part }) => ({ ...part, text: familyText(colouring, codes) })),
    ).toEqual([
      { kernels: 2, seconds: 9, text: "collective" },
      { kernels: 1, seconds: 6, text: "copying" },
      { kernels: 2, seconds: 4, text: "copy" },
      { kernels: 1, seconds: 2, text: "dot" },
    ]);
    const series = colouringOf({ ...table, series: true }, "category") as TextColouring;
    expect(partsOf(table, series)).toHaveLength(6);
  });
  it("are the texts of any other column that gives the colours", () => {
    expect(named("node")).toEqual([
      ["n2", 2, 6],
      ["n10", 1, 3],
      ["unknown", 1, 0],
    ]);
  });
});

describe("the hues of series", () => {
  const hues = (names: readonly string[], series: boolean) => {
    const kernels = makeKernels(names.map((category) => ({ ...SPEC, category })));
    return huesOf(colouringOf({ ...kernels, series }, "category") as TextColouring);
  };
  it("stay when a later series comes, whatever their names", () => {
    expect(hues(["run 1", "in place"], true)).toEqual([0, 1]);
    expect(hues(["run 1", "in place", "copy", "a run"], true)).toEqual([0, 1, 2, 3]);
  });
  it("are by their names for categories, and known names have their own", () => {
    expect(hues(["run 1", "in place"], false)).toEqual([1, 0]);
    expect(hues(["gemm", "run 1", "in place"], false)).toEqual([0, 2, 1]);
  });
});
