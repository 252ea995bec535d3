// Very many points: their pixels are put together here, since the canvas takes longer over as many copies of a picture.

import { memoize } from "../../ui/memoize.ts";
import type { PointsPicture } from "./frame_diff.ts";

export interface DensePoints extends PointsPicture {
  /** px, of each point. */
  readonly radius: Float32Array;
  /** Points of one number have the same small picture. */
  readonly look: Uint32Array;
  /** Device pixels a px. */
  readonly ratio: number;
  /** The small picture of a point, its middle in the middle. */
  spriteOf(index: number): HTMLCanvasElement;
}

/** The pixels of a small picture: how far each is from the middle, also as one number on a raster, and its colour. */
interface SpritePixels {
  readonly dx: Int16Array;
  readonly dy: Int16Array;
  readonly away: Int32Array;
  /** Opacity, blue, green and red from the top down. */
  readonly ink: Uint32Array;
  /** How far a pixel is from the middle at most. */
  readonly reach: number;
}

/** What is stamped on, its pixels as numbers, and the radius of the largest point that lies on each. */
interface Raster {
  readonly image: ImageData;
  readonly whole: Uint32Array;
  readonly largest: Float32Array;
}

/** One a canvas: a new one for each picture would be more to throw away than to draw. */
const rasters = memoize<Raster>();
/** Of small pictures: to read a canvas takes long. */
const spritePixels = memoize<SpritePixels>();

/** More points than this are a crowd. */
export const DENSE_FROM_POINTS = 2000;

export function paintDenseRaster(context: CanvasRenderingContext2D, crowd: DensePoints): void {
  const { at, ratio } = crowd;
  const { width, height } = context.canvas;
  const raster = rasters(context.canvas, [width, height], () => {
    const image = context.createImageData(width, height);
    return { image, whole: new Uint32Array(image.data.buffer), largest: new Float32Array(width * height) };
  });
  raster.whole.fill(0);
  const looks = new Map<number, SpritePixels>();
  for (const index of visibleFrontToBack(crowd, width, height, raster.largest)) {
    const look = crowd.look[index] as number;
    let pixels = looks.get(look);
    if (!pixels) {
      const sprite = crowd.spriteOf(index);
      pixels = spritePixels(sprite, [width], () => pixelsOf(sprite, width));
      looks.set(look, pixels);
    }
    blendUnder(
      raster,
      pixels,
      Math.round((at.x[index] as number) * ratio),
      Math.round((at.y[index] as number) * ratio),
    );
  }
  context.putImageData(raster.image, 0, 0);
}

/**
 * The points by how far in front they lie, later ones before earlier and whole ones before faint ones, without those
 * that one before them hides: one on the same pixel and at least as large. `largest` is a number a pixel to work with.
 */
export function visibleFrontToBack(
  crowd: DensePoints,
  width: number,
  height: number,
  largest: Float32Array,
): Uint32Array {
  const { points, at, hollow, faded, radius, ratio } = crowd;
  const found = new Uint32Array(points.n);
  let count = 0;
  largest.fill(0);
  for (const turn of faded.includes(1) ? [0, 1] : [0]) {
    for (let index = points.n - 1; index >= 0; index--) {
      if (faded[index] !== turn) continue;
      const x = Math.round((at.x[index] as number) * ratio);
      const y = Math.round((at.y[index] as number) * ratio);
      if (x >= 0 && x < width && y >= 0 && y < height) {
        const place = y * width + x;
        const [own, before] = [radius[index] as number, largest[place] as number];
        // The sign of one above its roof goes beyond the point.
        if (before >= own && !points.aboveRoof[index]) continue;
        if (!hollow[index] && own > before) largest[place] = own;
      }
      found[count++] = index;
    }
  }
  return found.subarray(0, count);
}

function pixelsOf(sprite: HTMLCanvasElement, across: number): SpritePixels {
  const { width, height } = sprite;
  const all = sprite.getContext("2d")?.getImageData(0, 0, width, height).data ?? new Uint8ClampedArray();
  const colours = new Uint32Array(all.buffer);
  const pixels = Array.from(colours.keys()).filter((at) => (colours[at] as number) >>> 24 > 0);
  const dx = Int16Array.from(pixels, (at) => (at % width) - width / 2);
  const dy = Int16Array.from(pixels, (at) => Math.floor(at / width) - height / 2);
  const away = Int32Array.from(pixels, (_, at) => (dy[at] as number) * across + (dx[at] as number));
  const ink = Uint32Array.from(pixels, (at) => colours[at] as number);
  return { dx, dy, away, ink, reach: Math.max(0, ...[...dx, ...dy].map(Math.abs)) };
}

/** Lays a pixels under what is there. */
function blendUnder({ image, whole }: Raster, { dx, dy, away, ink, reach }: SpritePixels, x: number, y: number) {
  const { width, height } = image;
  if (x < -reach || x >= width + reach || y < -reach || y >= height + reach) return;
  const middle = y * width + x;
  const isWithin = x >= reach && x < width - reach && y >= reach && y < height - reach;
  for (let pixel = 0; pixel < away.length; pixel++) {
    if (!isWithin) {
      const [left, top] = [x + (dx[pixel] as number), y + (dy[pixel] as number)];
      if (left < 0 || left >= width || top < 0 || top >= height) continue;
    }
    const place = middle + (away[pixel] as number);
    const over = whole[place] as number;
    if (over === 0) whole[place] = ink[pixel] as number;
    else if (over >>> 24 < 255) whole[place] = blend(over, ink[pixel] as number);
  }
}

/** One colour over another: each part counts as much as is seen of it. */
export function blend(over: number, under: number): number {
  const [mine, theirs] = [255 * (over >>> 24), (255 - (over >>> 24)) * (under >>> 24)];
  // Blue and red at once, of 256 parts.
  const share = ((theirs << 8) / (mine + theirs) + 0.5) | 0;
  const rest = 256 - share;
  const outer = (Math.imul(over & 0xff00ff, rest) + Math.imul(under & 0xff00ff, share) + 0x800080) >>> 8;
  const green = (Math.imul(over & 0xff00, rest) + Math.imul(under & 0xff00, share) + 0x8000) >>> 8;
  return (Math.round((mine + theirs) / 255) << 24) | (outer & 0xff00ff) | (green & 0xff00);
}
