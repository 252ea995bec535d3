// The passes of kernels, and those that a merge saves.

import { describe, expect, it } from "vitest";
import { passesOf, savedPasses } from "../../src/fusion/passes.ts";
import { formsIn, valuesOf, written } from "../graphs.ts";

/** Four ops in a chain, of which the last one also reads a residual: x, or a tensor of its own. */
const tail = (residual: string) =>
  written(`!norm: x > a; gelu: a > b; drop: b > c; +add: c ${residual} > y`.replace(" >  ", " > "));

function counted(residual: string) {
  const graph = tail(residual);
  const values = valuesOf(graph);
  return { graph, values, forms: formsIn(graph) };
}
const passes = (residual: string, groups: readonly (readonly number[])[]) => {
  const now = counted(residual);
  return groups.flatMap((group) =>
    passesOf(now, group).map(
      ({ isWrite, tensor }) => `${isWrite ? "write" : "read"} ${now.graph.tensors[tensor ?? -1]?.name}`,
    ),
  );
};

describe("the passes of a partition", () => {
  // Counted by hand: a kernel reads each of its inputs once and writes each of its results once.
  it.each([
    ["r", [[0], [1], [2], [3]], 9],
    ["r", [[0, 1], [2], [3]], 7],
    ["r", [[0, 1, 2], [3]], 5],
    ["r", [[0, 1, 2, 3]], 3],
    ["x", [[0], [1], [2], [3]], 9],
    ["x", [[0, 1, 2], [3]], 5],
    ["x", [[0, 1, 2, 3]], 2],
  ])("with the residual %s in %j are %i", (residual, groups, count) => {
    expect(passes(residual, groups)).toHaveLength(count);
  });
  it("are in the order of the kernels, reads before writes", () => {
    expect(passes("x", [[0, 1, 2], [3]])).toEqual(["read x", "write c", "read c", "read x", "write y"]);
  });
  it("are the bytes of the kernel", () => {
    const now = counted("r");
    const sum = passesOf(now, [0, 1]).reduce((bytes, one) => bytes + one.bytes, 0);
    expect(sum).toBe(now.forms.loadOf([0, 1]).bytes);
  });
});

describe("a merge", () => {
  it("saves the write and the read of the tensor between, and the second read of a shared input", () => {
    const now = counted("x");
    const parts = [[0, 1, 2], [3]].map((group) => passesOf(now, group));
    const kept = savedPasses(parts, passesOf(now, [0, 1, 2, 3]));
    expect(
      kept.map(({ isWrite, tensor, isSaved }) => [isWrite, now.graph.tensors[tensor ?? -1]?.name, isSaved]),
    ).toEqual([
      [false, "x", false],
      [true, "c", true],
      [false, "c", true],
      [false, "x", true],
      [true, "y", false],
    ]);
    expect(new Set(kept.map(({ key }) => key)).size).toBe(5);
  });
});
