// Reductions over different axes, on graphs small enough to see through. The golden file has many more.

import { describe, expect, it } from "vitest";
import { clashingReductions, readAgain, reducedAxes, reducingOp, reductionTiles } from "../../src/fusion/axes.ts";
import { fitsWithin, peakTileBytes } from "../../src/fusion/capacity.ts";
import type { Graph } from "../../src/fusion/graph.ts";
import { whyNot } from "../../src/fusion/legality.ts";
import { sentenceOf, tooLarge } from "../../src/panels/fusion/merging.ts";
import { at, best, fully, pairs, valuesOf, written } from "../graphs.ts";
import { makeChip } from "../helpers.ts";

/** A softmax over rows, its sums over columns, and the division by these sums. */
function balanced(rows: number, columns: number): Graph {
  const shapes = { x: [rows, columns], s: [rows, columns], c: [columns], y: [rows, columns] };
  const graph = written("!softmax: x > s; !sum: s > c; +divide: s c > y", { shapes });
  return { ...graph, ops: graph.ops.map((op, i) => (i < 2 ? { ...op, axes: [1 - i] } : op)) };
}
const bytes = (_: Float64Array, moved: number) => moved;
const small = (capacity: number) => makeChip({ name: "small", share: { level: "SMEM", bytes: capacity, units: 1 } });

describe("a softmax over rows and sums over columns", () => {
  const graph = balanced(2 ** 24, 64);
  const values = valuesOf(graph);
  const workload = { graph, values, partition: at(graph, [[0], [1], [2]]) };
  const refusalOn = (capacity: number | undefined, a: number, b: number) =>
    whyNot(graph, workload.partition, a, b, fitsWithin(graph, values, capacity));
  it("are no kernel where columns of 16 million rows do not fit on chip", () => {
    for (const capacity of [undefined, 262_144, 67_108_864]) {
      expect(refusalOn(capacity, 0, 1)).toEqual({ code: "axes", path: [0, 1] });
    }
    const fits = fitsWithin(graph, values, 262_144);
    expect(best(graph, values, bytes, fits).groups).toEqual([[0], [1], [2]]);
    expect(pairs(graph, values, fits).groups).toEqual([[0], [1], [2]]);
    // A column has 33.6 MB.
    expect(best(graph, values, bytes, fitsWithin(graph, values, 67_108_864)).groups).toEqual([[0], [1, 2]]);
    expect(fully(graph, values).groups).toEqual([[0], [1, 2]]);
    expect(best(graph, values, bytes).groups).toEqual([[0], [1, 2]]);
  });
  it("are refused in the words that Python uses", () => {
    const told = (capacity: number) => sentenceOf(workload, 0, 1, { code: "axes", path: [0, 1] }, small(capacity));
    expect(told(233_472)).toBe(
      "softmax reduces axis 1 and sum reduces axis 0: one kernel of softmax + sum would keep 2.15 GB on chip at a time; " +
        "the SMEM of small holds 233 kB",
    );
    expect(tooLarge(workload, [0, 1], makeChip({ name: "bare" }))).toBe(
      "softmax reduces axis 1 and sum reduces axis 0: one kernel of softmax + sum would keep 2.15 GB on chip at a time; " +
        "how much bare holds is unknown",
    );
    expect(refusalOn(233_472, 1, 2)?.code).toBe("capacity");
    expect(tooLarge(workload, [1, 2], small(233_472))).toBe(
      "the tiles of sum + divide need 33.6 MB at a time; the SMEM of small holds 233 kB. divide reads s after sum, " +
        "which reduces axis 0",
    );
  });
  it("are one kernel where all of the weights fit", () => {
    const square = balanced(64, 64);
    const counted = valuesOf(square);
    expect(peakTileBytes(square, counted)([0, 1, 2])).toBe(8192 + 128);
    expect(best(square, counted, bytes, fitsWithin(square, counted, 8320)).groups).toEqual([[0, 1, 2]]);
    expect(best(square, counted, bytes, fitsWithin(square, counted, 8191)).groups).toEqual([[0], [1, 2]]);
  });
  it("know their axes, and what they read again", () => {
    expect(reducingOp(graph, 1)).toEqual({ name: "sum", axes: [0] });
    expect(clashingReductions(graph, [1, 2])).toBeNull();
    expect(readAgain(graph, [1, 2], 1)).toEqual([1, 2]);
    expect(readAgain(graph, [0, 1], 1)).toBeNull();
  });
});

describe("a residual", () => {
  it("stays on chip as a row from the norm to the addition", () => {
    const shapes = { x: [512, 4096], y: [512, 4096], z: [512, 4096] };
    const graph = written("!norm: x > y; add: y x > z", { shapes });
    expect(peakTileBytes(graph, valuesOf(graph))([0, 1])).toBe(8192 + 256);
  });
});

describe("the axes that ops reduce", () => {
  it("are each listed once, without those of ops that reduce none", () => {
    // Bit 0 is the last axis: the softmax reduces axis 1 of two, the sum axis 0.
    expect([...reducedAxes(balanced(4, 8))]).toEqual([1, 2]);
  });
  it("are the last one of a graph that has no axes, and none of an op that reads a scalar or nothing", () => {
    expect([...reducedAxes(written("!norm: x > y; add: y > z", { shapes: { x: [2, 3, 4] } }))]).toEqual([1]);
    expect([...reducedAxes(written("!norm: x > y; add: y > z", { shapes: { x: [] } }))]).toEqual([]);
    expect([...reducedAxes(written("!norm: > y; add: y > z"))]).toEqual([]);
  });
  it("need no tile where a kernel reduces nothing", () => {
    expect(reductionTiles(balanced(4, 8), [2])).toBeUndefined();
  });
});

describe("two reductions that clash", () => {
  it("are named in the order of the graph, whatever the order of the kernel's ops", () => {
    expect(clashingReductions(balanced(4, 8), [2, 1, 0])).toEqual([0, 1]);
  });
});

describe("a tensor that a reduction reads twice", () => {
  it("is not read again after the reduction", () => {
    expect(readAgain(written("a: x > p; !norm: p > q"), [0, 1], 1)).toBeNull();
  });
});
