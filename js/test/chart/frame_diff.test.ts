// Which part of the canvas is repainted when some points have changed.

import { expect, it } from "vitest";
import type { PointsPicture } from "../../src/chart/points/frame_diff.ts";
import { type PaintedFrame, spriteKeysOf } from "../../src/chart/points/frame_diff.ts";
import { createPainter } from "../../src/chart/points/painter.ts";
import type { Points } from "../../src/roofline/points.ts";

const N = 100;
const places = { x: Float32Array.from({ length: N }, (_, at) => 7.3 * at), y: new Float32Array(N).fill(33.7) };
const columns = {
  ...{ n: N, radius: new Float32Array(N).fill(Number.NaN), roof: new Int16Array(N).fill(-1) },
  aboveRoof: new Uint8Array(N),
};
const drawn = {
  ...{
    at: places,
    colours: ["red"],
    patterns: [],
    colour: new Uint16Array(N),
    hollow: new Uint8Array(N),
    faded: new Uint8Array(N),
  },
  ...{ outline: "white", alert: "red", scales: { width: 800, height: 400 } },
};
/** A picture in which some points are on the other side. */
const picture = (flipped: readonly number[], more: Partial<Points> = {}) => {
  const side = new Uint8Array(N);
  for (const at of flipped) side[at] = 1;
  return { ...drawn, points: { ...columns, side, ...more } } as unknown as PointsPicture;
};

/** A fake canvas with `ratio` device pixels per px that records the cleared rectangles. */
function makeCanvas(ratio: number) {
  const cleared: number[][] = [];
  const context = new Proxy({} as Record<string, unknown>, {
    get: (_, name) => (name === "rect" ? (...box: number[]) => cleared.push(box) : () => undefined),
    set: () => true,
  });
  const make = () => ({ width: 0, height: 0, getContext: () => context, ownerDocument: document });
  const document = { defaultView: { devicePixelRatio: ratio }, createElement: make };
  return { canvas: make() as unknown as HTMLCanvasElement, cleared };
}

it("is cleared by whole device pixels: one that is cleared in part would keep a trace of what was there", () => {
  for (const ratio of [1, 1.5, 2]) {
    const { canvas, cleared } = makeCanvas(ratio);
    const paint = createPainter();
    paint(canvas, picture([]));
    cleared.length = 0;
    paint(canvas, picture([3, 50]));
    const boxes = cleared.filter(([, , width]) => (width as number) > 15);
    expect(boxes).toHaveLength(4);
    const [left = 0, top = 0, width = 0] = (boxes[0] as number[]).map((part) => part * ratio);
    // The centre is 21.9 px from the left and 33.7 px from the top.
    // The corners of a star of 5 px are at 6.5 px, plus half a px of outline.
    expect(left).toBeLessThan((21.9 - 7) * ratio);
    expect(left + width).toBeGreaterThan((21.9 + 7) * ratio);
    for (const part of boxes.flat()) expect(part * ratio).toBeCloseTo(Math.round(part * ratio), 6);
    expect(top).toBeLessThan((33.7 - 7) * ratio);
  }
});

it("are the points that a roof has changed, whether all are looked through or those alone that it can concern", () => {
  const radius = new Float32Array(N).fill(5);
  const first = picture([1, 2]);
  const frame = (of: PointsPicture): PaintedFrame => ({
    ...{ key: "", n: N, ...places, radius },
    ...spriteKeysOf(of, radius, undefined),
  });
  const since = { side: first.points.side, points: [Int32Array.of(40, 2, 9), Int32Array.of(9, 1)] };
  const [all, some] = [picture([1, 9, 40]), picture([1, 9, 40], { since })];
  const [after, sooner] = [all, some].map((now) => spriteKeysOf(now, radius, frame(first)));
  const before = frame(first).look;
  for (const found of [after, sooner]) {
    expect([...(found?.changes?.indices ?? [])].sort((a, b) => a - b)).toEqual([2, 9, 40]);
    expect(found?.changes?.looks).toEqual(found?.changes?.indices.map((index) => before[index]));
  }
  expect(sooner?.look).toEqual(after?.look);
});
