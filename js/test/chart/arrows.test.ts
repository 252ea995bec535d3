// Labels keep clear of arrows, and a name without room beside its kernel has a leader from afar.

import { describe, expect, it } from "vitest";
import { boxesOf, leaderOf, type PlacedLabel } from "../../src/chart/labels/engine.ts";
import { bentLineBoxes, gapBox } from "../../src/chart/labels/obstacles.ts";
import { rooflineLabels } from "../../src/chart/labels/roofline_labels.ts";
import { gapsOf } from "../../src/chart/layers/gaps.tsx";
import { rulerAt, rulerOver } from "../../src/chart/layers/rulers.tsx";
import { changesSince, snapshotLabels } from "../../src/chart/layers/snapshots.tsx";
import type { BentLine } from "../../src/chart/paths.ts";
import { radiusAt } from "../../src/chart/points/painter.ts";
import { type Box, spotAt } from "../../src/chart/scales.ts";
import type { Scene } from "../../src/chart/scene.ts";
import { attainable } from "../../src/roofline/roofline.ts";
import { type KernelSpec, makeChip, makeRoof, seeded, several } from "../helpers.ts";
import { LARGE, labelsOf, SMALL, scene } from "../scenes.ts";

type Spot = readonly [x: number, y: number];

const boxes = boxesOf;
const isIn = ([x, y]: Spot, { left, right, top, bottom }: Box, by = 0) =>
  x > left + by && x < right - by && y > top + by && y < bottom - by;

/** A hundred points along a bent line, from the rim at its start. */
const along = ({ from, bend, to }: BentLine): Spot[] =>
  several(101, (step) => {
    const t = step / 100;
    const on = (at: 0 | 1) => (1 - t) * ((1 - t) * from[at] + t * bend[at]) + t * ((1 - t) * bend[at] + t * to[at]);
    return [on(0), on(1)];
  });

/** Points along the leader of a label. */
function lineOf(label: PlacedLabel): Spot[] {
  const [from, to] = [...leaderOf(label).matchAll(/([\d.]+),([\d.]+)/g)].map(
    ([, x, y]): Spot => [Number(x), Number(y)],
  );
  return from && to ? along({ from, bend: from, to }) : [];
}

/** Some kernels close together, a snapshot of them, and the changes since. */
function moved(next: () => number) {
  const specs = several(2 + Math.floor(9 * next()), (): KernelSpec => {
    const bytes = 1e10 * 30 ** next();
    return { flops: 2e12, bytes, time: (bytes / 1e12) * 30 ** (0.1 + 0.9 * next()) };
  });
  const one = scene(specs, { marked: next() < 0.3 ? [0] : [] }, 360 + 700 * next());
  const kernels = specs.map(({ flops, bytes }, row) => {
    const ai = (flops as number) / (bytes as number) / 3 ** (next() - 0.3);
    return [`kernel ${row}`, ai, attainable(ai, SMALL) * 0.03 ** next()] as const;
  });
  const told = { name: "before", chip: "small", precision: "bf16", memory: "HBM", hidden: false };
  const before = { ...told, peak: 1e14, bandwidth: 1e12 * (next() < 0.5 ? 1 : 0.6), kernels };
  const changes = changesSince(
    one,
    before,
    Int32Array.from(specs, (_, row) => row),
  );
  const gaps = gapsOf(one);
  const arrows = changes.flatMap(bentLineBoxes);
  const names = rooflineLabels(one, gaps, { others: snapshotLabels(one, [], changes), arrows });
  const lines = [
    ...changes.map(along),
    ...gaps.map(({ x, from, to }) => along({ from: [x, from], bend: [x, from], to: [x, to] })),
  ];
  return { one, changes, gaps, names, spots: lines.flat(), drawn: [...gaps.map(gapBox), ...arrows] };
}

describe("an arrow", () => {
  it("that is short has its number beside it, along a flat as well", () => {
    const raised = makeRoof(makeChip({ id: "small", peaks: { bf16: 1.5e14 } }));
    const told = { name: "before", chip: "small", precision: "bf16", memory: "HBM", hidden: false };
    const before = { ...told, peak: 1e14, bandwidth: 1e12, kernels: [["kernel 0", 2000, 1e14]] as const };
    for (const width of [700, 760, 820]) {
      const one = scene([{ flops: 1e14, bytes: 5e10 }], { roofs: [raised, LARGE] }, width);
      const changes = changesSince(one, before, Int32Array.of(0));
      const others = snapshotLabels(one, [], changes);
      const labels = rooflineLabels(one, [], { others, arrows: changes.flatMap(bentLineBoxes) });
      expect(labels.map(({ key, text }) => [key, text])).toContainEqual(["moved 0", "1.5×"]);
    }
  });
  it("has no call-out, name or number across it", () => {
    const next = seeded(83);
    const written = { gap: 0, kernel: 0, moved: 0 };
    for (let round = 0; round < 150; round++) {
      const { names, spots } = moved(next);
      for (const label of names) {
        const [kind] = label.key.split(" ") as [keyof typeof written];
        // Marked kernels and roofs are named in any case, and badges are always drawn.
        if (label.bold || !(kind in written) || label.text === "") continue;
        written[kind]++;
        for (const box of boxes(label)) {
          expect(
            spots.some((spot) => isIn(spot, box)),
            `round ${round}: ${label.text}`,
          ).toBe(false);
        }
      }
    }
    expect(Math.min(...Object.values(written))).toBeGreaterThan(50);
  });
  it("has no word of a ruler across it, nor has a line to a name", () => {
    const next = seeded(89);
    let written = 0;
    for (let round = 0; round < 150; round++) {
      const { one, names, drawn, spots } = moved(next);
      const { left, right } = one.scales.plot;
      const at = { x: left + (right - left) * next(), y: 100 };
      const rulers = [rulerAt(one, at, names, drawn), rulerOver(one, one.points.home[0] as number, names, [], drawn)];
      const led = names.flatMap(lineOf);
      for (const label of rulers.flatMap((ruler) => ruler?.labels ?? [])) {
        written++;
        for (const box of boxes(label)) {
          expect(
            led.some((spot) => isIn(spot, box, 2)),
            `round ${round}: ${label.text}`,
          ).toBe(false);
          expect(
            spots.some((spot) => isIn(spot, box)),
            `round ${round}: ${label.text}`,
          ).toBe(false);
        }
      }
    }
    expect(written).toBeGreaterThan(300);
  });
});

describe("a line to a name far off", () => {
  it("crosses no other text, and no point but about its own", () => {
    const next = seeded(97);
    let lines = 0;
    for (let round = 0; round < 150; round++) {
      const { one, names } = moved(next);
      for (const label of names) {
        const spots = lineOf(label);
        const to = spots.at(-1);
        if (!to) continue;
        lines++;
        const far = spots.filter(([x, y]) => Math.hypot(x - to[0], y - to[1]) > 14);
        const others = names.filter((other) => other !== label && !other.angle).flatMap(boxes);
        expect(
          spots.some((spot) => others.some((box) => isIn(spot, box, 2))),
          `round ${round}: ${label.text}`,
        ).toBe(false);
        for (let index = 0; index < one.points.n; index++) {
          const [x, y] = spotAt(one.at, index);
          if (label.key === `kernel ${one.points.row[index]}`) continue;
          if (label.bold || label.text === "") continue;
          const isOver = far.some((spot) => Math.hypot(spot[0] - x, spot[1] - y) < radiusAt(one.points, index) - 1.5);
          expect(isOver, `round ${round}: ${label.text}`).toBe(false);
        }
      }
    }
    expect(lines).toBeGreaterThan(100);
  });
});

describe("of twelve kernels at one intensity", () => {
  const twelve = (width: number, more: Partial<Scene> = {}) =>
    scene(
      several(12, (row): KernelSpec => {
        const flops = 1e12 * (1 + row / 5);
        return { name: `attention block ${row}`, flops, bytes: flops / 40, time: (flops / 40e12) * 1.4 ** (row + 1) };
      }),
      more,
      width,
    );
  const namesOf = (one: Scene, choices?: ReadonlyMap<string, number>) =>
    rooflineLabels(one, gapsOf(one), { before: choices }).filter(({ key }) => key.startsWith("kernel "));
  it("a narrow chart names four and has a badge for the fifth", () => {
    const names = namesOf(twelve(480));
    expect(names.map(({ key, badge, text }) => [key, badge, text])).toEqual([
      ["kernel 11", "1", "attention block 11"],
      ["kernel 10", "2", "attention block 10"],
      ["kernel 9", "3", "attention block 9"],
      ["kernel 8", "4", "attention block 8"],
      ["kernel 7", "5", ""],
    ]);
  });
  it("a wide chart names seven, and keeps them at their places while all moves", () => {
    const one = twelve(760);
    const names = namesOf(one);
    expect(names.map(({ key }) => key)).toEqual([11, 10, 9, 8, 7, 6, 5].map((row) => `kernel ${row}`));
    const choices = new Map(labelsOf(one).map(({ key, choice }) => [key, choice]));
    expect(namesOf(one, choices).sort((a, b) => a.y - b.y)).toEqual(names.sort((a, b) => a.y - b.y));
    // A kernel that is pointed at gets its name, too.
    expect(namesOf(twelve(760, { marked: [0] }), choices).map(({ key }) => key)).toContain("kernel 0");
  });
});
