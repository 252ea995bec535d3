// Which ops may run as one kernel, and why not: the rules of roofwidget/workloads/legality.py.

import type { OpKind } from "../wire/types.ts";
import type { Graph, Ops } from "./graph.ts";

/** Which ops run as one kernel. Ops ascend in a group; a group stands after those whose tensors it reads. */
export interface Partition {
  readonly groups: readonly (readonly number[])[];
  /** By op. */
  readonly groupOf: Int32Array;
}

/** In the order in which they are checked. */
export type RefusalCode = "same" | "not-connected" | "barrier" | "kinds" | "not-convex" | "cycle" | "capacity";

/**
 * The rule between kinds that is broken: a matmul with an op that cannot be its epilogue, fed by its own group, with
 * another that shares no operand, or with ops it has nothing to do with; reductions over other rows; ops that move
 * elements after a reduction.
 */
export type Rule = "epilogue" | "fed" | "operands" | "apart" | "rows" | "moved";

export interface Refusal {
  readonly code: RefusalCode;
  /** Ops: those that clash, or the way out of the kernel and back into it, from its first op to its last. */
  readonly path: readonly number[];
  readonly rule?: Rule;
}

/** Whether the tiles of these ops, as one kernel, fit on chip. */
export type Fits = (ops: readonly number[]) => boolean;

export const EPILOGUE: readonly (OpKind | undefined)[] = ["matmul", "elementwise", "broadcast"];

export function flagged(n: number, ops: Iterable<number>): Uint8Array {
  const flags = new Uint8Array(n);
  for (const op of ops) flags[op] = 1;
  return flags;
}

/** The sets of ops that are joined by the tensors that count, each ascending, by their first ops. */
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
    for (const tensor of graph.touches[op] as Ops) {
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

/** All ops that depend on one (with `graph.after`), or that it depends on (with `graph.before`). */
export function reached(graph: Graph, op: number, along: Graph["after"]): Uint8Array {
  const seen = new Uint8Array(graph.ops.length);
  const left = [op];
  for (let at = left.pop(); at !== undefined; at = left.pop()) {
    for (const next of along[at] as Ops) {
      if (!seen[next]) left.push(next);
      seen[next] = 1;
    }
  }
  return seen;
}

const kinds = (rule: Rule, path: Ops): Refusal => ({ code: "kinds", rule, path });

/** What keeps these ops apart whatever other ops join them. */
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
      const feeding = (graph.before[op] as Ops).find((other) => inside[other]);
      if (feeding !== undefined) return kinds("fed", [feeding, op]);
      const other = matmuls.find((each) => !graph.reads[op]?.some((tensor) => graph.reads[each]?.includes(tensor)));
      if (other !== undefined && other !== op) return kinds("operands", [op, other]);
    }
    return null;
  }
  const [reduction, ...others] = are("reduction");
  if (reduction === undefined) return null;
  const rows = (op: number) => JSON.stringify(graph.tensors[graph.ops[op]?.inputs[0] as number]?.shape);
  const other = others.find((each) => rows(each) !== rows(reduction));
  if (other !== undefined) return kinds("rows", [reduction, other]);
  const movers = are("injective");
  for (const each of movers.length > 0 ? [reduction, ...others] : []) {
    const later = reached(graph, each, graph.after);
    const mover = movers.find((op) => later[op]);
    if (mover !== undefined) return kinds("moved", [each, mover]);
  }
  return null;
}

/** Ops of a matmul's group that none of its matmuls is joined with by tensors that stay inside. */
export function apart(graph: Graph, ops: Ops): Refusal | null {
  const isMatmul = (op: number) => graph.ops[op]?.kind === "matmul";
  const matmul = ops.find(isMatmul);
  if (matmul === undefined) return null;
  const inside = new Set(ops);
  const parts = linked(graph, ops, (tensor) => inside.has(graph.producer[tensor] as number));
  const alone = parts.find((part) => !part.some(isMatmul));
  return alone ? kinds("apart", [matmul, alone[0] as number]) : null;
}

/**
 * A way out of these ops and back, through ops or, with a partition, through its other groups too: whoever waits for
 * one op of a group waits for all of it.
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
  for (const op of ops) for (const next of graph.after[op] as Ops) if (!inside[next]) reach(next, op);
  for (let head = 0; head < left.length; head++) {
    const op = left[head] as number;
    for (const next of graph.after[op] as Ops) {
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

/** What is wrong with a group by itself, whether connected or not. */
export function broken(graph: Graph, ops: Ops): Refusal | null {
  const refusal = clash(graph, ops) ?? apart(graph, ops);
  if (refusal) return refusal;
  const path = wayBack(graph, ops);
  return path && { code: "not-convex", path };
}

/** Why two groups of a legal partition may not become one, or null. */
export function whyNot(graph: Graph, partition: Partition, a: number, b: number, fits?: Fits): Refusal | null {
  const [one, other] = [partition.groups[a] as Ops, partition.groups[b] as Ops];
  if (a === b) return { code: "same", path: [] };
  const tensors = new Set(one.flatMap((op) => graph.touches[op] as Ops));
  const share = other.some((op) => (graph.touches[op] as Ops).some((tensor) => tensors.has(tensor)));
  if (!share) return { code: "not-connected", path: [] };
  const union = [...one, ...other].sort((x, y) => x - y);
  const refusal = broken(graph, union);
  if (refusal) return refusal;
  const path = wayBack(graph, union, partition);
  if (path) return { code: "cycle", path };
  return !fits || fits(union) ? null : { code: "capacity", path: union };
}

/** The groups that share a tensor with one, ascending. */
export function neighbours(graph: Graph, partition: Partition, group: number): number[] {
  const found = new Set<number>();
  for (const tensor of new Set((partition.groups[group] as Ops).flatMap((op) => graph.touches[op] as Ops))) {
    const producer = graph.producer[tensor] as number;
    if (producer >= 0) found.add(partition.groupOf[producer] as number);
    for (const op of graph.consumers[tensor] as Ops) found.add(partition.groupOf[op] as number);
  }
  found.delete(group);
  return [...found].sort((a, b) => a - b);
}

/** The groups that one may be merged with, ascending. */
export const mergesOf = (graph: Graph, partition: Partition, group: number, fits?: Fits): number[] =>
  neighbours(graph, partition, group).filter((other) => !whyNot(graph, partition, group, other, fits));
