// Boxes in strips: held against the same others as one by one, wherever they lie.

import { describe, expect, it } from "vitest";
import { inStrips, isOff, overlap } from "../src/chart/strips.ts";
import { seeded } from "./helpers.ts";

const FAR = Number.POSITIVE_INFINITY;

describe("boxes in strips", () => {
  it("are off the same others as when each is held against each", () => {
    const next = seeded(5);
    const box = () => {
      const [left, top] = [900 * next(), 5000 * next() - 500];
      return { left, top, right: left + 200 * next(), bottom: top + 60 * next() };
    };
    for (let turn = 0; turn < 200; turn++) {
      const [some, others] = [Array.from({ length: 3 }, box), Array.from({ length: 60 }, box)];
      const expected = !some.some((one) => others.some((other) => overlap(one, other)));
      expect(isOff(some, inStrips(others))).toBe(expected);
    }
  });
  it("may lie at infinity, or nowhere", () => {
    const near = { left: 0, right: 9, top: 0, bottom: 9 };
    const places = [FAR, -FAR, Number.NaN].map((at) => ({ left: 0, right: 9, top: at, bottom: at }));
    expect(isOff([near, ...places], inStrips(places))).toBe(true);
    expect(isOff([near], inStrips([{ ...near, top: -FAR, bottom: FAR }]))).toBe(false);
  });
});
