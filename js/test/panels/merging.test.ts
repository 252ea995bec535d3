// What the fusion panel says of ops and of chips that lack a peak.

import { describe, expect, it } from "vitest";
import { environment, evaluate } from "../../src/fusion/graph.ts";
import { fuse, unfused } from "../../src/fusion/partition.ts";
import { descriptionOf, lackingPeak, proposalOf } from "../../src/panels/fusion/merging.ts";
import { chain } from "../chains.ts";
import { decodeGraph, formsIn, valuesOf } from "../graphs.ts";
import { makeChip, makeRoof } from "../helpers.ts";

describe("a chip", () => {
  const roof = makeRoof(makeChip({ peaks: { bf16: 1e14 } }));
  const lacking = (wire: unknown, dtype: string | null = null) => {
    const graph = decodeGraph(wire);
    return lackingPeak(graph, evaluate(graph, environment(graph, { dtype })), roof);
  };
  it("lacks the peak of a dtype that work is done in", () => {
    expect(lacking(chain("chain"))).toBeUndefined();
    expect(lacking(chain("chain"), "fp8")).toBe("fp8");
    expect(lacking(chain("chain", { dtype: "fp8" }))).toBe("fp8");
  });
  it("lacks none for ops that only move bytes", () => {
    const moving = chain("chain", { dtype: "fp8" }) as { ops: { flops: unknown }[] };
    for (const op of moving.ops) op.flops = {};
    expect(lacking(moving)).toBeUndefined();
  });
  it("lacks the precision that an op states", () => {
    const stating = chain("chain") as { ops: { precision: string | null }[] };
    (stating.ops[1] as { precision: string | null }).precision = "int8";
    expect(lacking(stating)).toBe("int8");
  });
});

it("an op is told with its bytes, what it is joined with, and its kernel", () => {
  const graph = decodeGraph(chain("chain", { ops: 3 }));
  const values = valuesOf(graph);
  const partition = fuse(graph, unfused(graph), 1, 2);
  // 100 elements of two bytes.
  expect(descriptionOf({ graph, values, partition }, 1)).toBe(
    "b · elementwise · 200 B in, 200 B out · from a · to c · in one kernel with c",
  );
  expect(descriptionOf({ graph, values, partition }, 0)).toBe("a · elementwise · 200 B in, 200 B out · to b");
});

describe("an edge", () => {
  const graph = decodeGraph(chain("chain", { ops: 3 }));
  const forms = formsIn(graph);
  const input = { cost: (_: unknown, bytes: number) => bytes / 1e9, chip: undefined };
  const values = valuesOf(graph);
  const apart = { graph, values, forms, partition: unfused(graph) };
  const joined = { graph, values, forms, partition: fuse(graph, unfused(graph), 0, 1) };
  it("between two kernels says what their merge gains", () => {
    // Each of three ops reads and writes 200 B. Together two of them move 400 B less.
    expect(proposalOf(apart, 0, 1, input)).toMatchObject({ text: "Merge: 1.2 µs → 800 ns", groups: [[0, 1]] });
    expect(proposalOf(apart, 0, 1, input).next?.groups).toEqual([[0, 1], [2]]);
  });
  it("within a kernel says what a split costs", () => {
    expect(proposalOf(joined, 0, 1, input)).toMatchObject({ text: "Split: 800 ns → 1.2 µs", groups: [[0], [1]] });
  });
  it("says that nothing is gained or lost", () => {
    const same = { ...input, cost: () => 1e-6 / 3 };
    expect(proposalOf(apart, 0, 1, { ...input, cost: (_, __, ops) => ops.length * 1e-6 }).text).toBe("No gain: 3 µs");
    expect(proposalOf(joined, 0, 1, { ...input, cost: (_, __, ops) => ops.length * 1e-6 }).text).toBe("No loss: 3 µs");
    expect(proposalOf(apart, 0, 1, same).text).toBe("Merge: 1 µs → 667 ns");
  });
  it("says why a merge is not possible, and offers none", () => {
    const chip = makeChip({ name: "one", share: { level: "SMEM", bytes: 100, units: 1 } });
    const tight = { ...apart, forms: formsIn(graph, { bytes: 100 }) };
    const refused = proposalOf(tight, 0, 1, { ...input, chip });
    expect(refused.text).toBe("Cannot merge: the tiles of a + b need 200 B at a time; the SMEM of one holds 100 B");
    expect(refused.next).toBeUndefined();
    expect(refused.groups).toEqual([]);
  });
  it("tells bytes where times are unknown", () => {
    expect(proposalOf(apart, 0, 1, { ...input, cost: undefined }).text).toBe("Merge: 1.2 kB → 800 B");
  });
});
