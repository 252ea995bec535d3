// Hierarchical mode and ceilings: the names of lines and their positions, and which of a kernel's points binds.

import { describe, expect, it } from "vitest";
import type { PlacedLabel } from "../../src/chart/labels/engine.ts";
import { rooflineLabels } from "../../src/chart/labels/roofline_labels.ts";
import { gapsOf } from "../../src/chart/layers/gaps.tsx";
import { roofPath, slopePath } from "../../src/chart/paths.ts";
import { joinsOf, pointColours, type Scene, tiesOf } from "../../src/chart/scene.ts";
import { subRoofsOf } from "../../src/roofline/ceilings.ts";
import { type Roof, ridgePoint } from "../../src/roofline/roofline.ts";
import { exposedText } from "../../src/text/describe.ts";
import { type KernelSpec, makeChip, makeRoof, several } from "../helpers.ts";
import { expectClear, scene } from "../scenes.ts";

const A100 = makeChip({
  id: "a100",
  name: "A100",
  peaks: { bf16: 312e12 },
  memories: { HBM: 2e12, L2: 7.2e12, L1: 19.5e12 },
});
const MATMUL = { name: "matmul", flops: 4e12, bytes: { HBM: 1.2e10, L2: 1.4e11, L1: 4e11 } };
const NORM = { name: "norm", flops: 8e9, bytes: { HBM: 4e9, L2: 6e9 }, time: 4e-3 };

interface Options {
  readonly width?: number;
  readonly memory?: string;
  readonly exposed?: readonly number[];
  readonly roof?: Roof;
}

function sceneOf(
  specs: readonly KernelSpec[],
  { width = 928, memory = "all", exposed = [], roof }: Options = {},
): Scene {
  const focus = roof ?? makeRoof(A100, "auto", memory);
  const ceilings = [
    { key: "fp32", name: "fp32", rate: 19.5e12, unit: "FLOP/s", memory: null, measured: false, on: true },
    { key: "HBM STREAM", name: "STREAM", rate: 1.6e12, unit: "B/s", memory: "HBM", measured: true, on: true },
  ] as const;
  const rows = specs.map((_, row) => row);
  return scene(
    specs,
    {
      roofs: [focus],
      subRoofs: exposed.length > 0 ? subRoofsOf(focus, ceilings, exposed, exposedText) : [],
      levels: focus.levels.length > 1 ? focus.levels : [],
      ...{ named: rows, ranked: rows.slice(0, 5), above: [] },
    },
    width,
  );
}

const textsOf = (labels: readonly PlacedLabel[]) => new Map(labels.map(({ key, text }) => [key, text]));

describe("with all levels of memory", () => {
  it("each level has its name and rate along its slope, and its ridge point's number", () => {
    const labels = rooflineLabels(sceneOf([MATMUL, NORM]), []);
    const texts = textsOf(labels);
    expect(Object.fromEntries(texts)).toMatchObject({
      "level HBM": "HBM · 2 TB/s",
      "level L2": "L2 · 7.2 TB/s",
      "level L1": "L1 · 19.5 TB/s",
      "ridge level L2": "43.33",
      "ridge level L1": "16",
    });
    expectClear(labels);
  });
  it("names run along their slopes, right beside them", () => {
    const scene = sceneOf([MATMUL, NORM]);
    const { x, y } = scene.scales;
    const turn = (Math.atan2(y(10) - y(1), x(10) - x(1)) * 180) / Math.PI;
    for (const { name, bandwidth } of scene.levels) {
      const label = rooflineLabels(scene, []).find(({ key }) => key === `level ${name}`) as PlacedLabel;
      expect(label.angle).toBeCloseTo(turn, 0);
      const onSlope = y(bandwidth * x.domain[0] * (x.domain[1] / x.domain[0]) ** share(scene, label.x));
      expect(Math.abs(label.y - onSlope)).toBeLessThan(25);
    }
  });
  it("a narrow chart has them too", () => {
    const labels = rooflineLabels(sceneOf([MATMUL, NORM], { width: 480 }), []);
    for (const level of ["HBM", "L2", "L1"]) expect(textsOf(labels).has(`level ${level}`), level).toBe(true);
    expectClear(labels);
  });
  it("the words for the regions are left of every ridge point, and right of every one", () => {
    const one = sceneOf([MATMUL]);
    const labels = new Map(rooflineLabels(one, []).map((label) => [label.key, label]));
    expect(labels.get("memory region")).toMatchObject({ text: "◂ memory-bound", anchor: "end" });
    expect(labels.get("memory region")?.x).toBeCloseTo(one.scales.x(16) - 8, 6);
    expect(labels.get("compute region")).toMatchObject({ text: "compute-bound ▸", anchor: "start" });
    expect(labels.get("compute region")?.x).toBeCloseTo(one.scales.x(156) + 8, 6);
  });
  it("the chart has room for every level's ridge point", () => {
    const slow = makeChip({ id: "a100", peaks: { fp64: 1e12 }, memories: { DRAM: 1e11, L1: 2e13 } });
    const { scales } = sceneOf([], { roof: makeRoof(slow, "auto", "all") });
    expect(scales.x.domain[0]).toBeLessThan(0.05 / 2);
  });
});

const share = ({ scales: { plot } }: Scene, x: number) => (x - plot.left) / (plot.right - plot.left);

describe("one kernel's points", () => {
  it("are joined by a line of one height, from the lowest intensity to the highest", () => {
    const scene = { ...sceneOf([MATMUL, NORM]), allJoins: true };
    const [matmul, norm] = joinsOf(scene);
    expect(matmul?.from).toBeCloseTo(scene.scales.x(10), 3);
    expect(matmul?.to).toBeCloseTo(scene.scales.x(4e12 / 1.2e10), 3);
    expect(matmul?.y).toBeCloseTo(scene.scales.y(19.5e12 * 10), 3);
    expect(norm?.from).toBeCloseTo(scene.scales.x(8 / 6), 3);
    expect(tiesOf(scene)).toEqual([]);
  });
  it("are not joined where there is one level", () => {
    expect(joinsOf(sceneOf([MATMUL, NORM], { memory: "main" }))).toEqual([]);
    expect(joinsOf(sceneOf([{ flops: 1e9, bytes: { HBM: 1e9 } }]))).toEqual([]);
  });
  const joined = (one: Scene) => joinsOf(one).map(({ row }) => row);
  it("are joined for the first kernel and for the hovered and selected ones, unless all are joined", () => {
    const scene = sceneOf([MATMUL, NORM, NORM, MATMUL]);
    expect(joined({ ...scene, ranked: [2, 1], marked: [] })).toEqual([2]);
    expect(joined({ ...scene, ranked: [2, 1], marked: [3, 0] })).toEqual([0, 2, 3]);
    expect(joined({ ...scene, ranked: [], named: [1, 0] })).toEqual([1]);
    const copies = sceneOf([{ flops: 0, bytes: NORM.bytes, time: 1 }, NORM]);
    expect(joined({ ...copies, ranked: [0, 1] })).toEqual([1]);
    expect(joined({ ...scene, allJoins: true })).toEqual([0, 1, 2, 3]);
  });
  it("of very many are never all joined", () => {
    const many = { ...sceneOf(several(500, () => MATMUL)), allJoins: true };
    expect(joined({ ...many, marked: [7] })).toEqual([0, 7]);
  });
  it("are filled at the level that binds and hollow at the others", () => {
    const scene = sceneOf([MATMUL, NORM]);
    const { hollow } = pointColours(scene);
    const filled = (row: number) =>
      [...hollow].flatMap((empty, index) =>
        scene.points.row[index] === row && !empty ? [scene.levels[scene.points.level[index] as number]?.name] : [],
      );
    expect(filled(0)).toEqual(["L1"]);
    expect(filled(1)).toEqual(["HBM"]);
    expect([...pointColours(sceneOf([MATMUL, NORM], { memory: "main" })).hollow]).toEqual([0, 0]);
  });
  it("have one gap arrow, at the level that binds, up to what is possible", () => {
    const scene = sceneOf([{ ...NORM, time: 8e-3 }]);
    const [gap, ...more] = gapsOf(scene);
    expect(more).toEqual([]);
    expect(gap?.x).toBeCloseTo(scene.scales.x(2), 3);
    expect(gap?.to).toBeCloseTo(scene.scales.y(4e12), 3);
  });
});

describe("lower roofs", () => {
  it("have their names: ceilings with their rates, exposed communication with its share", () => {
    for (const width of [928, 480]) {
      const one = sceneOf([], { width, memory: "main", exposed: [0.2, 0.4, 0.6] });
      const labels = rooflineLabels({ ...one, isRoofHovered: true }, []);
      const texts = textsOf(labels);
      expect(texts.get("sub ceiling HBM STREAM")).toBe("STREAM 1.6 TB/s");
      expect(texts.get("sub ceiling fp32")).toMatch(/^fp32/);
      expect(texts.get("sub exposed 0.2")).toMatch(/^20 %/);
      expect(texts.get("sub exposed 0.6")).toMatch(/^60 %/);
      expectClear(labels);
    }
  });
  it("that have room are named along their lines, clear of the roof's own name", () => {
    const scene = sceneOf([], { memory: "main", exposed: [0.9] });
    const labels = rooflineLabels(scene, []);
    expect(Object.fromEntries(textsOf(labels))).toMatchObject({
      ...{
        "sub ceiling fp32": "fp32 19.5 TFLOP/s",
        "sub exposed 0.9": "90 % exposed",
        "roof a100": "A100 312 TFLOP/s",
      },
    });
    expectClear(labels);
  });
  it("go along with their names when the roof is dragged, but for ceilings, which stay", () => {
    const still = sceneOf([], { memory: "main", exposed: [0.2, 0.4] });
    const choices = new Map(rooflineLabels(still, []).map(({ key, choice }) => [key, choice]));
    const roof = makeRoof(A100, "auto", "main", { a100: { peak_flops: { bf16: 100e12 } } });
    const scene = sceneOf([], { memory: "main", exposed: [0.2, 0.4], roof });
    const now = new Map(rooflineLabels(scene, [], { before: choices }).map((label) => [label.key, label.y]));
    const before = new Map(rooflineLabels(still, []).map((label) => [label.key, label.y]));
    const away = (one: Scene, ys: typeof now) => (ys.get("sub ceiling fp32") as number) - one.scales.y(19.5e12);
    expect(away(scene, now)).toBeCloseTo(away(still, before), 6);
    for (const key of ["roof a100", "sub exposed 0.4"]) {
      expect((now.get(key) as number) - (before.get(key) as number), key).toBeGreaterThan(20);
    }
  });
});

describe("the path of a roof", () => {
  const { scales } = sceneOf([]);
  const roof = { peak: 312e12, bandwidth: 2e12 };
  const numbers = (path: string) => path.match(/[0-9.]+/g)?.map(Number) as number[];
  it("goes up its slope to the ridge and along the flat", () => {
    const [x0, y0, x1, y1, x2, y2] = numbers(roofPath(roof, scales)) as [
      number,
      number,
      number,
      number,
      number,
      number,
    ];
    expect([x0, y0]).toEqual([scales.plot.left, expect.closeTo(scales.y(scales.x.domain[0] * 2e12), 1)]);
    expect([x1, y1]).toEqual([expect.closeTo(scales.x(ridgePoint(roof)), 1), expect.closeTo(scales.y(312e12), 1)]);
    expect([x2, y2]).toEqual([expect.closeTo(scales.plot.right, 1), y1]);
  });
  it("is its slope alone for a ceiling of bandwidth, its flat alone for one of compute", () => {
    expect(numbers(slopePath(roof, scales))).toEqual(numbers(roofPath(roof, scales)).slice(0, 4));
    expect(numbers(roofPath(roof, scales, true))).toEqual(numbers(roofPath(roof, scales)).slice(2));
  });
});
