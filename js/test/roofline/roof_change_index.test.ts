// The points that a moved roof can change: all that it changes, and few others.

import { describe, expect, it } from "vitest";
import type { Places } from "../../src/roofline/positions.ts";
import { pointsAffected, type RoofLimits } from "../../src/roofline/roof_change_index.ts";
import { several } from "../helpers.ts";

/** Points whose intensity and rate are 2^at, from 2^-100 to 2^99. */
const N = 200;
const powers = Float64Array.from({ length: N }, (_, at) => 2 ** (at - 100));
const places = (x: Float64Array, y: Float64Array) => ({ n: N, x, y }) as unknown as Places;
const ONES = new Float64Array(N).fill(1);
const limits = (peak: number | readonly number[], bandwidth: number): RoofLimits => ({
  peaks: Float64Array.from([peak].flat()),
  bandwidth,
});
/** The exponents of the points that are found, without repetitions. */
const found = (of: Places, before: RoofLimits, now: RoofLimits) =>
  pointsAffected(of, before, now)?.map((part) => [...part].map((at) => at - 100));

describe("the points that a moved roof can change", () => {
  const byAi = places(powers, ONES);
  const byRate = places(ONES, powers);
  it("by their intensity are between the two ridge points", () => {
    expect(found(byAi, limits(2 ** 8, 1), limits(2 ** 11, 1))?.[0]).toEqual([8, 9, 10, 11]);
    expect(found(byAi, limits(2 ** 11, 1), limits(2 ** 8, 1))?.[0]).toEqual([8, 9, 10, 11]);
    expect(found(byAi, limits(2 ** 8.5, 1), limits(2 ** 9.5, 1))?.[0]).toEqual([9]);
    expect(found(byAi, limits(2 ** 8, 2 ** 3), limits(2 ** 8, 2 ** 1))?.[0]).toEqual([5, 6, 7]);
  });
  it("by their rate are between the two peaks", () => {
    expect(found(byRate, limits(2 ** 8, 1), limits(2 ** 11, 1))?.[1]).toEqual([8, 9, 10, 11]);
    expect(found(byRate, limits(2 ** 8, 1), limits(2 ** 11, 2 ** 3))?.[0]).toEqual([8, 9, 10, 11]);
  });
  it("by bytes/s are between the two bandwidths, also those without FLOPs", () => {
    const slanted = places(ONES, powers);
    expect(found(slanted, limits(1, 2 ** 3), limits(1, 2 ** 5))?.at(-1)).toEqual([3, 4, 5]);
    expect(found(places(new Float64Array(N), powers), limits(1, 2 ** 3), limits(1, 2 ** 5))?.at(-1)).toEqual([3, 4, 5]);
    const halves = places(new Float64Array(N).fill(2), powers);
    expect(found(halves, limits(1, 2 ** 3), limits(1, 2 ** 5))?.at(-1)).toEqual([4, 5, 6]);
  });
  it("are found anew where only the rates are others", () => {
    const x = new Float64Array(N).fill(1);
    const found = (y: Float64Array) =>
      pointsAffected(places(x, y), limits(1, 2 ** 3), limits(1, 2 ** 5))
        ?.at(-1)
        ?.map((at) => at - 100);
    expect([...(found(powers) ?? [])]).toEqual([3, 4, 5]);
    expect([...(found(powers.map((rate) => rate / 4)) ?? [])]).toEqual([5, 6, 7]);
  });
  it("are also those beyond the ends of the index", () => {
    const upwards = (from: number, count: number) => several(count, (at) => from + at);
    const ends = places(powers.slice(), ONES);
    expect(found(ends, limits(2 ** -90, 1), limits(2 ** -80, 1))?.[0]).toEqual(upwards(-100, 37));
    expect(found(ends, limits(2 ** 80, 1), limits(2 ** 90, 1))?.[0]).toEqual(upwards(64, 36));
  });
  it("are those of the bins between two limits, and of one more bin on each side", () => {
    // 64 bins an octave: each point is in the middle of a bin of its own.
    const binned = places(
      powers.map((_, at) => 2 ** ((at + 0.5) / 64)),
      ONES,
    );
    const [from, to] = [limits(2 ** (8.5 / 64), 1), limits(2 ** (10.5 / 64), 1)];
    expect([...(pointsAffected(binned, from, to)?.[0] ?? [])]).toEqual([7, 8, 9, 10, 11]);
  });
  it("are none if nothing moved, and unknown if a limit is, or if they are more than a quarter", () => {
    expect(found(byAi, limits(8, 1), limits(8, 1))).toEqual([]);
    expect(found(byAi, limits(8, 1), limits(Number.NaN, 1))).toBeUndefined();
    expect(found(byAi, limits(Number.NaN, 1), limits(8, 1))).toBeUndefined();
    expect(found(byAi, limits(0, 1), limits(8, 1))).toBeUndefined();
    expect(found(byAi, limits(8, 1), limits(0, 1))).toBeUndefined();
    const high = places(new Float64Array(N).fill(2 ** 60), new Float64Array(N).fill(2 ** 60));
    expect(found(high, limits(1, 1), limits(8, 1))).toEqual([[], []]);
    expect(found(high, limits(0, 1), limits(8, 1))).toBeUndefined();
    expect(found(high, limits(8, 1), limits(0, 1))).toBeUndefined();
    expect(found(byAi, limits([Number.NaN, 2 ** 8], 1), limits([Number.NaN, 2 ** 8.1], 1))?.[0]).toEqual([8]);
    const slow = places(powers, new Float64Array(N).fill(2 ** -60));
    expect(found(slow, limits(1, 1), limits(2 ** 49, 1))?.[0]?.length).toBe(50);
    expect(found(slow, limits(1, 1), limits(2 ** 50, 1))).toBeUndefined();
  });
});
