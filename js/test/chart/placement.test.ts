// The names of kernels on the chart, for profiles as profilers write them: no two overlap, no two are the same, and a
// line leads from each that is far from its mark.

import { describe, expect, it } from "vitest";
import { gripsOf } from "../../src/chart/gestures/roof_drag.tsx";
import { overlap } from "../../src/chart/labels/box_index.ts";
import { boxesOf, boxOf, leaderOf, type PlacedLabel } from "../../src/chart/labels/engine.ts";
import { stripBoxes } from "../../src/chart/labels/obstacles.ts";
import { rooflineLabels } from "../../src/chart/labels/roofline_labels.ts";
import { gapsOf } from "../../src/chart/layers/gaps.tsx";
import { spotAt } from "../../src/chart/scales.ts";
import type { Scene } from "../../src/chart/scene.ts";
import type { Roof } from "../../src/roofline/roofline.ts";
import { type KernelSpec, makeChip, makeRoof, seeded, several } from "../helpers.ts";
import { expectClear, LARGE, SMALL, scene } from "../scenes.ts";
import { labelsOf, sceneOf } from "../timescenes.ts";

const FAR_PX = 40;
const LEVELS = makeRoof(makeChip({ memories: { HBM: 1e12, L2: 4e12, L1: 1.6e13 } }), "auto", "all");
/** The widths of charts. On a phone, a presentation has the least width and height. */
const SIZES_PX: readonly (readonly [width: number, room?: number])[] = [[280, 100], [480], [760], [1100]];
/** Two chips with flats that are close together on a narrow chart, so that the names of their roofs have a column. */
const [HOPPER, AMPERE] = [
  makeRoof(makeChip({ id: "h", name: "H100 SXM5 80GB", peaks: { bf16: 9.895e14 }, memories: { HBM: 3.35e12 } })),
  makeRoof(makeChip({ id: "a", name: "A100 SXM4 80GB", peaks: { bf16: 3.12e14 }, memories: { HBM: 2.039e12 } })),
];

/** The name of a kernel as one of several profilers writes it. */
const NAMES: readonly ((at: number, size: string) => string)[] = [
  (at) => `ampere_bf16_s16816gemm_bf16_128x${64 << (at % 3)}_ldg8_f2f_stages_64x${at % 5}_tn`,
  (at) => `void at::native::vectorized_elementwise_kernel<${2 << (at % 3)}, at::native::CUDAFunctor_add<float>>`,
  (at, size) => `add of ${size} elements in step ${at % 4}`,
  (at) => `loop_fusion.${at}`,
  (at) => `%fusion.${100 * at + 7} = bf16[${8 << (at % 4)},4096]{1,0:T(8,128)(2,1)}`,
  (_, size) => `Cijk_Ailk_Bljk_HHS_BH_MT128x128x${size}_SE_K1`,
  () => "copy",
];
const SIZES = ["100,000", "1,000,000", "100,000,000", "16", "64"];

/** A profile: each second one has kernels of similar intensity. */
function profile(next: () => number, nth: number): KernelSpec[] {
  const spread = nth % 2 === 0 ? 4 : 1;
  return several(12 + Math.floor(30 * next()), (): KernelSpec => {
    const bytes = 1e9 * 10 ** (2 * next());
    const ai = 10 ** (spread * next() - 0.5);
    const time = (bytes / 1e12) * 10 ** (1.3 * next());
    const name = (NAMES[Math.floor(next() * NAMES.length)] as (typeof NAMES)[number])(
      Math.floor(20 * next()),
      SIZES[Math.floor(next() * SIZES.length)] as string,
    );
    // A copy has no FLOPs. It is in the strip, except in a profile with memory levels.
    const flops = name === "copy" && nth % 5 !== 4 ? 0 : bytes * ai;
    return nth % 5 === 4
      ? { name, flops, bytes: { HBM: bytes, L2: 2 * bytes, L1: 5 * bytes }, time }
      : { name, flops, bytes, ...(nth % 5 === 3 ? {} : { time }) };
  });
}

type Marks = Pick<Scene, "at" | "points">;

/** The distance from a name to the nearest mark of its kernel, px. */
function distance({ at, points }: Marks, label: PlacedLabel): number {
  const row = Number(label.key.slice("kernel ".length));
  const box = boxOf(label);
  const away = [...points.row.keys()]
    .filter((index) => points.row[index] === row)
    .map((index) => {
      const [x, y] = spotAt(at, index);
      return Math.hypot(Math.max(0, box.left - x, x - box.right), Math.max(0, box.top - y, y - box.bottom));
    });
  return Math.min(...away);
}

/** Whether a name is beside the line between the memory levels of its kernel. */
function isByOwnLine({ at, points, levels }: Scene, label: PlacedLabel): boolean {
  const row = Number(label.key.slice("kernel ".length));
  const marks = [...points.row.keys()].filter((index) => points.row[index] === row);
  const xs = marks.map((index) => at.x[index] as number);
  if (levels.length === 0) return false;
  const y = at.y[marks[0] as number] as number;
  return Math.abs(label.y - y) <= 24 && label.x >= Math.min(...xs) - 1 && label.x <= Math.max(...xs) + 1;
}

/**
 * Checks the names among the labels: no two are the same, none covers another label, and none is far from its mark
 * without a line. Returns the number of names.
 */
function checked(
  labels: readonly PlacedLabel[],
  marks: Marks,
  where: string,
  isByLine = (_: PlacedLabel): boolean => false,
): number {
  const names = labels.filter(({ kind, text }) => kind === "kernel" && text !== "");
  const texts = names.map(({ text }) => text);
  expect(new Set(texts).size, texts.join("\n")).toBe(texts.length);
  expectClear(labels, where);
  for (const label of labels) {
    const isLed = !label.key.startsWith("kernel ") || leaderOf(label) !== "" || isByLine(label);
    if (!isLed) expect(distance(marks, label), `${where}: ${label.text}`).toBeLessThanOrEqual(FAR_PX);
  }
  return names.length;
}

describe("the names of kernels", () => {
  it("in twenty profiles never overlap, are never the same, and are never far away without a line", () => {
    const next = seeded(19);
    let written = 0;
    for (let nth = 0; nth < 20; nth++) {
      const specs = profile(next, nth);
      const roofs = nth % 5 === 4 ? [LEVELS] : ([[SMALL], [SMALL, LARGE], [HOPPER, AMPERE]][nth % 3] as Roof[]);
      const levels = nth % 5 === 4 ? LEVELS.levels : [];
      for (const [width, room] of SIZES_PX) {
        const marked = nth % 4 === 1 ? [0, 3] : [];
        const one = scene(specs, { roofs, focus: roofs[0], levels, marked }, width, room);
        const labels = rooflineLabels(one, gapsOf(one));
        const where = `profile ${nth}, ${width} px`;
        const count = checked(labels, one, where, (label) => isByOwnLine(one, label));
        written += width === 1100 ? count : 0;
        for (const label of labels) {
          const isOver = boxesOf(label).some((a) => stripBoxes(one).some((b) => overlap(a, b)));
          expect(isOver, `${where}: ${label.text} over the strip`).toBe(false);
        }
      }
    }
    expect(written).toBeGreaterThanOrEqual(60);
  });
  it("are so in the time view", () => {
    const next = seeded(20);
    let written = 0;
    for (let nth = 0; nth < 20; nth++) {
      const specs = profile(next, nth);
      for (const width of [280, 480, 760, 1100]) {
        const one = sceneOf(specs, { width, chip: HOPPER.chip });
        const count = checked(labelsOf(one), one, `profile ${nth}, ${width} px`);
        written += width === 1100 ? count : 0;
      }
    }
    expect(written).toBeGreaterThanOrEqual(60);
  });
});

describe("the grips of a roof", () => {
  const one = scene([], { roofs: [HOPPER], focus: HOPPER }, 760);
  it("are at 75 % of the flat and at 40 % of the slope", () => {
    const { x, y, plot } = one.scales;
    const ridge = HOPPER.peak / HOPPER.bandwidth;
    const [slope, flat] = gripsOf(one);
    expect(flat).toMatchObject({ part: "peak", y: y(HOPPER.peak) });
    expect(flat?.x).toBeCloseTo(x(ridge) + 0.75 * (plot.right - x(ridge)), 6);
    const from = Math.max(plot.left, x(y.domain[0] / HOPPER.bandwidth));
    expect(slope).toMatchObject({ part: "bandwidth" });
    expect(slope?.x).toBeCloseTo(from + 0.4 * (x(ridge) - from), 6);
  });
  it("are missing on a part whose rate a lesson locks", () => {
    const parts = (lock: object) => gripsOf({ ...one, ...lock }).map(({ part }) => part);
    expect(parts({})).toEqual(["bandwidth", "peak"]);
    expect(parts({ isBandwidthLocked: true })).toEqual(["peak"]);
    expect(parts({ isPeakLocked: true })).toEqual(["bandwidth"]);
    expect(parts({ isPeakLocked: true, isBandwidthLocked: true })).toEqual([]);
  });
});
