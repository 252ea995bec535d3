// What a kernel keeps on chip, on graphs small enough to see through.

import { describe, expect, it } from "vitest";
import { fitsWithin, peakTileBytes } from "../../src/fusion/capacity.ts";
import { type Fits, mergesOf, whyNot } from "../../src/fusion/legality.ts";
import { partitionOf, unfused } from "../../src/fusion/partition.ts";
import { best, cases, likeXla, pairs, valuesOf, written } from "../graphs.ts";

describe("tiles on chip", () => {
  const room = (text: string, shapes: Record<string, number[]>, ops: number[]) => {
    const graph = written(text, { shapes });
    return peakTileBytes(graph, valuesOf(graph))(ops);
  };
  it("are vectors of 128 elements between elementwise ops, and there from write to last read", () => {
    expect(room("a: x > p; b: p > q; c: q > r", {}, [0, 1])).toBe(256);
    // p and q are there together, q and r are, but never all three.
    expect(room("a: x > p; b: p > q; c: q > r; d: r > s", {}, [0, 1, 2, 3])).toBe(512);
    expect(room("a: x > p; b: p > q; c: q p > r; d: r p > s", {}, [0, 1, 2, 3])).toBe(768);
    expect(room("a: x > p; b: p > q", { p: [10] }, [0, 1])).toBe(20);
  });
  it("are rows beside a reduction, and 128 x 128 elements with a matmul", () => {
    expect(room("!a: x > p; b: p > q", { p: [10, 4096] }, [0, 1])).toBe(8192);
    expect(room("*a: x w > p; b: p > q", { p: [4, 64, 4096] }, [0, 1])).toBe(64 * 128 * 2);
  });
  it("are none for an op alone", () => {
    expect(room("a: x > p; b: p > q", {}, [0])).toBe(0);
  });
  it("are never more than the tensor, of whole bytes", () => {
    expect(room("*a: x w > p; b: p > q", { p: [4, 64] }, [0, 1])).toBe(512);
    expect(room("a: x > p; b: p > q", { p: [] }, [0, 1])).toBe(2);
  });
});

describe("a chip's share", () => {
  const graph = written("a: x > p; b: p > q; c: q > r");
  const values = valuesOf(graph);
  it("takes kernels up to the last byte, and an op alone in any case", () => {
    expect(fitsWithin(graph, values, 256)([0, 1])).toBe(true);
    expect(fitsWithin(graph, values, 255)([0, 1])).toBe(false);
    expect(fitsWithin(graph, values, 0)([0])).toBe(true);
  });
  it("that is unknown takes any kernel whose reductions do not clash", () => {
    expect(fitsWithin(graph, values, undefined)([0, 1])).toBe(true);
  });
  it("keeps pairs to kernels that fit", () => {
    const rows = written("!norm: x > y; gelu: y > z; drop: z > d; +add: d r > out");
    const counted = valuesOf(rows);
    const groups = (bytes: number) => pairs(rows, counted, fitsWithin(rows, counted, bytes)).groups;
    // A row of y is 2,000 B.
    expect(groups(2000)).toEqual([
      [0, 1],
      [2, 3],
    ]);
    expect(groups(1999)).toEqual([[0], [1, 2], [3]]);
    expect(groups(128)).toHaveLength(4);
  });
  it("keeps presets and the search to kernels that fit", () => {
    const rows = written("!norm: x > y; gelu: y > z; drop: z > d; +add: d r > out");
    const counted = valuesOf(rows);
    const bytes = (_: Float64Array, moved: number) => moved;
    // A row of y is 2,000 B, and a vector of z beside it 256 B.
    const [small, enough] = [1999, 2256].map((room) => fitsWithin(rows, counted, room)) as [Fits, Fits];
    expect(best(rows, counted, bytes, small).groups).toEqual([[0], [1, 2, 3]]);
    expect(likeXla(rows, counted, bytes, small).groups).toEqual([[0], [1, 2, 3]]);
    expect(best(rows, counted, bytes, enough).groups).toEqual([[0, 1, 2, 3]]);
    expect(mergesOf(rows, unfused(rows), 0, small)).toEqual([]);
    expect(mergesOf(rows, unfused(rows), 0, enough)).toEqual([1]);
  });
});

describe("the golden file", () => {
  it("has what merged groups need on chip, and what is said of those that do not fit", () => {
    const told = new Map<string | null, number>();
    for (const { wanted, graph, values } of cases) {
      for (const { groups, a, b, need, share, refusal } of wanted.capacity) {
        const both = [...(groups[a] ?? []), ...(groups[b] ?? [])].sort((x, y) => x - y);
        expect(peakTileBytes(graph, values)(both), `${graph.name} ${both}`).toBe(need);
        const found = whyNot(graph, partitionOf(graph, groups), a, b, fitsWithin(graph, values, share));
        expect(found?.code ?? null, `${graph.name} ${both}`).toBe(refusal);
        told.set(refusal, (told.get(refusal) ?? 0) + 1);
      }
    }
    expect(Math.min(told.get(null) ?? 0, told.get("capacity") ?? 0)).toBeGreaterThan(200);
    expect(told.get("axes")).toBeGreaterThan(20);
  });
});
