// Whether a kernel's tiles fit on chip. Mirrors the part of roofwidget/workloads/capacity.py that a merge needs.

import { clashingReductions, reducedAxes, reductionTiles } from "./axes.ts";
import { type Graph, type GraphValues, listOf, type Ops } from "./graph.ts";
import { type Fits, fitsUnlessClashing } from "./legality.ts";

/**
 * The tile of a matmul has at most this many rows and this many columns. A vector tile has at most this many elements.
 */
const TILE_SIDE = 128;

/**
 * In a kernel with a matmul, this word replaces the bit set of axes. In other kernels, the bit set says which axes a
 * tile has whole.
 */
const PRODUCT = "product";

const product = (sizes: Ops) => sizes.reduce((a, b) => a * b, 1);

/**
 * Returns the number of elements in a tile. The tile has the axes in `axes` whole. If `axes` is 0, the tile is a
 * vector.
 */
function elementsOf(shape: Ops, axes: number | typeof PRODUCT): number {
  if (axes === PRODUCT) return product(shape.slice(-2).map((part) => Math.min(part, TILE_SIDE)));
  if (axes === 0) return Math.min(product(shape), TILE_SIDE);
  return product(shape.filter((_, at) => ((axes >> (shape.length - 1 - at)) & 1) === 1));
}

/** Returns a function that computes the bytes of a tensor's tile. Memoizes the results. */
function tilesOf({ shape, bytes }: GraphValues) {
  const known: (Map<number | typeof PRODUCT, number> | undefined)[] = [];
  return (tensor: number, axes: number | typeof PRODUCT): number => {
    known[tensor] ??= new Map();
    const before = known[tensor].get(axes);
    if (before !== undefined) return before;
    const sizes = shape(tensor);
    const tile = Math.ceil((elementsOf(sizes, axes) * (bytes[tensor] as number)) / product(sizes));
    known[tensor].set(axes, tile);
    return tile;
  };
}

/** A tensor on chip: the bytes of its tile, and the first and the last op that need the tile. */
interface Stay {
  readonly tensor: number;
  readonly first: number;
  readonly last: number;
  readonly bytes: number;
}

/**
 * Returns a function that computes which tensors a kernel keeps on chip. The ops of the kernel must be in ascending
 * order.
 */
export function staysOnChip(graph: Graph, values: GraphValues): (ops: Ops) => Stay[] {
  const products = Uint8Array.from(graph.ops, ({ kind }) => Number(kind === "matmul"));
  const tileOf = tilesOf(values);
  // For each op: the number of the last call whose kernel contained the op. All calls share this array, because a
  // search calls this function 100,000 times.
  const asked = new Int32Array(graph.ops.length);
  let question = 0;
  return (ops) => {
    question++;
    for (const op of ops) asked[op] = question;
    const hasProduct = ops.some((op) => products[op] === 1);
    const reducing = hasProduct ? undefined : reductionTiles(graph, ops);
    const stays: Stay[] = [];
    const keep = (tensor: number, maker?: number) => {
      let [first, last] = [maker ?? -1, -1];
      for (const reader of listOf(graph.consumers, tensor)) {
        if (asked[reader] !== question) continue;
        if (first < 0) first = reader;
        last = reader;
      }
      if (last < 0) return;
      const axes = hasProduct ? PRODUCT : (reducing?.wholeAxes(tensor) ?? 0);
      stays.push({ tensor, first, last, bytes: tileOf(tensor, axes) });
    };
    for (const op of ops) for (const tensor of listOf(graph.makes, op)) keep(tensor, op);
    for (const tensor of reducing?.entering() ?? []) keep(tensor);
    return stays;
  };
}

/**
 * Returns a function that computes the peak bytes of the tiles if the given ops run as one kernel. The ops must be in
 * ascending order. A tensor that the kernel writes and reads has a tile from the op that writes it to the last op that
 * reads it. A tensor from main memory has a tile only if it is needed before and after a reduction. This tile stays
 * from the first to the last op that reads the tensor. In a kernel with a matmul, a tile has up to 128 x 128 elements.
 * In other kernels, a tile has the axes whole that a reduction needs whole. If there are none, the tile has up to 128
 * elements.
 */
export function peakTileBytes(graph: Graph, values: GraphValues): (ops: Ops) => number {
  const staysOf = staysOnChip(graph, values);
  const [coming, going] = [new Float64Array(graph.ops.length), new Float64Array(graph.ops.length)];
  return (ops) => {
    for (const { first, last, bytes } of staysOf(ops)) {
      coming[first] = (coming[first] as number) + bytes;
      going[last] = (going[last] as number) + bytes;
    }
    let [held, most] = [0, 0];
    for (const op of ops) {
      held += coming[op] as number;
      most = Math.max(most, held);
      held -= going[op] as number;
      coming[op] = 0;
      going[op] = 0;
    }
    return most;
  };
}

/**
 * Returns a function that computes an upper limit of the bytes that a kernel without clashing reductions needs. The
 * limit is the sum of the largest tiles that the kernel's tensors may have. The function is faster than
 * `peakTileBytes`.
 */
function mostTileBytes(graph: Graph, values: GraphValues): (ops: Ops) => number {
  const tileOf = tilesOf(values);
  const axes = new Set<number>([0, ...reducedAxes(graph)]);
  const most: number[] = [];
  const mostOf = (tensor: number) => {
    most[tensor] ??= Math.max(tileOf(tensor, PRODUCT), ...[...axes].map((some) => tileOf(tensor, some)));
    return most[tensor];
  };
  return (ops) => {
    let sum = 0;
    for (const op of ops) for (const tensor of listOf(graph.touches, op)) sum += mostOf(tensor);
    return sum;
  };
}

/**
 * Returns a function that tests whether a kernel's tiles fit into `capacity` bytes. A single op always fits, because
 * the op's byte formula already accounts for its tiles. If the capacity is unknown, a kernel fits unless its reductions
 * need different tiles.
 */
export function fitsWithin(graph: Graph, values: GraphValues, capacity: number | undefined): Fits {
  if (capacity === undefined) return fitsUnlessClashing(graph);
  const [need, most] = [peakTileBytes(graph, values), mostTileBytes(graph, values)];
  const isSmall = (ops: Ops) => most(ops) <= capacity && clashingReductions(graph, ops) === null;
  return (ops) => ops.length < 2 || isSmall(ops) || need(ops) <= capacity;
}
