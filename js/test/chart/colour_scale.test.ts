// The scale of colours for numbers, its legend, and the points that it colours.

import { describe, expect, it } from "vitest";
import { legendOf } from "../../src/chart/caption.ts";
import { scaleWidth } from "../../src/chart/layers/colour_scale.tsx";
import { pictureOf } from "../../src/chart/picture.tsx";
import { pointColours } from "../../src/chart/scene.ts";
import { DARK, forcedTheme, LIGHT, type Theme } from "../../src/chart/theme.ts";
import { colouringOf, type NumberColouring, SCALE_STEPS } from "../../src/roofline/colouring.ts";
import type { Roof } from "../../src/roofline/roofline.ts";
import { createStore } from "../../src/state/store.ts";
import { colourRow, sentenceOf, tooltipRows } from "../../src/text/describe.ts";
import { contrast, distance, lab, linear } from "../colours.ts";
import { makeChip, makeKernels, makeRoof, wireChip, wireKernels } from "../helpers.ts";
import { onOneChip, scene, storeOf } from "../scenes.ts";

describe("the scale of colours", () => {
  const themes: [string, Theme][] = [
    ["light", LIGHT],
    ["dark", DARK],
  ];
  it.each(themes)("has equal steps to the eye, %s", (_, { scale }) => {
    expect(scale).toHaveLength(SCALE_STEPS);
    const steps = scale.slice(1).map((colour, at) => distance(scale[at] as string, colour));
    expect(Math.max(...steps) / Math.min(...steps)).toBeLessThan(1.35);
  });
  it.each([...themes, ["forced", forcedTheme("#000000", "#ffff00")] as [string, Theme]])(
    "can be read in grey, because it only becomes brighter or only darker, %s",
    (_, { scale }) => {
      const greys = scale.map((colour) => lab(linear(colour))[0]);
      const sorted = [...greys].sort((a, b) => a - b);
      expect([sorted, [...sorted].reverse()]).toContainEqual(greys);
      expect(Math.abs((greys[0] as number) - (greys.at(-1) as number))).toBeGreaterThan(0.2);
    },
  );
  it.each(themes)("has a contrast of at least 3 on the background, %s", (_, { scale, background }) => {
    for (const colour of scale) expect(contrast(colour, background)).toBeGreaterThanOrEqual(3);
  });
});

const SPEC = { flops: 1e12, bytes: 1e10, time: 1 };

describe("points by a column of numbers", () => {
  const extra = { "start (s)": [0.001, Number.NaN, 10] };
  const kernels = makeKernels(Array(3).fill(SPEC), { extra });
  const colouring = colouringOf(kernels, "start (s)") as NumberColouring;
  it("have the colour of their step, no pattern, and are grey outlines where it is unknown", () => {
    const { colour, colours, hollow, patterns } = pointColours({ ...scene(Array(3).fill(SPEC)), kernels, colouring });
    expect([...colour].map((code) => colours[code])).toEqual([LIGHT.scale[0], LIGHT.muted, LIGHT.scale.at(-1)]);
    expect([...hollow].map(Boolean)).toEqual([false, true, false]);
    expect(patterns).toEqual([]);
  });
  it("have a legend with the lowest, middle and highest value with their unit, and the unknown ones", () => {
    const store = createStore(
      onOneChip(Array(3).fill(SPEC), {
        kernels: wireKernels(Array(3).fill(SPEC), 0, { extra }),
        colour_by: "start (s)",
      }),
      new AbortController().signal,
    );
    const legend = legendOf(store, LIGHT);
    expect(legend).toMatchObject({
      title: "start",
      entries: [{ name: "not given (1)", colour: LIGHT.muted, code: -1 }],
    });
    expect(legend?.ticks).toEqual(["1 ms", "100 ms", "10 s"]);
    expect(scaleWidth(legend?.ticks ?? [])).toBeGreaterThanOrEqual(160);
    const { svg } = pictureOf(store, 700, () => 400, LIGHT);
    for (const text of ["start", "1 ms", "100 ms", "10 s", "not given (1)"]) expect(svg).toContain(`>${text}</text>`);
    for (const colour of LIGHT.scale) expect(svg).toContain(`fill="${colour}"`);
  });
  describe.each([
    ["int8", null, "OP"],
    ["bf16", null, "FLOP"],
    ["bf16", "int8", "OP"],
    ["int8", "bf16", "FLOP"],
  ])("shown under %s, with the precision %s of their own", (asked, precision, unit) => {
    const specs = [1e9, 3e9].map((flops) => ({ ...SPEC, flops, ...(precision && { precision }) }));
    const chips = [wireChip({ peaks: { bf16: 1e14, int8: 2e14 } })];
    const changes = { chips, kernels: wireKernels(specs), colour_by: "flops", precision: asked };
    const store = storeOf(onOneChip(specs, changes));
    it(`have ${unit} in their legend, their picture and their texts`, () => {
      const ticks = [`1 G${unit}`, `2 G${unit}`, `3 G${unit}`];
      expect(legendOf(store, LIGHT)?.ticks).toEqual(ticks);
      const { svg } = pictureOf(store, 700, () => 400, LIGHT);
      for (const text of ticks) expect(svg).toContain(`>${text}</text>`);
      const {
        rows: { drawn },
        rates: { focusRoof, askedPrecision },
      } = store;
      const told = [expect.any(String), ticks[2]];
      expect(tooltipRows(drawn.value, 1, focusRoof.value as Roof, "roofline", [], {}, "flops")).toContainEqual(told);
      expect(colourRow(drawn.value, 1, "flops", askedPrecision.value)).toEqual(told);
    });
  });
  it("say their value in the tooltip", () => {
    const roof = makeRoof(makeChip());
    const rows = (row: number, by: string) =>
      Object.fromEntries(tooltipRows(kernels, row, roof, "roofline", [], {}, by));
    expect(rows(0, "start (s)")["start"]).toBe("1 ms");
    expect(rows(1, "start (s)")["start"]).toBe("not given");
    expect(rows(0, "category")).not.toHaveProperty("start");
  });
});

describe("series", () => {
  const specs = [
    { ...SPEC, name: "gemm", category: "v1", time: 3 },
    { ...SPEC, name: "gemm", category: "v2" },
  ];
  const wire = { ...wireKernels(specs), series: true, same: new DataView(Int32Array.of(0, 0).buffer) };
  it("have a legend of their own, and their name in sentence and tooltip", () => {
    const store = storeOf(onOneChip(specs, { kernels: wire }));
    expect(legendOf(store, LIGHT)).toMatchObject({ title: "Series", entries: [{ name: "v1" }, { name: "v2" }] });
    const roof = makeRoof(makeChip());
    expect(sentenceOf(store.rows.kernels.value, 1, roof)).toMatch(/^gemm \(v2\) on chip/);
    expect(tooltipRows(store.rows.kernels.value, 1, roof)[0]).toEqual(["Series", "v2"]);
  });
});
