// The names of unknown work: which there are, in which order, and what is told of each.

import { describe, expect, it } from "vitest";
import { isWorthRules, openKeys, unknownWorks } from "../../src/roofline/unknown_work.ts";
import { areSameRows } from "../../src/wire/columns.ts";
import { makeKernels } from "../helpers.ts";

const SPECS = [
  { name: "gemm", flops: 4e12, bytes: 1e10, time: 5 },
  { name: "moe", time: 1, count: 2 },
  { name: "moe", time: 3, count: 4 },
  { name: "scan", flops: 1e9, time: 6 },
  { name: "copy", flops: 0, bytes: { host: 1e9 }, time: 2 },
  { name: "idle", category: "idle", time: 10 },
];
const EXTRA = {
  shape: [null, "[8, 4]", "[16, 4]", null, null, null],
  dtype: [null, "bf16", "bf16", null, null, null],
  "missing for FLOPs": [null, "few", "active", null, null, null],
  "proposed rule": [null, "a", "b", null, null, null],
};
const kernels = makeKernels(SPECS, { extra: EXTRA });

describe("unknown work", () => {
  it("is listed by name, longest time first, without idle time and bytes that cross a link", () => {
    const [scan, moe, ...others] = unknownWorks(kernels, {});
    expect(others).toEqual([]);
    // Of 17 s in which kernels run.
    expect(scan).toMatchObject({ name: "scan", rows: [3], time: 6, calls: 1, sizes: "", missing: "" });
    expect(scan?.share).toBeCloseTo(6 / 17);
    expect(moe).toEqual({
      name: "moe",
      rows: [2, 1],
      time: 4,
      share: 4 / 17,
      calls: 6,
      sizes: "[16, 4] · bf16",
      missing: "active",
      proposed: "b",
    });
  });

  it("without a proposal asks for FLOPs and bytes", () => {
    expect(unknownWorks(kernels, {})[0]?.proposed).toBe('"scan" = { flops = "?", bytes = "?" }');
    const [quoted] = unknownWorks(makeKernels([{ name: 'a"b\\', time: 1 }]), {});
    expect(quoted?.proposed).toBe('"a\\"b\\\\" = { flops = "?", bytes = "?" }');
  });

  it("stays in the list with a rule, and other rules in force are at its end", () => {
    const known = makeKernels(
      SPECS.map((spec) => (spec.name === "moe" ? { ...spec, flops: 1e12, bytes: 1e9 } : spec)),
      { extra: EXTRA },
    );
    const rules = { moe: '"moe" = { flops = 1, bytes = 1 }', "x*": '"x*" = { flops = 1 }' };
    expect(unknownWorks(known, rules).map(({ name, time }) => [name, time])).toEqual([
      ["scan", 6],
      ["moe", 4],
      ["x*", 0],
    ]);
    expect(unknownWorks(known, {}).map(({ name }) => name)).toEqual(["scan"]);
  });

  it("is worth rules from 1 % of kernel time", () => {
    const some = (time: number) =>
      makeKernels([
        { name: "a", time },
        { flops: 1, bytes: 1, time: 100 - time },
      ]);
    expect([0.9, 1, 50].map((time) => isWorthRules(unknownWorks(some(time), {})))).toEqual([false, true, true]);
    expect(unknownWorks(makeKernels([{ name: "a" }]), {})).toEqual([]);
  });

  it("has open keys where a rule has a question mark", () => {
    expect(openKeys('"a" = { op = "moe", active = "?", ffn ="?", d = 4 }')).toEqual(["active", "ffn"]);
    expect(openKeys('"a?" = { flops = 1 }')).toEqual([]);
  });
});

describe("the rows of two tables", () => {
  it("are the same if names and times are", () => {
    expect(areSameRows(kernels, makeKernels(SPECS.map((spec) => ({ ...spec, flops: 7 }))))).toBe(true);
    expect(areSameRows(kernels, makeKernels(SPECS.slice(1)))).toBe(false);
    expect(areSameRows(kernels, makeKernels(SPECS.map((spec) => ({ ...spec, name: "x" }))))).toBe(false);
    expect(areSameRows(kernels, makeKernels(SPECS.map((spec) => ({ ...spec, time: 1 }))))).toBe(false);
  });
});
