// Very many points: which are hidden and need no drawing, and how colours blend.

import { expect, it } from "vitest";
import { blend, visibleFrontToBack } from "../../src/chart/points/dense_raster.ts";
import type { Points } from "../../src/roofline/points.ts";
import { seeded } from "../helpers.ts";

interface Spot {
  x: number;
  y?: number;
  radius?: number;
  hollow?: boolean;
  faded?: boolean;
  aboveRoof?: boolean;
}

function covered(spots: readonly Spot[], ratio = 1): number[] {
  const flags = (of: (spot: Spot) => boolean | undefined) => Uint8Array.from(spots, (spot) => (of(spot) ? 1 : 0));
  const picture = {
    points: { n: spots.length, aboveRoof: flags(({ aboveRoof }) => aboveRoof) } as Points,
    at: {
      x: Float32Array.from(spots, ({ x }) => x),
      y: Float32Array.from(spots, ({ y = 0 }) => y),
    },
    hollow: flags(({ hollow }) => hollow),
    faded: flags(({ faded }) => faded),
    radius: Float32Array.from(spots, ({ radius = 2 }) => radius),
    ratio,
  };
  const largest = new Float32Array(100).fill(7);
  const seen = [...visibleFrontToBack(picture as Parameters<typeof visibleFrontToBack>[0], 10, 10, largest)];
  return spots.map((_, index) => (seen.includes(index) ? 0 : 1));
}

it("a later point on the same pixel hides one no larger", () => {
  expect(covered([{ x: 3 }, { x: 3.2 }, { x: 4 }])).toEqual([1, 0, 0]);
  expect(covered([{ x: 3, radius: 4 }, { x: 3 }])).toEqual([0, 0]);
  expect(covered([{ x: 3 }, { x: 3, y: 1 }])).toEqual([0, 0]);
});
it("pixels are those of the device", () => {
  expect(covered([{ x: 3 }, { x: 3.4 }], 2)).toEqual([0, 0]);
});
it("a larger one still hides once a small one lies on it", () => {
  expect(covered([{ x: 3, radius: 3 }, { x: 3, radius: 5 }, { x: 3 }])).toEqual([1, 0, 0]);
});
it("an outline hides nothing, a faint point faint ones only, as it lies under all others, and the sign above a roof stays", () => {
  expect(covered([{ x: 3 }, { x: 3, hollow: true }])).toEqual([0, 0]);
  expect(covered([{ x: 3 }, { x: 3, faded: true }])).toEqual([0, 1]);
  expect(covered([{ x: 3 }, { x: 3, faded: true, radius: 3 }])).toEqual([0, 0]);
  expect(
    covered([
      { x: 3, faded: true },
      { x: 3, faded: true },
    ]),
  ).toEqual([1, 0]);
  expect(covered([{ x: 3, aboveRoof: true }, { x: 3 }])).toEqual([0, 0]);
});
it("points out of sight are nobody's", () => {
  expect(covered([{ x: -3 }, { x: -3 }, { x: 12 }, { x: 12 }])).toEqual([0, 0, 0, 0]);
});

/** A pixel of red, green, blue and opacity, each 0 to 255. */
type Colour = readonly [number, number, number, number];
const word = ([red, green, blue, opacity]: Colour) => ((opacity << 24) | (blue << 16) | (green << 8) | red) >>> 0;
const parts = (colour: number) => [0, 8, 16, 24].map((shift) => (colour >>> shift) & 255);

it("a colour over another shows of it what its own opacity leaves, by Porter and Duff to one part of 255", () => {
  // Two thirds of (240, 0, 90) and a third of (0, 240, 30).
  const over: Colour = [240, 0, 90, 170];
  expect(parts(blend(word(over), word([0, 240, 30, 255])))).toEqual([160, 80, 70, 255]);
  const random = seeded(29);
  const byte = () => Math.floor(256 * random());
  for (let turn = 0; turn < 2000; turn++) {
    const colour = (): Colour => [byte(), byte(), byte(), Math.max(1, byte())];
    const [one, other] = [colour(), colour()];
    const [mine, theirs] = [one[3] / 255, (1 - one[3] / 255) * (other[3] / 255)];
    const exact = [
      ...([0, 1, 2] as const).map((part) => (one[part] * mine + other[part] * theirs) / (mine + theirs)),
      255 * (mine + theirs),
    ];
    for (const [part, found] of parts(blend(word(one), word(other))).entries()) {
      expect(Math.abs(found - (exact[part] as number)), `${one} over ${other}`).toBeLessThanOrEqual(1);
    }
  }
});
