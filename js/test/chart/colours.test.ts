// Colours of chips: each shown chip has its own, all are legible, and a vendor keeps its hue. Sizes and radii of the style.

// @ts-expect-error the project has no types of Node
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { categoryColour, chipColours, DARK, huesOf, LIGHT } from "../../src/chart/theme.ts";
import type { TextColouring } from "../../src/roofline/colouring.ts";
import tokens from "../../src/tokens.json";
import { contrast, distance, distanceIn, linear, luminance, type Three, times } from "../colours.ts";
import { makeChip, several } from "../helpers.ts";

const make = (vendor: string, count: number) =>
  several(count, (k) => makeChip({ id: `${vendor} ${k}`, vendor, generation: Math.floor(k / 2) }));
const MANY = [...make("NVIDIA", 20), ...make("AMD", 8), ...make("Google", 10)];

/**
 * The colours that people see: with all cones, without middle cones, and without long cones. From Machado, Oliveira and
 * Fernandes, "A physiologically-based model for simulation of color vision deficiency" (2009), severity 1.
 */
const SIGHTS: Readonly<Record<string, readonly Three[]>> = {
  normal: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
};
const seen = (sight: readonly Three[], hex: string) =>
  times(sight, linear(hex)).map((channel) => Math.max(0, Math.min(1, channel))) as Three;

describe("the colours of chips", () => {
  for (const theme of [LIGHT, DARK]) {
    it(`can be read as text, and no two shown chips have the same, ${theme.dark ? "dark" : "light"}`, () => {
      for (const shown of [MANY.slice(0, 7), MANY.slice(0, 5).concat(MANY.slice(20, 24)), MANY.slice(17, 33)]) {
        const ids = shown.map(({ id }) => id);
        const colours = chipColours(MANY, theme, ids);
        expect(new Set(ids.map((id) => colours.get(id))).size).toBe(ids.length);
        for (const colour of colours.values()) {
          expect(contrast(colour, theme.background)).toBeGreaterThanOrEqual(4.5);
        }
      }
    });
  }
  it("are steps of a vendor's hue where more chips are shown than there are hues, the newest the purest", () => {
    const ids = [0, 3, 6, 9, 12, 15, 19].map((k) => `NVIDIA ${k}`);
    const colours = chipColours(MANY, LIGHT, [...ids, "AMD 7"]);
    expect(colours.get("NVIDIA 19")).toBe(LIGHT.chips[0]);
    expect(colours.get("AMD 7")).toBe(LIGHT.chips[1]);
    expect(luminance(colours.get("NVIDIA 0") as string)).toBeLessThan(luminance(LIGHT.chips[0] as string));
  });
  it.each([
    ["of one vendor", ["Google 2", "Google 5"]],
    ["of two, of which one has two", ["NVIDIA 4", "NVIDIA 8", "AMD 1"]],
    ["six in all", ["NVIDIA 0", "NVIDIA 4", "NVIDIA 8", "NVIDIA 12", "AMD 1", "Google 0"]],
  ])("are a hue each while there are enough: %s", (_, ids) => {
    const colours = chipColours(MANY, LIGHT, ids);
    expect(ids.map((id) => colours.get(id))).toEqual(LIGHT.chips.slice(0, ids.length));
  });
  it.each([LIGHT, DARK])("of at most six chips are far apart, not only different", ({ chips }) => {
    const six = chips.slice(0, 6);
    const pairs = six.flatMap((one, at) => six.slice(at + 1).map((other) => [one, other] as const));
    // A just noticeable difference is about 0.02.
    expect(Math.min(...pairs.map(([one, other]) => distance(one, other)))).toBeGreaterThan(0.115);
  });
  it("of few chips stay whatever is shown", () => {
    const few = [...make("NVIDIA", 4), ...make("AMD", 2)];
    expect(chipColours(few, LIGHT, ["AMD 0"])).toEqual(chipColours(few, LIGHT));
  });
});

const textColouring = (...values: (string | null)[]): TextColouring => ({
  ...{ kind: "text", key: "category", unknown: 0, isSeries: false },
  column: { values, codes: new Int32Array(values.length) },
});

describe("the design tokens", () => {
  // As they are in the tables of the design: on the background, and on the wash under the roof.
  const TEXTS = ["ink", "muted", "other", "alert"] as const;
  for (const [name, roles, categories] of [
    ["light", tokens.light, tokens.lightCategories],
    ["dark", tokens.dark, tokens.darkCategories],
  ] as const) {
    it.each(TEXTS)(`%s can be read as text on the background and on the wash, ${name}`, (role) => {
      expect(contrast(roles[role], roles.bg)).toBeGreaterThanOrEqual(4.5);
      expect(contrast(roles[role], roles.wash)).toBeGreaterThanOrEqual(4.5);
      expect(contrast(roles[role], roles.panel)).toBeGreaterThanOrEqual(4.5);
    });
    it(`links can be read, and buttons in ink, ${name}`, () => {
      expect(contrast(roles.accent, roles.bg)).toBeGreaterThanOrEqual(4.5);
      expect(contrast(roles.bg, roles.ink)).toBeGreaterThanOrEqual(4.5);
    });
    it.each(["line", ...categories])(`the mark %s is seen on the background and on the wash, ${name}`, (mark) => {
      const colour = mark === "line" ? roles.line : mark;
      expect(contrast(colour, roles.bg)).toBeGreaterThanOrEqual(3);
      expect(contrast(colour, roles.wash)).toBeGreaterThanOrEqual(3);
    });
    it.each(Object.entries(SIGHTS))(`categories differ for sight %s, ${name}`, (_, sight) => {
      const all = categories.map((hex) => seen(sight, hex));
      const pairs = all.flatMap((one, at) => all.slice(at + 1).map((other) => distanceIn(one, other)));
      expect(Math.min(...pairs)).toBeGreaterThanOrEqual(name === "light" ? 0.0835 : 0.0715);
    });
  }
  it("have no text below 11 px", () => {
    expect(Math.min(...Object.values(tokens.sizes))).toBe(11);
  });
});

describe("the colours of categories", () => {
  it("are the same in every file", () => {
    for (const others of [[], ["a", "b"], ["copy", "attention"]]) {
      expect(categoryColour(LIGHT, textColouring(...others, "matrix product"), others.length)).toBe("#3f84dc");
      expect(categoryColour(DARK, textColouring(...others, "collective"), others.length)).toBe("#3c9a20");
    }
  });
  it("of one family are one", () => {
    const [copy, collective] = [5, 4];
    expect(huesOf(textColouring("copy-done", "copy-start", "all-reduce"))).toEqual([copy, copy, collective]);
  });
  it("that are unknown are the free ones in alphabetical order, then one for all further ones", () => {
    const some = textColouring("zeta", "attention", "beta", null, "idle", "other");
    expect(huesOf(some)).toEqual([2, 1, 0, 7, 7, 7]);
    expect(huesOf(textColouring(..."abcdefghi"))).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 7]);
  });
});

describe("the sizes and the radii of the design", () => {
  const style = readFileSync(new URL("../../src/widget.css", import.meta.url), "utf-8");
  it("stand in the style by their names alone", () => {
    for (const [kind, property, values] of [
      ["size", "font-size", tokens.sizes],
      ["radius", "border-radius", tokens.radii],
    ] as const) {
      for (const [name, px] of Object.entries(values)) {
        // The ticks of the axes are drawn by the code.
        if (name !== "ticks") expect(style).toContain(`${property}: var(--rw-${kind}-${name})`);
        expect(style).not.toContain(`${property}: ${px}px;`);
      }
    }
  });
});
