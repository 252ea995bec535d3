// Moved kernels in the time view: their positions and their times.

import { signal } from "@preact/signals";
import { describe, expect, it } from "vitest";
import { overlap } from "../../src/chart/labels/box_index.ts";
import { boxOf, type Label, type PlacedLabel } from "../../src/chart/labels/engine.ts";
import { ghostsOf } from "../../src/chart/layers/moved_kernels.tsx";
import { timeLabels } from "../../src/chart/time/labels.ts";
import { sceneWith, timeGaps } from "../../src/chart/time/scene.ts";
import type { Store } from "../../src/state/store.ts";
import type { Moves } from "../../src/wire/types.ts";
import { type KernelSpec, makeRoof } from "../helpers.ts";
import { afterOf, MATMUL, type Options, SLOW, sceneOf, TWICE } from "../timescenes.ts";

// A launch of the first computes for 5 s, moves bytes for 10 s and took 40 s; of the second 400 s, 10 s and 800 s.
const SPECS: KernelSpec[] = [
  { ...TWICE, time: 80 },
  { ...MATMUL, time: 800 },
  { name: "copy", flops: 0, bytes: 200, time: 40 },
];

function movesOf(moves: Moves, options: Options = {}, specs = SPECS) {
  const scene = sceneOf(specs, { ...options, moves });
  const after = afterOf(scene.kernels, moves, makeRoof(SLOW));
  const then = sceneWith(scene, after);
  const store = { rows: { moved: signal(after) } } as unknown as Store;
  return { scene, ghosts: ghostsOf(store, scene, after.points, then.at, scene.scales.outer), gaps: timeGaps(then) };
}

describe.each(["linear", "log"] as const)("on %s axes a kernel that is moved", (scale) => {
  it("stands where its other bytes take it, above or below where it was", () => {
    const { scene, ghosts } = movesOf({ 0: { bytes: 2 }, 2: { bytes: 0.5 } }, { scale });
    const { at, scales } = scene;
    const [first, last] = [0, 2].map((row) => at.x[row] as number) as [number, number];
    expect(ghosts.map(({ row, index, from }) => [row, index, ...from])).toEqual([
      [0, 0, first, at.y[0]],
      [2, 2, last, at.y[2]],
    ]);
    expect(ghosts.map(({ to }) => to)).toEqual([
      [first, expect.closeTo(scales.y(20), 3)],
      [last, expect.closeTo(scales.y(10), 3)],
    ]);
  });
  it("has a gap up to the time it would take there, or to its time where that alone is another", () => {
    const { scene, gaps } = movesOf({ 0: { bytes: 2 }, 1: { time: 0.75 } }, { scale });
    const { x, y } = scene.scales;
    // At a quarter of its roof its 20 s take 80 s; at two thirds, 400 s take 600 s.
    expect(gaps.map(({ to }) => to)).toEqual([
      [expect.closeTo(x(5), 3), expect.closeTo(y(80), 3)],
      [expect.closeTo(x(600), 3), expect.closeTo(y(10), 3)],
    ]);
  });
  it("has room, and no more room than it needs", () => {
    const ends = (moves: Moves) => {
      const { x, y } = sceneOf(SPECS, { scale, moves }).scales;
      return [x.domain[1], y.domain[1]].map((end) => Math.round(end));
    };
    expect(ends({ 0: { bytes: 0.5 } })).toEqual(ends({}));
    // 400 s of memory take 1600 s.
    expect(ends({ 0: { bytes: 40 } })[1]).toBe(scale === "linear" ? 1840 : 3200);
    // Even if all moved kernels are filtered out, microseconds keep their axes.
    const short = [{ name: "short", flops: 1e-4, bytes: 1e-5, time: 1e-5 }];
    const domains = (moves?: Moves) => {
      const { x, y } = sceneOf(short, { scale, ...(moves && { moves }) }).scales;
      return [...x.domain, ...y.domain];
    };
    expect(domains({})).toEqual(domains());
  });
});

describe("under a zoom", () => {
  it("a kernel that would stand out of sight is at the edge, and none where it is out of sight both ways", () => {
    const near = (moves: Moves) => movesOf(moves, { scale: "linear", zoom: [0, 20, 0, 12] });
    const { scene, ghosts } = near({ 0: { bytes: 2 }, 1: { bytes: 2 } });
    expect(ghosts.map(({ row, to }) => [row, to[1]])).toEqual([[0, scene.scales.outer.top]]);
  });
});

describe("what is written", () => {
  const NOTE: Label = { kind: "note", key: "move 0", text: "note", bold: true, colour: "", positions: [] };
  const written = (moves: Moves, specs = SPECS) => {
    const { scene, ghosts } = movesOf(moves, {}, specs);
    const [x, y] = ghosts[0]?.to ?? [0, 0];
    const notes = ghosts.map(() => ({ ...NOTE, positions: [{ x: x + 12, y, anchor: "start" as const }] }));
    return { labels: timeLabels(scene, timeGaps(scene), { ghosts, others: notes }), ghosts };
  };
  it("of a moved kernel is a note in the place of its gap", () => {
    const keys = (moves: Moves) => new Set(written(moves).labels.map(({ key }) => key));
    expect([keys({}).has("gap 0"), keys({}).has("move 0")]).toEqual([true, false]);
    const now = keys({ 0: { bytes: 0.5 } });
    expect([now.has("gap 0"), now.has("move 0"), now.has("gap 2"), now.has("kernel 0")]).toEqual([
      ...[false, true, true, true],
    ]);
  });
  it("keeps clear of where a kernel would stand, and of the way there", () => {
    // The second kernel is left of the arrow's middle: a name to the right would cover the arrow.
    const { labels, ghosts } = written({ 0: { bytes: 0.05 } }, [TWICE, { name: "beside", flops: 450, bytes: 20 }]);
    const [{ from, to, radius }] = ghosts as [(typeof ghosts)[number]];
    const way = { left: to[0] - 2, right: to[0] + 2, top: from[1], bottom: to[1] + radius };
    const across = (label: PlacedLabel) => overlap(boxOf(label), way);
    expect(labels.filter((label) => !label.angle && across(label)).map(({ text }) => text)).toEqual([]);
  });
  it("lies rather across the way there than on where a kernel would stand", () => {
    const { scene, ghosts } = movesOf({ 0: { bytes: 0.05 } }, {}, [TWICE]);
    const [{ from, to }] = ghosts as [(typeof ghosts)[number]];
    const positions = [to[1], (from[1] + to[1]) / 2].map((y) => ({ x: to[0], y, anchor: "middle" as const }));
    const labels = timeLabels(scene, timeGaps(scene), { ghosts, others: [{ ...NOTE, positions }] });
    expect(labels.find(({ key }) => key === NOTE.key)?.y).toBe(positions[1]?.y);
  });
});
