// Paints very many points. It blends the pixels in memory, because a drawImage call for each point is slower.

import { memoize } from "../../ui/memoize.ts";
import type { PointsPicture } from "./frame_diff.ts";

interface DensePoints extends PointsPicture {
  /** The radius of each point, px. */
  readonly radius: Float32Array;
  /** The sprite key of each point. Points with the same key look the same. */
  readonly look: Uint32Array;
  /** The number of device pixels in 1 px. */
  readonly ratio: number;
  /** Returns the sprite of a point. The centre of the sprite is the centre of the point. */
  spriteOf(index: number): HTMLCanvasElement;
}

/**
 * The painted pixels of a sprite. `dx`, `dy`: the offset of each pixel from the sprite's centre. `away`: the offset as
 * a difference of indices in the raster. `ink`: the colour.
 */
interface SpritePixels {
  readonly dx: Int16Array;
  readonly dy: Int16Array;
  readonly away: Int32Array;
  /** The colour of each pixel in four bytes. From the highest byte to the lowest: opacity, blue, green, red. */
  readonly ink: Uint32Array;
  /** The largest absolute value in `dx` and `dy`. */
  readonly reach: number;
}

/**
 * The raster. `image`: the pixels. `whole`: the same pixels as 32-bit numbers. `largest`: for each pixel, the radius of
 * the largest point centred there.
 */
interface Raster {
  readonly image: ImageData;
  readonly whole: Uint32Array;
  readonly largest: Float32Array;
}

/** One raster per canvas, because allocating a raster for each frame costs more than drawing. */
const rasters = memoize<Raster>();
/** Memoized, because reading the pixels of a canvas is slow. */
const spritePixels = memoize<SpritePixels>();

/** If there are more points than this, the dense raster is used. */
export const DENSE_FROM_POINTS = 2000;

export function paintDenseRaster(context: CanvasRenderingContext2D, dense: DensePoints): void {
  const { at, ratio } = dense;
  const { width, height } = context.canvas;
  const raster = rasters(context.canvas, [width, height], () => {
    const image = context.createImageData(width, height);
    return { image, whole: new Uint32Array(image.data.buffer), largest: new Float32Array(width * height) };
  });
  raster.whole.fill(0);
  const looks = new Map<number, SpritePixels>();
  for (const index of visibleFrontToBack(dense, width, height, raster.largest)) {
    const look = dense.look[index] as number;
    let pixels = looks.get(look);
    if (!pixels) {
      const sprite = dense.spriteOf(index);
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
 * Returns the indices of points from front to back. Unfaded points are in front of faded points, and later points are
 * in front of earlier points. Leaves out a point if a filled point in front of it has the same centre pixel and is at
 * least as large. `largest` is scratch memory with a number for each pixel.
 */
export function visibleFrontToBack(
  dense: Pick<DensePoints, "points" | "at" | "hollow" | "faded" | "radius" | "ratio">,
  width: number,
  height: number,
  largest: Float32Array,
): Uint32Array {
  const { points, at, hollow, faded, radius, ratio } = dense;
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
        // A point above its roof is never left out, because its sign is visible even if a larger point covers the
        // point.
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

/** Blends a sprite under the pixels that are already in the raster. */
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

/** Blends two colours by their opacities. The colour `over` is in front of the colour `under`. */
export function blend(over: number, under: number): number {
  const [mine, theirs] = [255 * (over >>> 24), (255 - (over >>> 24)) * (under >>> 24)];
  // Blue and red are blended in one multiplication. The weights are multiples of 1/256.
  const share = ((theirs << 8) / (mine + theirs) + 0.5) | 0;
  const rest = 256 - share;
  const outer = (Math.imul(over & 0xff00ff, rest) + Math.imul(under & 0xff00ff, share) + 0x800080) >>> 8;
  const green = (Math.imul(over & 0xff00, rest) + Math.imul(under & 0xff00, share) + 0x8000) >>> 8;
  return (Math.round((mine + theirs) / 255) << 24) | (outer & 0xff00ff) | (green & 0xff00);
}
