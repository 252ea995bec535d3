// The plane of the instruction roofline: roofs, walls, points and names, with the figures that Ding and Williams print for a
// V100: 489.6 warp GIPS, and 437.5, 93.6 and 25.9 GTXN/s of 32 bytes at L1, L2 and HBM.

import { describe, expect, it } from "vitest";
import { type InstructionScene, instructionScene } from "../../src/chart/instructions/scene.ts";
import { LIGHT } from "../../src/chart/theme.ts";
import { colouringOf } from "../../src/roofline/colouring.ts";
import type { Store } from "../../src/state/store.ts";
import type { InstructionRoofline } from "../../src/wire/columns.ts";
import { makeInstructions, makeKernels } from "../helpers.ts";

const SIZE = { width: 800, height: 500 };

interface Shown {
  readonly told?: Partial<InstructionRoofline>;
  readonly pointed?: number | null;
  readonly selected?: readonly number[];
  readonly hidden?: readonly number[];
  readonly width?: number;
}

function scene({ told = {}, pointed = null, selected = [], hidden = [], width = 800 }: Shown = {}): InstructionScene {
  const times = [3, 2, 1];
  const kernels = {
    ...makeKernels(times.map((time, row) => ({ name: `kernel ${row}`, time, category: "sort" }))),
    instructions: makeInstructions(told),
  };
  const value = <T>(value: T) => ({ value });
  const store = {
    rows: {
      kernels: value(kernels),
      longestFirst: value(new Int32Array([0, 1, 2])),
      isHidden: (row: number) => hidden.includes(row),
      pointed: value(pointed),
      selected: value(selected),
      colouring: value(colouringOf(kernels, "category")),
    },
  } as unknown as Store;
  return instructionScene(store, { ...SIZE, width }, LIGHT);
}

describe("the scene of the instruction roofline", () => {
  it("has the roofs of the paper, which end at the peak", () => {
    const { roofs, scales } = scene();
    expect(roofs.map(({ level, text }) => [level, text])).toEqual([
      ["L1", "437.5 GTXN/s"],
      ["L2", "93.65 GTXN/s"],
      ["HBM", "25.9 GTXN/s"],
    ]);
    for (const [at, ridge] of [489.6 / 437.5, 489.6 / 93.65, 489.6 / 25.9].entries()) {
      const [x, y] = roofs[at]?.corner ?? [0, 0];
      expect(scales.x.invert(x) / ridge).toBeCloseTo(1, 9);
      expect(scales.y.invert(y) / 489.6e9).toBeCloseTo(1, 9);
    }
  });
  it("has the walls of strides and bank conflicts, one line for those at one place", () => {
    const { walls, scales } = scene();
    const places = walls.map(({ x }) => scales.x.invert(x));
    for (const [at, wall] of [1 / 32, 1 / 8, 1 / 4, 1].entries()) expect((places[at] ?? 0) / wall).toBeCloseTo(1, 9);
    expect(walls.map(({ texts }) => texts)).toEqual([
      ["stride 8 and more, 4 B", "32-way bank conflict"],
      ["stride 1, 8 B"],
      ["stride 1, 4 B"],
      ["stride 0", "no bank conflict"],
    ]);
  });
  it("writes the texts of walls above the roofs, else at the lowest place without points", () => {
    const { plot } = scene().scales;
    const [, eighth, , one] = scene().walls;
    expect(eighth?.y).toBeLessThan((plot.top + plot.bottom) / 2);
    expect(one?.y).toBe(plot.bottom - 8);
    // A point on the wall at 1, in the place of its text.
    const levels = new Map([["L1", new Float64Array([1, 1, Number.NaN])]]);
    const rate = new Float64Array([400e9, 2e9, Number.NaN]);
    const shown = scene({ told: { levels, rate } });
    const low = shown.drawn[1]?.marks[0];
    expect(shown.walls[3]?.y).toBeLessThan((low?.y ?? 0) - (low?.radius ?? 0) + 1e-9);
  });
  it("draws points far beyond the roofs at the edge of the plot, where they do not widen the axes", () => {
    const levels = new Map([["HBM", new Float64Array([1e7, 1e-5, Number.NaN])]]);
    const { drawn, scales } = scene({ told: { levels } });
    expect(scales.x.domain[1]).toBeLessThan(1e3);
    expect(drawn.map(({ marks }) => marks.map(({ beyond }) => beyond))).toEqual([[1], [-1]]);
    const [right, left] = drawn.map(({ marks }) => marks[0]?.x ?? 0);
    expect([right, left]).toEqual([scales.plot.right - 16, scales.plot.left + 16]);
  });
  it("has a point for each kernel and level that is known, at the height of its rate", () => {
    const { drawn, scales } = scene();
    expect(drawn.map(({ row, marks }) => [row, marks.map(({ level }) => level)])).toEqual([
      [0, ["L1", "L2", "HBM"]],
      [1, ["L2"]],
    ]);
    const [first] = drawn[0]?.marks ?? [];
    expect(scales.x.invert(first?.x ?? 0)).toBeCloseTo(0.25, 9);
    expect(scales.y.invert(first?.y ?? 0) / 50e9).toBeCloseTo(1, 9);
    expect(drawn[0]?.marks.every(({ y }) => y === first?.y)).toBe(true);
  });
  it("does not draw kernels that a question hides", () => {
    expect(scene({ hidden: [0] }).drawn.map(({ row }) => row)).toEqual([1]);
  });
  it("marks the hovered and the selected kernels with their accesses, and fades the others while some are selected", () => {
    const { marked, drawn, scales } = scene({ pointed: 0 });
    expect(marked.map(({ row }) => row)).toEqual([0]);
    expect(marked[0]?.accesses.map(({ text }) => text)).toEqual(["global accesses"]);
    expect(scales.x.invert(marked[0]?.accesses[0]?.x ?? 0)).toBeCloseTo(1 / 32, 9);
    expect(drawn.some(({ isFaded }) => isFaded)).toBe(false);
    const chosen = scene({ selected: [1] });
    expect(chosen.drawn.map(({ isFaded }) => isFaded)).toEqual([true, false]);
    expect(chosen.marked.map(({ row }) => row)).toEqual([1]);
  });
  it("keeps its axes while a kernel is hovered", () => {
    expect(scene({ pointed: 0 }).scales.x.domain).toEqual(scene().scales.x.domain);
    expect(scene({ pointed: 0 }).scales.y.domain).toEqual(scene().scales.y.domain);
  });
  it("names kernels beside their points, in a narrow chart none", () => {
    expect(scene().names.map(({ text }) => text)).toEqual(["kernel 0", "kernel 1"]);
    expect(scene({ width: 480 }).names).toEqual([]);
  });
  it("writes a name on the other side if a point is in its place", () => {
    const levels = new Map([["L1", new Float64Array([1, 1.5, Number.NaN])]]);
    const { names, drawn } = scene({ told: { levels, rate: new Float64Array([5e9, 5e9, Number.NaN]) } });
    expect(names.map(({ row, anchor }) => [row, anchor])).toEqual([
      [0, "end"],
      [1, "start"],
    ]);
    expect(names[0]?.x).toBeLessThan(drawn[0]?.marks[0]?.x ?? 0);
  });
  it("has roofs to the top if the peak is unknown, and no walls on AMD", () => {
    const { roofs, scales } = scene({ told: { peak: Number.NaN } });
    expect(scales.y.invert(roofs[0]?.corner[1] ?? 0) / scales.y.domain[1]).toBeCloseTo(1, 9);
    expect(scene({ told: { walls: [] } }).walls).toEqual([]);
  });
  it("is empty without counts of instructions", () => {
    const kernels = makeKernels([{ time: 1 }]);
    const store = {
      rows: { kernels: { value: kernels }, selected: { value: [] }, pointed: { value: null } },
    } as unknown as Store;
    const empty = instructionScene(store, SIZE, LIGHT);
    expect([empty.counts, empty.drawn, empty.roofs, empty.walls]).toEqual([null, [], [], []]);
  });
});
