// Colours of chips: each shown chip has its own, all are legible, and a vendor keeps its hue.

import { describe, expect, it } from "vitest";
import { chipColours, DARK, LIGHT } from "../../src/chart/theme.ts";
import { makeChip } from "../helpers.ts";

const make = (vendor: string, count: number) =>
  Array.from({ length: count }, (_, k) => makeChip({ id: `${vendor} ${k}`, vendor, generation: Math.floor(k / 2) }));
const MANY = [...make("NVIDIA", 20), ...make("AMD", 8), ...make("Google", 10)];

type Three = [number, number, number];

const linear = (hex: string) =>
  [1, 3, 5].map((at) => {
    const channel = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
  }) as Three;
function luminance(hex: string): number {
  const [r, g, b] = linear(hex);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
/** Distance of two colours in Oklab, with the matrices of Björn Ottosson, "A perceptual color space for image processing" (2020). */
function distance(one: string, other: string): number {
  const times = (rows: readonly Three[], [x, y, z]: Three) => rows.map(([a, b, c]) => a * x + b * y + c * z) as Three;
  const lab = (hex: string) => {
    const cones = times(
      [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
      ],
      linear(hex),
    );
    return times(
      [
        [0.2104542553, 0.793617785, -0.0040720468],
        [1.9779984951, -2.428592205, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.808675766],
      ],
      cones.map(Math.cbrt) as Three,
    );
  };
  const [a, b] = [lab(one), lab(other)];
  return Math.hypot(...a.map((value, at) => value - (b[at] as number)));
}
function contrast(a: string, b: string): number {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y) as [number, number];
  return (high + 0.05) / (low + 0.05);
}

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
