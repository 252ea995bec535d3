// Scenes of the roofline plane for tests: from given kernels, and random ones.

import { expect } from "vitest";
import { overlap } from "../src/chart/labels/box_index.ts";
import { boxesOf, type PlacedLabel } from "../src/chart/labels/engine.ts";
import { type LabelContext, rooflineLabels } from "../src/chart/labels/roofline_labels.ts";
import { stripTicksWidth } from "../src/chart/layers/axes.tsx";
import { gapsOf } from "../src/chart/layers/gaps.tsx";
import { type Box, chartHeight, project, scalesOf } from "../src/chart/scales.ts";
import type { Scene } from "../src/chart/scene.ts";
import { LIGHT } from "../src/chart/theme.ts";
import { colouringOf } from "../src/roofline/colouring.ts";
import { byFallingTime } from "../src/roofline/filters.ts";
import { pointsOf } from "../src/roofline/points.ts";
import { rankingOf } from "../src/roofline/ranking.ts";
import type { Roof } from "../src/roofline/roofline.ts";
import { createStore } from "../src/state/store.ts";
import {
  DEFAULTS,
  FakeModel,
  type KernelSpec,
  makeChip,
  makeKernels,
  makeRoof,
  several,
  UNITS,
  wireChip,
  wireKernels,
} from "./helpers.ts";

// 100 TFLOP/s and 1 TB/s: its ridge point is 100. 400 TFLOP/s and 2 TB/s: 200.
export const SMALL = makeRoof(makeChip({ id: "small" }));
export const LARGE = makeRoof(makeChip({ id: "large", peaks: { bf16: 4e14 }, memories: { HBM: 2e12 } }));

export function scene(specs: readonly KernelSpec[], more: Partial<Scene> = {}, width = 760, room?: number): Scene {
  const { roofs = [SMALL, LARGE], focus = roofs[0] } = more;
  const kernels = makeKernels(specs);
  const points = pointsOf(kernels, roofs, focus);
  const names = new Map(roofs.map(({ chip }) => [chip.id, chip.name]));
  const lines = { roofs, focus, subRoofs: [], names, units: UNITS };
  const scales =
    more.scales ??
    scalesOf({ width, height: chartHeight(width, room) }, roofs, points, focus, stripTicksWidth(lines.units, focus));
  return {
    ...{ ...lines, kernels, points, scales, levels: [], theme: LIGHT, marked: [] },
    ...{ isRoofHovered: false, isPatterned: false, gaps: "first", allJoins: false },
    ...{
      at: project(points, scales),
      selected: new Set<number>(),
      emphasised: more.selected ?? new Set<number>(),
      colouring: colouringOf(kernels, "category"),
    },
    colours: new Map(roofs.map(({ chip }) => [chip.id, "#000000"])),
    named: [...byFallingTime(kernels)],
    ranked: rankingOf(kernels, byFallingTime(kernels), focus).rows,
    above: specs.flatMap((_, row) => (points.aboveRoof[points.home[row] ?? -1] === 1 ? [row] : [])),
    ...more,
  };
}

export const storeOf = (model: FakeModel, create = createStore) => create(model, new AbortController().signal);

/** Returns all labels of a scene of the roofline plane. */
export const labelsOf = (one: Scene, before?: LabelContext["before"]) => rooflineLabels(one, gapsOf(one), { before });

/** Expects that no label lies across another. */
export function expectClear(labels: readonly PlacedLabel[], where = "") {
  for (const [at, label] of labels.entries())
    for (const other of labels.slice(at + 1)) {
      const isOver = boxesOf(label).some((a) => boxesOf(other).some((b) => overlap(a, b)));
      expect(isOver, `${where}: ${label.text} over ${other.text}`).toBe(false);
    }
}

/** Expects that all labels lie inside a box. */
export function expectInside(labels: readonly PlacedLabel[], room: Box, where = "") {
  for (const label of labels)
    for (const { left, right, top, bottom } of boxesOf(label)) {
      const isIn = left >= room.left && right <= room.right && top >= room.top && bottom <= room.bottom;
      expect(isIn, `${where}: ${label.text}`).toBe(true);
    }
}

/** A random scene of up to four roofs and thirty kernels. */
export function random(next: () => number): Scene {
  const pick = (low: number, high: number) => low * (high / low) ** next();
  const roofs = several(1 + Math.floor(4 * next()), (at): Roof => {
    const name = `M${at}00 ${"80GB 700W 2026 PCIe".slice(0, 20 * next())}`;
    const [peak, bandwidth] = [pick(1e13, 5e15), pick(5e11, 1e13)];
    return makeRoof(makeChip({ id: `chip ${at}`, name, peaks: { bf16: peak }, memories: { HBM: bandwidth } }));
  });
  const [flops, bytes] = [pick(1e9, 1e13), pick(1e8, 1e11)];
  // In some scenes all kernels have the same intensity, in some the same position.
  const spread = next();
  const specs = several(
    Math.floor(30 * next()),
    (row): KernelSpec => ({
      name: `kernel ${"x".repeat(Math.floor(12 * next()))}${row}`,
      flops: flops * (spread < 0.3 ? 1 : pick(1, 100)),
      bytes: bytes * (spread < 0.6 ? 1 : pick(1, 100)),
      time: pick(1e-3, 1) * (spread < 0.1 ? 0 : 1) || 0.1,
    }),
  );
  return scene(specs, { roofs, marked: specs.length > 0 && next() < 0.5 ? [0] : [] }, 360 + 700 * next());
}

/** A model with some kernels and one chip of 100 TFLOP/s and 1 TB/s. */
export const onOneChip = (specs: readonly KernelSpec[], changes: Record<string, unknown> = {}): FakeModel =>
  new FakeModel({
    ...DEFAULTS,
    chips: [wireChip({ memories: { HBM: 1e12, L2: 1e13 } })],
    kernels: wireKernels(specs),
    shown: ["chip"],
    focus_chip: "chip",
    ...changes,
  });
