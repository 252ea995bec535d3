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

/** Pixels of a small picture: how far each is from the middle, also as one number on a plate, and its colour. */
interface Ink {
  readonly dx: Int16Array;
  readonly dy: Int16Array;
  readonly away: Int32Array;
  /** Red, green, blue and opacity, 0 to 255; and the four as one. */
  readonly rgba: Uint8ClampedArray;
  readonly whole: Uint32Array;
}

/** A small picture: the pixels that hide what is under them, and those that do so in part. */
interface Stamp {
  readonly solid: Ink;
  readonly soft: Ink;
  /** How far a pixel is from the middle at most. */
  readonly reach: number;
}

/** What is stamped on, and its pixels as numbers. */
interface Plate {
  readonly image: ImageData;
  readonly whole: Uint32Array;
}

/** One a canvas: a new one for each picture would be more to throw away than to draw. */
const plates = keeping<Plate>();
/** Of small pictures: to read a canvas takes long. */
const stamps = keeping<Stamp>();

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
  const looks = new Map<number, Stamp>();
  const covered = coveredIn(crowd, width, height);
  for (const turn of [1, 0]) {
    for (let index = 0; index < points.n; index++) {
      if (faded[index] !== turn || covered[index]) continue;
      const look = crowd.look[index] as number;
      let stamp = looks.get(look);
      if (!stamp) {
        const sprite = crowd.spriteOf(index);
        stamp = stamps(sprite, [width], () => stampOf(sprite, width));
        looks.set(look, stamp);
      }
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
    const x = Math.round((at.x[index] as number) * ratio);
    const y = Math.round((at.y[index] as number) * ratio);
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
  const opacity = (at: number) => all[4 * at + 3] as number;
  const pixels = Array.from({ length: all.length / 4 }, (_, at) => at).filter((at) => opacity(at) > 0);
  const inkOf = (some: readonly number[]): Ink => {
    const rgba = Uint8ClampedArray.from(some.flatMap((at) => [...all.subarray(4 * at, 4 * at + 4)]));
    const dx = Int16Array.from(some, (at) => (at % width) - width / 2);
    const dy = Int16Array.from(some, (at) => Math.floor(at / width) - height / 2);
    const away = Int32Array.from(some, (_, at) => (dy[at] as number) * across + (dx[at] as number));
    return { dx, dy, away, rgba, whole: new Uint32Array(rgba.buffer) };
  };
  const solid = inkOf(pixels.filter((at) => opacity(at) === 255));
  const soft = inkOf(pixels.filter((at) => opacity(at) < 255));
  const reach = [solid.dx, solid.dy, soft.dx, soft.dy].flatMap((by) => [...by].map(Math.abs));
  return { solid, soft, reach: Math.max(0, ...reach) };
}

/** Lays a stamp over what is there. */
function press(plate: Plate, { solid, soft, reach }: Stamp, x: number, y: number) {
  const { width, height } = plate.image;
  if (x < -reach || x >= width + reach || y < -reach || y >= height + reach) return;
  const middle = y * width + x;
  if (x >= reach && x < width - reach && y >= reach && y < height - reach) {
    const { whole } = plate;
    const { away, whole: ink } = solid;
    for (let pixel = 0; pixel < away.length; pixel++) whole[middle + (away[pixel] as number)] = ink[pixel] as number;
    for (let pixel = 0; pixel < soft.away.length; pixel++) lay(plate, soft, pixel, middle);
    return;
  }
  for (const ink of [solid, soft]) {
    for (let pixel = 0; pixel < ink.away.length; pixel++) {
      const [left, top] = [x + (ink.dx[pixel] as number), y + (ink.dy[pixel] as number)];
      if (left >= 0 && left < width && top >= 0 && top < height) lay(plate, ink, pixel, middle);
    }
  }
}

/** Words of pixels: opacity, blue, green and red from the top down. */
function lay({ image: { data }, whole }: Plate, { rgba, away, whole: ink }: Ink, pixel: number, middle: number) {
  const place = middle + (away[pixel] as number);
  const over = ink[pixel] as number;
  const under = whole[place] as number;
  const opacity = under >>> 24;
  if (opacity === 0) whole[place] = over;
  else if (opacity === 255) {
    const share = over >>> 24;
    const red = mixed(over & 255, under & 255, share);
    const green = mixed((over >>> 8) & 255, (under >>> 8) & 255, share);
    whole[place] = (0xff << 24) | (mixed((over >>> 16) & 255, (under >>> 16) & 255, share) << 16) | (green << 8) | red;
  } else {
    const [from, to] = [4 * pixel, 4 * place];
    const [mine, rest] = [(over >>> 24) / 255, (opacity / 255) * (1 - (over >>> 24) / 255)];
    for (let part = 0; part < 3; part++) {
      data[to + part] = ((rgba[from + part] as number) * mine + (data[to + part] as number) * rest) / (mine + rest);
    }
    data[to + 3] = 255 * (mine + rest);
  }
}

/** Of two parts of 0 to 255, the first with a share of 255: rounded to the nearest. */
const mixed = (one: number, other: number, share: number) => ((one * share + other * (255 - share) + 128) * 257) >>> 16;
