// Which ops may run as one kernel, and why other ops may not run as one kernel. Mirrors the rules of
// roofwidget/workloads/legality.py.

import { memoize, once } from "../ui/memoize.ts";
import { allOf, type Graph, listOf, makerOf, type Ops, reached } from "./graph.ts";

/** Which ops run together as one kernel. Ops ascend within a group. A group follows all groups that it reads from. */
export interface Partition {
  readonly groups: readonly (readonly number[])[];
  /** For each op: the index of its group in `groups`. */
  readonly groupOf: Int32Array;
}

/** Returns the number of the group that contains an op. */
export const groupAt = ({ groupOf }: Partition, op: number): number => groupOf[op] as number;
/** Returns the ops of the group that contains an op. */
export const groupWith = (partition: Partition, op: number): Ops => listOf(partition.groups, groupAt(partition, op));

/** The codes are in the order in which the rules are checked. */
export type RefusalCode = "same" | "not-connected" | "barrier" | "kinds" | "not-convex" | "cycle" | "axes" | "capacity";

/**
 * Why a group has no form. "beside": an op neither feeds a product nor uses its result. "unrelated": products share no
 * input and no result. "levels": three products one after the other. "both made": both operands of a product are products
 * of the group. "window", "window rows": a product reads neighbours of what another makes, or has no whole rows. "shuffle":
 * an op moves elements in an unknown way. "joined": blocks need elements that other blocks make. "prologue axis": a
 * reduction before a product reduces an axis that the product does not add up. "other axes", "unused axes", "no rows": two
 * ops do not have the same axes. "block rows", "across blocks": a reduction uses, or adds up, rows that are spread over
 * blocks. "differ": two reductions reduce different axes, or elements are moved between them. "tiles", "side", "rows":
 * tiles, tiles of a product, or rows of tensors do not fit on chip. "whole rows", "chain": without a chip, nothing holds
 * the rows of a product or of a chain.
 */
export type Reason = PlainReason | "joined" | "prologue axis" | "differ" | "shuffle" | "tiles" | "side" | "rows";

/** A reason whose sentence has names alone. */
export type PlainReason =
  | "beside"
  | "unrelated"
  | "levels"
  | "both made"
  | "window"
  | "window rows"
  | "other axes"
  | "unused axes"
  | "no rows"
  | "block rows"
  | "across blocks"
  | "whole rows"
  | "chain";

/** Bytes on chip that rows of tensors need, or tiles with so many rows and columns. */
interface Need {
  readonly rows: number;
  readonly tensors: readonly number[];
  readonly bytes: number;
}

/** Why a group has no form on a chip. */
export interface FormRefusal {
  readonly code: "kinds" | "axes" | "capacity";
  readonly reason: Reason;
  /** The ops concerned. */
  readonly ops: readonly number[];
  /** Bytes on chip that the kernel would need, where this is the reason. */
  readonly need?: number;
  /** The tensor concerned, where ops are not. */
  readonly tensor?: number;
  /** What would need more than there is: each of these alone. */
  readonly needs?: readonly Need[];
}

/** A reduction and the axes of its first input that it reduces. */
export interface ReducingOp {
  readonly name: string;
  readonly axes: readonly number[];
}

export interface Refusal {
  readonly code: RefusalCode;
  /**
   * The ops concerned. For a kernel that is not convex: the ops of the path that leaves the kernel and returns to it, from
   * first to last.
   */
  readonly path: readonly number[];
  readonly form?: FormRefusal;
}

/** Returns why a connected, convex group has no form on a chip; null if it has one. */
export type RefusalOf = (ops: readonly number[]) => FormRefusal | null;

export function flagged(n: number, ops: Iterable<number>): Uint8Array {
  const flags = new Uint8Array(n);
  for (const op of ops) flags[op] = 1;
  return flags;
}

/**
 * Returns the connected components of the ops, ordered by their first ops. A tensor connects two ops only if `counts`
 * is true for the tensor.
 */
export function linked(graph: Graph, ops: Ops, counts: (tensor: number) => boolean = () => true): number[][] {
  const lead = new Map<number, number>();
  const root = (at: number): number => {
    let top = at;
    for (let above = lead.get(top) as number; above !== top; above = lead.get(top) as number) {
      lead.set(top, lead.get(above) as number);
      top = above;
    }
    return top;
  };
  const first = new Map<number, number>();
  for (const op of ops) {
    lead.set(op, op);
    for (const tensor of listOf(graph.touches, op)) {
      if (!counts(tensor)) continue;
      const other = first.get(tensor);
      if (other === undefined) first.set(tensor, op);
      else lead.set(root(op), root(other));
    }
  }
  const parts = new Map<number, number[]>();
  for (const op of [...ops].sort((a, b) => a - b)) {
    const part = parts.get(root(op));
    if (part) part.push(op);
    else parts.set(root(op), [op]);
  }
  return [...parts.values()];
}

/** Whether two ops read the same tensor. */
export const shareOperand = ({ reads }: Graph, op: number, other: number): boolean =>
  listOf(reads, op).some((tensor) => listOf(reads, other).includes(tensor));

/**
 * Returns a path that leaves these ops and returns to them; null if there is no such path. If `within` is given, the
 * path may pass through the groups of this partition, because an op that reads from a group waits for all ops of the
 * group.
 */
export function wayBack(graph: Graph, ops: Ops, within?: Partition): number[] | null {
  const inside = flagged(graph.ops.length, ops);
  const from = new Int32Array(graph.ops.length).fill(-1);
  const left: number[] = [];
  // Ops read only from ops with lower numbers.
  const last = within ? graph.ops.length : Math.max(...ops);
  const reach = (op: number, by: number) => {
    if (from[op] !== -1 || op > last) return;
    from[op] = by;
    left.push(op);
  };
  for (const op of ops) for (const next of listOf(graph.after, op)) if (!inside[next]) reach(next, op);
  for (let head = 0; head < left.length; head++) {
    const op = left[head] as number;
    for (const next of listOf(graph.after, op)) {
      if (!inside[next]) {
        reach(next, op);
        continue;
      }
      const path = [next, op];
      for (let at = op; !inside[at]; ) {
        at = from[at] as number;
        path.push(at);
      }
      return path.reverse();
    }
    for (const other of within?.groups[within.groupOf[op] as number] ?? []) reach(other, op);
  }
  return null;
}

const isProduct = ({ ops }: Graph, op: number) => ops[op]?.kind === "matmul";
/** The nearest products that use the result of a product, and all ops up to the products that use those in turn. */
interface Users {
  readonly nearest: readonly number[];
  readonly reach: Uint8Array;
  /** All ops downstream. */
  readonly after: Uint8Array;
}

/** Returns the nearest products that use results of ops, and the ops between. */
function nearestOf(graph: Graph, ops: Iterable<number>): [nearest: Set<number>, between: Set<number>] {
  const [nearest, between] = [new Set<number>(), new Set<number>()];
  const left = [...ops];
  for (let op = left.pop(); op !== undefined; op = left.pop())
    for (const next of listOf(graph.after, op)) {
      if (!isProduct(graph, next) && !between.has(next)) left.push(next);
      (isProduct(graph, next) ? nearest : between).add(next);
    }
  return [nearest, between];
}

function usersOf(graph: Graph, product: number): Users {
  const [nearest, between] = nearestOf(graph, [product]);
  const [further, more] = nearestOf(graph, nearest);
  const reach = flagged(graph.ops.length, [...nearest, ...between, ...further, ...more]);
  return { nearest: [...nearest], reach, after: reached(graph, product, graph.after) };
}

/**
 * Returns a function of two products, the earlier one first, that says why they share no kernel on any chip: another
 * product is between them, or they have nothing in common. In common they can have an input, or an op that uses both
 * results through at most one further product each.
 */
function clashesOf(graph: Graph) {
  const users = once((product) => usersOf(graph, product));
  return (one: number, other: number): FormRefusal | undefined => {
    const { nearest, reach, after } = users(one);
    if (after[other]) {
      const between = nearest.find((op) => op !== other && users(op).after[other]);
      return between === undefined ? undefined : { code: "kinds", reason: "levels", ops: [one, between, other] };
    }
    const meet = users(other).reach.some((is, op) => is && reach[op]);
    return meet || shareOperand(graph, one, other)
      ? undefined
      : { code: "kinds", reason: "unrelated", ops: [one, other] };
  };
}
const clashes = memoize<ReturnType<typeof clashesOf>>();

/**
 * Returns the rule that a group breaks on every chip, without regard to other groups. This function does not check
 * whether the group is connected.
 */
export function broken(graph: Graph, ops: Ops): Refusal | null {
  const opaque = ops.length > 1 ? ops.filter((op) => graph.ops[op]?.kind === "opaque") : [];
  if (opaque.length > 0) return { code: "barrier", path: opaque };
  const clash = clashes(graph, [], () => clashesOf(graph));
  const products = ops.filter((op) => isProduct(graph, op)).sort((a, b) => a - b);
  for (const [place, one] of products.entries())
    for (const other of products.slice(place + 1)) {
      const form = clash(one, other);
      if (form) return { code: form.code, path: form.ops, form };
    }
  const path = wayBack(graph, ops);
  return path && { code: "not-convex", path };
}

/** Returns why two groups of a legal partition may not merge; null if they may merge. */
export function whyNot(
  graph: Graph,
  partition: Partition,
  a: number,
  b: number,
  refusalOf: RefusalOf = () => null,
): Refusal | null {
  const [one, other] = [listOf(partition.groups, a), listOf(partition.groups, b)];
  if (a === b) return { code: "same", path: [] };
  const tensors = new Set(allOf(graph.touches, one));
  const share = other.some((op) => listOf(graph.touches, op).some((tensor) => tensors.has(tensor)));
  if (!share) return { code: "not-connected", path: [] };
  return whyNoKernel(graph, partition, [a, b], refusalOf);
}

/** Why groups of a partition may not be one kernel on any chip, by their numbers: sizes do not change this. */
const onEveryChip = memoize<Map<string, Refusal | null>>();

/** Returns why connected groups may not be one kernel; null if they may. */
function whyNoKernel(
  graph: Graph,
  partition: Partition,
  which: readonly number[],
  refusalOf: RefusalOf,
): Refusal | null {
  const union = allOf(partition.groups, which).sort((x, y) => x - y);
  const known = onEveryChip(partition, [graph], () => new Map());
  const key = which.join();
  let refusal = known.get(key);
  if (refusal === undefined) {
    refusal = broken(graph, union);
    const path = refusal ? null : wayBack(graph, union, partition);
    if (path) refusal = { code: "cycle", path };
    known.set(key, refusal);
  }
  if (refusal) return refusal;
  const form = refusalOf(union);
  return form && { code: form.code, path: form.ops, form };
}

/** Returns the groups that share a tensor with `group`, ascending. */
export function neighbours(graph: Graph, partition: Partition, group: number): number[] {
  const found = new Set<number>();
  const take = (op: number) => {
    const at = op < 0 ? group : groupAt(partition, op);
    if (at !== group) found.add(at);
  };
  for (const tensor of new Set(allOf(graph.touches, listOf(partition.groups, group)))) {
    take(makerOf(graph, tensor));
    for (const op of listOf(graph.consumers, tensor)) take(op);
  }
  return [...found].sort((a, b) => a - b);
}

/**
 * Returns the groups that become one kernel when a person merges two, or why none does. Two groups may be no kernel where
 * they and one beside them are, such as a product and the softmax of its rows without the product that reads them.
 */
export function mergedWith(
  graph: Graph,
  partition: Partition,
  a: number,
  b: number,
  refusalOf: RefusalOf,
): readonly number[] | Refusal {
  const refusal = whyNot(graph, partition, a, b, refusalOf);
  if (!refusal) return [a, b];
  if (!refusal.form) return refusal;
  const beside = new Set([a, b].flatMap((group) => neighbours(graph, partition, group)));
  const third = [...beside].find(
    (one) => one !== a && one !== b && !whyNoKernel(graph, partition, [a, b, one], refusalOf),
  );
  return third === undefined ? refusal : [a, b, third];
}

/** Returns the groups that `group` may merge with, ascending. */
export const mergesOf = (graph: Graph, partition: Partition, group: number, refusalOf?: RefusalOf): number[] =>
  neighbours(graph, partition, group).filter((other) => !whyNot(graph, partition, group, other, refusalOf));
