// Sizes that a graph cannot have: what is said of them, and which is nearest.

import { describe, expect, it } from "vitest";
import { brokenAt, nearestSize } from "../../src/fusion/conditions.ts";
import { type Dim, type Environment, environment, type Graph } from "../../src/fusion/graph.ts";
import { keptSizes } from "../../src/state/workload.ts";
import { sizeReasonOf } from "../../src/text/reasons.ts";
import { chain } from "../chains.ts";
import { decodeGraph } from "../graphs.ts";

/** n - 3 elements, and 4096 over heads. */
const wire = {
  ...(chain("shrunk", {
    dims: [
      ["n", 1, 9, 8],
      ["heads", 1, 64, 32],
    ],
  }) as object),
  conditions: [
    ["input: axis 0 of 't0'", ["+", "n", -3], 0],
    ["op 'attention': hidden", 4096, "heads"],
  ],
};
const graph: Graph = decodeGraph(wire);
const env = environment(graph);
const [n, heads] = graph.dims as [Dim, Dim];
const faultAt = (of: Graph, at: Environment, dim: Dim, size: number) => {
  const broken = brokenAt(of, at, dim, size);
  return broken && sizeReasonOf(broken);
};

describe("a size", () => {
  it("that would be below 1 is told with the tensor and the formula", () => {
    expect(faultAt(graph, env, n, 1)).toBe("input: axis 0 of 't0' = n - 3 = -2, which is not at least 1");
    expect(faultAt(graph, env, n, 4)).toBeNull();
  });
  it("that does not divide is told with both numbers", () => {
    expect(faultAt(graph, env, heads, 33)).toBe("op 'attention': hidden = 4096 is no multiple of heads = 33");
    expect(faultAt(graph, env, heads, 16)).toBeNull();
  });
  it("has a nearest legal one, the smaller of two, and one on a side", () => {
    expect(nearestSize(graph, env, n, 1)).toBe(4);
    expect([33, 48, 49].map((wanted) => nearestSize(graph, env, heads, wanted))).toEqual([32, 32, 64]);
    expect([nearestSize(graph, env, heads, 33, 1), nearestSize(graph, env, heads, 31, -1)]).toEqual([64, 16]);
    expect(nearestSize(graph, env, n, 3, -1)).toBeUndefined();
  });
  it("may be at either end of its range, and is the nearest legal one for a size beyond the range", () => {
    expect([9, 12].map((wanted) => nearestSize(graph, env, n, wanted))).toEqual([9, 9]);
    expect([1, 0, 64, 100].map((wanted) => nearestSize(graph, env, heads, wanted))).toEqual([1, 1, 64, 64]);
    // The condition alone would allow 4.
    const narrow = decodeGraph({ ...wire, dims: [["n", 6, 9, 8]], conditions: [wire.conditions[0]] });
    expect(nearestSize(narrow, environment(narrow), narrow.dims[0] as Dim, 4)).toBe(6);
    expect([nearestSize(graph, env, n, 10, 1), nearestSize(graph, env, heads, 0, -1)]).toEqual([undefined, undefined]);
  });
  it("has a nearest legal one up to a distance of 4,095", () => {
    const wide = decodeGraph({ ...wire, dims: [["n", 1, 9999, 5000]], conditions: [["op 'tile'", "n", 5000]] });
    const size = wide.dims[0] as Dim;
    expect([9095, 9096].map((wanted) => nearestSize(wide, environment(wide), size, wanted))).toEqual([5000, undefined]);
  });
  it("is illegal if the divisor is below 1 there, even if the count is a multiple of the divisor", () => {
    const shrinking = decodeGraph({ ...wire, conditions: [["op 'tile'", 4096, ["+", "n", -3]]] });
    const broken = (size: number) => brokenAt(shrinking, env, n, size)?.divisor;
    expect([2, 3, 4, 5, 6].map(broken)).toEqual([-1, 0, undefined, undefined, 3]);
  });
  it("that makes a count 0 is told with the count and the condition", () => {
    expect(brokenAt(graph, env, n, 3)).toMatchObject({ condition: { whose: "input: axis 0 of 't0'" }, count: 0 });
    expect(brokenAt(graph, env, n, 3)?.condition).toBe(graph.conditions[0]);
  });
  it("leaves the environment as it is", () => {
    brokenAt(graph, env, n, 1);
    expect(env.values[graph.symbols.get("n") as number]).toBe(8);
  });
});

it("of another phase is kept only where all that are kept agree with this one", () => {
  expect(keptSizes(graph, { n: 5, heads: 16 })).toEqual({ n: 5, heads: 16 });
  expect(keptSizes(graph, { n: 2, heads: 16 })).toEqual({});
  expect(keptSizes(graph, { heads: 33 })).toEqual({});
});

it("of a graph without conditions has no fault", () => {
  const plain = decodeGraph(chain("chain"));
  expect(faultAt(plain, environment(plain), plain.dims[0] as Dim, 1)).toBeNull();
});
