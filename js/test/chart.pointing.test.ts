// Pointing at marks: each can be reached, also where several lie in one place.

import { describe, expect, it } from "vitest";
import { marksOf, step } from "../src/chart/pointing.ts";
import type { Scene } from "../src/chart/scene.ts";
import { pointsOf } from "../src/points.ts";
import { project, scalesOf } from "../src/scales.ts";
import { makeChip, makeKernels, makeRoof } from "./helpers.ts";

const ROOFS = [
  makeRoof(makeChip({ id: "one" })),
  makeRoof(makeChip({ id: "twin" })),
  makeRoof(makeChip({ id: "fast", peaks: { bf16: 4e14 }, memories: { HBM: 4e12 } })),
];
const points = pointsOf(makeKernels([{ flops: 1e12, bytes: 1e11 }]), ROOFS, ROOFS[0]);
const scales = scalesOf({ width: 760, height: 420 }, ROOFS, points, ROOFS[0]);
const scene = { points, at: project(points, scales) } as Scene;
const chipOf = (index: number) => ROOFS[points.roof[index] as number]?.chip.id;

describe("the marks of an unmeasured kernel", () => {
  it("are all walked from the lowest up, also those in one place", () => {
    const marks = marksOf(scene, 0);
    let index = points.home[0] as number;
    const up = [index, 0, 0].map((_, k) => (index = k === 0 ? index : step(marks, marks.indexOf(index), 1)));
    const down = [0, 0].map(() => (index = step(marks, marks.indexOf(index), -1)));
    expect(new Set([...up, ...down].map(chipOf))).toEqual(new Set(["one", "twin", "fast"]));
    expect(marks.map(chipOf).at(-1)).toBe("fast");
  });
  it("end where they end", () => {
    expect(step([4, 7, 9], 2, 1)).toBe(9);
    expect(step([4, 7, 9], 0, -1)).toBe(4);
    expect(step([4, 7, 9], -1, 1)).toBe(4);
    expect(step([4, 7, 9], -1, -1)).toBe(9);
    expect(step([], -1, 1)).toBe(-1);
  });
});
