// Partitions, on graphs small enough to see through and on graphs drawn at random.

import { describe, expect, it } from "vitest";
import { tally, timeOf } from "../../src/fusion/forms.ts";
import { environment, evaluate } from "../../src/fusion/graph.ts";
import { kernelsOf } from "../../src/fusion/group_kernels.ts";
import { linked, mergesOf, neighbours, type Partition, whyNot } from "../../src/fusion/legality.ts";
import {
  compulsory,
  fuse,
  groupBytes,
  groupFlops,
  partitionOf,
  precisionOf,
  split,
  unfused,
} from "../../src/fusion/partition.ts";
import { judge } from "../../src/roofline/bound.ts";
import { textAt } from "../../src/wire/columns.ts";
import { at, byBytes, drawn, faultOf, formsIn, type Groups, greedy, pairs, valuesOf, written } from "../graphs.ts";
import { makeChip, makeRoof, several } from "../helpers.ts";

const groupOf = (groups: Groups, op: number) => groups.findIndex((group) => group.includes(op));

describe("a refusal", () => {
  const refused = (text: string, groups: Groups, a: number, b: number) => {
    const graph = written(text);
    const partition = at(graph, groups);
    const found = whyNot(graph, partition, groupOf(partition.groups, a), groupOf(partition.groups, b));
    return found && { ...found, path: found.path.map((op) => graph.ops[op]?.name) };
  };
  it("of groups that wait for each other names the way round, through the whole of the other group", () => {
    expect(refused("a1: x > p; b1: p > u; b2: t > q; a2: q x > v", [[0], [1, 2], [3]], 0, 3)).toEqual({
      code: "cycle",
      path: ["a1", "b1", "b2", "a2"],
    });
  });
  it("names the way out of a group and back", () => {
    expect(refused("a: x > p; b: p > q; c: q p > r", [[0], [1], [2]], 0, 2)).toEqual({
      code: "not-convex",
      path: ["a", "b", "c"],
    });
  });
  it("of tiles names the ops concerned, and says why", () => {
    const graph = written("*m: x[mk] w[kn] > y[mn]; act: x > z[mk]", { sizes: {} });
    const found = whyNot(graph, unfused(graph), 0, 1, formsIn(graph).refusalOf);
    expect(found).toEqual({ code: "kinds", path: [1, 0], form: { code: "kinds", reason: "beside", ops: [1, 0] } });
  });
  it("of a group with itself, and of groups that share nothing, names no op", () => {
    const graph = written("a: x > y; b: y > z; c: u > v");
    const same = { code: "same", path: [] };
    expect([whyNot(graph, unfused(graph), 0, 0), whyNot(graph, unfused(graph), 0, 2)]).toEqual([
      same,
      { code: "not-connected", path: [] },
    ]);
  });
  it("is none of a matmul that reads nothing and the op after it", () => {
    const graph = written("*m: > y; act: y > z");
    expect(whyNot(graph, unfused(graph), 0, 1)).toBeNull();
  });
  it("of an opaque op names it", () => {
    const graph = written("a: x > y; ?b: y > z; ?c: z > u");
    expect(whyNot(graph, at(graph, [[0], [1], [2]]), 0, 1)).toEqual({ code: "barrier", path: [1] });
    expect(whyNot(graph, unfused(graph), 1, 2)).toEqual({ code: "barrier", path: [1, 2] });
  });
  it("for want of room comes last", () => {
    const graph = written("a: x > y; ?b: y > z; c: y > u");
    const asked: (readonly number[])[] = [];
    const full = (ops: readonly number[]) => {
      asked.push(ops);
      return { code: "capacity", reason: "tiles", ops, need: 1 } as const;
    };
    expect(whyNot(graph, unfused(graph), 0, 2, full)).toMatchObject({
      code: "capacity",
      path: [0, 2],
      form: { need: 1 },
    });
    expect(whyNot(graph, unfused(graph), 0, 1, full)?.code).toBe("barrier");
    expect(mergesOf(graph, unfused(graph), 0, full)).toEqual([]);
    // Tiles are asked for the ops in the order of the graph.
    expect(whyNot(graph, unfused(graph), 2, 0, full)?.code).toBe("capacity");
    expect(asked).toEqual([
      [0, 2],
      [0, 2],
      [0, 2],
    ]);
  });
});

describe("what is linked", () => {
  const graph = written("a: x > p; b: u > q; c: p > r; d: q > s; e: w > t");
  it("are the ops that share tensors, each part in the order of the graph", () => {
    expect(linked(graph, [4, 3, 2, 1, 0])).toEqual([[0, 2], [1, 3], [4]]);
    expect(linked(graph, [2, 0], () => false)).toEqual([[0], [2]]);
  });
  it("are the groups that share a tensor with a group, without the group itself", () => {
    expect([0, 1, 4].map((group) => neighbours(graph, unfused(graph), group))).toEqual([[2], [3], []]);
  });
});

describe("a partition", () => {
  const looped = written("a: x > p; b: p > q; c: q p > r");
  it("has its groups in the order of their first ops if they wait for each other", () => {
    expect(at(looped, [[1], [2, 0]])).toEqual({ groups: [[0, 2], [1]], groupOf: Int32Array.of(0, 1, 0) });
  });
  it("runs the ready group with the smallest first op first", () => {
    const graph = written("a: x > p; b: y > q; c: z > r; d: q > s; e: s p > t");
    // The group of c waits for that of d, which waits for b.
    const crossed = written("a: x > p; b: y > q; c: z > r; d: q > s; e: s r > t");
    expect(at(graph, [[2], [1, 3], [0, 4]]).groups).toEqual([[1, 3], [0, 4], [2]]);
    expect(at(crossed, [[2, 4], [0], [1], [3]]).groups).toEqual([[0], [1], [3], [2, 4]]);
  });
  it("keeps the arrays of sorted groups, so that what is memoized for them stays valid", () => {
    const groups = [[0, 1], [2]];
    const [first, last] = partitionOf(looped, groups).groups;
    expect([first === groups[0], last === groups[1]]).toEqual([true, true]);
    expect(unfused(looped)).toBe(unfused(looped));
  });
  it("adds its seconds without the rounding errors of a plain sum", () => {
    const chained = written("a: x > p; b: p > q; c: q > r; d: r > s; e: s > t");
    const seconds = (...each: readonly number[]) =>
      tally(formsIn(chained), unfused(chained), (_, __, [op = 0]) => each[op] as number).seconds;
    // From 2^54 on doubles are multiples of 4: the nearest to 2^54 + 3 is 2^54 + 4.
    const large = 2 ** 54;
    expect([seconds(1, large, 1, 1, 0), seconds(large, 1, 1, 1, 1), seconds(1, 1, 1, 1, large)]).toEqual(
      Array(3).fill(large + 4),
    );
    expect(tally(formsIn(chained), unfused(chained))).toEqual({
      kernels: 5,
      flops: 5000,
      bytes: 20_000,
      seconds: Number.NaN,
    });
  });
});

describe("the guide's tail", () => {
  const text = "layernorm: x > y; gelu: y > z; dropout: z > d; add: d RESIDUAL > out";
  const totalOf = (residual: string, groups: (partition: Partition) => Groups) => {
    const names = ["x", "y", "z", "d", "r", "out"];
    const shapes = Object.fromEntries(names.map((name) => [name, [65536, 4096]]));
    const graph = written(text.replace("RESIDUAL", residual), { shapes });
    return tally(formsIn(graph), at(graph, groups(unfused(graph)))).bytes;
  };
  it("moves 4.83 GB apart and 1.61 GB together, 1.07 GB if the residual is its own input", () => {
    const together = () => [[0, 1, 2, 3]];
    expect(totalOf("r", ({ groups }) => groups)).toBe(4_831_838_208);
    expect(totalOf("r", together)).toBe(1_610_612_736);
    expect(totalOf("x", ({ groups }) => groups)).toBe(4_831_838_208);
    expect(totalOf("x", together)).toBe(1_073_741_824);
  });
});

describe("the kernels of a partition", () => {
  const graph = written("*m: x w > y; act: y > z; move: z > o", { shapes: { o: [2000] } });
  const values = valuesOf(graph);
  const forms = formsIn(graph);
  const bits = { fp32: 32, bf16: 16, fp16: 16, fp8: 8, int8: 8, int32: 32 };
  const typed = (dtypes: readonly string[]) => ({
    ...graph,
    dtypes: new Map(Object.entries(bits)),
    tensors: graph.tensors.map((one, i) => ({ ...one, dtype: dtypes[i] ?? "bf16" })),
  });
  it("are named after their ops, in columns that the chart reads", () => {
    const kernels = kernelsOf(graph, at(graph, [[0, 1], [2]]), values, forms);
    expect(kernels.n).toBe(2);
    expect(several(2, (row) => textAt(kernels.name, row))).toEqual(["m + act", "move"]);
    expect(several(2, (row) => textAt(kernels.precision, row))).toEqual(["bf16", "bf16"]);
    expect(kernels.flops.get("tensor")).toEqual(Float64Array.of(1e6, Number.NaN));
    expect(kernels.flops.get("vector")).toEqual(Float64Array.of(1000, 2000));
    expect(kernels.bytes.get("main")).toEqual(Float64Array.of(6000, 6000));
    expect(kernels.totalFlops).toEqual(Float64Array.of(1_001_000, 2000));
    expect(kernels.time.every(Number.isNaN)).toBe(true);
    expect(kernels.count).toEqual(Float64Array.of(1, 1));
    expect([...kernels.flops.keys()]).toEqual(["tensor", "vector"]);
    expect(several(2, (row) => textAt(kernels.category, row))).toEqual([null, null]);
    expect(kernels.category).toEqual({ values: [null], codes: Int32Array.of(0, 0) });
    expect(kernels.byLevel.size).toBe(0);
  });
  it("have no precision, and a plain 0 of FLOPs, where their ops compute nothing", () => {
    const graph = written("*m: x w > y; a: y > p");
    const values = valuesOf(graph);
    const none = { ...values, flops: values.flops.map((column) => column.map((count, op) => (op === 1 ? 0 : count))) };
    const kernels = kernelsOf(graph, unfused(graph), none, formsIn(graph, { values: none }));
    expect(several(2, (row) => textAt(kernels.precision, row))).toEqual(["bf16", null]);
    expect(kernels.totalFlops[1]).toBe(0);
    expect([...kernels.flops]).toEqual([
      ["tensor", Float64Array.of(1e6, Number.NaN)],
      ["", Float64Array.of(Number.NaN, 0)],
    ]);
    // A chip without a peak for bf16 can still judge it.
    const roof = makeRoof(makeChip({ peaks: { fp32: 1e12 } }));
    expect(judge(kernels, roof)(1).boundBy).toBe("HBM");
    expect(judge(kernels, roof)(0).boundBy).toBe("unknown");
  });
  it("are the same as any when what merges and splits leave alone is taken from the kernels before", () => {
    const braid = written("*m: x w > y; a: y > p; +b: y p > q; c: q > r; *n: r w > s; d: s p > t");
    const counted = valuesOf(braid);
    const loads = formsIn(braid);
    let partition = unfused(braid);
    let before = { kernels: kernelsOf(braid, partition, counted, loads), partition, forms: loads };
    for (const change of [
      fuse(braid, partition, 0, 1),
      at(braid, [
        [0, 1],
        [2, 3],
        [4, 5],
      ]),
      unfused(braid),
    ]) {
      const kernels = kernelsOf(braid, change, counted, loads, { before });
      expect(kernels).toEqual(kernelsOf(braid, change, counted, loads));
      partition = change;
      before = { kernels, partition, forms: loads };
    }
    const larger = evaluate(braid, environment(braid, { dtype: "fp32" }));
    const ofLarger = formsIn(braid, { values: larger });
    expect(kernelsOf(braid, partition, larger, ofLarger, { before })).toEqual(
      kernelsOf(braid, partition, larger, ofLarger),
    );
  });
  it("have the counts of the table before where a group is the same, and are counted where it is new", () => {
    const graph = written("*m: x w > y; act: y > z; move: z > o; add: o > e", { shapes: { e: [2000] } });
    const values = valuesOf(graph);
    const [partition, loads] = [unfused(graph), formsIn(graph)];
    const none = Number.NaN;
    const noted = {
      ...kernelsOf(graph, partition, values, loads),
      flops: new Map([
        ["tensor", Float64Array.of(5, none, none, none)],
        ["vector", Float64Array.of(none, 6, 7, 8)],
      ]),
      bytes: new Map([["main", Float64Array.of(1, 2, 3, 4)]]),
      precision: { values: ["fp8", "fp16", "fp4"], codes: Int32Array.of(0, 1, 2, 2) },
    };
    const kernels = kernelsOf(graph, fuse(graph, partition, 2, 3), values, loads, {
      before: { kernels: noted, partition, forms: loads },
    });
    // move and add read z and write e; each computes one FLOP per element that it writes.
    expect(kernels.bytes.get("main")).toEqual(Float64Array.of(1, 2, 6000));
    expect(kernels.flops.get("tensor")).toEqual(Float64Array.of(5, none, none));
    expect(kernels.flops.get("vector")).toEqual(Float64Array.of(none, 6, 3000));
    expect(several(3, (row) => textAt(kernels.precision, row))).toEqual(["fp8", "fp16", "bf16"]);
  });
  it("are judged by the precision that their largest op states, else by what leaves them", () => {
    const stating = {
      ...graph,
      ops: graph.ops.map((op, i) => ({ ...op, precision: ["fp8", "fp32", null][i] ?? null })),
    };
    expect(precisionOf(stating, values, [0, 1])).toBe("fp8");
    expect(precisionOf(stating, values, [2])).toBe("bf16");
    const mixed = typed(["bf16", "bf16", "fp32", "int8", "int32"]);
    // Ints judge nothing: what floats enters is asked where only ints leave.
    expect(precisionOf(mixed, values, [1])).toBe("fp32");
    expect(precisionOf(mixed, values, [2])).toBe(null);
  });
  it.each([
    ["bf16", "bf16", "fp32", "bf16"],
    ["bf16", "int8", "bf16", "bf16"],
    ["int8", "int8", "fp32", "int8"],
    ["int8", "fp8", "bf16", "fp8"],
    ["fp8", "int8", "bf16", "fp8"],
    ["fp16", "bf16", "fp32", "fp16"],
  ])("are judged, as products of %s and %s into %s, by %s", (a, b, c, judging) => {
    const product = typed([a, b, c, "fp32"]);
    expect([[0], [0, 1]].map((group) => precisionOf(product, values, group))).toEqual([judging, judging]);
  });
  it("are judged, as products whose FLOPs are of no class, by what they read", () => {
    const product = typed(["fp8", "fp8", "bf16"]);
    const uncounted = { ...product, ops: product.ops.map((op) => ({ ...op, flops: {} })) };
    expect(several(2, (op) => precisionOf(uncounted, values, [op]))).toEqual(["fp8", "bf16"]);
  });
  it("are judged by the first of the tensors that are equally large", () => {
    // b reads w before x, and x is the first tensor of the graph.
    const read = written("a: x > y; b: w x > z");
    const dtypes: Record<string, string> = { x: "fp16", w: "fp8", z: "int8" };
    const tensors = read.tensors.map((tensor) => ({ ...tensor, dtype: dtypes[tensor.name] ?? "bf16" }));
    expect(precisionOf({ ...read, tensors }, valuesOf(read), [1])).toBe("fp16");
  });
  it("take the time that their FLOPs, their bytes and their ops cost", () => {
    const seconds = timeOf(forms, ([tensor = 0, vector = 0], bytes, ops) => tensor + vector + bytes + ops.length);
    // m and act compute 1,000,000 and 1,000 FLOPs, move x, w and z, and are two ops.
    expect([seconds([0, 1]), seconds([2])]).toEqual([1_001_000 + 6000 + 2, 2000 + 6000 + 1]);
  });
  it("are judged, as products in another dtype, by that", () => {
    const counted = evaluate(graph, environment(graph, { dtype: "fp32" }));
    expect(precisionOf(graph, counted, [0])).toBe("fp32");
  });
  it("are judged by what products inside other algorithms read", () => {
    const inside = typed(["fp8", "fp8", "bf16"]);
    const attention = { ...inside, ops: inside.ops.map((op) => ({ ...op, kind: "opaque" as const })) };
    expect(several(2, (op) => precisionOf(attention, values, [op]))).toEqual(["fp8", "bf16"]);
  });
});

describe("a kernel that runs ops again", () => {
  const graph = written("act: q[kn] > w[kn]; *m: x[mk] w > y[mn]", { sizes: { m: 512, k: 64, n: 64 } });
  const forms = formsIn(graph, { bytes: 232_448, units: 132 });
  it("has their FLOPs in its row of the table and in the totals, each time", () => {
    const one = kernelsOf(graph, at(graph, [[0, 1]]), valuesOf(graph), forms);
    expect(one.flops.get("vector")).toEqual(Float64Array.of(4 * 64 * 64));
    const [apart, together] = [unfused(graph), at(graph, [[0, 1]])].map((partition) =>
      tally(forms, partition, byBytes),
    );
    expect([apart?.flops, together?.flops]).toEqual([64 * 64 + 1000 * 512 * 64, 4 * 64 * 64 + 1000 * 512 * 64]);
    expect(together?.bytes).toBe(2 * (64 * 64 + 512 * 64 + 512 * 64));
  });
});

describe("graphs drawn at random", () => {
  /** Three partitions of each graph, and what its groups are on a chip. */
  const parted = drawn.flatMap((graph) => {
    const forms = formsIn(graph, { bytes: 232_448, units: 132 });
    return [unfused(graph), pairs(graph, forms), greedy(graph, byBytes, forms)].map((partition) => ({
      graph,
      forms,
      partition,
    }));
  });
  it("have bytes and FLOPs that are counted once for each tensor that enters or leaves, and each op", () => {
    for (const { graph, partition } of parted) {
      const values = valuesOf(graph);
      for (const group of partition.groups) {
        const made = new Set(group.flatMap((op) => graph.ops[op]?.outputs ?? []));
        const read = new Set(group.flatMap((op) => graph.ops[op]?.inputs ?? []));
        const outside = graph.ops.filter((_, op) => !group.includes(op)).flatMap((op) => op.inputs);
        const inside = (tensor: number) => read.has(tensor) && !outside.includes(tensor) && !graph.isOutput[tensor];
        const moved = [...[...read].filter((one) => !made.has(one)), ...[...made].filter((one) => !inside(one))];
        expect(groupBytes(graph, values, group), `${graph.name}: ${group}`).toBe(
          moved.reduce((sum, tensor) => sum + (values.bytes[tensor] as number), 0),
        );
        graph.classes.forEach((word, at) => {
          const own = group.reduce((sum, op) => {
            const isOf = (word === "tensor") === (graph.ops[op]?.kind === "matmul");
            const made = values.shape(graph.ops[op]?.outputs[0] ?? 0).reduce((a, b) => a * b, 1);
            return sum + (isOf ? made * (word === "tensor" ? 1000 : 1) : 0);
          }, 0);
          expect(groupFlops(values, group)[at]).toBe(own);
        });
      }
    }
  });
  it("have bytes that every partition moves", () => {
    for (const { graph, forms, partition } of parted)
      expect(tally(forms, partition).bytes, graph.name).toBeGreaterThanOrEqual(compulsory(graph, valuesOf(graph)));
    const graph = written("a: x > p; b: p > q r; c: q > s", { outputs: ["q"] });
    // x is read, q and s leave, and r is made and never read. Nothing reads p but b.
    expect(compulsory(graph, valuesOf(graph))).toBe(4 * 2000);
  });
  it("have the groups in the order in which they run, whatever order they are given in", () => {
    for (const { graph, partition } of parted) {
      expect(at(graph, [...partition.groups].reverse()).groups, graph.name).toEqual(partition.groups);
      const left = partition.groups.map((group) => [...group]);
      for (const group of partition.groups) {
        const ready = left.filter((one) =>
          one.every((op) =>
            (graph.before[op] ?? []).every((other) => !left.flat().includes(other) || one.includes(other)),
          ),
        );
        expect(Math.min(...ready.map(([first = 0]) => first)), graph.name).toBe(group[0]);
        left.splice(
          left.findIndex(([first]) => first === group[0]),
          1,
        );
      }
    }
  });
  it("keep together what is left of a group when an op leaves it, as far as it is connected and legal", () => {
    let larger = 0;
    for (const { graph, forms, partition } of parted)
      for (const group of partition.groups.filter((one) => one.length > 1))
        for (const op of group) {
          const next = split(graph, partition, op, forms.refusalOf);
          const context = `${graph.name} ${group} ${op}`;
          expect(next.groups, context).toContainEqual([op]);
          expect(faultOf(graph, next.groups), context).toBeNull();
          for (const part of next.groups) expect(forms.refusalOf(part)?.code, context).not.toBe("kinds");
          const others = group.filter((one) => one !== op);
          const parts = next.groups.filter((part) => part.every((one) => others.includes(one)));
          expect(parts.flat().sort(), context).toEqual(others);
          if (parts.length < others.length) larger++;
        }
    expect(larger).toBeGreaterThan(20);
    const graph = written("a: x > p; b: p > q; c: q > r; d: p > s; e: s > t");
    const of = (op: number) => split(graph, at(graph, [[0, 1, 2, 3, 4]]), op, formsIn(graph).refusalOf).groups;
    expect(of(0)).toEqual([[0], [1, 2, 3, 4]]);
    expect(of(1)).toEqual([[0, 3, 4], [1], [2]]);
    // Without the op in which they meet, two products have nothing in common but an op that uses both.
    const meeting = written("*m: x w > p; *n: y v > q; add: p q > r; sub: p q > s", { shapes: { p: [8], q: [8] } });
    const left = split(meeting, at(meeting, [[0, 1, 2, 3]]), 2, formsIn(meeting).refusalOf).groups;
    expect(left).toEqual([[0, 1, 3], [2]]);
  });
  it("light up exactly the groups that a group may be merged with", () => {
    const told = new Map<string | undefined, number>();
    for (const { graph, forms, partition } of parted)
      partition.groups.forEach((_, a) => {
        const refusals = partition.groups.map((__, b) => whyNot(graph, partition, a, b, forms.refusalOf));
        for (const refusal of refusals) told.set(refusal?.code, (told.get(refusal?.code) ?? 0) + 1);
        const legal = refusals.flatMap((refusal, b) => (refusal ? [] : [b]));
        expect(mergesOf(graph, partition, a, forms.refusalOf), `${graph.name} ${a}`).toEqual(legal);
        for (const b of legal)
          expect(faultOf(graph, fuse(graph, partition, a, b).groups), `${graph.name} ${a} ${b}`).toBeNull();
      });
    for (const code of [undefined, "same", "not-connected", "barrier", "kinds", "not-convex", "axes"])
      expect(told.get(code), code).toBeGreaterThanOrEqual(5);
  });
});
