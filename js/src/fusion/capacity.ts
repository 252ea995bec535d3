// Whether a kernel's tiles fit on chip. Mirrors the part of roofwidget/workloads/capacity.py that a merge needs.

import type { Graph, GraphValues, Ops } from "./graph.ts";
import type { Fits } from "./legality.ts";

/** The maximum number of rows and of columns in the tile of a matmul. A vector tile has at most this many elements. */
const TILE_SIDE = 128;

/**
 * The bytes of a tensor's tile in three cases: in a kernel with a matmul, next to a reduction, and in any other kernel.
 */
type Tiles = readonly [product: number, row: number, vector: number];

function tilesOf(shape: Ops, bytes: number): Tiles {
  const product = (sizes: Ops) => sizes.reduce((a, b) => a * b, 1);
  const size = product(shape);
  const ofBytes = (elements: number) => Math.ceil((elements * bytes) / size);
  const tile = product(shape.slice(-2).map((part) => Math.min(part, TILE_SIDE)));
  return [ofBytes(tile), ofBytes(shape.at(-1) ?? 1), ofBytes(Math.min(size, TILE_SIDE))];
}

/**
 * Returns a function that computes the peak bytes of the tiles if the given ops run as one kernel. For each tensor that
 * the kernel both writes and reads, the kernel keeps a tile. It keeps the tile from the op that writes the tensor to
 * the last op that reads it. In a kernel with a matmul, a tile has up to 128 x 128 elements. Next to a reduction, a
 * tile has one row. In any other case, a tile has up to 128 elements.
 */
export function peakTileBytes(graph: Graph, values: GraphValues): (ops: Ops) => number {
  const are = (kind: string) => Uint8Array.from(graph.ops, (op) => Number(op.kind === kind));
  const [products, reductions] = [are("matmul"), are("reduction")];
  const known: Tiles[] = [];
  // Both arrays are reused because a search calls this function 100,000 times. `asked` has for each op the last call
  // that contained the op. `going` has the bytes that are freed after each op.
  const [asked, going] = [new Int32Array(graph.ops.length), new Float64Array(graph.ops.length)];
  let question = 0;
  /**
   * Returns the last op of the kernel that reads a tensor (-1 if no op of the kernel reads the tensor), and the bytes
   * of the tensor's tile.
   */
  const kept = (tensor: number, op: number, hasProduct: boolean): [last: number, bytes: number] => {
    let [last, reduces] = [-1, reductions[op] === 1];
    for (const reader of graph.consumers[tensor] as Ops) {
      if (asked[reader] !== question) continue;
      last = reader;
      reduces ||= reductions[reader] === 1;
    }
    if (last < 0) return [last, 0];
    known[tensor] ??= tilesOf(values.shape(tensor), values.bytes[tensor] as number);
    const [product, row, vector] = known[tensor];
    return [last, hasProduct ? product : reduces ? row : vector];
  };
  return (ops) => {
    question++;
    for (const op of ops) asked[op] = question;
    const hasProduct = ops.some((op) => products[op] === 1);
    let [held, most] = [0, 0];
    for (const op of ops) {
      for (const tensor of graph.makes[op] as Ops) {
        const [last, bytes] = kept(tensor, op, hasProduct);
        if (last < 0) continue;
        held += bytes;
        going[last] = (going[last] as number) + bytes;
      }
      most = Math.max(most, held);
      held -= going[op] as number;
      going[op] = 0;
    }
    return most;
  };
}

/**
 * Returns a function that tests whether a kernel's tiles fit into `capacity` bytes. A single op always fits, because
 * the op's byte formula already accounts for its tiles.
 */
export function fitsWithin(graph: Graph, values: GraphValues, capacity: number): Fits {
  const need = peakTileBytes(graph, values);
  return (ops) => ops.length < 2 || need(ops) <= capacity;
}
