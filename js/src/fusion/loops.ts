// The loops of ops: which axes of their tensors a kernel walks together. Mirrors roofwidget/workloads/loops.py.

import { memoize, once } from "../ui/memoize.ts";
import { type Graph, type GraphValues, listOf, type Ops } from "./graph.ts";

/** A set of loops, or of the ops of a group: bit i is 1 if i is in the set. */
export type Bits = bigint;

/** The loops of one axis: letters, none for an axis of one element, or null for an axis that is read in any order. */
type Axis = readonly string[] | null;

/** The loops of one op, by tensor: those of each axis. A tensor that is listed twice has those of its first place. */
interface Walk {
  readonly reads: ReadonlyMap<number, readonly Axis[]>;
  readonly makes: ReadonlyMap<number, readonly Axis[]>;
  readonly hasAnyOrder: boolean;
}

export interface Loops {
  /** The size of each loop, elements. */
  readonly sizes: readonly number[];
  /** For each tensor: the loops of each axis. */
  readonly axes: ReadonlyMap<number, readonly Bits[]>;
  /** Returns the loops of a tensor. */
  readonly of: (tensor: number) => Bits;
  /** Returns the loops of the results of an op. */
  readonly results: (op: number) => Bits;
  /** Returns the tensors that an op reads, with the loops that the op walks in each. */
  readonly operands: (op: number) => readonly (readonly [tensor: number, loops: Bits])[];
  /** Returns the loops that a reduction or a product adds up. */
  readonly over: (op: number) => Bits;
  /**
   * A tensor made in the group of which two axes are one loop. Each block of such a kernel would need elements that
   * other blocks make.
   */
  readonly joined: number | undefined;
}

export const bit = (at: number): Bits => 1n << BigInt(at);
export const unionOf = (sets: Iterable<Bits>): Bits => {
  let all = 0n;
  for (const set of sets) all |= set;
  return all;
};
export const setOf = (members: Iterable<number>): Bits => {
  let all = 0n;
  for (const at of members) all |= bit(at);
  return all;
};
/** Returns the members of a set, ascending. */
export function membersOf(set: Bits): number[] {
  const found: number[] = [];
  let [left, at] = [set, 0];
  while (left > 0n) {
    // 32 at a time, because shifts of large sets are slow.
    for (let word = Number(left & 0xffffffffn); word > 0; ) {
      const low = 31 - Math.clz32(word & -word);
      found.push(at + low);
      word = (word ^ (1 << low)) >>> 0;
    }
    left >>= 32n;
    at += 32;
  }
  return found;
}
export const countOf = ({ sizes }: Loops, set: Bits): number =>
  membersOf(set).reduce((total, loop) => total * (sizes[loop] as number), 1);

const walksByGraph = memoize<readonly Walk[]>();

export const walksOf = (graph: Graph): readonly Walk[] =>
  walksByGraph(graph, [], () => graph.ops.map((_, op) => walkOf(graph, op)));

function walkOf(graph: Graph, op: number): Walk {
  const { index, inputs, outputs } = graph.ops[op] as Graph["ops"][number];
  const [left, right] = index?.split("->") ?? [];
  const side = (text: string | undefined, tensors: Ops) => {
    const parts = text?.split(",");
    const found = new Map<number, readonly Axis[]>();
    tensors.forEach((tensor, at) => {
      const rank = graph.tensors[tensor]?.shape.length ?? 0;
      const axes = parts ? axesOf(parts[at] ?? "") : Array.from({ length: rank }, () => null);
      if (!found.has(tensor)) found.set(tensor, axes);
    });
    return found;
  };
  const [reads, makes] = [side(left, inputs), side(right, outputs)];
  return { reads, makes, hasAnyOrder: [...reads.values()].some((axes) => axes.includes(null)) };
}

/** Parses the axes of one tensor, such as "m(hd)" or "1*d". */
const axesOf = (text: string): Axis[] =>
  [...text.matchAll(/\(([A-Za-z]+)\)|([A-Za-z])|1|(\*)/g)].map(([, several, letter, anyOrder]) =>
    several ? [...several] : letter ? [letter] : anyOrder ? null : [],
  );

/** Axes that are joined one after the other. An axis is a list of nodes, and a node may be split into others. */
function joining() {
  const size: number[] = [];
  const parent: number[] = [];
  const parts = new Map<number, readonly number[]>();
  const node = (elements: number) => {
    size.push(elements);
    return parent.push(parent.length) - 1;
  };
  const find = (at: number): number => {
    let top = at;
    while (parent[top] !== top) {
      parent[top] = parent[parent[top] as number] as number;
      top = parent[top] as number;
    }
    return top;
  };
  /** Calls a function with each loop of an axis, without loops that were split. */
  function each(nodes: Ops, take: (root: number) => void) {
    for (const one of nodes) {
      const root = find(one);
      const inner = parts.get(root);
      if (inner) each(inner, take);
      else take(root);
    }
  }
  function expanded(nodes: Ops): number[] {
    const found: number[] = [];
    each(nodes, (root) => found.push(root));
    return found;
  }
  const unite = (a: number, b: number) => {
    if (a === b) return;
    size[a] = Math.max(size[a] as number, size[b] as number);
    parent[b] = a;
  };
  /** Splits a loop into `first` and the rest, and returns the rest. */
  const splitOff = (one: number, first: number) => {
    const rest = node(Math.floor((size[one] as number) / (size[first] as number)));
    parts.set(one, [first, rest]);
    return rest;
  };
  /** Makes two axes the same loops, from the slowest loop on. Parts that do not match stay apart. */
  function join(one: Ops, other: Ops) {
    const [left, right] = [expanded(one), expanded(other)];
    if (left.length === 1 && right.length === 1) return unite(left[0] as number, right[0] as number);
    for (let [a, b] = [left.shift(), right.shift()]; a !== undefined && b !== undefined; ) {
      const [wide, narrow] = [size[a] as number, size[b] as number];
      if (a !== b) {
        if (wide === narrow) unite(a, b);
        else if (wide % narrow === 0) left.unshift(splitOff(a, b));
        else if (narrow % wide === 0) right.unshift(splitOff(b, a));
        else return;
      }
      [a, b] = [left.shift(), right.shift()];
    }
  }
  return { node, each, expanded, join, size };
}

type Joining = ReturnType<typeof joining>;

/** Returns a node for each letter of an op. A letter that is only a part of an axis gets what the axis leaves. */
function nodesOf(joined: Joining, { reads, makes }: Walk, shape: (tensor: number) => Ops): Map<string, number> {
  const sizes = new Map<string, number>();
  const several: [readonly string[], number][] = [];
  for (const [tensor, axes] of [...reads, ...makes])
    axes.forEach((axis, at) => {
      const size = shape(tensor)[at] as number;
      if (axis?.length === 1) sizes.set(axis[0] as string, Math.max(size, sizes.get(axis[0] as string) ?? 1));
      else if (axis && axis.length > 1) several.push([axis, size]);
    });
  for (const [axis, size] of several) {
    let left = size;
    for (const letter of axis) left = Math.floor(left / (sizes.get(letter) ?? 1));
    for (const letter of axis) {
      if (sizes.has(letter)) continue;
      sizes.set(letter, Math.max(left, 1));
      left = 1;
    }
  }
  return new Map([...sizes].map(([letter, size]) => [letter, joined.node(size)]));
}

function loopsAmong(graph: Graph, ops: Ops, shape: (tensor: number) => Ops): Loops {
  const joined = joining();
  const walks = walksOf(graph);
  const inside = new Set(ops);
  const isMade = (tensor: number) => inside.has(graph.producer[tensor] as number);
  const axes = new Map<number, number[][]>();
  const letters = new Map<number, Map<string, number>>();
  const later: [tensor: number, axes: number[][]][] = [];
  const join = (tensor: number, mine: number[][]) =>
    axes.get(tensor)?.forEach((own, at) => {
      const other = mine[at] as number[];
      if (own.length > 0 && other.length > 0) joined.join(own, other);
    });
  for (const op of ops) {
    const walk = walks[op] as Walk;
    const own = nodesOf(joined, walk, shape);
    letters.set(op, own);
    for (const [tensor, each] of [...walk.reads, ...walk.makes]) {
      const mine = each.map((axis) => axis?.map((letter) => own.get(letter) as number) ?? []);
      if (!axes.has(tensor))
        axes.set(
          tensor,
          mine.map((nodes, at) => (nodes.length > 0 ? nodes : [joined.node(shape(tensor)[at] as number)])),
        );
      else if (isMade(tensor)) join(tensor, mine);
      else later.push([tensor, mine]);
    }
  }
  // A tensor that enters and that two ops walk in different ways is read in two ways.
  for (const [tensor, mine] of later) if (!wouldMerge(joined, axes, tensor, mine)) join(tensor, mine);
  const numbers = new Map<number, number>();
  const setOf = (nodes: Ops): Bits => {
    let found = 0n;
    joined.each(nodes, (root) => {
      // A loop over one element is none.
      if (joined.size[root] === 1) return;
      const at = numbers.get(root) ?? numbers.size;
      numbers.set(root, at);
      found |= bit(at);
    });
    return found;
  };
  const numbered = new Map([...axes].map(([tensor, each]) => [tensor, each.map(setOf)]));
  const ofOp = new Map(
    [...letters].map(([op, own]) => [op, new Map([...own].map(([letter, one]) => [letter, setOf([one])]))]),
  );
  const twice = [...numbered].find(([tensor, each]) => isMade(tensor) && overlap(each));
  const of = once((tensor) => unionOf(numbered.get(tensor) ?? []));
  /** Returns the loops of some axes of an op. */
  const walked = (op: number, some: readonly (Axis | undefined)[]) =>
    unionOf(some.flatMap((axis) => axis?.map((letter) => ofOp.get(op)?.get(letter) ?? 0n) ?? []));
  return {
    of,
    results: once((op) => unionOf(listOf(graph.makes, op).map(of))),
    operands: once((op) => [...(walks[op] as Walk).reads].map(([tensor, each]) => [tensor, walked(op, each)] as const)),
    over: once((op) => {
      const { reads, makes } = walks[op] as Walk;
      if (graph.ops[op]?.kind === "matmul") {
        const kept = new Set([...makes.values()].flat(2));
        return unionOf([...(ofOp.get(op) ?? [])].flatMap(([letter, set]) => (kept.has(letter) ? [] : [set])));
      }
      const [first = []] = reads.values();
      return walked(op, graph.ops[op]?.axes?.map((axis) => first[axis]) ?? []);
    }),
    sizes: [...numbers.keys()].map((root) => joined.size[root] as number),
    axes: numbered,
    joined: twice?.[0],
  };
}

/** Whether joining the axes of an entering tensor would make two axes of one tensor the same loop. */
function wouldMerge(joined: Joining, axes: ReadonlyMap<number, number[][]>, tensor: number, mine: number[][]): boolean {
  const pairs = new Map<number, number>();
  axes.get(tensor)?.forEach((own, at) => {
    const [left, right] = [joined.expanded(own), joined.expanded(mine[at] as number[])];
    if (left.length === right.length)
      left.forEach((one, place) => {
        if (one !== right[place]) pairs.set(right[place] as number, one);
      });
  });
  if (pairs.size === 0) return false;
  /** For each loop: the last tensor that had it. */
  const last = new Int32Array(joined.size.length).fill(-1);
  let isTwice = false;
  for (const [at, each] of axes)
    for (const nodes of each)
      joined.each(nodes, (found) => {
        const root = pairs.get(found) ?? found;
        if (last[root] === at) isTwice = true;
        last[root] = at;
      });
  return isTwice;
}

function overlap(axes: Iterable<Bits>): boolean {
  let seen = 0n;
  for (const axis of axes) {
    if ((seen & axis) > 0n) return true;
    seen |= axis;
  }
  return false;
}

/**
 * Returns a function that finds the loops of a group. They are those of the whole graph, unless this makes two axes of a
 * tensor of the group the same loop.
 */
export function loopFinder(graph: Graph, { shape }: GraphValues): (ops: Ops) => Loops {
  const shapes = graph.tensors.map((_, tensor) => shape(tensor));
  const shapeOf = (tensor: number) => shapes[tensor] as readonly number[];
  const all = loopsAmong(graph, [...graph.ops.keys()], shapeOf);
  const apart = new Set<number>();
  for (const [tensor, axes] of all.axes)
    if (overlap(axes))
      for (const op of [graph.producer[tensor] as number, ...(graph.consumers[tensor] as Ops)]) apart.add(op);
  return (ops) => (ops.some((op) => apart.has(op)) ? loopsAmong(graph, ops, shapeOf) : all);
}
