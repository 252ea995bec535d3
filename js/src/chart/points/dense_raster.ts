// Paints very many points. It blends the pixels in memory, because a drawImage call for each point is slower.

import type { Points } from "../../roofline/points.ts";
import { memoize } from "../../ui/memoize.ts";
import type { PointsPicture } from "./frame_diff.ts";
import { DirtyTiles, type TileGrid, tileAt, tileGrid } from "./tiles.ts";

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

/** The raster. `image`: the pixels. `whole`: the same pixels as 32-bit numbers. */
interface Raster {
  readonly image: ImageData;
  readonly whole: Uint32Array;
  /** Where dirty tiles are repainted. Between two frames all pixels are OPAQUE, so nothing is painted beside the tiles. */
  readonly repaint: Uint32Array;
}

/** The points from front to back. A place is an index in this order. No column depends on roofs. */
interface Stack {
  /** The index of each point, by place. */
  readonly order: Uint32Array;
  /** The centre of each point in device pixels, by place. */
  readonly x: Int32Array;
  readonly y: Int32Array;
  /** By place: 1 if a filled point in front of the point has the same centre pixel and is at least as large. */
  readonly covered: Uint8Array;
}

/** The places of points by the tile of their centre. */
interface PlacesByTile {
  readonly grid: TileGrid;
  /** Where each tile starts in `places`. The last entry is the end of the last tile. */
  readonly starts: Uint32Array;
  readonly places: Uint32Array;
  /** The places of the points that may reach farther than the next tile. They are not in `places`. */
  readonly large: Uint32Array;
  /** Scratch memory with a number for each point. */
  readonly found: Uint32Array;
}

/** One raster per canvas, because allocating a raster for each frame costs more than drawing. */
const rasters = memoize<Raster>();
/** Memoized, because reading the pixels of a canvas is slow. */
const spritePixels = memoize<SpritePixels>();
// Memoized: while a roof is dragged, measured points stay where they are.
const [stacks, tiles] = [memoize<Stack>(), memoize<PlacesByTile>()];

/** If there are more points than this, the dense raster is used. */
export const DENSE_FROM_POINTS = 2000;
/** The side length of a tile, px. */
const TILE_PX = 16;
/** A larger point with the sign of a point above its roof may reach farther than TILE_PX, px. */
const MAX_RADIUS_IN_TILE_PX = 4;
const OPAQUE = 0xffffffff;
/** The least colour that is opaque. */
const OPAQUE_FROM = 0xff000000;

/** What the order of points depends on. */
type StackedPoints = Pick<DensePoints, "points" | "at" | "hollow" | "faded" | "radius" | "ratio">;

/** What is painted around a point: the position of the point and how far its sprite reaches, px. */
export type Region = readonly [x: number, y: number, reach: number];

/** Paints all points. If `changed` is given, nothing outside these regions may have changed since the last frame. */
export function paintDenseRaster(
  context: CanvasRenderingContext2D,
  dense: DensePoints,
  changed?: readonly Region[],
): void {
  const { points, at, ratio, radius, hollow, faded } = dense;
  const { width, height } = context.canvas;
  const raster = rasters(context.canvas, [width, height], () => {
    const image = context.createImageData(width, height);
    return { image, whole: new Uint32Array(image.data.buffer), repaint: new Uint32Array(width * height) };
  });
  const stack = stacks(at.x, [at.y, radius, hollow, faded, ratio, width, height], () =>
    stackOf(dense, width, height, new Float32Array(raster.repaint.buffer)),
  );
  const looks = new Map<number, SpritePixels>();
  const pixelsOf = (index: number) => {
    const look = dense.look[index] as number;
    let pixels = looks.get(look);
    if (!pixels) {
      const sprite = dense.spriteOf(index);
      pixels = spritePixels(sprite, [width], () => readPixels(sprite, width));
      looks.set(look, pixels);
    }
    return pixels;
  };
  const blendInto = (into: Uint32Array, place: number) => {
    const pixels = pixelsOf(stack.order[place] as number);
    blendUnder(into, width, height, pixels, stack.x[place] as number, stack.y[place] as number);
  };
  if (!changed) {
    raster.whole.fill(0);
    for (let place = 0; place < points.n; place++) if (isVisible(points, stack, place)) blendInto(raster.whole, place);
    raster.repaint.fill(OPAQUE);
    context.putImageData(raster.image, 0, 0);
    return;
  }
  const { grid, starts, places, large, found } = tiles(stack, [], () => byTile(dense, stack, width, height));
  const dirty = new DirtyTiles(grid);
  const pixel = (px: number) => Math.round(px * ratio);
  for (const [x, y, reach] of changed) dirty.add(pixel(x), pixel(y), Math.ceil(reach * ratio));
  let count = 0;
  const find = (of: Uint32Array, from: number, to: number) => {
    for (let at = from; at < to; at++) {
      const place = of[at] as number;
      if (!isVisible(points, stack, place)) continue;
      const { reach } = pixelsOf(stack.order[place] as number);
      if (dirty.touches(stack.x[place] as number, stack.y[place] as number, reach)) found[count++] = place;
    }
  };
  find(large, 0, large.length);
  for (const tile of dirty.withNeighbours()) find(places, starts[tile] as number, starts[tile + 1] as number);
  dirty.eachLine((from, to) => raster.repaint.fill(0, from, to));
  const frontToBack = found.subarray(0, count).sort();
  for (let at = 0; at < count; at++) blendInto(raster.repaint, frontToBack[at] as number);
  dirty.eachLine((from, to) => {
    raster.whole.set(raster.repaint.subarray(from, to), from);
    raster.repaint.fill(OPAQUE, from, to);
  });
  for (const box of dirty.boxes()) context.putImageData(raster.image, 0, 0, box.left, box.top, box.width, box.height);
}

/** A point above its roof is never left out, because its sign is visible even if a larger point covers the point. */
const isVisible = ({ aboveRoof }: Points, { covered, order }: Stack, place: number) =>
  covered[place] === 0 || aboveRoof[order[place] as number] === 1;

/**
 * Returns the indices of points from front to back. Unfaded points are in front of faded points, and later points are
 * in front of earlier points. Leaves out a point if a filled point in front of it has the same centre pixel and is at
 * least as large. `largest` is scratch memory with a number for each pixel.
 */
export function visibleFrontToBack(
  dense: StackedPoints,
  width: number,
  height: number,
  largest: Float32Array,
): Uint32Array {
  const stack = stackOf(dense, width, height, largest);
  return stack.order.filter((_, place) => isVisible(dense.points, stack, place));
}

function stackOf(dense: StackedPoints, width: number, height: number, largest: Float32Array): Stack {
  const { points, at, hollow, faded, radius, ratio } = dense;
  const [order, covered] = [new Uint32Array(points.n), new Uint8Array(points.n)];
  const [xs, ys] = [new Int32Array(points.n), new Int32Array(points.n)];
  let count = 0;
  largest.fill(0);
  for (const turn of faded.includes(1) ? [0, 1] : [0]) {
    for (let index = points.n - 1; index >= 0; index--) {
      if (faded[index] !== turn) continue;
      const x = Math.round((at.x[index] as number) * ratio);
      const y = Math.round((at.y[index] as number) * ratio);
      order[count] = index;
      xs[count] = x;
      ys[count] = y;
      if (x >= 0 && x < width && y >= 0 && y < height) {
        const pixel = y * width + x;
        const [own, before] = [radius[index] as number, largest[pixel] as number];
        if (before >= own) covered[count] = 1;
        else if (!hollow[index]) largest[pixel] = own;
      }
      count++;
    }
  }
  return { order, x: xs, y: ys, covered };
}

function byTile({ radius, ratio }: DensePoints, { order, x, y }: Stack, width: number, height: number): PlacesByTile {
  const grid = tileGrid(width, height, TILE_PX * ratio);
  const large: number[] = [];
  const tileOf = new Int32Array(order.length).fill(-1);
  const starts = new Uint32Array(grid.across * grid.down + 1);
  for (let place = 0; place < order.length; place++) {
    if ((radius[order[place] as number] as number) > MAX_RADIUS_IN_TILE_PX) large.push(place);
    else if (isNear(x[place] as number, width, grid.size) && isNear(y[place] as number, height, grid.size)) {
      const tile = tileAt(grid, x[place] as number, y[place] as number);
      tileOf[place] = tile;
      starts[tile + 1] = (starts[tile + 1] as number) + 1;
    }
  }
  for (let tile = 1; tile < starts.length; tile++)
    starts[tile] = (starts[tile] as number) + (starts[tile - 1] as number);
  const [next, places] = [starts.slice(), new Uint32Array(starts.at(-1) as number)];
  for (let place = 0; place < order.length; place++) {
    const tile = tileOf[place] as number;
    if (tile < 0) continue;
    places[next[tile] as number] = place;
    next[tile] = (next[tile] as number) + 1;
  }
  return { grid, starts, places, large: Uint32Array.from(large), found: new Uint32Array(order.length) };
}

/** Whether a position in device pixels is on the raster or at most `most` pixels beside it. */
const isNear = (place: number, size: number, most: number) => place >= -most && place < size + most;

function readPixels(sprite: HTMLCanvasElement, across: number): SpritePixels {
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

/** Blends a sprite under the pixels that are already in a raster. */
function blendUnder(
  whole: Uint32Array,
  width: number,
  height: number,
  { dx, dy, away, ink, reach }: SpritePixels,
  x: number,
  y: number,
) {
  if (x < -reach || x >= width + reach || y < -reach || y >= height + reach) return;
  const middle = y * width + x;
  const isWithin = x >= reach && x < width - reach && y >= reach && y < height - reach;
  for (let pixel = 0; pixel < away.length; pixel++) {
    const place = middle + (away[pixel] as number);
    if (!isWithin) {
      const [left, top] = [x + (dx[pixel] as number), y + (dy[pixel] as number)];
      if (left < 0 || left >= width || top < 0 || top >= height) continue;
    }
    const over = whole[place] as number;
    if (over === 0) whole[place] = ink[pixel] as number;
    else if (over < OPAQUE_FROM) whole[place] = blend(over, ink[pixel] as number);
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
