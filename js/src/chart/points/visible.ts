// Finds the points in sight, and the point nearest to a position. A grid avoids a search through all points.

import type { Points } from "../../roofline/points.ts";
import { memoize } from "../../ui/memoize.ts";
import { clamp, type Scale, type Scales, type Spots } from "../scales.ts";

/**
 * The x of a point out of sight. The value is far from any pointer, but finite, because drawing needs a finite number.
 */
const HIDDEN_PX = -1e5;
/** The side length of a grid cell, px. */
const CELL_PX = 16;

interface PlacedPoints {
  readonly points: Points;
  readonly at: Spots;
  readonly scales: Scales;
}

interface VisiblePoints {
  /** The positions of the points, for drawing and hit testing. */
  readonly at: Spots;
  /** The number of rows that have no point in sight. */
  readonly outside: number;
}

const memo = memoize<VisiblePoints>();

/**
 * Returns the points in sight. Without a zoom, all points are in sight. The plot may have an edge for kernels without
 * FLOPs, and an edge for kernels without bytes. Under a zoom, the point of a kernel at an edge stays at this edge, and
 * goes out of sight only along this edge. Memoized while a roof is dragged and the points do not move.
 */
export const visiblePoints = (placed: PlacedPoints): VisiblePoints =>
  placed.scales.whole
    ? memo(placed.at, [placed.points.x, placed.points.home, placed.scales], () => findVisible(placed))
    : { at: placed.at, outside: 0 };

export const isShown = (placed: PlacedPoints, index: number) => visiblePoints(placed).at.x[index] !== HIDDEN_PX;

function findVisible({ points, at, scales }: PlacedPoints): VisiblePoints {
  const { plot } = scales;
  const x = at.x.slice();
  const isOnEdge = (value: number | undefined, scale: Scale) => value === 0 && !scale.isLinear;
  let outside = 0;
  for (let index = 0; index < points.n; index++) {
    const [left, top] = [at.x[index] as number, at.y[index] as number];
    const isWithin =
      (isOnEdge(points.x[index], scales.x) || (left >= plot.left && left <= plot.right)) &&
      (isOnEdge(points.y[index], scales.y) || (top >= plot.top && top <= plot.bottom));
    if (isWithin) continue;
    x[index] = HIDDEN_PX;
    if (points.home[points.row[index] as number] === index) outside++;
  }
  return { at: { x, y: at.y }, outside };
}

/** Points by grid cell. Within a cell the points are ordered by index. */
interface Grid {
  readonly left: number;
  readonly top: number;
  readonly across: number;
  readonly down: number;
  /** Where each cell starts in `indices`. The last entry is the end of the last cell. */
  readonly starts: Int32Array;
  readonly indices: Int32Array;
}

const grids = memoize<Grid>();

/**
 * Returns the index of the point nearest to a position, or -1 if no point is within `reach` px. If several points are
 * equally near, returns the last of these points, because the last point is on top.
 */
export function nearest(at: Spots, x: number, y: number, reach: number): number {
  const { left, top, across, down, starts, indices } = grids(at.x, [at.y], () => gridOf(at));
  const [from, to] = [cell(x - reach - left, across), cell(x + reach - left, across)];
  let [best, least] = [-1, reach * reach];
  for (let row = cell(y - reach - top, down); row <= cell(y + reach - top, down); row++) {
    const end = starts[row * across + to + 1] as number;
    for (let place = starts[row * across + from] as number; place < end; place++) {
      const index = indices[place] as number;
      const distance = ((at.x[index] as number) - x) ** 2 + ((at.y[index] as number) - y) ** 2;
      if (distance < least || (distance === least && index > best)) [best, least] = [index, distance];
    }
  }
  return best;
}

/**
 * Returns the index of a cell. A position outside the grid belongs to the nearest cell at the border, so that a search
 * finds the position.
 */
const cell = (px: number, cells: number) => clamp(Math.floor(px / CELL_PX), 0, cells - 1);

/** Builds the grid of all points in sight. */
function gridOf(at: Spots): Grid {
  const isHere = (index: number) => at.x[index] !== HIDDEN_PX;
  const [left, across] = spanOf(at.x, isHere);
  const [top, down] = spanOf(at.y, isHere);
  const n = at.x.length;
  const cells = new Int32Array(n).fill(-1);
  const starts = new Int32Array(across * down + 1);
  for (let index = 0; index < n; index++) {
    if (!isHere(index)) continue;
    const one = cell((at.y[index] as number) - top, down) * across + cell((at.x[index] as number) - left, across);
    cells[index] = one;
    starts[one + 1] = (starts[one + 1] as number) + 1;
  }
  for (let one = 1; one < starts.length; one++) starts[one] = (starts[one] as number) + (starts[one - 1] as number);
  const indices = new Int32Array(starts.at(-1) as number);
  const next = starts.slice();
  for (let index = 0; index < n; index++) {
    const one = cells[index] as number;
    if (one < 0) continue;
    indices[next[one] as number] = index;
    next[one] = (next[one] as number) + 1;
  }
  return { left, top, across, down, starts, indices };
}

/**
 * Returns the start of the grid, px, and the number of cells. The number of cells is limited, so that a point far away
 * does not exhaust the memory.
 */
function spanOf(places: Float32Array, isHere: (index: number) => boolean): [from: number, cells: number] {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let index = 0; index < places.length; index++) {
    if (!isHere(index)) continue;
    low = Math.min(low, places[index] as number);
    high = Math.max(high, places[index] as number);
  }
  return low <= high ? [low, Math.min(MAX_CELLS, Math.floor((high - low) / CELL_PX) + 1)] : [0, 1];
}

/** The maximum number of cells in each direction. */
const MAX_CELLS = 512;
