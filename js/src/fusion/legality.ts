// Which ops may run as one kernel, and why other ops may not run as one kernel. Mirrors the rules of
// roofwidget/workloads/legality.py.

import type { OpKind } from "../wire/types.ts";
import { clashingReductions } from "./axes.ts";
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
 * The broken rule between kinds of ops. "epilogue": a matmul's group has an op that cannot be its epilogue. "fed": an
 * op of the group feeds a matmul of the group. "operands": two matmuls share no operand. "apart": an op is not
 * connected to the matmul. "rows": reductions run over different rows. "moved": an op moves elements after a reduction.
 */
export type Rule = "epilogue" | "fed" | "operands" | "apart" | "rows" | "moved";

export interface Refusal {
  readonly code: RefusalCode;
  /**
   * For a clash of kinds or of axes: the two ops. For a kernel that is not convex: the ops of the path that leaves the
   * kernel and returns to it, from first to last.
   */
  readonly path: readonly number[];
  readonly rule?: Rule;
}

/** Tests whether the tiles of these ops fit on chip as one kernel. */
export type Fits = (ops: readonly number[]) => boolean;

/**
 * Returns the test for a chip whose capacity is unknown. Tiles fit unless two reductions of the kernel need different
 * tiles.
 */
export const fitsUnlessClashing =
  (graph: Graph): Fits =>
  (ops) =>
    clashingReductions(graph, ops) === null;

export const EPILOGUE: readonly (OpKind | undefined)[] = ["matmul", "elementwise", "broadcast"];

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

/** Returns the shape that a reduction runs over, as a text. */
export const rowsOf = ({ ops, tensors }: Graph, op: number): string =>
  JSON.stringify(tensors[ops[op]?.inputs[0] ?? -1]?.shape);

const kinds = (rule: Rule, path: Ops): Refusal => ({ code: "kinds", rule, path });

/**
 * Returns a rule that the group breaks, and would still break with more ops. For example, an op of the group feeds a
 * matmul of the group. Returns null if the group breaks no such rule.
 */
export function clash(graph: Graph, ops: Ops): Refusal | null {
  if (ops.length < 2) return null;
  const are = (kind: OpKind) => ops.filter((op) => graph.ops[op]?.kind === kind);
  const opaque = are("opaque");
  if (opaque.length > 0) return { code: "barrier", path: opaque };
  const matmuls = are("matmul");
  if (matmuls.length > 0) {
    const strange = ops.find((op) => !EPILOGUE.includes(graph.ops[op]?.kind));
    if (strange !== undefined) return kinds("epilogue", [matmuls[0] as number, strange]);
    const inside = flagged(graph.ops.length, ops);
    for (const op of matmuls) {
      const feeding = listOf(graph.before, op).find((other) => inside[other]);
      if (feeding !== undefined) return kinds("fed", [feeding, op]);
      const other = matmuls.find((each) => !shareOperand(graph, op, each));
      if (other !== undefined && other !== op) return kinds("operands", [op, other]);
    }
    return null;
  }
  const [reduction, ...others] = are("reduction");
  if (reduction === undefined) return null;
  const other = others.find((each) => rowsOf(graph, each) !== rowsOf(graph, reduction));
  if (other !== undefined) return kinds("rows", [reduction, other]);
  const movers = are("injective");
  for (const each of movers.length > 0 ? [reduction, ...others] : []) {
    const later = reached(graph, each, graph.after);
    const mover = movers.find((op) => later[op]);
    if (mover !== undefined) return kinds("moved", [each, mover]);
  }
  return null;
}

/**
 * Returns an op that no path of tensors inside the group connects to a matmul of the group; null if all ops are
 * connected to a matmul.
 */
export function apart(graph: Graph, ops: Ops): Refusal | null {
  const isMatmul = (op: number) => graph.ops[op]?.kind === "matmul";
  const matmul = ops.find(isMatmul);
  if (matmul === undefined) return null;
  const inside = new Set(ops);
  const parts = linked(graph, ops, (tensor) => inside.has(makerOf(graph, tensor)));
  const alone = parts.find((part) => !part.some(isMatmul));
  return alone ? kinds("apart", [matmul, alone[0] as number]) : null;
}

/**
 * Returns a path that leaves these ops and returns to them; null if there is no such path. If `within` is given, the
 * path may pass through the groups of this partition, because an op that reads from a group waits for all ops of the
 * group.
 */
export function wayBack(graph: Graph, ops: Ops, within?: Partition): number[] | null {
  const inside = flagged(graph.ops.length, ops);
  const from = new Int32Array(graph.ops.length).fill(-1);
  const left: number[] = [];
  const reach = (op: number, by: number) => {
    if (from[op] !== -1) return;
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

/**
 * Returns the rule that a group breaks, without regard to other groups. This function does not check whether the group
 * is connected.
 */
export function broken(graph: Graph, ops: Ops): Refusal | null {
  const refusal = clash(graph, ops) ?? apart(graph, ops);
  if (refusal) return refusal;
  const path = wayBack(graph, ops);
  return path && { code: "not-convex", path };
}

/** Returns why two groups of a legal partition may not merge; null if they may merge. */
export function whyNot(
  graph: Graph,
  partition: Partition,
  a: number,
  b: number,
  fits: Fits = fitsUnlessClashing(graph),
): Refusal | null {
  const [one, other] = [listOf(partition.groups, a), listOf(partition.groups, b)];
  if (a === b) return { code: "same", path: [] };
  const tensors = new Set(allOf(graph.touches, one));
  const share = other.some((op) => listOf(graph.touches, op).some((tensor) => tensors.has(tensor)));
  if (!share) return { code: "not-connected", path: [] };
  const union = [...one, ...other].sort((x, y) => x - y);
  const refusal = broken(graph, union);
  if (refusal) return refusal;
  const path = wayBack(graph, union, partition);
  if (path) return { code: "cycle", path };
  if (fits(union)) return null;
  const clashing = clashingReductions(graph, union);
  return clashing ? { code: "axes", path: clashing } : { code: "capacity", path: union };
}

/** Returns the groups that share a tensor with `group`, ascending. */
export function neighbours(graph: Graph, partition: Partition, group: number): number[] {
  const found = new Set<number>();
  for (const tensor of new Set(allOf(graph.touches, listOf(partition.groups, group)))) {
    const producer = makerOf(graph, tensor);
    if (producer >= 0) found.add(groupAt(partition, producer));
    for (const op of listOf(graph.consumers, tensor)) found.add(groupAt(partition, op));
  }
  found.delete(group);
  return [...found].sort((a, b) => a - b);
}

/** Returns the groups that `group` may merge with, ascending. */
export const mergesOf = (graph: Graph, partition: Partition, group: number, fits?: Fits): number[] =>
  neighbours(graph, partition, group).filter((other) => !whyNot(graph, partition, group, other, fits));
