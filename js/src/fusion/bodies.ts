// Groups of ops with their totals. The totals of a merged group are computed from the totals of its two parts, without
// counting the ops again.

import type { Work } from "../ui/slices.ts";
import { type Graph, type GraphValues, listOf, makerOf, type Ops } from "./graph.ts";
import { apart, EPILOGUE, rowsOf, shareOperand } from "./legality.ts";

type Bits = Uint32Array;

/** A group of ops, with the data that are needed to merge the group with another group. */
export interface MergeGroup {
  /** The ops of the group, ascending. */
  readonly ops: Ops;
  /** One count per FLOP class of the graph. */
  readonly flops: Float64Array;
  readonly bytes: number;
  /**
   * For each tensor that an op outside the group also reads or writes: the number of ops inside the group that read
   * this tensor. Other tensors have no entry.
   */
  readonly open: ReadonlyMap<number, number>;
  /** Bit set of the ops inside the group. */
  readonly inside: Bits;
  /** Bit set of the ops downstream of the group. */
  readonly after: Bits;
  /** Bit set of the ops upstream of the group. */
  readonly before: Bits;
  /** Bit set of the ops downstream of one of the group's reductions. */
  readonly reduced: Bits;
  readonly isOpaque: boolean;
  /** Whether the group contains an op that cannot follow a matmul in one kernel. */
  readonly isStrange: boolean;
  readonly matmuls: Ops;
  /** Ops of the group that move elements (injective ops). */
  readonly movers: Ops;
  /** The shape that the group's reductions run over; undefined without a reduction. */
  readonly rows: string | undefined;
}

/** A graph with each op as a group of its own, and the rules for merging these groups. */
export interface MergeGroups extends ReturnType<typeof rulesOf> {
  readonly singles: readonly MergeGroup[];
}

const hasBit = (bits: Bits, op: number) => (((bits[op >> 5] as number) >>> (op & 31)) & 1) === 1;
const union = (a: Bits, b: Bits): Bits => a.map((word, at) => word | (b[at] as number));
const setBit = (bits: Bits, op: number) => {
  bits[op >> 5] = (bits[op >> 5] as number) | (1 << (op & 31));
};
export const ascending = (a: number, b: number) => a - b;

/** How many ops are processed between two pause points. */
const OPS_PER_PAUSE = 64;

/**
 * Returns for each op the set of ops that can be reached from the op. `along` has the next ops of each op. In `order`,
 * each op comes after all ops that can be reached from the op.
 */
function* reachableFrom(order: Ops, along: Graph["after"]): Work<Bits[]> {
  const rows: Bits[] = [];
  for (const [at, op] of order.entries()) {
    if (at % OPS_PER_PAUSE === 0) yield;
    const row = new Uint32Array((order.length + 31) >> 5);
    for (const next of listOf(along, op)) {
      const further = rows[next] as Bits;
      for (let word = 0; word < row.length; word++) row[word] = (row[word] as number) | (further[word] as number);
      setBit(row, next);
    }
    rows[op] = row;
  }
  return rows;
}

export function* mergeGroupsOf(graph: Graph, { bytes, extra, flops }: GraphValues): Work<MergeGroups> {
  const order = [...graph.ops.keys()];
  const before = yield* reachableFrom(order, graph.before);
  const after = yield* reachableFrom([...order].reverse(), graph.after);
  const nothing = new Uint32Array((order.length + 31) >> 5);
  function single(op: number): MergeGroup {
    const { kind } = graph.ops[op] as Graph["ops"][number];
    const touches = listOf(graph.touches, op);
    const isShared = (tensor: number) => listOf(graph.consumers, tensor).length > (makerOf(graph, tensor) < 0 ? 1 : 0);
    const inside = nothing.slice();
    setBit(inside, op);
    const isReduction = kind === "reduction";
    return {
      ops: [op],
      flops: Float64Array.from(flops, (column) => column[op] as number),
      bytes: touches.reduce((sum, tensor) => sum + (bytes[tensor] as number), extra[op] as number),
      open: new Map(
        touches.filter(isShared).map((tensor) => [tensor, Number(graph.reads[op]?.includes(tensor))] as const),
      ),
      inside,
      after: after[op] as Bits,
      before: before[op] as Bits,
      reduced: isReduction ? (after[op] as Bits) : nothing,
      isOpaque: kind === "opaque",
      isStrange: !EPILOGUE.includes(kind),
      matmuls: kind === "matmul" ? [op] : [],
      movers: kind === "injective" ? [op] : [],
      rows: isReduction ? rowsOf(graph, op) : undefined,
    };
  }
  const singles: MergeGroup[] = [];
  for (const op of order) {
    if (op % OPS_PER_PAUSE === 0) yield;
    singles.push(single(op));
  }
  return { singles, ...rulesOf(graph, bytes) };
}

function rulesOf(graph: Graph, bytes: Float64Array) {
  const readers = (tensor: number) => listOf(graph.consumers, tensor).length;
  const isMadeIn = ({ inside }: MergeGroup, tensor: number) =>
    makerOf(graph, tensor) >= 0 && hasBit(inside, makerOf(graph, tensor));
  /**
   * Returns the bytes that two groups move after they are merged. A tensor that the two groups share is moved once. A
   * tensor that nothing outside the merged group needs is not moved.
   */
  function bytesOf(a: MergeGroup, b: MergeGroup): number {
    const [few, many] = a.open.size < b.open.size ? [a, b] : [b, a];
    let moved = a.bytes + b.bytes;
    for (const [tensor, uses] of few.open) {
      const others = many.open.get(tensor);
      if (others === undefined) continue;
      const stays = !graph.isOutput[tensor] && uses + others === readers(tensor);
      moved -= (bytes[tensor] as number) * (stays && (isMadeIn(a, tensor) || isMadeIn(b, tensor)) ? 2 : 1);
    }
    return moved;
  }
  /** Whether two groups contain ops that can never share a kernel. */
  function clashes(a: MergeGroup, b: MergeGroup): boolean {
    if (a.isOpaque || b.isOpaque) return true;
    if (a.matmuls.length + b.matmuls.length > 0) return a.isStrange || b.isStrange || feeds(a, b) || feeds(b, a);
    if (a.rows === undefined && b.rows === undefined) return false;
    if (a.rows !== undefined && b.rows !== undefined && a.rows !== b.rows) return true;
    return a.movers.some((op) => hasBit(b.reduced, op)) || b.movers.some((op) => hasBit(a.reduced, op));
  }
  /**
   * Whether `b` has a matmul that cannot share a kernel with `a`: an op of `a` feeds this matmul, or a matmul of `a`
   * shares no operand with this matmul.
   */
  const feeds = (a: MergeGroup, b: MergeGroup) =>
    b.matmuls.some(
      (op) =>
        listOf(graph.before, op).some((other) => hasBit(a.inside, other)) ||
        a.matmuls.some((other) => !shareOperand(graph, op, other)),
    );
  /** Whether the merged group is convex. It is convex if no path leaves the group and returns to it. */
  function areConvex(a: MergeGroup, b: MergeGroup): boolean {
    for (let at = 0; at < a.inside.length; at++) {
      const between =
        ((a.after[at] as number) | (b.after[at] as number)) & ((a.before[at] as number) | (b.before[at] as number));
      if ((between & ~((a.inside[at] as number) | (b.inside[at] as number))) !== 0) return false;
    }
    return true;
  }
  function join(a: MergeGroup, b: MergeGroup): MergeGroup {
    const inside = union(a.inside, b.inside);
    const open = new Map(a.open);
    for (const [tensor, uses] of b.open) open.set(tensor, uses + (open.get(tensor) ?? 0));
    for (const tensor of (a.open.size < b.open.size ? a : b).open.keys()) {
      const producer = makerOf(graph, tensor);
      if (open.get(tensor) === readers(tensor) && (producer < 0 || hasBit(inside, producer))) open.delete(tensor);
    }
    return {
      ops: a.ops.concat(b.ops).sort(ascending),
      flops: a.flops.map((count, at) => count + (b.flops[at] as number)),
      bytes: bytesOf(a, b),
      open,
      inside,
      after: union(a.after, b.after),
      before: union(a.before, b.before),
      reduced: union(a.reduced, b.reduced),
      isOpaque: a.isOpaque || b.isOpaque,
      isStrange: a.isStrange || b.isStrange,
      matmuls: a.matmuls.concat(b.matmuls),
      movers: a.movers.concat(b.movers),
      rows: a.rows ?? b.rows,
    };
  }
  /** Whether a group may form a kernel. This does not check whether two ops of the group clash. */
  const isLegal = (body: MergeGroup) => areConvex(body, body) && (body.matmuls.length === 0 || !apart(graph, body.ops));
  /** Whether two legal groups may merge. This ignores cycles through other groups. */
  const isLegalWith = (a: MergeGroup, b: MergeGroup) =>
    !clashes(a, b) &&
    areConvex(a, b) &&
    // Call `apart` only if exactly one group has matmuls. If both have matmuls, each op is already connected to a
    // matmul of its own group. If neither has matmuls, there is no matmul to connect to.
    ((a.matmuls.length === 0) === (b.matmuls.length === 0) || !apart(graph, a.ops.concat(b.ops)));
  return { bytesOf, clashes, isMadeIn, join, isLegal, isLegalWith };
}
