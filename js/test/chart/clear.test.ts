// Labels keep clear of ridge points, follow their importance, and stay near what they name.

import { describe, expect, it } from "vitest";
import {
  boxesOf,
  type Label,
  labelColour,
  leaderOf,
  type PlacedLabel,
  placeLabels,
} from "../../src/chart/labels/engine.ts";
import { rooflineLabels } from "../../src/chart/labels/roofline_labels.ts";
import { gapsOf } from "../../src/chart/layers/gaps.tsx";
import { rulerAt, rulerOver } from "../../src/chart/layers/rulers.tsx";
import { changesSince, snapshotLabels } from "../../src/chart/layers/snapshots.tsx";
import { type Box, isNarrow, spotAt } from "../../src/chart/scales.ts";
import type { Scene } from "../../src/chart/scene.ts";
import { type Roof, ridgePoint } from "../../src/roofline/roofline.ts";
import { type KernelSpec, makeChip, makeRoof, seeded, several } from "../helpers.ts";
import { labelsOf, random, SMALL, scene } from "../scenes.ts";
import { labelsOf as timeLabelsOf, sceneOf as timeScene } from "../timescenes.ts";

const boxes = boxesOf;

/** Distance from a text to a point, px. */
const distance = (label: PlacedLabel, x: number, y: number) =>
  Math.min(
    ...boxes(label).map(({ left, right, top, bottom }) =>
      Math.hypot(Math.max(0, left - x, x - right), Math.max(0, top - y, y - bottom)),
    ),
  );

interface Circle {
  readonly chip: string;
  readonly x: number;
  readonly y: number;
}

/** Ridge points in the plot; half the side of their boxes is 4 px. */
const circles = ({ roofs, scales: { plot, x, y } }: Scene): Circle[] =>
  roofs
    .map((roof: Roof) => ({ chip: roof.chip.id, x: x(ridgePoint(roof)), y: y(roof.peak) }))
    .filter((at) => at.x >= plot.left && at.x <= plot.right && at.y >= plot.top && at.y <= plot.bottom);

/** Similar roofs, whose ridge points are close together. */
function alike(next: () => number): Scene {
  const pick = (low: number, high: number) => low * (high / low) ** next();
  const roofs = several(2 + Math.floor(3 * next()), (at) =>
    makeRoof(makeChip({ id: `chip ${at}`, peaks: { bf16: pick(1e14, 4e14) }, memories: { HBM: pick(1e12, 3e12) } })),
  );
  const specs = several(Math.floor(13 * next()), (): KernelSpec => {
    const bytes = pick(1e9, 1e11);
    return { flops: 4e12, bytes, time: pick(1e-2, 1) };
  });
  return scene(specs, { roofs, marked: specs.length > 0 && next() < 0.4 ? [0] : [] }, 360 + 700 * next());
}

describe("a ridge point", () => {
  it("is covered by no text on the chart", () => {
    const next = seeded(53);
    let written = 0;
    for (let round = 0; round < 200; round++) {
      const one = next() < 0.5 ? alike(next) : random(next);
      const names = labelsOf(one);
      const over = one.points.n > 0 ? rulerOver(one, 0, names).labels : [];
      for (const label of [...names, ...over]) {
        written++;
        for (const { x, y } of circles(one)) {
          const isOver = ({ left, right, top, bottom }: Box) =>
            left < x + 4 && right > x - 4 && top < y + 4 && bottom > y - 4;
          expect(boxes(label).some(isOver), `round ${round}: ${label.text}`).toBe(false);
        }
      }
    }
    expect(written).toBeGreaterThan(2000);
  });
  it("has its number nearer to it than to any other, unless they look like one", () => {
    const next = seeded(59);
    let written = 0;
    for (let round = 0; round < 200; round++) {
      const one = alike(next);
      const labels = labelsOf(one);
      const all = circles(one);
      for (const own of all) {
        const label = labels.find(({ key }) => key === `ridge ${own.chip}`);
        if (!label) continue;
        written++;
        for (const other of all) {
          if (Math.max(Math.abs(other.x - own.x), Math.abs(other.y - own.y)) < 4) continue;
          // The engine compares boxes, this test circles: they differ by at most 1.7 px.
          const told = `round ${round}: ${label.text} of ${own.chip}, not ${other.chip}`;
          expect(distance(label, own.x, own.y), told).toBeLessThan(distance(label, other.x, other.y) + 1.7);
        }
      }
    }
    expect(written).toBeGreaterThan(15);
  });
});

describe("the limits along a ruler", () => {
  it("stand at each side in the order of their rates, and their lines cross nowhere", () => {
    const next = seeded(61);
    let pairs = 0;
    for (let round = 0; round < 200; round++) {
      const one = next() < 0.7 ? alike(next) : random(next);
      const names = labelsOf(one);
      const spot = { x: one.scales.plot.left + 90 * next(), y: 100 };
      const rulers = [rulerAt(one, spot, names), one.points.n > 0 ? rulerOver(one, 0, names) : undefined];
      for (const ruler of rulers) {
        const limits = ruler?.labels.filter(({ mark }) => mark) ?? [];
        for (const [index, a] of limits.entries()) {
          for (const b of limits.slice(index + 1)) {
            if (a.anchor !== b.anchor || a.mark?.x !== b.mark?.x || a.mark?.y === b.mark?.y) continue;
            pairs++;
            const isHigher = (a.mark?.y ?? 0) < (b.mark?.y ?? 0);
            expect(a.y < b.y, `round ${round}: ${a.text}, ${b.text}`).toBe(isHigher);
          }
        }
      }
    }
    expect(pairs).toBeGreaterThan(15);
  });
});

describe("what belongs to another text or mark", () => {
  it("of a gap in a narrow chart is written with its kernel's name alone, unless the kernel is marked", () => {
    const next = seeded(67);
    let [written, without, led] = [0, 0, 0];
    for (let round = 0; round < 300; round++) {
      const one = next() < 0.5 ? alike(next) : random(next);
      if (!isNarrow(one.scales)) continue;
      const gaps = gapsOf(one);
      const labels = new Map(rooflineLabels(one, gaps).map((label) => [label.key, label]));
      for (const { row, isMarked } of gaps) {
        if (!labels.has(`gap ${row}`)) continue;
        written++;
        const name = labels.get(`kernel ${row}`);
        if (isMarked) without++;
        else expect(name, `round ${round}: kernel ${row}`).toBeDefined();
        if (!isMarked && name && leaderOf(name)) led++;
      }
    }
    expect(written).toBeGreaterThan(30);
    expect(without).toBeGreaterThan(10);
    // Also if the name is far away.
    expect(led).toBeGreaterThan(0);
  });
  it("takes its best places in brief before any other in full", () => {
    const bounds = { left: 0, top: 0, right: 300, bottom: 300 };
    // At 12 px a letter "m" is 11.76 px wide.
    const positions = [100, 200].map((y) => ({ x: 10, y, anchor: "start" as const, isFar: y === 200 }));
    const label: Label = { kind: "gap", key: "k", text: "mmmmmmmm", shorter: ["m"], colour: "", positions };
    const taken = [{ left: 40, right: 60, top: 80, bottom: 120 }];
    const told = (positions: Label["positions"]) =>
      placeLabels([{ ...label, positions }], { bounds, points: taken }).map(({ text, y }) => [text, y]);
    expect(told(positions)).toEqual([["m", 100]]);
    expect(told(positions.map((each) => ({ ...each, isFar: false })))).toEqual([["mmmmmmmm", 200]]);
  });
  it("of a peak since a snapshot stands beyond its arrow's head in its chip's colour", () => {
    const told = { name: "before", chip: "small", precision: "bf16", memory: "HBM", hidden: false, kernels: [] };
    const one = scene([], { roofs: [SMALL], colours: new Map([["small", "#0060a0"]]) });
    for (const [peak, text, side] of [
      [5e13, "peak 2×", -1],
      [2e14, "peak 0.5×", 1],
    ] as const) {
      const changes = changesSince(one, { ...told, peak, bandwidth: 1e12 }, new Int32Array());
      const labels = placeLabels(snapshotLabels(one, [], changes), {
        bounds: { left: 0, top: 0, right: 760, bottom: 420 },
      });
      expect(labels.map((label) => [label.text, labelColour(label, one)])).toEqual([[text, "#0060a0"]]);
      expect(labels[0]?.x).toBe(changes[0]?.to[0]);
      expect(Math.sign((labels[0]?.y ?? 0) - one.scales.y(1e14))).toBe(side);
    }
  });
});

describe("the name on the diagonal of the time view", () => {
  it("covers no kernel's point and stays in the plot, wherever along the line some kernels stand", () => {
    const next = seeded(71);
    const pick = (low: number, high: number) => low * (high / low) ** next();
    let moved = 0;
    for (let round = 0; round < 100; round++) {
      // Kernels on the diagonal (100 FLOP/s against 10 B/s) and on both sides of it, most of them close together.
      const middle = pick(100, 1e4);
      const specs = several(1 + Math.floor(6 * next()), (row): KernelSpec => {
        const flops = row < 2 ? 10 * 1e4 ** row : middle * pick(0.8, 1.25);
        return { flops, bytes: (flops / 10) * pick(0.6, 1.7) };
      });
      const one = timeScene(specs, { width: 400 + 600 * next() });
      const label = timeLabelsOf(one).find(({ key }) => key === "diagonal") as PlacedLabel;
      const { left, right, top, bottom } = one.scales.outer;
      if (label.choice > 0) moved++;
      for (const box of boxes(label)) {
        expect(box.left >= left && box.right <= right && box.top >= top && box.bottom <= bottom).toBe(true);
        for (let index = 0; index < one.points.n; index++) {
          const [x, y] = spotAt(one.at, index);
          const isOver = box.left < x + 3 && box.right > x - 3 && box.top < y + 3 && box.bottom > y - 3;
          expect(isOver, `round ${round}`).toBe(false);
        }
      }
    }
    // Without kernels on the line, the name has its first position.
    expect(moved).toBeGreaterThan(30);
  });
});
