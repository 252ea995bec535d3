// The notes under the chart.

import { describe, expect, it } from "vitest";
import { captionOf } from "../../src/chart/caption.ts";
import type { KernelSpec } from "../helpers.ts";
import { onOneChip, storeOf } from "../scenes.ts";

const noteOf = (specs: readonly KernelSpec[], state: Record<string, unknown> = {}) =>
  captionOf(storeOf(onOneChip(specs, { frame: "chip", ...state })), undefined).note;
const FAR = { name: "far", flops: 1e16, bytes: 1, time: 1000 };
const LOW = { name: "low", flops: 1e6, bytes: 1e6, time: 1 };
const NEAR = [
  { name: "near", flops: 1e12, bytes: 1e11, time: 1 },
  { name: "copy", flops: 0, bytes: 1, time: 1 },
  { name: "in registers", flops: 1e12, bytes: 0, time: 1 },
];

describe("the note about kernels outside the frame of the chips", () => {
  it("names them", () => {
    expect(noteOf([...NEAR, FAR])).toBe("1 kernel is outside the axes: far. Let the axes fit the kernels to see it.");
    expect(noteOf([FAR, LOW, ...NEAR])).toMatch(/^2 kernels are outside the axes: (far, low|low, far)\. /);
  });
  it("follows the note about kernels that are not drawn", () => {
    expect(noteOf([FAR, { name: "opaque", time: 1 }])).toMatch(
      /^1 kernel is not drawn: opaque\. .* 1 kernel is outside/,
    );
  });
  it("is absent if all are inside, with axes that fit, with a zoom and in the time view", () => {
    expect(noteOf(NEAR)).toBe("");
    expect(noteOf([FAR], { frame: "points" })).toBe("");
    expect(noteOf([FAR], { zoom: [1, 10, 1e10, 1e11] })).toBe("");
    expect(noteOf([FAR], { view: "time" })).toBe("");
  });
});
