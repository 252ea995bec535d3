// Roofs at another clock on the chart: the label names the clock, and a data sheet above the roof is drawn whole.

import { describe, expect, it } from "vitest";
import { roofLabels } from "../../src/chart/labels/roof_labels.ts";
import { roofPath } from "../../src/chart/paths.ts";
import { pictureOf } from "../../src/chart/picture.tsx";
import { chartHeight } from "../../src/chart/scales.ts";
import { LIGHT } from "../../src/chart/theme.ts";
import { subRoofsOf } from "../../src/roofline/ceilings.ts";
import { makeChip, makeRoof, wireChip } from "../helpers.ts";
import { onOneChip, scene, storeOf } from "../scenes.ts";

const CHIP = makeChip({ name: "H100", clock: 1.98e9, peaks: { bf16: 990e12, fp8: 1980e12 }, memories: { HBM: 3e12 } });

describe("the label of a roof", () => {
  const textOf = (peaks: Record<string, number>, chip = CHIP) => {
    const roof = makeRoof(chip, "auto", "main", { chip: { peak_flops: peaks } });
    return roofLabels(scene([], { roofs: [roof] })).find(({ key }) => key === "roof chip")?.text;
  };
  it("names the clock of a what-if", () => {
    expect(textOf({ bf16: 495e12, fp8: 990e12 })).toBe("H100 495 TFLOP/s at 990 MHz");
  });
  it("names none at the clock of the data sheet, and none where one rate alone has changed", () => {
    expect(textOf({})).toBe("H100 990 TFLOP/s");
    expect(textOf({ bf16: 495e12 })).toBe("H100 495 TFLOP/s");
    expect(textOf({ bf16: 495e12 }, makeChip({ name: "H100", clock: 1.98e9, peaks: { bf16: 990e12 } }))).toBe(
      "H100 495 TFLOP/s",
    );
  });
});

describe("a ceiling of compute", () => {
  const ceiling = (name: string, rate: number) =>
    ({ key: name, name, rate, memory: null, precision: null, measured: false }) as const;
  const chip = { ceilings: [ceiling("data sheet", 3e14), ceiling("vector", 1e13)] };
  const svg = pictureOf(storeOf(onOneChip([], { chips: [wireChip(chip)] })), 760, () => chartHeight(760), LIGHT).svg;
  const pathOf = (key: string) => new RegExp(`data-roof="ceiling ${key}"[^>]* d="([^"]*)"`).exec(svg)?.[1] ?? "";
  it("above the roof has a slope and a flat, below the roof a flat alone", () => {
    expect(pathOf("data sheet").match(/[ML]/g)).toEqual(["M", "L", "L"]);
    expect(pathOf("vector").match(/[ML]/g)).toEqual(["M", "L"]);
    expect(roofPath({ peak: 1, bandwidth: 1 }, scene([]).scales).match(/[ML]/g)).toEqual(["M", "L", "L"]);
  });
});

describe("the label of a ceiling", () => {
  const focus = makeRoof(makeChip({ peaks: { fp32: 11.37e12 }, memories: { DRAM: 637e9 } }));
  const ceiling = (name: string, rate: number) =>
    ({ key: name, name, rate, unit: "FLOP/s", memory: null, measured: false, on: true }) as const;
  const textsOf = (...rates: number[]) => {
    const possible = rates.map((rate, at) => ceiling(at ? "data sheet" : "boost clock", rate));
    const one = scene([], { roofs: [focus], subRoofs: subRoofsOf(focus, possible, [], String) });
    return roofLabels(one).flatMap(({ key, text, shorter }) => (key.startsWith("sub ") ? [[text, shorter]] : []));
  };
  it("is shared by flats that are near each other, the highest first", () => {
    expect(textsOf(14.5e12, 15e12)).toEqual([
      ["data sheet 15 TFLOP/s, boost clock 14.5 TFLOP/s", ["data sheet, boost clock"]],
    ]);
    expect(textsOf(14.5e12, 40e12).map(([text]) => text)).toEqual([
      "data sheet 40 TFLOP/s",
      "boost clock 14.5 TFLOP/s",
    ]);
  });
});
