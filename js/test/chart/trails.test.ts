// Merges on the chart: the parts of a merged kernel, its gain in intensity, and its position during the animation.

import { signal } from "@preact/signals";
import { describe, expect, it } from "vitest";
import { glided, trailLines } from "../../src/chart/layers/trails.tsx";
import type { Scales } from "../../src/chart/scales.ts";
import type { Scene } from "../../src/chart/scene.ts";
import { environment, evaluate } from "../../src/fusion/graph.ts";
import type { Points } from "../../src/roofline/points.ts";
import { followMerges, mergesBetween, type Trails } from "../../src/state/trails.ts";
import type { Workload } from "../../src/state/workload.ts";
import { decodeGraph, formsIn, type Groups, at as parted } from "../graphs.ts";
import { several } from "../helpers.ts";

const tensor = (name: string) => ({ name, shape: ["n"], dtype: "bf16", bytes: ["*", 2, "n"] });
const op = (name: string, at: number) => ({
  name,
  kind: "elementwise",
  inputs: [at],
  outputs: [at + 1],
  flops: { vector: "n" },
  extra: 0,
  terms: [],
  precision: null,
});
/** v → a → w → b → x → c → y → d → z, each with n elements. */
const GRAPH = decodeGraph({
  name: "chain",
  dims: [["n", 1, 1024, 100]],
  convention: "textbook",
  dtypes: { bf16: 16 },
  conventions: { textbook: {} },
  outputs: [4],
  tensors: ["v", "w", "x", "y", "z"].map(tensor),
  ops: ["a", "b", "c", "d"].map(op),
});

function workloadOf(groups: Groups, n = 100): Workload {
  const settings = { dims: { n }, convention: "textbook", dtype: null };
  const env = environment(GRAPH, settings);
  const values = evaluate(GRAPH, env);
  return {
    graph: GRAPH,
    values,
    forms: formsIn(GRAPH, { values }),
    partition: parted(GRAPH, groups),
    env,
    ...settings,
  };
}

function followed(first: Workload) {
  const workload = signal<Workload | undefined>(first);
  const trails = followMerges(workload, new AbortController().signal);
  const told = () => trails.value?.list.map(({ row, from, ratio }) => [row, from.length, ratio]) ?? [];
  return { workload, trails, told };
}

describe("the merges between two partitions", () => {
  it("are the groups that hold several whole groups of before", () => {
    const before = parted(GRAPH, [[0], [1], [2], [3]]);
    expect(mergesBetween(before, parted(GRAPH, [[0, 1], [2], [3]]))).toEqual([{ row: 0, groups: [[0], [1]] }]);
    expect(mergesBetween(before, before)).toEqual([]);
    expect(mergesBetween(parted(GRAPH, [[0, 1, 2, 3]]), before)).toEqual([]);
  });
  it("are not groups that took a part of another", () => {
    const before = parted(GRAPH, [[0, 1], [2], [3]]);
    expect(mergesBetween(before, parted(GRAPH, [[0], [1, 2], [3]]))).toEqual([]);
  });
});

describe("a trail", () => {
  it("tells by how much fewer bytes the same FLOPs move: four ops of a chain in one kernel, 4×", () => {
    const { workload, trails, told } = followed(workloadOf([[0], [1], [2], [3]]));
    expect(trails.value).toBeUndefined();
    workload.value = workloadOf([[0, 1, 2, 3]]);
    expect(told()).toEqual([[0, 4, 4]]);
    expect([...(trails.value?.parts.bytes.get("main") ?? [])]).toEqual([400, 400, 400, 400]);
  });
  it("stays while a size moves, and moves with it", () => {
    const { workload, trails, told } = followed(workloadOf([[0], [1], [2, 3]]));
    const merged = parted(GRAPH, [
      [0, 1],
      [2, 3],
    ]);
    workload.value = { ...workloadOf([[0], [1], [2, 3]]), partition: merged };
    workload.value = { ...workloadOf([[0], [1], [2, 3]], 7), partition: merged };
    expect(told()).toEqual([[0, 2, 2]]);
    expect([...(trails.value?.parts.bytes.get("main") ?? [])]).toEqual([28, 28]);
  });
  it("is gone with the next change that merges nothing, and with the graph", () => {
    const { workload, trails } = followed(workloadOf([[0], [1], [2], [3]]));
    workload.value = workloadOf([[0, 1], [2], [3]]);
    workload.value = workloadOf([[0], [1], [2], [3]]);
    expect(trails.value).toBeUndefined();
    workload.value = workloadOf([[0, 1], [2], [3]]);
    workload.value = undefined;
    expect(trails.value).toBeUndefined();
  });
});

const scales = {
  plot: { left: 10, top: 0, right: 500, bottom: 300 },
  strip: undefined,
  // 10 px and 1 px per decade.
  x: (value: number) => Math.log10(value) * 10,
  y: (value: number) => Math.log10(value),
} as unknown as Scales;
const pointsAt = (places: readonly (readonly [x: number, y: number])[]) =>
  ({
    n: places.length,
    row: Int32Array.from(places.keys()),
    roof: new Int16Array(places.length),
    home: Int32Array.from(places.keys()),
    x: Float64Array.from(places, ([x]) => 10 ** x),
    y: Float64Array.from(places, ([, y]) => 10 ** y),
  }) as unknown as Points;
const points = pointsAt([[30, 100]]);
const scene = { points, at: { x: Float32Array.of(300), y: Float32Array.of(100) }, scales } as unknown as Scene;
const trails = { merges: [], list: [{ row: 0, from: [0, 1], ratio: 2 }] } as unknown as Trails;

const NO_TIMES = new Map<number, number>();

describe("what a merge gains", () => {
  const said = (ratio: number, speedUp?: number) => {
    const list = [{ row: 0, from: [0], ratio }];
    const times = new Map(speedUp === undefined ? [] : [[0, speedUp]]);
    return trailLines(scene, { ...trails, list } as unknown as Trails, pointsAt([[10, 200]]), times)[0]?.text;
  };
  it.each([
    [2, 2, "this merge: 2× faster"],
    [1.4, 1.08, "this merge: 1.08× faster"],
    [1.4, 1, "1.4× fewer bytes · same time"],
    [1.4, 1.004, "1.4× fewer bytes · same time"],
    [12.34, 1, "12× fewer bytes · same time"],
    [1.4, 0.5, "this merge: 2× slower"],
    [1.4, undefined, "1.4× fewer bytes"],
  ])("of %d times fewer bytes and a speedup of %s is said as %s", (ratio, speedUp, text) => {
    expect(said(ratio, speedUp)).toBe(text);
  });
});

describe("on the chart", () => {
  it("a merged point starts in the middle of its parts and ends at its place", () => {
    const parts = pointsAt([
      [10, 200],
      [20, 220],
    ]);
    const placeAt = (share: number) => {
      const { x, y } = glided(scene, trails, parts, share).at;
      return [x[0], y[0]];
    };
    expect(placeAt(0)).toEqual([150, 210]);
    expect(placeAt(0.5)).toEqual([225, 155]);
    expect(glided(scene, trails, parts, 1)).toBe(scene);
  });
  it("every part has one line, and parts in one place share it", () => {
    const parts = pointsAt([
      [10, 200],
      [10, 200],
    ]);
    expect(trailLines(scene, trails, parts, NO_TIMES).map(({ from, to }) => [from, to])).toEqual([
      [
        [100, 200],
        [300, 100],
      ],
    ]);
  });
  it("a line bends to the lower side of the roof", () => {
    const [line] = trailLines(scene, trails, pointsAt([[10, 200]]), NO_TIMES);
    // The middle of (100, 200) and (300, 100) is (200, 150).
    expect(line?.bend[0]).toBeGreaterThan(200);
    expect(line?.bend[1]).toBeGreaterThan(150);
  });
  it("a part without FLOPs has a line only while there is a strip for it", () => {
    const parts = pointsAt([[Number.NEGATIVE_INFINITY, 200]]);
    expect(trailLines(scene, trails, parts, NO_TIMES)).toEqual([]);
    const y = Object.assign((value: number) => Math.log10(value), { domain: [1, 1e300] });
    const strip = { left: 0, right: 10, top: 0, bottom: 300, y };
    const drawn = { ...scene, scales: { ...scales, strip } } as unknown as Scene;
    expect(trailLines(drawn, trails, parts, NO_TIMES)).toHaveLength(1);
  });
  it("more than three merges at once leave no lines", () => {
    const many = pointsAt(several(4, (at) => [30 + at, 100]));
    const at = { x: Float32Array.from({ length: 4 }, (_, row) => 300 + 10 * row), y: new Float32Array(4).fill(100) };
    const list = several(4, (row) => ({ row, from: [0], ratio: 2 }));
    const all = { ...trails, list } as Trails;
    const part = pointsAt([[10, 200]]);
    expect(trailLines({ ...scene, points: many, at } as Scene, all, part, NO_TIMES)).toEqual([]);
    expect(
      trailLines({ ...scene, points: many, at } as Scene, { ...all, list: list.slice(1) }, part, NO_TIMES),
    ).toHaveLength(3);
  });
});
