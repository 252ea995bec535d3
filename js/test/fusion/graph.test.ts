// The graph of operations: as it comes, and what it counts to.

import { describe, expect, it } from "vitest";
import { formula, withNumbers } from "../../src/fusion/expressions.ts";
import { decoding, dtypeOf, environment, evaluate, lookup, reached } from "../../src/fusion/graph.ts";
import { chain } from "../chains.ts";
import { decodeGraph, pausesOf, valuesOf, written } from "../graphs.ts";
import { several } from "../helpers.ts";

const size = (...shape: (string | number)[]) => ["/", ["*", ...shape, "@bf16"], 8];
const wire = {
  name: "linear",
  dims: [["batch", 1, 64, 32]],
  convention: "textbook",
  ops: [
    {
      name: "linear",
      kind: "matmul",
      inputs: [0, 1],
      outputs: [2],
      flops: { tensor: ["*", "@fma", "batch", 3, 5] },
      extra: ["*", "batch", 5, "@accumulator"],
      terms: [["multiply and add", ["*", "@fma", "batch", 3, 5]]],
    },
    {
      name: "double",
      kind: "elementwise",
      inputs: [2, 2, 3],
      outputs: [4],
      flops: { vector: ["*", "batch", 5, "@vector"] },
      extra: 0,
      terms: [],
    },
  ],
  tensors: [
    { name: "x", shape: ["batch", 3], dtype: "bf16", bytes: size("batch", 3) },
    { name: "w", shape: [3, 5], dtype: "bf16", bytes: size(3, 5) },
    { name: "y", shape: ["batch", 5], dtype: "bf16", bytes: size("batch", 5) },
    { name: "mask", shape: ["batch", 5], dtype: "int8", bytes: ["/", ["*", "batch", 5, "@int8"], 8] },
    { name: "z", shape: ["batch", 5], dtype: "bf16", bytes: size("batch", 5) },
  ],
  outputs: [4],
  dtypes: { bf16: 16, fp32: 32, fp4: 4, int8: 8 },
  conventions: {
    textbook: { "@fma": 2, "@vector": 1, "@accumulator": 0 },
    mac: { "@fma": 1, "@vector": 0, "@accumulator": 4 },
  },
};
const graph = decodeGraph(wire);

describe("a graph", () => {
  it("knows who writes and who reads each tensor", () => {
    expect([...graph.producer]).toEqual([-1, -1, 0, -1, 1]);
    expect(graph.consumers).toEqual([[0], [0], [1], [1], []]);
    expect(graph.reads).toEqual([
      [0, 1],
      [2, 3],
    ]);
    expect([graph.before, graph.after]).toEqual([
      [[], [0]],
      [[1], []],
    ]);
    expect([...graph.isOutput]).toEqual([0, 0, 0, 0, 1]);
    expect(graph.dims).toEqual([{ name: "batch", low: 1, high: 64, default: 32 }]);
    expect(graph.classes).toEqual(["tensor", "vector"]);
    expect(graph.mainDtype).toBe("bf16");
  });
  it("takes the first of the commonest dtypes as its main one, and no integers", () => {
    const of = (...dtypes: string[]) =>
      decodeGraph({ ...wire, tensors: wire.tensors.map((one, at) => ({ ...one, dtype: dtypes[at] })) }).mainDtype;
    expect(of("int8", "fp32", "int8", "int8", "bf16")).toBe("fp32");
    expect(of("fp32", "bf16", "bool", "int8", "bf16")).toBe("bf16");
    expect(of("int8", "int8", "bool", "int8", "int8")).toBe(null);
  });
  it("knows all ops before and after an op, not only its neighbours", () => {
    const diamond = written("a: x > p; b: p > q; c: p > r; d: q r > s; e: y > t");
    expect([...reached(diamond, 0, diamond.after)]).toEqual([0, 1, 1, 1, 0]);
    expect([...reached(diamond, 3, diamond.before)]).toEqual([1, 1, 1, 0, 0]);
    expect([...reached(diamond, 4, diamond.before)]).toEqual([0, 0, 0, 0, 0]);
  });
  it("has the conditions on its sizes, and their values for given sizes", () => {
    const count = ["+", "batch", -3];
    const { conditions, symbols } = decodeGraph({ ...wire, conditions: [["op 'tile'", count, ["*", 2, "batch"]]] });
    const values = new Float64Array(symbols.size).fill(7);
    expect(conditions).toMatchObject([{ whose: "op 'tile'", count, divisor: ["*", 2, "batch"] }]);
    expect([conditions[0]?.countAt(values), conditions[0]?.divisorAt(values)]).toEqual([4, 14]);
    expect(decodeGraph(wire).conditions).toEqual([]);
  });
  it("lists the tensors that an op reads before those that the op writes", () => {
    expect(graph.makes).toEqual([[2], [4]]);
    expect(graph.touches).toEqual([
      [0, 1, 2],
      [2, 3, 4],
    ]);
  });
  it("can pause while it is decoded: twice, and in each column before every 256th op or tensor", () => {
    // The columns are the bytes and shapes of tensors, and the extra bytes and FLOPs of ops.
    expect([254, 255, 256, 600].map((ops) => pausesOf(decoding(chain("chain", { ops }))))).toEqual([2, 4, 6, 10]);
  });
  it("has room for 1,000 ops, each after those it reads from", () => {
    const long = written(several(1000, (at) => `o${at}: t${at} > t${at + 1}`).join(";"));
    expect(long.ops.length).toBe(1000);
    expect(long.before[999]).toEqual([998]);
  });
});

describe("its counts", () => {
  it("are those of the defaults, unless dimensions are given", () => {
    expect([...valuesOf(graph).bytes]).toEqual([192, 30, 320, 160, 320]);
    const values = evaluate(graph, environment(graph, { dims: { batch: 2 } }));
    expect([...values.bytes]).toEqual([12, 30, 20, 10, 20]);
    expect(values.flops.map((column) => [...column])).toEqual([
      [60, 0],
      [0, 10],
    ]);
    expect([...values.extra]).toEqual([0, 0]);
    expect(values.shape(0)).toEqual([2, 3]);
  });
  it("follow the convention, but for multiply-adds that are held against peaks", () => {
    const values = evaluate(graph, environment(graph, { dims: { batch: 2 }, convention: "mac" }));
    expect(values.flops.map((column) => [...column])).toEqual([
      [60, 0],
      [0, 0],
    ]);
    expect([0, 1].map(values.own)).toEqual([30, 0]);
    expect([...values.extra]).toEqual([40, 0]);
  });
  it("follow a dtype that stands for the main one, and for no other", () => {
    const values = evaluate(graph, environment(graph, { dims: { batch: 1 }, dtype: "fp4" }));
    expect([...values.bytes]).toEqual([2, 8, 3, 5, 3]);
    expect([0, 3].map((tensor) => dtypeOf(graph, values, tensor))).toEqual(["fp4", "int8"]);
    expect(dtypeOf(graph, { dtype: null }, 0)).toBe("bf16");
  });
  it("are unknown under a convention or a dtype that is not there", () => {
    expect(evaluate(graph, environment(graph, { convention: "mine" })).flops[0]?.[0]).toBeNaN();
    expect(evaluate(graph, environment(graph, { dtype: "fp5" })).bytes[0]).toBeNaN();
    expect(formula(["*", "@fma", "batch"], lookup(graph, environment(graph, { convention: "mine" })))).toBe(
      "@fma·batch",
    );
  });
  it("are printed with their numbers", () => {
    const known = lookup(graph, environment(graph, { dims: { batch: 8 } }));
    const count = graph.ops[0]?.flops["tensor"] ?? 0;
    expect([formula(count, known), withNumbers(count, known)]).toEqual(["30·batch", "30·8"]);
  });
  it("are negative where the convention does not know the FLOPs of a multiply-add, and else as peaks count them", () => {
    const conventions = { textbook: { "@fma": -1, "@vector": 1, "@accumulator": 0 }, free: { "@fma": 0 } };
    const unknown = decodeGraph({ ...wire, conventions });
    expect(evaluate(unknown, environment(unknown, { dims: { batch: 2 } })).flops[0]?.[0]).toBe(-30);
    const values = evaluate(unknown, environment(unknown, { dims: { batch: 2 }, convention: "free" }));
    expect([values.flops[0]?.[0], values.own(0)]).toEqual([60, 0]);
  });
  it("are different ones if the same numbers are nested in another way", () => {
    const flops = [
      ["+", ["*", 2, 3], 4],
      ["+", ["*", 2, 3, 4]],
    ];
    const nested = decodeGraph({ ...wire, ops: wire.ops.map((op, at) => ({ ...op, flops: { vector: flops[at] } })) });
    expect([...(valuesOf(nested).flops[0] ?? [])]).toEqual([10, 24]);
  });
  it("are each evaluated once, however many ops share them", () => {
    const many = written(several(100, (at) => `o${at}: t${at} > t${at + 1}`).join(";"));
    // 1,000 FLOPs, no extra bytes, 2,000 bytes, and the one size of the shapes, which the FLOPs are as well.
    expect(many.counts.distinct.length).toBe(3);
  });
});
