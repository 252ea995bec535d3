// The fastest partition: by trying all that there are where that is affordable, else step by step.

import { partitionOf, precisionOf } from "./fusion.ts";
import { dtypeOf, type Graph, isFloating, type Values } from "./graph.ts";
import { type Cost, greedily, lineOf, timeOf } from "./greedy.ts";
import { apart, clash, type Fits, linked, neighbours, type Partition } from "./legality.ts";
import { peakFor, type Roof } from "./roofline.ts";

type Ops = readonly number[];

export interface Found extends Partition {
  readonly seconds: number;
  readonly how: "optimal" | "greedy";
  /** Steps that the exact search looked at: a set of finished ops, and a group to run next. */
  readonly evaluations: number;
}

/** Steps that the exact search may look at. */
const LIMIT = 100_000;
/** Times closer than this (relative) are a tie, which fewer kernels win. */
const TIE = 1e-12;

/** What a roof says of kernels, as `judge` does; with a precision asked for it judges every group, else its own does. */
export function costOn(graph: Graph, values: Values, roof: Roof, ownPrecision = true): Cost {
  const { overlap, exposedComm, launchOverhead } = roof.conditions;
  // Most graphs are of one dtype: it need not be found anew for each group.
  const dtypes = graph.tensors.map((_, tensor) => dtypeOf(graph, values, tensor)).filter(isFloating);
  const all = new Set([...dtypes, ...graph.ops.map((_, op) => precisionOf(graph, values, [op]))]);
  const [only] = all;
  return (flops, bytes, group) => {
    const own = !ownPrecision ? null : all.size === 1 ? (only ?? null) : precisionOf(graph, values, group);
    const peak = (word: string) => peakFor(roof, word, own) ?? Number.NaN;
    const compute = graph.classes.reduce(
      (sum, word, at) => sum + (flops[at] ? (flops[at] as number) / peak(word) : 0),
      0,
    );
    const memory = bytes / roof.bandwidth;
    const body = Math.max(compute, memory) + (1 - overlap) * Math.min(compute, memory);
    return Math.max(body / (1 - exposedComm), launchOverhead);
  };
}

/** The fastest partition: of all there are where that takes at most this many steps, else what merging pairs finds. */
export function best(graph: Graph, values: Values, cost: Cost, fits: Fits = () => true, limit = LIMIT): Found {
  const time = timeOf(graph, values, cost);
  const found = optimal(graph, values, cost, fits, limit);
  const partition = found.groups ? partitionOf(graph, found.groups) : greedily(graph, time, fits, TIE);
  return {
    ...partition,
    seconds: partition.groups.reduce((sum, group) => sum + time(group), 0),
    how: found.groups ? "optimal" : "greedy",
    evaluations: found.evaluations,
  };
}

/** Some finished ops, with each all that it depends on, and the fastest way found to finish them. */
interface State {
  /** The ops that can run next: they tell which are finished. */
  readonly ready: Ops;
  seconds: number;
  kernels: number;
  before: State | null;
  group: Ops;
}

interface Tried {
  /** Null where the limit was reached. */
  readonly groups: readonly Ops[] | null;
  readonly evaluations: number;
}

/** Searches parts that share no tensor one by one. */
function optimal(graph: Graph, values: Values, cost: Cost, fits: Fits, limit: number): Tried {
  const kernel = growing(graph, values);
  const groups: Ops[] = [];
  let evaluations = 0;
  for (const part of linked(graph, [...graph.ops.keys()])) {
    const tried = fastest(graph, part, kernel, cost, fits, limit - evaluations);
    evaluations += tried.evaluations;
    if (!tried.groups) return { groups: null, evaluations };
    groups.push(...tried.groups);
  }
  return { groups, evaluations };
}

/**
 * Dynamic programming over sets of finished ops. A step runs one more connected group whose ops wait for nothing else:
 * such groups are convex and never wait for each other, so that only kinds and capacity are left to check.
 */
function fastest(graph: Graph, part: Ops, kernel: Growing, cost: Cost, fits: Fits, limit: number): Tried {
  const nothing = { seconds: 0, kernels: 0, before: null, group: [] };
  const start: State = { ...nothing, ready: part.filter((op) => graph.before[op]?.length === 0) };
  const states = new Map<string, State>();
  const bySize: State[][] = [[start], ...part.map(() => [])];
  let evaluations = 0;

  /** Tries the group as it is, and then with each op that shares a tensor with it and all that this op waits for. */
  const grow = (from: State, size: number, seen: Set<string>, op: number, ready: Ops, near: Ops, before: Load) => {
    const added = evaluations > limit ? null : kernel.closure(op);
    if (!added) return;
    const [next, load] = kernel.enter(added, ready, before);
    const key = next.join();
    if (!seen.has(key) && ++evaluations <= limit) {
      seen.add(key);
      look(from, size + kernel.group.length, key, next, load);
      const touching = [...new Set([...near, ...added.flatMap(kernel.near)])].filter((other) => !kernel.isDone(other));
      for (const other of touching) grow(from, size, seen, other, next, touching, load);
    }
    kernel.leave(added);
  };
  const look = (from: State, size: number, key: string, ready: Ops, { flops, bytes }: Load) => {
    const group = [...kernel.group].sort((a, b) => a - b);
    if (apart(graph, group) || !fits(group)) return;
    const seconds = from.seconds + cost(flops, bytes, group);
    const kernels = from.kernels + 1;
    const old = states.get(key);
    const way = { seconds, kernels, before: from, group };
    if (!old) {
      const state = { ready, ...way };
      states.set(key, state);
      bySize[size]?.push(state);
    } else if (Math.abs(seconds - old.seconds) <= TIE * old.seconds ? kernels < old.kernels : seconds < old.seconds) {
      Object.assign(old, way);
    }
  };
  bySize.forEach((some, size) => {
    for (const state of some) {
      kernel.reset(chain(state));
      const seen = new Set<string>();
      for (const op of state.ready) grow(state, size, seen, op, state.ready, [], kernel.empty);
    }
  });
  const end = bySize[part.length]?.[0];
  return { groups: evaluations > limit || !end ? null : chain(end), evaluations: Math.min(evaluations, limit) };
}

function chain(state: State): Ops[] {
  const groups: Ops[] = [];
  for (let at = state; at.before; at = at.before) groups.push(at.group);
  return groups.reverse();
}

/** What a kernel moves and computes. */
interface Load {
  readonly flops: Float64Array;
  readonly bytes: number;
}

/** A group that ops enter and leave, each after those it reads from; what it moves follows op by op. */
function growing(graph: Graph, { bytes, extra, flops }: Values) {
  const n = graph.ops.length;
  const [done, inside, clashes] = [new Uint8Array(n), new Uint8Array(n), new Uint8Array(n * n)];
  const uses = new Int32Array(graph.tensors.length);
  const group: number[] = [];
  const line = lineOf(graph);
  const clashing = (a: number, b: number) => {
    const at = Math.min(a, b) * n + Math.max(a, b);
    clashes[at] ||= clash(graph, a < b ? [a, b] : [b, a]) ? 2 : 1;
    return clashes[at] === 2;
  };
  const waitingFor = (op: number) => (graph.before[op] as Ops).filter((other) => !done[other]);
  const use = (tensor: number, more: number) => {
    const count = (uses[tensor] as number) + more;
    uses[tensor] = count;
    return count;
  };
  /** The bytes that an op adds to the group: what it reads from inside may no longer have to be written. */
  const join = (op: number): number => {
    [done[op], inside[op]] = [1, 1];
    group.push(op);
    let moved = extra[op] as number;
    for (const tensor of graph.reads[op] as Ops) {
      const count = use(tensor, 1);
      const size = bytes[tensor] as number;
      if (!inside[graph.producer[tensor] as number]) moved += count === 1 ? size : 0;
      else if (count === graph.consumers[tensor]?.length && !graph.isOutput[tensor]) moved -= size;
    }
    for (const tensor of graph.makes[op] as Ops) moved += bytes[tensor] as number;
    return moved;
  };
  return {
    group: group as Ops,
    empty: { flops: new Float64Array(flops.length), bytes: 0 } as Load,
    isDone: (op: number) => done[op] === 1,
    /** An op and all that it waits for, in order; null if one of them clashes with another or with the group. */
    closure(op: number): Ops | null {
      const found = new Set<number>();
      const left = [op];
      for (let at = left.pop(); at !== undefined; at = left.pop()) {
        if (found.has(at)) continue;
        const one = at;
        if (group.some((other) => clashing(one, other)) || [...found].some((other) => clashing(one, other)))
          return null;
        found.add(at);
        left.push(...waitingFor(at));
      }
      return [...found].sort((a, b) => a - b);
    },
    near: memoized((op) => neighbours(graph, line, op)),
    /** What can run next, and the load, once these ops are in the group. */
    enter(ops: Ops, ready: Ops, load: Load): [Ops, Load] {
      const next = new Set(ready);
      let moved = load.bytes;
      for (const op of ops) {
        moved += join(op);
        next.delete(op);
        for (const later of graph.after[op] as Ops) if (waitingFor(later).length === 0) next.add(later);
      }
      const work = load.flops.map((sum, at) => ops.reduce((all, op) => all + (flops[at]?.[op] as number), sum));
      return [[...next].sort((a, b) => a - b), { flops: work, bytes: moved }];
    },
    leave(ops: Ops) {
      for (const op of ops) {
        [done[op], inside[op]] = [0, 0];
        for (const tensor of graph.reads[op] as Ops) use(tensor, -1);
      }
      group.length -= ops.length;
    },
    /** Starts anew with the ops of these groups finished. */
    reset(groups: readonly Ops[]) {
      done.fill(0);
      for (const op of groups.flat()) done[op] = 1;
    },
  };
}

type Growing = ReturnType<typeof growing>;

function memoized<T>(make: (at: number) => T): (at: number) => T {
  const known: T[] = [];
  return (at) => {
    known[at] ??= make(at);
    return known[at] as T;
  };
}
