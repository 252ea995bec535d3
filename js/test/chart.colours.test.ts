// Colours of chips: each shown chip has its own, all can be read, and a vendor keeps its hue.

import { describe, expect, it } from "vitest";
import { chipColours, DARK, LIGHT } from "../src/theme.ts";
import { makeChip } from "./helpers.ts";

const make = (vendor: string, count: number) =>
  Array.from({ length: count }, (_, k) => makeChip({ id: `${vendor} ${k}`, vendor, generation: Math.floor(k / 2) }));
const MANY = [...make("NVIDIA", 20), ...make("AMD", 8), ...make("Google", 10)];

function luminance(hex: string): number {
  const [r, g, b] = [1, 3, 5].map((at) => {
    const channel = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
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
  it("are steps of a hue where several vendors are shown, the newest generation the purest", () => {
    const colours = chipColours(MANY, LIGHT, ["NVIDIA 0", "NVIDIA 19", "AMD 7"]);
    expect(colours.get("NVIDIA 19")).toBe(LIGHT.chips[0]);
    expect(colours.get("AMD 7")).toBe(LIGHT.chips[1]);
    expect(luminance(colours.get("NVIDIA 0") as string)).toBeLessThan(luminance(LIGHT.chips[0] as string));
  });
  it("are a hue each where one vendor is shown, whatever else could be", () => {
    const colours = chipColours(MANY, LIGHT, ["Google 2", "Google 5"]);
    expect([colours.get("Google 2"), colours.get("Google 5")]).toEqual(LIGHT.chips.slice(0, 2));
  });
  it("are a hue each where a vendor has more chips than steps can tell apart", () => {
    const colours = chipColours(MANY, LIGHT, ["NVIDIA 0", "NVIDIA 4", "NVIDIA 8", "NVIDIA 12", "AMD 1"]);
    const shown = ["NVIDIA 0", "NVIDIA 4", "NVIDIA 8", "NVIDIA 12", "AMD 1"].map((id) => colours.get(id));
    expect(shown).toEqual(LIGHT.chips.slice(0, 5));
  });
  it("of few chips stay whatever is shown", () => {
    const few = [...make("NVIDIA", 4), ...make("AMD", 2)];
    expect(chipColours(few, LIGHT, ["AMD 0"])).toEqual(chipColours(few, LIGHT));
  });
});
