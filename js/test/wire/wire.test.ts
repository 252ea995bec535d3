// Decoding of what Python sends, with buffers at any offset of a message; text from files stays text.

import { describe, expect, it } from "vitest";
import { type DictColumn, sumOfKnown, textAt } from "../../src/wire/columns.ts";
import { decodeBaseline, decodeChips, decodeKernels } from "../../src/wire/decode.ts";
import { makeKernels, wireChip, wireKernels } from "../helpers.ts";

const HOSTILE = ["__proto__", "constructor", "toString", "<img src=x onerror=alert(1)>", "", "a\u0000b", "名前 🚀"];

const written = (words: unknown) => new DataView(new TextEncoder().encode(JSON.stringify(words)).buffer);

describe("messages", () => {
  it("have their series if they were sent with one", () => {
    const floats = (...values: number[]) => new DataView(Float64Array.from(values).buffer);
    const numbers = { size: floats(8, 8), ranks: floats(2, 2), count: floats(1, 1), time: floats(1, 2) };
    const wire = {
      ...{ ...numbers, fastest: floats(1, 2), waiting: floats(0, Number.NaN), group: null },
      kind: { values: written(["send"]), codes: null },
    };
    const decoded = (messages: unknown) => decodeKernels({ ...wireKernels([{ name: "a" }]), messages }).messages;
    expect(decoded(wire)[1]).toEqual({
      ...{ kind: "send", group: "", series: undefined, size: 8, ranks: 2, count: 1, time: 2, fastest: 2 },
      waiting: Number.NaN,
    });
    const runs = decoded({ ...wire, series: { values: written(["v1", "v2"]), codes: null } });
    expect(runs.map(({ series }) => series)).toEqual(["v1", "v2"]);
  });
});

describe("what is not sent", () => {
  const specs = [{ name: "a" }, { name: "b", time: 2 }];
  it("is a word a row where no row has one", () => {
    const bare = { ...wireKernels(specs), precision: null, short: null, extra: [["host", null]] };
    const { precision, category, short, extra } = decodeKernels(bare);
    for (const column of [precision, category, short, extra.get("host")]) {
      expect(column).toEqual({ values: [null], codes: Int32Array.of(0, 0) });
    }
  });
  it("is which word each row has where each has its own, or all have the same", () => {
    const columns = (name: string[], category: string[]) => ({
      ...{ name: { values: written(name), codes: null }, category: { values: written(category), codes: null } },
    });
    const kernels = decodeKernels({ ...wireKernels(specs), ...columns(["b", "a"], ["gemm"]) });
    expect([0, 1].map((row) => textAt(kernels.name, row))).toEqual(["b", "a"]);
    expect([0, 1].map((row) => textAt(kernels.category, row))).toEqual(["gemm", "gemm"]);
    const alone = decodeKernels({ ...wireKernels([{}]), ...columns(["x"], ["y"]) });
    expect([textAt(alone.name, 0), textAt(alone.category, 0)]).toEqual(["x", "y"]);
  });
  it("is seconds that none has, seconds of its own that are its seconds, and how often what ran once did", () => {
    const bare = { ...wireKernels(specs), self_time: null, count: null };
    const kernels = decodeKernels(bare);
    expect([...kernels.selfTime]).toEqual([Number.NaN, 2]);
    expect([...kernels.count]).toEqual([1, 1]);
    expect(kernels.totalTime).toBe(2);
    const unmeasured = decodeKernels({ ...bare, time: null });
    expect([...unmeasured.time, ...unmeasured.selfTime]).toEqual([Number.NaN, Number.NaN, Number.NaN, Number.NaN]);
    expect(unmeasured.totalTime).toBe(0);
  });
});

describe("kernels", () => {
  const specs = [
    { name: "a", flops: 1.5, bytes: { HBM: 10, L2: 20 }, time: 0.5, category: "x", count: 3 },
    { name: "b", flops: { bf16: 2, fp8: 3 }, bytes: null, precision: "fp8", category: "y" },
    { name: "a", flops: 0, bytes: 7, time: 2, category: "x" },
  ];
  it("are the same wherever in a message their buffers start", () => {
    const plain = decodeKernels(wireKernels(specs));
    for (const offset of [1, 2, 3, 4, 5, 7, 8, 13]) {
      expect(decodeKernels(wireKernels(specs, offset)), `offset ${offset}`).toEqual(plain);
    }
  });
  it("come in columns, where unknown is NaN", () => {
    const kernels = decodeKernels(wireKernels(specs, 1));
    expect(kernels.n).toBe(3);
    expect([...kernels.time]).toEqual([0.5, Number.NaN, 2]);
    expect([...kernels.count]).toEqual([3, 1, 1]);
    expect([...kernels.flops].map(([key, column]) => [key, ...column])).toEqual([
      ["", 1.5, Number.NaN, 0],
      ["bf16", Number.NaN, 2, Number.NaN],
      ["fp8", Number.NaN, 3, Number.NaN],
    ]);
    expect([...kernels.bytes].map(([key, column]) => [key, ...column])).toEqual([
      ["HBM", 10, Number.NaN, Number.NaN],
      ["L2", 20, Number.NaN, Number.NaN],
      ["main", Number.NaN, Number.NaN, 7],
    ]);
  });
  it("have their totals: FLOPs over all precisions, and the time of all that were measured", () => {
    const kernels = decodeKernels(wireKernels(specs));
    expect([...kernels.totalFlops]).toEqual([1.5, 5, 0]);
    expect(kernels.totalTime).toBe(2.5);
  });
  it("have the times of their devices, or none", () => {
    const times = { busy: 9, idle: 1, added: 11, gap: 0.5 };
    const kernels = decodeKernels({ ...wireKernels(specs), activity: { ...times, gap_start: 2 } });
    expect(kernels.activity).toEqual({ ...times, gapStart: 2 });
    expect(decodeKernels(wireKernels(specs)).activity).toBeNull();
  });
  it("have their texts by row, and none where Python has none", () => {
    const kernels = decodeKernels(wireKernels(specs, 3));
    expect([0, 1, 2].map((row) => textAt(kernels.name, row))).toEqual(["a", "b", "a"]);
    expect([0, 1, 2].map((row) => textAt(kernels.category, row))).toEqual(["x", "y", "x"]);
    expect([0, 1, 2].map((row) => textAt(kernels.precision, row))).toEqual([null, "fp8", null]);
    expect(textAt(kernels.name, 99)).toBeNull();
  });
  it("may be none", () => {
    const kernels = makeKernels([]);
    expect([kernels.n, kernels.totalTime, kernels.totalFlops.length]).toEqual([0, 0, 0]);
  });
  it("do not hold on to the message that they came in", () => {
    const wire = wireKernels([{ flops: 1, bytes: 1, time: 1 }], 5) as { time: DataView };
    const kernels = decodeKernels(wire);
    wire.time.setFloat64(0, 99, true);
    expect(kernels.time[0]).toBe(1);
  });
});

describe("what a file tells beside its counts", () => {
  const specs = [
    { name: "void a::b<1>()", short: "b<1>", time: 4, selfTime: 1, category: "few" },
    { name: "b", time: 2, category: "many" },
    { name: "c", category: "none" },
  ];
  const kernels = makeKernels(specs, {
    program: [
      { name: "Total", flops: 5, time: 6, category: "program" },
      { name: "1", time: 3, category: "step" },
    ],
    extra: { grid: ["8", null, "9"], "clock (Hz)": [1.5, Number.NaN, 2] },
    origin: { flops: ["metric", "metric", null] },
    warnings: ["one"],
    source: "file.json",
  });
  it("comes along: names, seconds of its own, columns of its own, origins, remarks", () => {
    expect([0, 1].map((row) => textAt(kernels.short, row))).toEqual(["b<1>", null]);
    expect([...kernels.selfTime]).toEqual([1, 2, Number.NaN]);
    expect(kernels.totalTime).toBe(3);
    expect([...kernels.extra.keys()]).toEqual(["grid", "clock (Hz)"]);
    expect([...(kernels.extra.get("clock (Hz)") as Float64Array)]).toEqual([1.5, Number.NaN, 2]);
    expect([0, 1, 2].map((row) => textAt(kernels.origin.get("flops") as DictColumn, row))).toEqual([
      "metric",
      "metric",
      null,
    ]);
    expect([kernels.warnings, kernels.source]).toEqual([["one"], "file.json"]);
    expect([kernels.n, kernels.own]).toEqual([3, 3]);
  });
  it("has the totals of the program and its steps", () => {
    expect(kernels.program?.n).toBe(2);
    expect([...(kernels.program?.time ?? [])]).toEqual([6, 3]);
    expect(makeKernels(specs).program).toBeNull();
  });
  it("has the categories by falling seconds of their own, of equals as they appear", () => {
    expect(kernels.category.values).toEqual(["many", "few", "none"]);
    expect([0, 1, 2].map((row) => textAt(kernels.category, row))).toEqual(["few", "many", "none"]);
    expect(makeKernels([{ category: "b" }, { category: "a" }]).category.values).toEqual(["b", "a"]);
  });
  it("of an earlier run says which row is which", () => {
    const match = new DataView(Int32Array.of(1, -1).buffer);
    const earlier = { kernels: wireKernels([{ time: 3 }, { time: 4 }], 3), match };
    const baseline = decodeBaseline({ ...earlier, verdict: { values: written(["faster", null]), codes: null } });
    expect([...(baseline?.match ?? [])]).toEqual([1, -1]);
    expect([...(baseline?.kernels.time ?? [])]).toEqual([3, 4]);
    expect([0, 1].map((row) => textAt(baseline?.verdict as DictColumn, row))).toEqual(["faster", null]);
    expect(decodeBaseline({ ...earlier, verdict: null })?.verdict).toEqual({
      values: [null],
      codes: Int32Array.of(0, 0),
    });
    expect(decodeBaseline(null)).toBeNull();
  });
});

describe("hostile text", () => {
  it("as a name is kept as the text that it is", () => {
    const kernels = makeKernels(HOSTILE.map((name) => ({ name, flops: 1, bytes: 1, category: name })));
    expect(HOSTILE.map((_, row) => textAt(kernels.name, row))).toEqual(HOSTILE);
    expect(HOSTILE.map((_, row) => textAt(kernels.category, row))).toEqual(HOSTILE);
  });
  it("as a precision or level is a column like any other", () => {
    const amount = JSON.parse('{"__proto__": 3, "constructor": 4}') as Record<string, number>;
    const kernels = makeKernels([{ flops: amount, bytes: amount }]);
    expect([...kernels.flops.keys()]).toEqual(["__proto__", "constructor"]);
    expect([...kernels.bytes].map(([key, column]) => [key, column[0]])).toEqual([
      ["__proto__", 3],
      ["constructor", 4],
    ]);
    expect(kernels.totalFlops[0]).toBe(7);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });
  it("as a chip's precision or level is one like any other", () => {
    const peaks = JSON.parse('{"__proto__": 3}') as Record<string, number>;
    const [chip] = decodeChips([wireChip({ id: "__proto__", name: "<b>", peaks, memories: { constructor: 5 } })]);
    expect(chip).toMatchObject({ id: "__proto__", name: "<b>", precision: "__proto__" });
    expect([...(chip?.peaks ?? [])]).toEqual([["__proto__", 3]]);
    expect([...(chip?.memories ?? [])]).toEqual([["constructor", 5]]);
  });
});

describe("chips", () => {
  it("keep the order of their memories, main memory first, and null where a bandwidth is unknown", () => {
    const memories = { HBM: 10, L2: null, L1: 99 };
    const [chip] = decodeChips([wireChip({ id: "a", memories, peaks: { fp8: 2, bf16: 1 }, precision: "bf16" })]);
    expect([...(chip?.memories ?? [])]).toEqual(Object.entries(memories));
    expect([...(chip?.peaks.keys() ?? [])]).toEqual(["fp8", "bf16"]);
    expect(chip?.precision).toBe("bf16");
  });
  it("say what a unit may keep on chip, where that is known", () => {
    const known = { ...(wireChip() as object), share: ["SMEM", 233_472, 132] };
    expect(decodeChips([known])[0]?.share).toEqual({ level: "SMEM", bytes: 233_472, units: 132 });
    expect(decodeChips([wireChip()])[0]?.share).toBeNull();
  });
});

describe("the sum of what is known", () => {
  it("is unknown only where nothing is known", () => {
    const parts = [Float64Array.of(1, Number.NaN, Number.NaN, 0), Float64Array.of(2, 3, Number.NaN, Number.NaN)];
    expect([...sumOfKnown(parts, 4)]).toEqual([3, 3, Number.NaN, 0]);
    expect([...sumOfKnown([], 2)]).toEqual([Number.NaN, Number.NaN]);
  });
});
