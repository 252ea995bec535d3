// The patterns of categories: what tells their points apart without colour.

import { describe, expect, it } from "vitest";
import { PATTERN_COUNT, patternOf, patternPath, patternWidth, shapeOf } from "../../src/chart/points/shapes.ts";
import { pointColours } from "../../src/chart/scene.ts";
import { LIGHT } from "../../src/chart/theme.ts";
import { SIDES } from "../../src/roofline/points.ts";
import { scene } from "../scenes.ts";

describe("the patterns of categories", () => {
  const radii = [3, 3.5, 5, 12];
  const codes = [...Array(PATTERN_COUNT).keys()];
  it("differ for each two categories, also for categories with the same colour", () => {
    expect(PATTERN_COUNT).toBe(2 * LIGHT.categories.length);
    for (const radius of radii) {
      const paths = codes.map((code) => patternPath([0, 0], radius, code));
      expect(new Set(paths).size).toBe(codes.length);
    }
  });
  it("are on no point, and all kernels are circles, unless the user asks for patterns", () => {
    const specs = codes.map((code) => ({ flops: 1e12, bytes: 1e10, time: 1, category: `category ${code}` }));
    expect(pointColours(scene(specs)).patterns).toEqual([]);
    expect(Object.values(SIDES).map((side) => shapeOf(side, true))).toEqual(Object.values(SIDES));
    expect([SIDES.memory, SIDES.compute, SIDES.outside].map((side) => shapeOf(side, false))).toEqual(
      Array(3).fill(SIDES.memory),
    );
  });
  it("are on the points of the first sixteen categories, one each", () => {
    const specs = codes.map((code) => ({ flops: 1e12, bytes: 1e10, time: 1, category: `category ${code}` }));
    const { colour, colours, patterns } = pointColours(scene(specs, { isPatterned: true }));
    expect(new Set([...colour].map((look) => patterns[look])).size).toBe(codes.length);
    const other = LIGHT.categories.at(-1);
    const hues = [...colour].map((look) => colours[look]);
    expect(hues).toEqual([...LIGHT.categories.slice(0, 7), ...Array(9).fill(other)]);
  });
  it("stay inside their points, and leave more of the colour than they cover", () => {
    for (const radius of radii) {
      for (const code of codes) {
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
