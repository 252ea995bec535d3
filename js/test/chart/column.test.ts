// Roofs close together: every roof has its name, no name covers another, and in a drag only the dragged roof's name moves.

import { describe, expect, it } from "vitest";
import { gutterOf } from "../../src/chart/labels/column.ts";
import { boxesOf, type PlacedLabel } from "../../src/chart/labels/engine.ts";
import { rooflineLabels } from "../../src/chart/labels/roofline_labels.ts";
import { type Box, chartHeight, project, scalesOf } from "../../src/chart/scales.ts";
import type { Scene } from "../../src/chart/scene.ts";
import { chipColours, LIGHT } from "../../src/chart/theme.ts";
import { colouringOf } from "../../src/roofline/colouring.ts";
import { pointsOf } from "../../src/roofline/points.ts";
import type { Roof } from "../../src/roofline/roofline.ts";
import { briefNames, shortNames } from "../../src/text/names.ts";
import type { Chip, WhatIf } from "../../src/wire/types.ts";
import { makeChip, makeKernels, makeRoof, seeded, UNITS } from "../helpers.ts";

const chip = (id: string, vendor: string, name: string, generation: number, peak: number, bandwidth: number) =>
  makeChip({ id, vendor, name, generation, peaks: { bf16: peak }, memories: { HBM: bandwidth } });
const SIX = [
  chip("h100", "NVIDIA", "NVIDIA H100 SXM5 80GB", 70, 989.5e12, 3.35e12),
  chip("a100", "NVIDIA", "NVIDIA A100 SXM4 80GB", 55, 312e12, 2.039e12),
  chip("h200", "NVIDIA", "NVIDIA H200 SXM 141GB", 73, 989.5e12, 4.8e12),
  chip("b200", "NVIDIA", "NVIDIA B200 (HGX/DGX, 180GB)", 81, 2250e12, 7.7e12),
  chip("mi300x", "AMD", "AMD Instinct MI300X", 31, 1307.4e12, 5.3e12),
  chip("mi325x", "AMD", "AMD Instinct MI325X", 32, 1307.4e12, 6e12),
];
const OCTAVE = SIX.map((each, index) =>
  chip(each.id, each.vendor, each.name, each.generation, 1e15 * 2 ** (index / 5), 3e12 * 2 ** (index / 5)),
);

/** The scene of a widget `width` px wide, with its panel beside the chart if there is room. */
function sceneAt(width: number, chips: readonly Chip[], whatIf: WhatIf = {}): Scene {
  const roofs = chips.map((each) => makeRoof(each, "auto", "main", whatIf));
  const focus = roofs[0] as Roof;
  const kernels = makeKernels([]);
  const points = pointsOf(kernels, roofs, focus);
  const names = shortNames(chips);
  const chart = width >= 640 ? width - 272 : width;
  const size = { width: chart, height: chartHeight(chart) };
  const scales = scalesOf(size, roofs, points, focus, (y) =>
    gutterOf({ roofs, focus, subRoofs: [], names, units: UNITS }, chart, y),
  );
  return {
    ...{
      kernels,
      points,
      scales,
      roofs,
      focus,
      names,
      marked: [],
      selected: new Set<number>(),
      named: [],
      ranked: [],
      above: [],
      levels: [],
      subRoofs: [],
      theme: LIGHT,
      units: UNITS,
      colouring: colouringOf(kernels, "category"),
    },
    at: project(points, scales),
    colours: chipColours(chips, LIGHT),
  } as Scene;
}

const boxes = boxesOf;
const overlap = (a: Box, b: Box) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
const namesOf = (labels: readonly PlacedLabel[]) => labels.filter(({ key }) => key.startsWith("roof "));
const named = (labels: readonly PlacedLabel[]) => namesOf(labels).map(({ key }) => key.slice(5));
const places = (labels: readonly PlacedLabel[]) => new Map(namesOf(labels).map(({ key, x, y }) => [key, [x, y]]));

function expectClear(labels: readonly PlacedLabel[], { scales }: Scene) {
  for (const [index, label] of labels.entries()) {
    for (const other of labels.slice(index + 1)) {
      const clash = boxes(label).some((box) => boxes(other).some((its) => overlap(box, its)));
      expect(clash, `${label.text} lies across ${other.text}`).toBe(false);
    }
    for (const { left, right, top, bottom } of boxes(label)) {
      expect(left, label.text).toBeGreaterThanOrEqual(0);
      expect(right, label.text).toBeLessThanOrEqual(scales.width);
      expect(top, label.text).toBeGreaterThanOrEqual(0);
      expect(bottom, label.text).toBeLessThanOrEqual(scales.height);
    }
  }
}

describe("six chips within an octave", () => {
  for (const [title, chips] of [
    ["as they are sold", SIX],
    ["evenly spaced", OCTAVE],
  ] as const) {
    it(`have a name each at 1200 px and at 480 px, ${title}, and no label lies across another`, () => {
      for (const width of [1200, 480]) {
        const scene = sceneAt(width, chips);
        const labels = rooflineLabels(scene, []);
        expect(named(labels).sort()).toEqual(chips.map(({ id }) => id).sort());
        expectClear(labels, scene);
      }
    });
  }
  it("have their names right of every line, the focus roof's in bold", () => {
    const scene = sceneAt(1200, SIX);
    for (const label of namesOf(rooflineLabels(scene, []))) {
      expect(label.x).toBeGreaterThan(scene.scales.plot.right);
      expect(label.bold).toBe(label.key === "roof h100");
    }
  });
  it("have their names in the order of their flats, near them", () => {
    const scene = sceneAt(1200, OCTAVE);
    const rows = places(rooflineLabels(scene, []));
    const heights = OCTAVE.map(({ id }) => rows.get(`roof ${id}`)?.[1] as number);
    expect(heights).toEqual([...heights].sort((a, b) => b - a));
    const away = scene.roofs.map((roof, index) => Math.abs(scene.scales.y(roof.peak) - (heights[index] as number)));
    expect(Math.max(...away)).toBeLessThan(45);
  });
  it("share a row where their flats are one line, if it is wide enough", () => {
    const texts = new Map(rooflineLabels(sceneAt(1200, SIX), []).map(({ key, y, text }) => [key, [y, text]]));
    expect(texts.get("roof h200")).toEqual([texts.get("roof h100")?.[0], "H200,"]);
    expect(texts.get("roof h100")?.[1]).toBe("H100");
    const narrow = places(rooflineLabels(sceneAt(320, SIX), []));
    expect(narrow.get("roof h200")?.[1]).not.toBe(narrow.get("roof h100")?.[1]);
  });
});

describe("the column of names", () => {
  it("is only there where flats lie close together", () => {
    const apart = [chip("a", "", "a", 0, 1e15, 3e12), chip("b", "", "b", 0, 1e14, 1e12)];
    expect(sceneAt(1200, apart).scales.gutter).toBe(0);
    expect(sceneAt(1200, SIX).scales.gutter).toBeGreaterThan(0);
    expect(sceneAt(1200, SIX.slice(0, 1)).scales.gutter).toBe(0);
    expect(sceneAt(1200, []).scales.gutter).toBe(0);
  });
  it("has room for a model's name however narrow the chart", () => {
    const cards = ["NVIDIA GeForce RTX 2080 Ti (Founders)", "NVIDIA GeForce RTX 3090"].map((name, at) =>
      makeChip({ id: `card${at}`, name, vendor: "NVIDIA", peaks: { fp16: 1e14 * (1 + at / 100) } }),
    );
    const texts = rooflineLabels(sceneAt(340, cards), []).map(({ text }) => text);
    expect(texts).toEqual(expect.arrayContaining(["RTX 2080 Ti", "RTX 3090"]));
  });
  it("leaves the plot most of the width", () => {
    for (const width of [320, 480, 1200]) {
      const { gutter, width: chart } = sceneAt(width, SIX).scales;
      expect(gutter).toBeLessThan(chart * 0.25);
    }
  });
  it("does not move when a roof is dragged onto another or away from it", () => {
    for (const factor of [0.3, 0.7, 1.2, 1.9]) {
      const { plot } = sceneAt(1200, SIX, { h100: { peak_flops: { bf16: 989.5e12 * factor } } }).scales;
      expect(plot).toEqual(sceneAt(1200, SIX).scales.plot);
    }
  });
  it("holds as many names as it has room for, the focus roof's first", () => {
    const random = seeded(5);
    const many = Array.from({ length: 60 }, (_, k) =>
      chip(`c${k}`, "", `chip ${k}`, 0, 1e15 * (1 + random()), 3e12 * (1 + random())),
    );
    const scene = sceneAt(480, many);
    const labels = namesOf(rooflineLabels(scene, []));
    expect(labels.map(({ key }) => key)).toContain("roof c0");
    expect(labels.length).toBeGreaterThan(8);
    expect(labels.length).toBeLessThan(60);
    expectClear(rooflineLabels(scene, []), scene);
  });
  it("never has two names across each other, whatever roofs there are", () => {
    const random = seeded(3);
    for (let round = 0; round < 100; round++) {
      const some = Array.from({ length: 2 + Math.floor(9 * random()) }, (_, k) =>
        chip(`c${k}`, "", `${"Wm".repeat(Math.floor(8 * random()))} ${k}`, 0, 10 ** (13 + 3 * random()), 3e12),
      );
      for (const width of [1200, 480])
        expectClear(namesOf(rooflineLabels(sceneAt(width, some), [])), sceneAt(width, some));
    }
  });
});

describe("while a roof is dragged", () => {
  const choices = new Map(rooflineLabels(sceneAt(1200, SIX), []).map(({ key, choice }) => [key, choice]));
  const dragged = (factor: number) => sceneAt(1200, SIX, { h100: { peak_flops: { bf16: 989.5e12 * factor } } });
  it("the other names stand still and its own goes along", () => {
    const before = places(rooflineLabels(sceneAt(1200, SIX), []));
    for (const factor of [0.25, 0.5, 0.9, 1.1, 1.3, 1.6, 2.2]) {
      const scene = dragged(factor);
      const labels = rooflineLabels(scene, [], { before: choices });
      const now = places(labels);
      for (const { id } of SIX.slice(1)) expect(now.get(`roof ${id}`), id).toEqual(before.get(`roof ${id}`));
      const flat = scene.scales.y((scene.focus as Roof).peak);
      expect(Math.abs((now.get("roof h100")?.[1] as number) - 4 - flat), `× ${factor}`).toBeLessThan(35);
      expectClear(namesOf(labels), scene);
    }
  });
  it("no number comes that had no room before", () => {
    const numbers = (labels: readonly PlacedLabel[]) =>
      labels.map(({ key }) => key).filter((key) => key.startsWith("ridge "));
    expect(numbers(rooflineLabels(sceneAt(1200, SIX), [])).length).toBeLessThan(SIX.length);
    for (const factor of [0.3, 0.8, 1.5]) {
      for (const key of numbers(rooflineLabels(dragged(factor), [], { before: choices })))
        expect(choices.has(key), key).toBe(true);
    }
  });
  it("nothing moves before it does", () => {
    expect(places(rooflineLabels(sceneAt(1200, SIX), [], { before: choices }))).toEqual(
      places(rooflineLabels(sceneAt(1200, SIX), [])),
    );
  });
});

describe("a name in the column", () => {
  const brief = (...names: string[]) => briefNames(names);
  it("has as many words as tell it from the others", () => {
    expect(brief("H100 SXM5 80GB", "H200 SXM 141GB", "B200")).toEqual(["H100", "H200", "B200"]);
    expect(brief("A100 SXM4 80GB", "A100 SXM4 40GB")).toEqual(["A100 SXM4 80GB", "A100 SXM4 40GB"]);
    expect(brief("v7x (fp8)", "v7x (bf16)", "v6e")).toEqual(["v7x (fp8)", "v7x (bf16)", "v6e"]);
  });
  it("leaves out leading words that tell nothing, but not before a bare number", () => {
    expect(brief("Instinct MI300X", "TPU v5p", "EPYC 9654")).toEqual(["MI300X", "v5p", "EPYC 9654"]);
    expect(brief("mine", "yours")).toEqual(["mine", "yours"]);
  });
  it("is not cut where a model's own name goes on", () => {
    expect(
      brief("GeForce RTX 2080 Ti (Founders)", "H200 SXM 141GB", "M1 Max (32-core GPU)", "M1 (8-core GPU)"),
    ).toEqual(["RTX 2080 Ti", "H200", "M1 Max", "M1 (8-core GPU)"]);
  });
  it("stays whole where two are called the same", () => {
    expect(brief("mine 1", "mine 1")).toEqual(["mine 1", "mine 1"]);
  });
});
