// Walking from point to point by keys: every point can be reached, even if several share a position.

import { describe, expect, it } from "vitest";
import { chosenRows, cycleLevels, marksOf, step } from "../../src/chart/gestures/pointing.ts";
import { project, scalesOf } from "../../src/chart/scales.ts";
import type { Scene } from "../../src/chart/scene.ts";
import { pointsOf } from "../../src/roofline/points.ts";
import { makeChip, makeKernels, makeRoof, wireChip } from "../helpers.ts";
import { onOneChip, storeOf } from "../scenes.ts";

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
    const walked = [step(marks, -1, 1)];
    for (const _ of [1, 2]) walked.push(step(marks, marks.indexOf(walked.at(-1) as number), 1));
    expect(walked).toEqual(marks);
    expect(new Set(walked.map(chipOf))).toEqual(new Set(["one", "twin", "fast"]));
    expect(marks.map(chipOf).at(-1)).toBe("fast");
  });
  it("at the levels of memory go from left to right", () => {
    const roof = makeRoof(makeChip({ memories: { HBM: 1e12, L2: 4e12 } }), "auto", "all");
    const levels = pointsOf(makeKernels([{ flops: 1e12, bytes: { HBM: 1e11, L2: 8e11 } }]), [roof], roof);
    const frame = scalesOf({ width: 760, height: 420 }, [roof], levels, roof);
    const marks = marksOf({ points: levels, at: project(levels, frame) } as Scene, 0);
    expect(marks.map((index) => levels.x[index])).toEqual([1.25, 10]);
  });
  it("end where they end", () => {
    expect(step([4, 7, 9], 2, 1)).toBe(9);
    expect(step([4, 7, 9], 0, -1)).toBe(4);
    expect(step([4, 7, 9], -1, 1)).toBe(4);
    expect(step([4, 7, 9], -1, -1)).toBe(9);
    expect(step([], -1, 1)).toBe(-1);
  });
});

describe("the selection after a choice of a row", () => {
  it("is the row alone, or nothing if it was alone", () => {
    expect(chosenRows([], 2, false)).toEqual([2]);
    expect(chosenRows([2, 5], 2, false)).toEqual([2]);
    expect(chosenRows([2], 2, false)).toEqual([]);
  });
  it("has the row added, or removed if it was there", () => {
    expect(chosenRows([5], 2, true)).toEqual([5, 2]);
    expect(chosenRows([5, 2], 2, true)).toEqual([5]);
  });
});

describe("the key of the levels", () => {
  const kernels = [{ flops: 1e12, bytes: { HBM: 1e11, L2: 8e11 }, time: 1 }];
  it("shows all levels, joins those of every kernel, and goes back to the main memory", () => {
    const store = storeOf(onOneChip(kernels));
    const seen = Array.from({ length: 4 }, () => {
      cycleLevels(store);
      return [store.rates.memory.value, store.view.allJoins.value];
    });
    expect(seen).toEqual([
      ["all", false],
      ["all", true],
      ["main", false],
      ["all", false],
    ]);
  });
  it("leaves the joins and still goes back where a lesson locks the view", () => {
    const store = storeOf(onOneChip(kernels, { locks: ["view"] }));
    const seen = Array.from({ length: 3 }, () => {
      cycleLevels(store);
      return [store.rates.memory.value, store.view.allJoins.value];
    });
    expect(seen).toEqual([
      ["all", false],
      ["main", false],
      ["all", false],
    ]);
  });
  it("does nothing where no chip has several levels, and where a lesson locks the memory", () => {
    const one = storeOf(onOneChip(kernels, { chips: [wireChip()] }));
    const locked = storeOf(onOneChip(kernels, { locks: ["memory"] }));
    for (const store of [one, locked]) {
      cycleLevels(store);
      expect(store.rates.memory.value).toBe("main");
    }
  });
});
