// What the fusion panel says of merges: three that are one kernel, what runs again, sides of the ridge point, four times.

import { describe, expect, it } from "vitest";
import { mergedWith, whyNot } from "../../src/fusion/legality.ts";
import { fuse, unfused } from "../../src/fusion/partition.ts";
import { costOn, lightOf, searchBoth } from "../../src/fusion/search.ts";
import { proposalOf, sidesOf } from "../../src/panels/fusion/merging.ts";
import { finish } from "../../src/ui/slices.ts";
import { formsIn, valuesOf, written } from "../graphs.ts";
import { makeChip, makeRoof } from "../helpers.ts";

/** 132 units with 227 KiB each, and 50 MiB that they share. */
const GPU = { bytes: 232_448, units: 132, shared: 52_428_800 };
const chip = makeChip({ name: "one", peaks: { bf16: 1e15 }, memories: { HBM: 1e12 } });
const roof = makeRoof(chip);

const SHAPES = { q: [8192, 64], k: [8192, 64], s: [8192, 8192], p: [8192, 8192], v: [8192, 64], o: [8192, 64] };
const flash = written("*qk: q[md] k[nd] > s[mn]; !softmax: s[mn] > p[mn]; *pv: p[mn] v[nd] > o[md]", {
  shapes: SHAPES,
});

const workloadOf = (graph = flash, partition = unfused(graph)) => {
  const values = valuesOf(graph);
  const cost = costOn(graph, values, roof);
  return { workload: { graph, values, partition, forms: formsIn(graph, { ...GPU, cost }) }, cost };
};

describe("a merge of two groups", () => {
  const { workload, cost } = workloadOf();
  const { graph, partition, forms } = workload;
  it("takes a third along where only the three are a kernel", () => {
    expect(whyNot(graph, partition, 0, 1, forms.refusalOf)?.code).toBe("capacity");
    expect(mergedWith(graph, partition, 0, 1, forms.refusalOf)).toEqual([0, 1, 2]);
    expect(mergedWith(graph, partition, 1, 2, forms.refusalOf)).toEqual([1, 2]);
    expect(proposalOf(workload, 0, 1, { cost, chip }).groups).toEqual([[0, 1, 2]]);
  });
  it("names the three, and says what they gain", () => {
    // Unfused: s and p, 128 MiB each, are written and read, and q, k, v and o, 1 MiB each, move once: 516 MiB.
    expect(proposalOf(workload, 0, 1, { cost: undefined, chip }).text).toMatch(
      /^qk \+ softmax \+ pv: Merge: 541 MB → \d/,
    );
  });
  it("stays one of two where that is a kernel", () => {
    const chain = written("a: x > p; b: p > q; c: q > r");
    expect(mergedWith(chain, unfused(chain), 0, 1, formsIn(chain).refusalOf)).toEqual([0, 1]);
  });
  it("says what a kernel reads more than once", () => {
    // Eight units that share no memory read k and v for each eight blocks of rows.
    const alone = formsIn(graph, { ...GPU, units: 8, shared: 0, cost });
    const { again } = proposalOf({ ...workload, forms: alone }, 0, 1, { cost, chip });
    expect(again).toMatch(/^k is read (\d+) times, v is read \1 times$/);
  });
  it("says what a kernel runs more than once, with the FLOPs before and now", () => {
    const shapes = { x: [128, 64], h: [128, 64], w: [64, 1024], y: [128, 1024] };
    const mlp = written("gelu: x[mk] > h[mk]; *mm: h[mk] w[kn] > y[mn]", { shapes });
    const given = workloadOf(mlp);
    // Each of 1,024 / 128 tiles of columns needs all 128 × 64 elements of gelu.
    expect(proposalOf(given.workload, 0, 1, { ...given, chip }).again).toBe(
      "gelu runs 8 times: 8.19 kFLOP → 65.5 kFLOP",
    );
  });
});

describe("ops", () => {
  it("are on the side of the ridge point where they take longer", () => {
    const { workload, cost } = workloadOf(written("*mm: x w > y; act: y > z"));
    // 1,000 FLOP for each of 1,000 elements and 6 kB; 1 FLOP an element and 4 kB; the ridge point is 1,000 FLOP/B.
    const side = sidesOf(workload, cost);
    expect([side([0]), side([1])]).toEqual(["memory", "memory"]);
    const slow = costOn(
      workload.graph,
      workload.values,
      makeRoof(makeChip({ peaks: { bf16: 1e13 }, memories: { HBM: 1e12 } })),
    );
    expect([0, 1].map((op) => sidesOf(workload, slow)([op]))).toEqual(["compute", "memory"]);
  });
  it("are on neither side where times are unknown", () => {
    expect(sidesOf(workloadOf().workload, undefined)([0])).toBe("");
  });
});

describe("four ways to run a graph", () => {
  const { workload, cost } = workloadOf();
  const { graph, values, partition, forms } = workload;
  const seconds = (groups: readonly (readonly number[])[]) =>
    groups.reduce((sum, group) => {
      const { flops, bytes, times } = forms.loadOf(group);
      return sum + cost(flops, bytes, group, times);
    }, 0);
  const found = finish(searchBoth(graph, forms, cost));
  const light = lightOf(graph, values, forms, roof);
  it("are slower in this order: light, best, compiler, unfused", () => {
    expect(light.seconds).toBeLessThanOrEqual(found.seconds);
    expect(found.seconds).toBeLessThan(found.compiler.seconds);
    expect(found.compiler.seconds).toBeLessThanOrEqual(seconds(partition.groups));
  });
  it("have at light each byte once and the longest of bytes and FLOPs of each class", () => {
    // q, k, v and o once.
    expect(light.bytes).toBe(4 * 8192 * 64 * 2);
    // 1,000 FLOPs for each element of both products, at 1e15 FLOP/s.
    expect(light.seconds).toBeCloseTo((1000 * (8192 * 8192 + 8192 * 64)) / 1e15, 12);
  });
  it("have for compilers no kernel of two products", () => {
    expect(found.groups).toEqual([[0, 1, 2]]);
    for (const group of found.compiler.groups) expect(group.filter((op) => op !== 1).length).toBeLessThanOrEqual(1);
    expect(fuse(graph, partition, 0, 1, 2).groups).toEqual(found.groups);
  });
});
