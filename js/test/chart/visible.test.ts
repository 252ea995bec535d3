// The point under the pointer: the grid gives the same answer as looking at every point.

import { describe, expect, it } from "vitest";
import { isShown, nearest, visiblePoints } from "../../src/chart/points/visible.ts";
import { project, type Spots, scalesOf } from "../../src/chart/scales.ts";
import { zoomed } from "../../src/chart/zoom.ts";
import { pointsOf } from "../../src/roofline/points.ts";
import type { Zoom } from "../../src/wire/types.ts";
import { makeChip, makeKernels, makeRoof, seeded, several } from "../helpers.ts";

/** Looks at every point; of equally near points the last. */
function nearestOfAll({ x, y }: Spots, px: number, py: number, reach: number): number {
  let [best, least] = [-1, reach * reach];
  x.forEach((left, index) => {
    const distance = (left - px) ** 2 + ((y[index] as number) - py) ** 2;
    if (distance <= least) [best, least] = [index, distance];
  });
  return best;
}

describe("the point nearest to the pointer", () => {
  const at = { x: Float32Array.of(10, 20, 20), y: Float32Array.of(10, 10, 40) };
  it("is the nearest within reach", () => {
    expect(nearest(at, 12, 11, 8)).toBe(0);
    expect(nearest(at, 17, 11, 8)).toBe(1);
    expect(nearest(at, 20, 33, 8)).toBe(2);
    expect(nearest(at, 28, 10, 8)).toBe(1);
  });
  it("is none where none is within reach", () => {
    expect(nearest(at, 20, 25, 8)).toBe(-1);
    expect(nearest({ x: new Float32Array(), y: new Float32Array() }, 0, 0, 8)).toBe(-1);
  });
  it("of two in one place is the one drawn on top", () => {
    expect(nearest({ x: Float32Array.of(5, 5), y: Float32Array.of(5, 5) }, 5, 5, 8)).toBe(1);
  });
  it("is the one that a look at every point finds, also where many are equally near", () => {
    const random = seeded(7);
    for (let round = 0; round < 60; round++) {
      const n = Math.floor(random() ** 3 * 400);
      // Sometimes whole pixels, so that distances are equal.
      const grain = round % 3 === 0 ? 8 : 0;
      const place = (size: number) => (grain ? Math.floor((random() * size) / grain) * grain : random() * size);
      const spread = round % 5 === 0 ? 20_000 : 900;
      const at = { x: new Float32Array(n).map(() => place(spread) - 40), y: new Float32Array(n).map(() => place(500)) };
      for (let look = 0; look < 60; look++) {
        const [x, y, reach] = [place(1000) - 50, place(600) - 50, [4, 8, 16, 40][look % 4] as number];
        expect(nearest(at, x, y, reach), `round ${round}`).toBe(nearestOfAll(at, x, y, reach));
      }
    }
  });
  it("is none that has no place", () => {
    expect(nearest({ x: Float32Array.of(Number.NaN, 5), y: Float32Array.of(5, Number.NaN) }, 5, 5, 8)).toBe(-1);
  });
});

describe("under a zoom", () => {
  const roof = makeRoof(makeChip());
  const points = pointsOf(
    makeKernels([
      { flops: 1e12, bytes: 1e11, time: 1 },
      { flops: 1e14, bytes: 1e11, time: 10 },
      { flops: 0, bytes: 1e11, time: 1 },
      { flops: 1e14, bytes: 1e12, time: 10 },
    ]),
    [roof],
    roof,
  );
  const whole = scalesOf({ width: 800, height: 448 }, [roof], points, roof);
  const under = (zoom: Zoom) => {
    const scales = zoomed(whole, zoom);
    return { points, at: project(points, scales), scales };
  };
  const shown = (zoom: Zoom) => several(4, (index) => isShown(under(zoom), index));
  it("a point is hit and counted only where it is in sight", () => {
    // Around 10 FLOP/B and 1 TFLOP/s.
    const scene = under([2, 50, ...whole.y.domain]);
    const { at, outside } = visiblePoints(scene);
    expect(outside).toBe(2);
    expect(nearest(at, scene.at.x[0] as number, scene.at.y[0] as number, 4)).toBe(0);
    expect(nearest(at, scene.at.x[3] as number, scene.at.y[3] as number, 4)).toBe(-1);
  });
  it("one without FLOPs leaves it only up or down, with the height at which a roof of its rate enters the plot", () => {
    const [low, high] = whole.y.domain;
    expect(shown([2, 50, low, high])).toEqual([true, false, true, false]);
    expect(shown([2, 50, 1e14, high])).toEqual([false, false, false, false]);
    expect(shown([5e3, 5e4, low, high * 1e6])).toEqual([false, false, true, false]);
  });
  it("what is in sight is not looked for again while a roof is dragged over points that stay", () => {
    const [kernels, rows] = [makeKernels([{ flops: 1e12, bytes: 1e11, time: 1 }]), Int32Array.of(0)];
    const scales = zoomed(whole, [2, 50, ...whole.y.domain]);
    const sightUnder = (peak: number) => {
      const dragged = { ...roof, peak };
      const own = pointsOf(kernels, [dragged], dragged, rows);
      return visiblePoints({ points: own, at: project(own, scales), scales });
    };
    expect(sightUnder(2e12)).toBe(sightUnder(3e12));
  });
  it("none is left out without one", () => {
    const all = { points, at: project(points, whole), scales: whole };
    expect(visiblePoints(all)).toEqual({ at: all.at, outside: 0 });
  });
});
