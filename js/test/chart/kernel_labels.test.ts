// Which kernels have labels: few, the kernels to fix first with badges, one label for all kernels above the roof, and
// one label for points at one place.

import { describe, expect, it } from "vitest";
import type { Choices, PlacedLabel } from "../../src/chart/labels/engine.ts";
import { stemOf } from "../../src/chart/labels/kernel_labels.ts";
import { rooflineLabels } from "../../src/chart/labels/roofline_labels.ts";
import type { Scene } from "../../src/chart/scene.ts";
import { type KernelSpec, makeChip, makeRoof, seeded, several } from "../helpers.ts";
import { expectClear, expectInside, labelsOf, SMALL, scene } from "../scenes.ts";

const kernelsOf = (labels: readonly PlacedLabel[]) => labels.filter(({ kind }) => kind === "kernel");
const textsOf = (one: Scene) => kernelsOf(labelsOf(one)).map(({ badge, text }) => [badge ?? "", text]);
const choicesOf = (labels: readonly PlacedLabel[]): Choices => new Map(labels.map(({ key, choice }) => [key, choice]));

/** A TPU of 918 TFLOP/s and 1.638 TB/s, with copies as a profile of its operations has them. */
const TPU = makeRoof(makeChip({ id: "tpu", peaks: { bf16: 9.18e14 }, memories: { HBM: 1.638e12 } }));
const copy = (name: string, time: number): KernelSpec => ({ name, flops: 0, bytes: 2.15e12, time });
const COPIES: readonly KernelSpec[] = [
  ...["copy-done.4", "copy-done.2", "copy-done", "copy-done.5"].map((name, at) => copy(name, 78 - at)),
  ...[1, 2, 3].map((at) => ({ name: `add_fusion.${at}`, flops: 5e11, bytes: 4e12, time: 3.2 - at / 1000 })),
  { name: "all-reduce", flops: 1e9, bytes: 2.2e12, time: 1.4 },
  ...[1, 2, 3, 4, 5].map((at) => copy(`copy-start.${at}`, 2e-6)),
  ...[6, 7, 8].map((at) => copy(`copy-done.${at}`, 1e-6)),
];
const tpu = (width: number, more: Partial<Scene> = {}) => scene(COPIES, { roofs: [TPU], ...more }, width);

/** Kernels of a program: a few long ones, and very many short ones. */
function program(count: number, seed: number): KernelSpec[] {
  const next = seeded(seed);
  return several(count, (row): KernelSpec => {
    const bytes = 1e9 * 30 ** next();
    const flops = bytes * 1000 ** next();
    const bound = Math.max(flops / 1e14, bytes / 1e12);
    return { name: `layer${row}/${["gelu", "rope", "mlp_up"][row % 3]}`, flops, bytes, time: bound * 20 ** next() };
  });
}
const one18 = (width: number, more: Partial<Scene> = {}) => scene(program(18, 3), { roofs: [SMALL], ...more }, width);
const one256 = (width: number, more: Partial<Scene> = {}) => scene(program(256, 4), { roofs: [SMALL], ...more }, width);

/** Ten kernels at two places. */
const coincident = (width: number) =>
  scene(
    several(10, (row) => ({
      name: `mul.${row}`,
      flops: 1e12,
      bytes: row < 7 ? 1e11 : 4e11,
      time: 1,
    })),
    { roofs: [SMALL] },
    width,
  );

describe("the labels of unmeasured kernels", () => {
  const chips = [
    ["v7x (fp8)", 4.614e15, 7.2e12],
    ["v7x (bf16)", 2.307e15, 7.2e12],
    ["v6e", 9.18e14, 1.6e12],
    ["v5p", 4.59e14, 2.76e12],
  ] as const;
  const roofs = chips.map(([name, bf16, HBM]) =>
    makeRoof(makeChip({ id: name, name, peaks: { bf16 }, memories: { HBM } })),
  );
  const specs = [1.666, 107.8, 200, 3142].map((ai, at) => ({ name: `kernel ${at}`, flops: 1e12 * ai, bytes: 1e12 }));
  it("find a place at a point on another roof, if the names of roofs are around the point on the focus roof", () => {
    for (const width of [1248, 992]) {
      const labels = kernelsOf(rooflineLabels(scene(specs, { roofs }, width, 580), []));
      expect(labels.map(({ text }) => text).sort(), `${width} px`).toEqual(specs.map(({ name }) => name));
    }
  });
});

describe("the labels of kernels", () => {
  it("are at most seven, in a plot below 560 px four and below 300 px two, and the badges of the others to fix first", () => {
    for (const make of [one18, one256, tpu, coincident]) {
      for (const [width, max] of [
        [1000, 7],
        [480, 4],
        [290, 2],
      ] as const) {
        const labels = kernelsOf(labelsOf(make(width)));
        expect(labels.filter(({ text }) => text !== "").length, `${width} px`).toBeLessThanOrEqual(max);
        for (const { text, badge } of labels) if (text === "") expect(badge).toMatch(/^[1-5]/);
      }
    }
    expect(kernelsOf(labelsOf(one18(1000))).length).toBeGreaterThan(4);
  });
  it("show all badges 1 to 5 at every width", () => {
    for (const make of [one18, one256]) {
      for (const width of [1000, 760, 480, 360]) {
        const badges = kernelsOf(labelsOf(make(width))).flatMap(({ badge }) => badge?.match(/\d/g) ?? []);
        const joined = kernelsOf(labelsOf(make(width))).some(({ badge }) => badge?.includes("–"));
        if (!joined) expect(badges.sort(), `${width} px`).toEqual(["1", "2", "3", "4", "5"]);
      }
    }
  });
  it("never overlap another label and never leave the chart", () => {
    let count = 0;
    for (const make of [one18, one256, tpu, coincident]) {
      for (const width of [1000, 760, 480, 360]) {
        for (const marked of [[], [9]]) {
          const chart = make === coincident ? make(width) : make(width, { marked });
          const labels = labelsOf(chart);
          expectClear(labels);
          expectInside(labels, { left: 0, right: chart.scales.width, top: -1e4, bottom: 1e4 });
          count += labels.length;
        }
      }
    }
    expect(count).toBeGreaterThan(200);
  });
  it("name no kernel below 1 % of the time of all kernels without a badge, and idle time is not the time of a kernel", () => {
    const specs: KernelSpec[] = [
      ...Array.from({ length: 6 }, (_, row) => ({
        name: `k${row}`,
        flops: 1e12 * 4 ** row,
        bytes: 1e11,
        time: 50 - row,
      })),
      { name: "three", flops: 1e10, bytes: 3e9, time: 3 },
      { name: "two", flops: 1e9, bytes: 3e9, time: 2 },
      { name: "idle", category: "idle", time: 9000 },
    ];
    const names = textsOf(scene(specs, { roofs: [SMALL], ranked: [0, 1, 2, 3, 4] }, 1000)).map(([, text]) => text);
    // 1 % of 290 s of kernels is 2.9 s.
    expect(names).toContain("three");
    expect(names).not.toContain("two");
  });
  it("of kernels above the roof are one, in red, and of points at one place one", () => {
    expect(textsOf(tpu(1000))).toEqual([
      ["1–4", "copy-done ×4"],
      ["5", "add_fusion ×3"],
      ["", "copy-start ×5, copy-done ×3: above the roof"],
    ]);
    const red = labelsOf(tpu(1000)).find(({ key }) => key === "above");
    expect(red?.colour).toBe("!");
    expect(textsOf(coincident(1000))).toEqual([
      ["1–5", "mul ×7"],
      ["", "mul ×3"],
    ]);
  });
  it("of different kernels at one place name the most important and count the others", () => {
    const specs = ["gemm", "relu", "add"].map((name, row) => ({ name, flops: 1e12, bytes: 1e11, time: 1 + row / 100 }));
    expect(textsOf(scene(specs, { roofs: [SMALL] }))).toEqual([["1–3", "add +2"]]);
  });
  it("of selected kernels are those of the three that took longest", () => {
    const selected = [9, 10, 11, 12, 13, 14];
    const one = one256(1000, { marked: selected, selected: new Set(selected), ranked: [], named: [] });
    const rows = kernelsOf(labelsOf(one)).map(({ key }) => Number(key.slice(7)));
    const longest = [...selected].sort((a, b) => (one.kernels.time[b] as number) - (one.kernels.time[a] as number));
    expect(rows.length).toBeGreaterThan(1);
    for (const row of rows) expect([selected[0], ...longest.slice(0, 3)]).toContain(row);
  });
});

describe("a hovered kernel", () => {
  it("has its name, and no other label moves; what the name covers is faded", () => {
    let covered = 0;
    for (const make of [one18, one256]) {
      const labels = labelsOf(make(760));
      for (let row = 0; row < 18; row++) {
        const hovered = labelsOf(make(760, { marked: [row] }), choicesOf(labels));
        const places = new Map(hovered.map((label) => [label.key, label]));
        for (const { key, x, y } of kernelsOf(labels))
          expect(places.get(key), `${row}: ${key}`).toMatchObject({ x, y });
        expect(
          kernelsOf(hovered).some(({ bold, text }) => bold && text !== ""),
          `row ${row}`,
        ).toBe(true);
        covered += hovered.filter(({ isCovered }) => isCovered).length;
      }
    }
    expect(covered).toBeGreaterThan(0);
  });
});

describe("during a drag", () => {
  it("no label of a kernel moves, appears or disappears while its dot stays", () => {
    const rest = labelsOf(one18(760));
    for (const factor of [0.5, 0.8, 1.3, 3]) {
      const roof = makeRoof(makeChip({ id: "small", peaks: { bf16: 1e14 * factor } }));
      const { scales, ranked, named, above } = one18(760);
      const then = one18(760, { roofs: [roof], scales, ranked, named, above });
      const moved = kernelsOf(labelsOf(then, choicesOf(rest)));
      expect(moved.map(({ key, text, x, y }) => [key, text, x, y]).sort()).toEqual(
        kernelsOf(rest)
          .map(({ key, text, x, y }) => [key, text, x, y])
          .sort(),
      );
    }
  });
});

describe("the stem of a name", () => {
  it("is the name without its last numbers and shapes", () => {
    const names = ["copy-done.4", "copy-done", "addmm 512×2048", "embedding (2)", "sgemm #17", "layer5/rope", "42"];
    expect(names.map(stemOf)).toEqual(["copy-done", "copy-done", "addmm", "embedding", "sgemm", "layer5/rope", "42"]);
  });
});
