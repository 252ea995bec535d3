// Very many points: their pixels are put together here, since the canvas takes longer over as many copies of a picture.

import { keeping } from "../kept.ts";
import type { KernelsPicture } from "./kernels.ts";

export interface Crowd extends KernelsPicture {
  /** px, of each point. */
  readonly radius: Float32Array;
  /** Points of one number have the same small picture. */
  readonly look: Uint32Array;
  /** Device pixels a px. */
  readonly ratio: number;
  /** The small picture of a point, its middle in the middle. */
  spriteOf(index: number): HTMLCanvasElement;
}

/** The pixels of a small picture that are not clear: how far each is from the middle, and its colour. */
interface Stamp {
  readonly dx: Int16Array;
  readonly dy: Int16Array;
  /** Both as one, on a plate, and how far at most. */
  readonly away: Int32Array;
  readonly reach: number;
  /** Red, green, blue and opacity, 0 to 255; and the four as one. */
  readonly rgba: Uint8ClampedArray;
  readonly whole: Uint32Array;
}

/** What is stamped on, and its pixels as numbers. */
interface Plate {
  readonly image: ImageData;
  readonly whole: Uint32Array;
}

/** One a canvas: a new one for each picture would be more to throw away than to draw. */
const plates = keeping<Plate>();

/** More points than this are a crowd. */
export const CROWD = 2000;

export function paintCrowd(context: CanvasRenderingContext2D, crowd: Crowd): void {
  const { points, at, faded, ratio } = crowd;
  const { width, height } = context.canvas;
  const plate = plates(context.canvas, [width, height], () => {
    const image = context.createImageData(width, height);
    return { image, whole: new Uint32Array(image.data.buffer) };
  });
  plate.whole.fill(0);
  const stamps = new Map<number, Stamp>();
  const covered = coveredIn(crowd, width, height);
  for (const turn of [1, 0]) {
    for (let index = 0; index < points.n; index++) {
      if (faded[index] !== turn || covered[index]) continue;
      const look = crowd.look[index] as number;
      const stamp = stamps.get(look) ?? stampOf(crowd.spriteOf(index), width);
      stamps.set(look, stamp);
      press(plate, stamp, Math.round((at.x[index] as number) * ratio), Math.round((at.y[index] as number) * ratio));
    }
  }
  context.putImageData(plate.image, 0, 0);
}

/** Points that a later one hides: one on the same pixel, at least as large, and whole if they are. */
export function coveredIn(crowd: Crowd, width: number, height: number): Uint8Array {
  const { points, at, hollow, faded, radius, ratio } = crowd;
  const covered = new Uint8Array(points.n);
  const largest = [new Float32Array(width * height), new Float32Array(width * height)];
  for (let index = points.n - 1; index >= 0; index--) {
    const [x, y] = [Math.round((at.x[index] as number) * ratio), Math.round((at.y[index] as number) * ratio)];
    if (!(x >= 0 && x < width && y >= 0 && y < height)) continue;
    const seen = largest[faded[index] as number] as Float32Array;
    const place = y * width + x;
    const own = radius[index] as number;
    // The sign of one above its roof goes beyond the point.
    if (!points.aboveRoof[index] && (seen[place] as number) >= own) covered[index] = 1;
    else if (!hollow[index]) seen[place] = Math.max(seen[place] as number, own);
  }
  return covered;
}

function stampOf(sprite: HTMLCanvasElement, across: number): Stamp {
  const { width, height } = sprite;
  const all = sprite.getContext("2d")?.getImageData(0, 0, width, height).data ?? new Uint8ClampedArray();
  const clear = (at: number) => all[4 * at + 3] === 0;
  const pixels = Array.from({ length: all.length / 4 }, (_, at) => at).filter((at) => !clear(at));
  const rgba = Uint8ClampedArray.from(pixels.flatMap((at) => [...all.subarray(4 * at, 4 * at + 4)]));
  const dx = Int16Array.from(pixels, (at) => (at % width) - width / 2);
  const dy = Int16Array.from(pixels, (at) => Math.floor(at / width) - height / 2);
  return {
    dx,
    dy,
    away: Int32Array.from(pixels, (_, at) => (dy[at] as number) * across + (dx[at] as number)),
    reach: [...dx, ...dy].reduce((most, by) => Math.max(most, Math.abs(by)), 0),
    rgba,
    whole: new Uint32Array(rgba.buffer),
  };
}

/** Lays a stamp over what is there. */
function press(plate: Plate, stamp: Stamp, x: number, y: number) {
  const { width, height } = plate.image;
  const { dx, dy, away, reach } = stamp;
  const middle = y * width + x;
  if (x >= reach && x < width - reach && y >= reach && y < height - reach) {
    for (let pixel = 0; pixel < away.length; pixel++) lay(plate, stamp, pixel, middle + (away[pixel] as number));
    return;
  }
  for (let pixel = 0; pixel < away.length; pixel++) {
    const [left, top] = [x + (dx[pixel] as number), y + (dy[pixel] as number)];
    if (left < 0 || left >= width || top < 0 || top >= height) continue;
    lay(plate, stamp, pixel, middle + (away[pixel] as number));
  }
}

function lay({ image: { data }, whole }: Plate, { rgba, whole: ink }: Stamp, pixel: number, at: number) {
  const from = 4 * pixel;
  const opacity = rgba[from + 3] as number;
  if (opacity === 255) {
    whole[at] = ink[pixel] as number;
    return;
  }
  const to = 4 * at;
  const over = opacity / 255;
  const under = ((data[to + 3] as number) / 255) * (1 - over);
  for (let part = 0; part < 3; part++) {
    const mixed = (rgba[from + part] as number) * over + (data[to + part] as number) * under;
    data[to + part] = mixed / (over + under);
  }
  data[to + 3] = 255 * (over + under);
}
