// Partitions of a graph into kernels, and the bytes and FLOPs of these kernels.

import { memoize } from "../ui/memoize.ts";
import {
  allOf,
  dtypeOf,
  type Graph,
  type GraphValues,
  isFloating,
  listOf,
  makerOf,
  numbersOf,
  type Ops,
  reached,
} from "./graph.ts";
import { broken, groupWith, linked, type Partition, type RefusalOf } from "./legality.ts";

/**
 * Makes a partition with the groups in execution order. If several groups are ready, the group with the smallest first
 * op comes first. If groups depend on each other in a cycle, these groups stay in the order of their first ops.
 */
export function partitionOf(graph: Graph, groups: readonly Ops[]): Partition {
  const sorted = groups.map(ascending);
  sorted.sort((a, b) => (a[0] as number) - (b[0] as number));
  const place = numbered(graph, sorted);
  const entering = (group: Ops, along: Graph["after"]) =>
    group.flatMap((op) => numbersOf(place, listOf(along, op))).filter((at) => at !== place[group[0] as number]);
  const waiting = sorted.map((group) => entering(group, graph.before).length);
  const ready = sorted.map((_, at) => at).filter((at) => waiting[at] === 0);
  const ordered: Ops[] = [];
  for (let at = ready.shift(); at !== undefined; at = ready.shift()) {
    const group = listOf(sorted, at);
    ordered.push(group);
    for (const next of entering(group, graph.after)) {
      waiting[next] = (waiting[next] as number) - 1;
      if (waiting[next] !== 0) continue;
      const later = ready.findIndex((other) => other > next);
      ready.splice(later < 0 ? ready.length : later, 0, next);
    }
  }
  const kept = ordered.length === sorted.length ? ordered : sorted;
  return { groups: kept, groupOf: numbered(graph, kept) };
}

/**
 * Returns the ops of a group in ascending order. Returns the same array if it is sorted already, so that data memoized
 * for this array stay valid.
 */
const ascending = (group: Ops) =>
  group.every((op, at) => at === 0 || (group[at - 1] as number) < op) ? group : [...group].sort((a, b) => a - b);

function numbered(graph: Graph, groups: readonly Ops[]): Int32Array {
  const groupOf = new Int32Array(graph.ops.length);
  groups.forEach((group, at) => {
    for (const op of group) groupOf[op] = at;
  });
  return groupOf;
}

const unfusedByGraph = memoize<Partition>();

/** Returns the partition with each op as its own kernel, memoized per graph. */
export const unfused = (graph: Graph): Partition =>
  unfusedByGraph(graph, [], () =>
    partitionOf(
      graph,
      graph.ops.map((_, op) => [op]),
    ),
  );

/**
 * Merges the groups with the numbers `which` into one group. Does not check whether the merge is legal: `whyNot` checks
 * this.
 */
export function fuse(graph: Graph, { groups }: Partition, ...which: readonly number[]): Partition {
  const union = allOf(groups, which);
  return partitionOf(graph, [...groups.filter((_, at) => !which.includes(at)), union]);
}

/**
 * Makes an op its own group. The other ops of its old group stay together as far as they are connected, convex and
 * legal.
 */
export function split(graph: Graph, partition: Partition, op: number, refusalOf: RefusalOf): Partition {
  const { groups, groupOf } = partition;
  const [isBefore, isAfter] = [reached(graph, op, graph.before), reached(graph, op, graph.after)];
  const rest = groupWith(partition, op).filter((other) => other !== op);
  const pieces = linked(graph, rest).flatMap((part) => {
    const torn = part.some((other) => isBefore[other]) && part.some((other) => isAfter[other]);
    return torn ? [part.filter((other) => isBefore[other]), part.filter((other) => !isBefore[other])] : [part];
  });
  const parts = legalParts(graph, pieces, refusalOf);
  return partitionOf(graph, [...groups.filter((_, at) => at !== groupOf[op]), [op], ...parts]);
}

/**
 * Returns the connected parts of these pieces. If a part would be illegal as a group, the part is split into single
 * ops. A part whose tiles are too large stays.
 */
export const legalParts = (graph: Graph, pieces: readonly Ops[], refusalOf: RefusalOf): Ops[] =>
  pieces
    .flatMap((piece) => linked(graph, piece))
    .flatMap((part) => (broken(graph, part) || refusalOf(part)?.code === "kinds" ? part.map((op) => [op]) : [part]));

/** Returns the tensors that a group reads and the tensors that it writes, each once. */
export function traffic(graph: Graph, group: Ops): readonly [reads: Ops, writes: Ops] {
  const alone = group[0] as number;
  if (group.length === 1) return [listOf(graph.reads, alone), listOf(graph.makes, alone)];
  const inside = new Set(group);
  const read = new Set(allOf(graph.reads, group));
  const stays = (tensor: number) => {
    const consumers = listOf(graph.consumers, tensor);
    return !graph.isOutput[tensor] && consumers.length > 0 && consumers.every((op) => inside.has(op));
  };
  return [
    [...read].filter((tensor) => !inside.has(makerOf(graph, tensor))),
    allOf(graph.makes, group).filter((tensor) => !stays(tensor)),
  ];
}

/** The sum of a column over some rows. */
export function total(column: ArrayLike<number>, rows: Ops): number {
  let sum = 0;
  for (let at = 0; at < rows.length; at++) sum += column[rows[at] as number] as number;
  return sum;
}

export function groupBytes(graph: Graph, values: GraphValues, group: Ops): number {
  const [reads, writes] = traffic(graph, group);
  return total(values.bytes, reads) + total(values.bytes, writes) + total(values.extra, group);
}

/** Returns the FLOPs of a group, one number per FLOP class of the graph. */
export function groupFlops({ flops }: GraphValues, group: Ops): Float64Array {
  const sums = new Float64Array(flops.length);
  for (let at = 0; at < flops.length; at++) sums[at] = total(flops[at] as Float64Array, group);
  return sums;
}

/**
 * Returns the precision that an op states. If a matmul or another op with tensor FLOPs states no precision, returns the
 * dtype of its wider operand. If any other op states no precision, returns null.
 */
export function statedBy(graph: Graph, values: GraphValues, op: number): string | null {
  const { precision = null, kind, flops, inputs } = graph.ops[op] as Graph["ops"][number];
  if (precision || (kind !== "matmul" && !Object.hasOwn(flops, "tensor"))) return precision;
  // If the two operands are equally wide, a floating-point dtype wins over any other dtype. In every other tie, the
  // first operand wins.
  const width = (dtype: string) => (graph.dtypes.get(dtype) ?? 0) + (isFloating(dtype) ? 0.5 : 0);
  const [a = null, b = a] = inputs.slice(0, 2).map((tensor) => dtypeOf(graph, values, tensor));
  return a !== null && b !== null && width(b) > width(a) ? b : a;
}

/**
 * Returns the precision whose peak applies to a group; null if unknown. Among the ops that state a precision, the op
 * with most FLOPs decides. If no op states a precision, the largest floating-point tensor that the group writes
 * decides. If the group writes no floating-point tensor, the largest floating-point tensor that the group reads
 * decides.
 */
export function precisionOf(graph: Graph, values: GraphValues, group: Ops): string | null {
  const work = (op: number) => values.flops.reduce((sum, column) => sum + (column[op] as number), 0);
  const stating = largest(group, (op) => (statedBy(graph, values, op) ? work(op) : Number.NaN));
  if (stating !== undefined) return statedBy(graph, values, stating);
  const [reads, writes] = traffic(graph, group);
  const size = (tensor: number) =>
    isFloating(graph.tensors[tensor]?.dtype ?? "") ? (values.bytes[tensor] as number) : Number.NaN;
  const judging = largest(writes, size) ?? largest(reads, size);
  return judging === undefined ? null : dtypeOf(graph, values, judging);
}

/**
 * Returns the item with the largest size. If several items have this size, it returns the smallest of these items.
 * Ignores items whose size is NaN.
 */
function largest(items: Ops, size: (item: number) => number): number | undefined {
  let found: number | undefined;
  let most = Number.NEGATIVE_INFINITY;
  for (const item of items) {
    const here = size(item);
    if (here < most || Number.isNaN(here) || (here === most && found !== undefined && found < item)) continue;
    found = item;
    most = here;
  }
  return found;
}

/** Returns the bytes that every partition moves: inputs that ops read, outputs, and tensors that no op reads. */
export function compulsory(graph: Graph, values: GraphValues): number {
  const tensors = graph.tensors.map((_, tensor) => tensor);
  const isNeeded = (tensor: number) => {
    const isRead = listOf(graph.consumers, tensor).length > 0;
    return graph.isOutput[tensor] || isRead === makerOf(graph, tensor) < 0;
  };
  return total(values.bytes, tensors.filter(isNeeded));
}
