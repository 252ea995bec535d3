// The fastest partition. A small graph is searched exactly; a larger graph is merged greedily.

import { peakFor, type Roof } from "../roofline/roofline.ts";
import type { Work } from "../ui/slices.ts";
import { ascending, type MergeGroup, type MergeGroups, mergeGroupsOf } from "./bodies.ts";
import { dtypeOf, type Graph, type GraphValues, isFloating, listOf, makerOf, type Ops } from "./graph.ts";
import { mergeGreedily } from "./greedy.ts";
import { apart, type Fits, fitsUnlessClashing, linked, neighbours, type Partition } from "./legality.ts";
import { type Cost, partitionOf, precisionOf, timeOf, unfused } from "./partition.ts";

export interface BestPartition extends Partition {
  readonly seconds: number;
  readonly how: "optimal" | "greedy";
  /**
   * Number of steps of the exact search. In a step, the search tries one group that can run next after a set of
   * finished ops.
   */
  readonly evaluations: number;
}

/** Maximum number of steps of the exact search. */
const MAX_EVALUATIONS = 100_000;
/**
 * Two times whose relative difference is smaller than this count as equal. Among partitions with equal times, the
 * partition with the fewest kernels is the best.
 */
const TIE_TOLERANCE = 1e-12;
/** How many steps are taken between two pause points. */
const STEPS_PER_PAUSE = 16;

/**
 * Returns the cost function of a roof, which computes the bound time of a kernel as `judge` does. With `ownPrecision`,
 * the precision of each group selects the peak for this group.
 */
export function costOn(graph: Graph, values: GraphValues, roof: Roof, ownPrecision = true): Cost {
  const { overlap, exposedComm, launchOverhead } = roof.conditions;
  // The cost uses the bytes of the main memory, whichever level the chart shows.
  const [main = roof.level] = roof.chip.memories.keys();
  const bandwidth = roof.bandwidths.get(main) ?? roof.bandwidth;
  // Most graphs have one floating-point dtype. The precision of each group is then this dtype and need not be computed.
  const dtypes = graph.tensors.map((_, tensor) => dtypeOf(graph, values, tensor)).filter(isFloating);
  const all = new Set([...dtypes, ...graph.ops.map((_, op) => precisionOf(graph, values, [op]))]);
  const [only] = all;
  const known = new Map<string | null, readonly number[]>();
  const peaksOf = (own: string | null) => {
    const peaks = known.get(own) ?? graph.classes.map((word) => peakFor(roof, word, own) ?? Number.NaN);
    known.set(own, peaks);
    return peaks;
  };
  return (flops, bytes, group) => {
    const own = !ownPrecision ? null : all.size === 1 ? (only ?? null) : precisionOf(graph, values, group);
    const compute = peaksOf(own).reduce((sum, peak, at) => sum + (flops[at] ? (flops[at] as number) / peak : 0), 0);
    const memory = bytes / bandwidth;
    const body = Math.max(compute, memory) + (1 - overlap) * Math.min(compute, memory);
    return Math.max(body / (1 - exposedComm), launchOverhead);
  };
}

/**
 * Finds the fastest partition. The search is exact if it needs at most `limit` steps. Otherwise, `mergeGreedily` merges
 * pairs of groups.
 */
export function* searchPartition(
  graph: Graph,
  values: GraphValues,
  cost: Cost,
  fits: Fits = fitsUnlessClashing(graph),
  limit: number = MAX_EVALUATIONS,
): Work<BestPartition> {
  const kit = yield* mergeGroupsOf(graph, values);
  const { groups, evaluations } = yield* optimal(graph, values, kit, { cost, fits, limit });
  const partition = groups
    ? partitionOf(graph, groups)
    : yield* mergeGreedily(graph, kit, { cost, fits, least: TIE_TOLERANCE });
  const time = timeOf(graph, values, cost);
  const seconds = partition.groups.reduce((sum, group) => sum + time(group), 0);
  return { ...partition, seconds, how: groups ? "optimal" : "greedy", evaluations };
}

/**
 * A set of finished ops, and the fastest sequence of groups found for this set. For each op in the set, the set also
 * contains all ops that the op depends on.
 */
interface SearchState {
  /** The ops that can run next. They identify the set of finished ops. */
  readonly ready: Ops;
  seconds: number;
  kernels: number;
  before: SearchState | null;
  group: Ops;
}

interface Tried {
  /** The groups that were found; null if the search reached its limit. */
  readonly groups: readonly Ops[] | null;
  readonly evaluations: number;
}

interface SearchLimits {
  readonly cost: Cost;
  readonly fits: Fits;
  readonly limit: number;
}

/** Searches the connected components of the graph one after another. */
function* optimal(
  graph: Graph,
  values: GraphValues,
  kit: MergeGroups,
  { cost, fits, limit }: SearchLimits,
): Work<Tried> {
  const kernel = groupEnumerator(graph, values, kit);
  const groups: Ops[] = [];
  let evaluations = 0;
  for (const part of linked(graph, [...graph.ops.keys()])) {
    const left = limit - evaluations;
    const isLong = yield* takesMore(graph, part, kit, left);
    const found = isLong ? null : yield* fastest(graph, part, kernel, { cost, fits, limit: left });
    if (!found?.groups) return { groups: null, evaluations: limit };
    evaluations += found.evaluations;
    groups.push(...found.groups);
  }
  return { groups, evaluations };
}

/**
 * Returns whether the search certainly needs more than `limit` steps. Counts sequences of consecutive ops that are
 * connected and do not clash, because the search visits each of these sequences.
 */
function* takesMore(graph: Graph, part: Ops, { singles, clashes }: MergeGroups, limit: number): Work<boolean> {
  const clashing = (a: number, b: number) => clashes(singles[a] as MergeGroup, singles[b] as MergeGroup);
  /**
   * For each position: the start of the longest sequence of consecutive ops that ends at this position and has no
   * clashes.
   */
  const last: number[] = [];
  for (const [at, op] of part.entries()) {
    let from = at - 1;
    while (from >= (last[at - 1] ?? 0) && !clashing(part[from] as number, op)) from--;
    last.push(from + 1);
    yield;
  }
  const lead = new Int32Array(part.length);
  const root = (at: number) => {
    let top = at;
    while (lead[top] !== top) {
      lead[top] = lead[lead[top] as number] as number;
      top = lead[top] as number;
    }
    return top;
  };
  const first = new Int32Array(graph.tensors.length);
  let count = 0;
  for (let start = 0; start < part.length && count <= limit; start++) {
    first.fill(-1);
    let parts = 0;
    for (let end = start; end < part.length && (last[end] as number) <= start; end++) {
      lead[end] = end;
      parts++;
      for (const tensor of listOf(graph.touches, part[end] as number)) {
        const other = first[tensor] as number;
        first[tensor] = end;
        if (other < 0 || root(other) === root(end)) continue;
        lead[root(other)] = root(end);
        parts--;
      }
      if (parts === 1) count++;
    }
    yield;
  }
  return count > limit;
}

/**
 * Finds the fastest groups by dynamic programming over sets of finished ops. Each step runs one connected group of ops
 * whose inputs are ready. Therefore the group is convex and causes no cycle. Each step only checks the kinds of ops in
 * the group and the capacity for the group's tiles.
 */
function* fastest(
  graph: Graph,
  part: Ops,
  kernel: ReturnType<typeof groupEnumerator>,
  { cost, fits, limit }: SearchLimits,
): Work<Tried> {
  const nothing = { seconds: 0, kernels: 0, before: null, group: [] };
  const start: SearchState = { ...nothing, ready: part.filter((op) => graph.before[op]?.length === 0) };
  const states = new Map<string, SearchState>();
  const bySize: SearchState[][] = [[start], ...part.map(() => [])];

  function look(from: SearchState, size: number, { ready, load: { flops, bytes } }: Step) {
    const { group } = kernel;
    if (apart(graph, group) || !fits([...group].sort(ascending))) return;
    const seconds = from.seconds + cost(flops, bytes, group);
    const kernels = from.kernels + 1;
    const key = ready.join();
    const old = states.get(key);
    if (
      old &&
      !(Math.abs(seconds - old.seconds) <= TIE_TOLERANCE * old.seconds ? kernels < old.kernels : seconds < old.seconds)
    ) {
      return;
    }
    const way = { seconds, kernels, before: from, group: [...group] };
    if (old) {
      Object.assign(old, way);
      return;
    }
    const state = { ready, ...way };
    states.set(key, state);
    bySize[size + group.length]?.push(state);
  }
  let evaluations = 0;
  let tried = 0;
  for (const [size, some] of bySize.entries()) {
    for (const state of some) {
      kernel.reset(chain(state));
      for (const step of kernel.steps(state.ready)) {
        if (++tried % STEPS_PER_PAUSE === 0) yield;
        if (!step) continue;
        if (++evaluations > limit) return { groups: null, evaluations: limit };
        look(state, size, step);
      }
    }
  }
  const end = bySize[part.length]?.[0];
  return { groups: end ? [...chain(end)] : null, evaluations };
}

function* chain(state: SearchState): Generator<Ops, void> {
  for (let at = state; at.before; at = at.before) yield at.group;
}

/** The FLOPs of a kernel by class, and the bytes that the kernel moves. */
interface KernelLoad {
  readonly flops: Float64Array;
  readonly bytes: number;
}

/**
 * A step of the search, which runs one group. `ready` has the ops that are ready after the group has run. `load` is the
 * load of the group. The ops of the group are in `group` of the enumerator until the next step.
 */
interface Step {
  readonly ready: Ops;
  readonly load: KernelLoad;
}

/** A group on the stack while larger groups are made from it. */
interface Frame extends Step {
  /** Ops that may enlarge the group. */
  readonly others: Ops;
  /** How many ops of `others` were tried. */
  tried: number;
  /** The ops that this frame has added to the group of the frame below on the stack. */
  readonly added: Ops;
  /** The ops of `others` that are not in `others` of the frame below on the stack. */
  readonly fresh: Ops;
}

/**
 * Enumerates groups by adding ops to a group, and removing ops from it, in dependency order. Also computes the load of
 * each group.
 */
function groupEnumerator(graph: Graph, { bytes, extra, flops }: GraphValues, { singles, clashes }: MergeGroups) {
  const n = graph.ops.length;
  const done = new Uint8Array(n);
  const inside = new Uint8Array(n);
  /** Ops that are excluded because all groups with them were already enumerated. */
  const excluded = new Uint8Array(n);
  /** Ops that are in `others` of a frame on the stack. */
  const queued = new Uint8Array(n);
  const uses = new Int32Array(graph.tensors.length);
  const group: number[] = [];
  const alone = unfused(graph);
  const known: Ops[] = [];
  const near = (op: number) => {
    known[op] ??= neighbours(graph, alone, op);
    return listOf(known, op);
  };
  const clashing = (a: number, b: number) => clashes(singles[a] as MergeGroup, singles[b] as MergeGroup);
  const isReady = (op: number) => listOf(graph.before, op).every((other) => done[other]);

  /**
   * Adds an op to the group. Returns by how many bytes the traffic of the group grows. This number is negative if the
   * group no longer has to write a tensor.
   */
  function join(op: number): number {
    done[op] = 1;
    inside[op] = 1;
    group.push(op);
    let moved = extra[op] as number;
    for (const tensor of listOf(graph.reads, op)) {
      const count = (uses[tensor] as number) + 1;
      uses[tensor] = count;
      const size = bytes[tensor] as number;
      if (!inside[makerOf(graph, tensor)]) moved += count === 1 ? size : 0;
      else if (count === graph.consumers[tensor]?.length && !graph.isOutput[tensor]) moved -= size;
    }
    for (const tensor of listOf(graph.makes, op)) moved += bytes[tensor] as number;
    return moved;
  }
  function leave(ops: Ops) {
    for (const op of ops) {
      done[op] = 0;
      inside[op] = 0;
      for (const tensor of listOf(graph.reads, op)) uses[tensor] = (uses[tensor] as number) - 1;
    }
    group.length -= ops.length;
  }
  /**
   * Returns a list of an op and all unfinished ops that it depends on, in dependency order. Returns null if an op of
   * this list is excluded or clashes with another op of the list or the group.
   */
  function closure(op: number): Ops | null {
    const found: number[] = [];
    const left = [op];
    for (let at = left.pop(); at !== undefined; at = left.pop()) {
      if (found.includes(at)) continue;
      const one = at;
      const isApart = (other: number) => clashing(one, other);
      if (excluded[one] || group.some(isApart) || found.some(isApart)) return null;
      found.push(one);
      for (const other of listOf(graph.before, one)) if (!done[other]) left.push(other);
    }
    return found.sort(ascending);
  }
  /** Adds ops to the group. Returns the ops that are ready afterwards, and the load. */
  function enter(ops: Ops, { ready, load }: Step): Step {
    const next = new Set(ready);
    const work = load.flops.slice();
    let moved = load.bytes;
    for (const op of ops) {
      moved += join(op);
      next.delete(op);
      for (const later of listOf(graph.after, op)) if (isReady(later)) next.add(later);
      for (let at = 0; at < work.length; at++) work[at] = (work[at] as number) + (flops[at]?.[op] as number);
    }
    return { ready: [...next].sort(ascending), load: { flops: work, bytes: moved } };
  }
  return {
    /** The current group, in the order in which ops were added. */
    group: group as Ops,
    /** Enumerates all groups that can run next. Yields null if an attempt does not result in a group. */
    *steps(ready: Ops): Generator<Step | null, void> {
      const start = { ready, load: { flops: new Float64Array(flops.length), bytes: 0 } };
      const frames: Frame[] = [{ ...start, others: ready, tried: 0, added: [], fresh: [] }];
      for (let frame = frames.at(-1); frame; frame = frames.at(-1)) {
        const op = frame.others[frame.tried++];
        if (op === undefined) {
          for (const other of frame.others) excluded[other] = 0;
          for (const other of frame.fresh) queued[other] = 0;
          leave(frame.added);
          frames.pop();
          continue;
        }
        if (done[op]) continue;
        const added = closure(op);
        // If this op clashes with the group, the op clashes with every larger group too.
        excluded[op] = 1;
        if (!added) {
          yield null;
          continue;
        }
        const step = enter(added, frame);
        const fresh: number[] = [];
        for (const other of added.flatMap(near)) {
          if (done[other] || excluded[other] || queued[other]) continue;
          queued[other] = 1;
          fresh.push(other);
        }
        // Once the group has an op, only neighbours of the group may enlarge the group. The other ready ops may not.
        const rest = frames.length > 1 ? frame.others.slice(frame.tried) : [];
        frames.push({ ...step, others: [...rest, ...fresh], tried: 0, added, fresh });
        yield step;
      }
    },
    /** Starts again, with the ops of the given groups as the finished ops. */
    reset(groups: Iterable<Ops>) {
      done.fill(0);
      for (const ops of groups) for (const op of ops) done[op] = 1;
    },
  };
}
