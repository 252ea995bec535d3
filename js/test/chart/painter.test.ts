// Painting step by step gives the same pixels as painting everything at once.

import { describe, expect, it } from "vitest";
import type { PointsPicture } from "../../src/chart/points/frame_diff.ts";
import { createPainter } from "../../src/chart/points/painter.ts";
import { seeded, several } from "../helpers.ts";
import { type Raster, rasterDocument } from "../raster.ts";

const [WIDTH, HEIGHT] = [300, 200];

/** The state of a picture; a changed column is a new array. */
interface State {
  readonly x: Float32Array;
  readonly y: Float32Array;
  readonly side: Uint8Array;
  readonly aboveRoof: Uint8Array;
  readonly radius: Float32Array;
  readonly colour: Uint16Array;
  readonly hollow: Uint8Array;
  readonly faded: Uint8Array;
  readonly outline: string;
}

type Column = Exclude<keyof State, "outline">;

function starting(n: number, random: () => number): State {
  const all = (most: number) => several(n, () => most * random());
  const places = (most: number) => Float32Array.from(all(most + 8), (value) => value - 4);
  const flags = () => Uint8Array.from(all(1), (value) => Number(value < 0.1));
  return {
    ...{ x: places(WIDTH), y: places(HEIGHT), side: Uint8Array.from(all(2)) },
    ...{ aboveRoof: flags(), hollow: flags(), faded: flags(), outline: "white" },
    ...{
      radius: Float32Array.from(all(1), (value) => 3.5 + Math.floor(2 * value)),
      colour: Uint16Array.from(all(3)),
    },
  };
}

/** Changes some points of a column, and returns which. */
function changed(state: State, name: Column, count: number, random: () => number): [State, number[]] {
  const column = state[name].slice() as Float32Array;
  const some = several(count, () => Math.floor(random() * column.length));
  const other: Record<Column, (now: number) => number> = {
    ...{ x: () => random() * WIDTH, y: () => random() * HEIGHT, side: (now) => (now + 1) % 4 },
    ...{ radius: (now) => 8 - now, colour: (now) => (now + 1) % 3 },
    ...{ aboveRoof: (now) => 1 - now, hollow: (now) => 1 - now, faded: (now) => 1 - now },
  };
  for (const at of some) column[at] = other[name](column[at] as number);
  return [{ ...state, [name]: column }, some];
}

function picture({ x, y, side, aboveRoof, radius, ...state }: State, inMotion: boolean, since?: object) {
  const [n, at] = [x.length, { x, y }];
  return {
    ...{ ...state, at, inMotion, alert: "red", colours: ["blue", "green", "grey"], patterns: [0, 1, 2] },
    ...{ points: { n, side, aboveRoof, radius, since }, scales: { width: WIDTH, height: HEIGHT } },
  } as unknown as PointsPicture;
}

/** The number of pixels that differ from a fresh painting of the same points. */
function differing({ pixels, ownerDocument }: Raster, state: State): number {
  const other = painted(state, (ownerDocument as Document).defaultView?.devicePixelRatio).raster.pixels;
  expect(pixels.length).toBe(other.length);
  let found = 0;
  for (let at = 0; at < pixels.length; at++) if (pixels[at] !== other[at]) found += 1;
  return found;
}

const COLUMNS: readonly Column[] = ["side", "aboveRoof", "x", "y", "radius", "colour", "hollow", "faded"];

/** A canvas with these points, and its painter. */
function painted(state: State, ratio = 1) {
  const canvas = rasterDocument(ratio).createElement("canvas");
  const paint = createPainter();
  const again = (now: State, inMotion = false, since?: object) => paint(canvas, picture(now, inMotion, since));
  again(state);
  return { raster: canvas as unknown as Raster, again };
}

/** Only some of the points. */
function only(state: State, some: readonly number[]): State {
  const parts = COLUMNS.map((name) => {
    const column = state[name];
    return [name, (column.constructor as Float32ArrayConstructor).from(some, (at) => column[at] as number)];
  });
  return { ...state, ...Object.fromEntries(parts) };
}

describe.each([
  ["of a few points", 100, [1, 3, 40, 90], [1, 1.5, 2]],
  ["of a crowd", 2001, [40], [1]],
])("%s", (_, n, counts, ratios) => {
  it.each(ratios)("what has changed is painted as all are at once, at %d device pixels a px", (ratio) => {
    const random = seeded(11);
    let state = starting(n, random);
    const { raster, again } = painted(state, ratio);
    for (const name of COLUMNS) {
      for (const count of counts) {
        [state] = changed(state, name, count, random);
        again(state);
        expect(differing(raster, state), `${count} of ${name}`).toBe(0);
      }
    }
    state = { ...state, outline: "black" };
    again(state);
    expect(differing(raster, state), "another outline").toBe(0);
  });
  it("those that a roof may concern are enough, where it alone has changed since the last picture", () => {
    const random = seeded(5);
    let state = starting(n, random);
    const { raster, again } = painted(state);
    let earlier = state.side;
    for (let step = 0; step < 12; step++) {
      const { side } = state;
      const [turned, some] = changed(state, "side", 1 + 3 * step, random);
      const [raised, more] = changed(turned, "aboveRoof", step, random);
      // Changes since the last picture, since an older one, or since the last with other colours.
      const isLate = step % 3 === 1;
      const points = [Int32Array.from(some), Int32Array.from([...more, 0, 7])];
      [state] = step % 3 === 2 ? changed(raised, "colour", 5, random) : [raised];
      again(state, false, isLate ? { side: earlier, points: [] } : { side, points });
      earlier = side;
      expect(differing(raster, state), `step ${step}`).toBe(0);
    }
  });
});

describe("a crowd in motion", () => {
  const random = seeded(3);
  const state = starting(2001, random);
  it("looks in every frame as if it were painted at once, with few changes and with many", () => {
    const { raster, again } = painted(state);
    let now = state;
    for (let step = 0; step < 24; step++) {
      const { side } = now;
      const [turned, some] = changed(now, "side", 1 + (step % 4) * 40, random);
      const [raised, more] = changed(turned, "aboveRoof", step % 5, random);
      now = raised;
      again(now, true, { side, points: [Int32Array.from(some), Int32Array.from(more)] });
      expect(differing(raster, now), `step ${step}`).toBe(0);
    }
  });
  it("is repainted only near the point that changed", () => {
    const { raster, again } = painted(state, 2);
    const middle = state.x.findIndex((x, at) => Math.abs(x - 150) < 20 && Math.abs((state.y[at] as number) - 100) < 20);
    const side = state.side.slice();
    side[middle] = 2;
    raster.pixels.fill(7);
    again({ ...state, side }, true);
    const touched = [...raster.pixels.keys()].filter((at) => raster.pixels[at] !== 7);
    expect(touched.length).toBeGreaterThan(0);
    expect(touched.length).toBeLessThan(128 * 128);
  });
  it("is painted anew where points leave their places, or lose the sign above them", () => {
    for (const name of ["x", "y", "aboveRoof"] as const) {
      const { raster, again } = painted(state);
      const [next] = changed(state, name, 60, random);
      again(next, true);
      expect(differing(raster, next), name).toBe(0);
    }
  });
});

describe("a point", () => {
  const state = starting(200, seeded(17));
  it("looks the same in a crowd as among a few, at the edges too", () => {
    const far = starting(2001, seeded(1));
    const crowd = Object.fromEntries(COLUMNS.map((name) => [name, far[name].slice()])) as unknown as State;
    crowd.x.fill(-1000);
    for (const name of COLUMNS) crowd[name].set(state[name]);
    expect(painted({ ...crowd, outline: "white" }).raster.pixels).toEqual(painted(state).raster.pixels);
  });
  it("that is faint lies under the others, whatever their order, in a crowd too", () => {
    const at = 50 * WIDTH + 50;
    const both = only({ ...state, x: state.x.map(() => 50), y: state.y.map(() => 50) }, [0, 1]);
    for (const faint of [0, 1]) {
      const faded = Uint8Array.from([0, 1], (index) => Number(index === faint));
      const two = { ...both, faded, hollow: Uint8Array.of(0, 0), colour: Uint16Array.of(1, 2) };
      const upper = painted(only(two, [1 - faint])).raster.pixels[at];
      expect(upper).not.toBe(painted(only(two, [faint])).raster.pixels[at]);
      expect(painted(two).raster.pixels[at]).toBe(upper);
      expect(painted(only(two, [...Array(2000).fill(faint), 1 - faint])).raster.pixels[at]).toBe(upper);
      expect(painted(only(two, [1 - faint, ...Array(2000).fill(faint)])).raster.pixels[at]).toBe(upper);
    }
  });
  it("above its roof has a ring, 3 px beyond its rim", () => {
    const alone = only(state, [0]);
    const one = { ...alone, x: Float32Array.of(50), y: Float32Array.of(50), radius: Float32Array.of(5) };
    const top = (aboveRoof: number) => {
      const { pixels } = painted({ ...one, hollow: Uint8Array.of(0), aboveRoof: Uint8Array.of(aboveRoof) }).raster;
      return Math.floor(pixels.findIndex((colour) => colour !== 0) / WIDTH);
    };
    // A line of 1.5 px reaches 0.75 px farther.
    expect(top(1)).toBe(Math.floor(50 - 5 - 3 - 0.75));
    expect(top(0)).toBeGreaterThan(top(1) + 2);
  });
});
