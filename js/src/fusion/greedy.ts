// Partitions built step by step: by greedy merges, by merging ops in pairs, and by a compiler's rules.

import type { Work } from "../ui/slices.ts";
import { type Cost, type Forms, isForm, timeOf } from "./forms.ts";
import { allOf, type Graph, type GraphValues, listOf, type Ops } from "./graph.ts";
import { broken, neighbours, type Partition, wayBack } from "./legality.ts";
import { groupBytes, partitionOf } from "./partition.ts";

const ascending = (a: number, b: number) => a - b;

/** The ops of a group, and those that it reaches and that reach it, as bits. */
interface Reach {
  readonly own: Uint32Array;
  readonly after: Uint32Array;
  readonly before: Uint32Array;
}

/** The reach of groups is kept for graphs of at most this many ops: it takes 3 n² / 8 bytes. */
const MAX_REACH_OPS = 4096;

/** Adds bits to others. */
function add(to: Uint32Array, bits: Uint32Array): void {
  for (let word = 0; word < bits.length; word++) to[word] = (to[word] as number) | (bits[word] as number);
}

/** Returns the reach of each op; undefined for a large graph. The ops of a graph are in an order in which they can run. */
function reachesOf({ ops, after, before }: Graph): Reach[] | undefined {
  if (ops.length > MAX_REACH_OPS) return undefined;
  const words = Math.ceil(ops.length / 32);
  const empty = () => new Uint32Array(words);
  const reaches = ops.map((_, op) => {
    const own = empty();
    own[op >> 5] = 1 << (op & 31);
    return { own, after: empty(), before: empty() };
  });
  const at = (op: number) => reaches[op] as Reach;
  const follow = (op: number, lists: Graph["after"], side: "after" | "before") => {
    for (const next of listOf(lists, op)) {
      add(at(op)[side], at(next).own);
      add(at(op)[side], at(next)[side]);
    }
  };
  for (const op of ops.keys()) follow(op, before, "before");
  for (const op of [...ops.keys()].reverse()) follow(op, after, "after");
  return reaches;
}

/** The state of the groups during merging. A group's number is the number of its first op. */
function mergeStateOf(graph: Graph) {
  const groupOf = Int32Array.from(graph.ops.keys());
  const groups: Ops[] = graph.ops.map((_, op) => [op]);
  /**
   * For each group: the number of the merge that made the group. The number is 0 for a group that was not merged, and
   * infinity for a group that became part of another group.
   */
  const since = groups.map(() => 0);
  const reaches = reachesOf(graph);
  let merges = 0;
  const at = (group: number) => listOf(groups, group);
  /** Returns the groups that contain these ops, except the group `own`. */
  const owners = (ops: Iterable<number>, own: number) => {
    const all = new Set<number>();
    for (const op of ops) if (op >= 0) all.add(groupOf[op] as number);
    all.delete(own);
    return [...all];
  };
  return {
    at,
    numbers: [...groups.keys()],
    readers: (group: number) => owners(allOf(graph.after, at(group)), group),
    makers: (group: number) => owners(allOf(graph.before, at(group)), group),
    /** Returns the other groups that share a tensor with `group`. */
    near: (group: number) => neighbours(graph, { groups, groupOf }, group),
    /** Whether no path leaves these groups and returns to them. True where this is not known fast. */
    mayBeConvex(parts: Ops): boolean {
      if (!reaches) return true;
      // Words below the first op have no path's ops: paths lead to ops with higher numbers. Most paths end just above a part.
      const [low, top] = [Math.min(...parts) >> 5, Math.max(...parts) >> 5];
      for (let step = 0; step < groups.length / 32 - low; step++) {
        const word = step > top - low ? low + step : top - step;
        let [own, after, before] = [0, 0, 0];
        for (const part of parts) {
          const one = reaches[part] as Reach;
          own |= one.own[word] as number;
          after |= one.after[word] as number;
          before |= one.before[word] as number;
        }
        if (after & before & ~own) return false;
      }
      return true;
    },
    now: () => merges,
    isThere: (parts: Ops, when: number) => parts.every((part) => (since[part] as number) <= when),
    union: (parts: Ops) => allOf(groups, parts).sort(ascending),
    /** Whether the merged group would depend on itself through other groups. */
    waits: (parts: Ops) => wayBack(graph, allOf(groups, parts), { groups, groupOf }) !== null,
    merge(parts: Ops): number {
      const union = allOf(groups, parts).sort(ascending);
      merges++;
      for (const part of parts) {
        groups[part] = [];
        since[part] = Number.POSITIVE_INFINITY;
      }
      const number = union[0] as number;
      if (reaches) {
        const into = reaches[number] as Reach;
        for (const from of parts.map((part) => reaches[part] as Reach)) {
          add(into.own, from.own);
          add(into.after, from.after);
          add(into.before, from.before);
        }
      }
      for (const op of union) groupOf[op] = number;
      groups[number] = union;
      since[number] = merges;
      return number;
    },
    finished: () =>
      partitionOf(
        graph,
        groups.filter((group) => group.length > 0),
      ),
  };
}

type MergeState = ReturnType<typeof mergeStateOf>;

/** A legal merge of two or more groups. Cycles through other groups are checked later. */
interface Offer {
  readonly gain: number;
  /** The numbers of the groups, ascending. Of two offers with equal gains, the one with smaller numbers comes first. */
  readonly parts: Ops;
  /** The number of merges that were made before the offer was computed. */
  readonly when: number;
}

function isBetter(one: Offer, other: Offer): boolean {
  if (one.gain !== other.gain) return one.gain > other.gain;
  const at = one.parts.findIndex((part, place) => part !== other.parts[place]);
  return at >= 0 && (one.parts[at] as number) < (other.parts[at] ?? Number.POSITIVE_INFINITY);
}

interface Rules {
  /** Returns what a merge gains; undefined if it is refused or not worth it. */
  readonly gain: (parts: Ops, union: Ops) => number | undefined;
  /** Returns the merges of a group. */
  readonly merges: (group: number) => readonly Ops[];
  /** Returns the groups whose merges change after the merge that made `group`. */
  readonly changed: (group: number) => Ops;
}

/** How many offers are evaluated between two pause points. */
const OFFERS_PER_PAUSE = 8;

/** Repeats the merge with the largest gain until no merge gains. */
function* mergeAll(graph: Graph, state: MergeState, { gain, merges, changed }: Rules): Work<Partition> {
  const heap = heapOf(isBetter);
  let tried = 0;
  function* collect(groups: Ops): Work<void> {
    for (const group of groups) {
      for (const given of merges(group)) {
        if (++tried % OFFERS_PER_PAUSE === 0) yield;
        if (!state.mayBeConvex(given)) continue;
        const parts = [...given].sort(ascending);
        const union = state.union(parts);
        if (broken(graph, union)) continue;
        const worth = gain(parts, union);
        if (worth !== undefined) heap.push({ gain: worth, parts, when: state.now() });
      }
    }
  }
  yield* collect(state.numbers);
  for (let offer = heap.pop(); offer; offer = heap.pop()) {
    if (!state.isThere(offer.parts, offer.when)) continue;
    yield;
    // Skip the merge if it closes a cycle. A later merge of a group on that cycle makes a new offer.
    if (!state.waits(offer.parts)) yield* collect(changed(state.merge(offer.parts)));
  }
  return state.finished();
}

/** Merges whose gain is a smaller share of the time of the separate groups than this may gain by rounding alone. */
const LEAST_GAIN = 1e-12;

/**
 * Merges groups as long as a merge saves time, starting with the largest gain. A pair may be no kernel where three groups
 * are one. So a group with a reduction is also merged with a product before it and one after it, and with all products
 * that read its result.
 */
export function* mergeGreedily(
  graph: Graph,
  forms: Pick<Forms, "loadOf">,
  cost: Cost,
  isKernel: (ops: Ops) => boolean,
): Work<Partition> {
  const state = mergeStateOf(graph);
  const seconds = timeOf(forms, cost);
  const hasProduct = (group: number) => state.at(group).some((op) => graph.ops[op]?.kind === "matmul");
  const isReduction = (group: number) =>
    state.at(group).some((op) => (graph.ops[op]?.axes?.length ?? 0) > 0) && !hasProduct(group);
  function around(group: number): Ops[] {
    if (!isReduction(group)) return [];
    const after = state.readers(group).filter(hasProduct);
    const between = state
      .makers(group)
      .filter(hasProduct)
      .flatMap((one) => after.filter((other) => other !== one).map((other) => [one, group, other]));
    return after.length > 1 ? [...between, [group, ...after]] : between;
  }
  return yield* mergeAll(graph, state, {
    gain(parts, union) {
      if (!isKernel(union)) return undefined;
      const alone = parts.reduce((sum, part) => sum + seconds(state.at(part)), 0);
      const gain = alone - seconds(union);
      return gain > LEAST_GAIN * alone ? gain : undefined;
    },
    merges: (group) => [
      ...state
        .near(group)
        .filter((other) => state.now() > 0 || other < group)
        .map((other) => [group, other]),
      ...around(group),
    ],
    changed: (merged) => [merged, ...state.near(merged).filter(isReduction)],
  });
}

/**
 * Merges ops in pairs. The pair that saves most bytes is merged first; what it reads again does not count. If several
 * pairs save the same number of bytes, the pair with the first ops is merged first.
 */
export function* pairOps(graph: Graph, values: GraphValues, { formOf }: Forms): Work<Partition> {
  const state = mergeStateOf(graph);
  const bytesOf = (ops: Ops) => groupBytes(graph, values, ops);
  return yield* mergeAll(graph, state, {
    gain: (parts, union) =>
      isForm(formOf(union))
        ? parts.reduce((sum, part) => sum + bytesOf(state.at(part)), 0) - bytesOf(union)
        : undefined,
    merges: (group) => state.near(group).flatMap((other) => (other < group ? [[group, other]] : [])),
    changed: () => [],
  });
}

/**
 * Merges as XLA does: each producer is merged into all of its consumers. The merge that saves most time is made first.
 * Merging ends when no merge saves time.
 */
export function* fuseLikeXla(graph: Graph, forms: Forms, cost: Cost): Work<Partition> {
  const state = mergeStateOf(graph);
  const seconds = timeOf(forms, cost);
  return yield* mergeAll(graph, state, {
    gain(parts, union) {
      if (!forms.isOfCompilers(union)) return undefined;
      const gain = parts.reduce((sum, part) => sum + seconds(state.at(part)), 0) - seconds(union);
      return gain > 0 ? gain : undefined;
    },
    merges(producer) {
      const readers = state.readers(producer);
      return readers.length > 0 ? [[producer, ...readers]] : [];
    },
    changed: (merged) => [merged, ...state.makers(merged)],
  });
}

/** Returns a priority queue. `pop` returns the item that comes first according to `isBefore`. */
export function heapOf<T>(isBefore: (one: T, other: T) => boolean) {
  const items: T[] = [];
  const at = (place: number) => items[place] as T;
  function rise(item: T, from: number) {
    let place = from;
    while (place > 0) {
      const above = (place - 1) >> 1;
      if (!isBefore(item, at(above))) break;
      items[place] = at(above);
      place = above;
    }
    items[place] = item;
  }
  function sink(item: T) {
    let place = 0;
    for (let below = 1; below < items.length; below = 2 * place + 1) {
      if (below + 1 < items.length && isBefore(at(below + 1), at(below))) below++;
      if (!isBefore(at(below), item)) break;
      items[place] = at(below);
      place = below;
    }
    items[place] = item;
  }
  return {
    push: (item: T) => rise(item, items.length),
    pop(): T | undefined {
      const first = items[0];
      const last = items.pop();
      if (items.length > 0) sink(last as T);
      return first;
    },
  };
}
