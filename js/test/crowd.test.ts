// Very many points: which of them are hidden by others, and so need not be drawn.

import { expect, it } from "vitest";
import { coveredIn } from "../src/chart/crowd.ts";
import type { Points } from "../src/points.ts";

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
  return [...coveredIn(picture as Parameters<typeof coveredIn>[0], 10, 10)];
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
it("an outline hides nothing, a faint point only faint ones, and the sign above a roof stays", () => {
  expect(covered([{ x: 3 }, { x: 3, hollow: true }])).toEqual([0, 0]);
  expect(covered([{ x: 3 }, { x: 3, faded: true }])).toEqual([0, 0]);
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
