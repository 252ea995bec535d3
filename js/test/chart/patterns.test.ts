// The patterns of categories: what tells their points apart without colour.

import { describe, expect, it } from "vitest";
import { patternOf, patternPath, patternWidth } from "../../src/chart/points/shapes.ts";
import { LIGHT } from "../../src/chart/theme.ts";

describe("the patterns of categories", () => {
  const radii = [3, 3.5, 5, 12];
  it("differ for each two categories with a colour", () => {
    for (const radius of radii) {
      const paths = LIGHT.categories.map((_, code) => patternPath([0, 0], radius, code));
      expect(new Set(paths).size).toBe(LIGHT.categories.length);
    }
  });
  it("stay inside their points, and leave more of the colour than they cover", () => {
    for (const radius of radii) {
      for (const code of LIGHT.categories.keys()) {
        const lines = patternOf(code, radius);
        for (const [x, y] of lines.flat()) expect(Math.hypot(x, y)).toBeLessThan(0.88 * radius);
        const length = lines.reduce((sum, [[x, y], [toX, toY]]) => sum + Math.hypot(toX - x, toY - y), 0);
        expect(length * patternWidth(radius)).toBeLessThan((Math.PI * radius ** 2) / 2);
      }
    }
  });
  it("are left out where a point has no room", () => {
    expect(patternPath([0, 0], 2.5, 5)).toBe("");
  });
});
