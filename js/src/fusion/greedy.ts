// Partitions built step by step: by greedy merges, by merging ops in pairs, and by a compiler's rules.

import type { Work } from "../ui/slices.ts";
import { ascending, type MergeGroup, type MergeGroups, mergeGroupsOf } from "./bodies.ts";
import { allOf, type Graph, type GraphValues, numbersOf, type Ops } from "./graph.ts";
import { type Fits, fitsUnlessClashing, type Partition, wayBack } from "./legality.ts";
import { type Cost, partitionOf } from "./partition.ts";

/** The state of the groups during merging. A group's number is the number of its first op. */
function mergeStateOf(graph: Graph, { singles, ...rules }: MergeGroups) {
  const groupOf = Int32Array.from(graph.ops.keys());
  const found: (MergeGroup | undefined)[] = [...singles];
  const groups: Ops[] = singles.map(({ ops }) => ops);
  /**
   * For each group: the number of the merge that made the group. The number is 0 for a group that was not merged, and
   * infinity for a group that became part of another group.
   */
  const since = singles.map(() => 0);
  let merges = 0;
  const at = (group: number) => found[group] as MergeGroup;
  /** Returns the groups that contain these ops, except the group `own`. */
  const owners = (ops: Iterable<number>, own: number) => {
    const all = new Set<number>();
    for (const op of ops) if (op >= 0) all.add(groupOf[op] as number);
    all.delete(own);
    return all;
  };
  const opened = (group: number, isMade: boolean) =>
    [...at(group).open.keys()].filter((tensor) => rules.isMadeIn(at(group), tensor) === isMade);
  const readersOf = (tensors: Ops) => allOf(graph.consumers, tensors);
  const makersOf = (tensors: Ops) => numbersOf(graph.producer, tensors);
  return {
    ...rules,
    at,
    numbers: singles.map((_, op) => op),
    readers: (group: number) => owners(readersOf(opened(group, true)), group),
    makers: (group: number) => owners(makersOf(opened(group, false)), group),
    /** Returns the other groups that share a tensor with `group`. */
    near(group: number) {
      const tensors = [...at(group).open.keys()];
      return owners(makersOf(tensors).concat(readersOf(tensors)), group);
    },
    now: () => merges,
    isThere: (parts: Ops, when: number) => parts.every((part) => (since[part] as number) <= when),
    /** Whether the merged group would depend on itself through other groups. */
    waits: (parts: Ops) => wayBack(graph, allOf(groups, parts), { groups, groupOf }) !== null,
    merge(parts: Ops): number {
      const body = parts.map(at).reduce(rules.join);
      merges++;
      for (const part of parts) {
        groups[part] = [];
        found[part] = undefined;
        since[part] = Number.POSITIVE_INFINITY;
      }
      const number = body.ops[0] as number;
      for (const op of body.ops) groupOf[op] = number;
      groups[number] = body.ops;
      found[number] = body;
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
  /**
   * The number of the first group. If two offers have equal gains, the offer with the smaller group numbers comes
   * first.
   */
  readonly a: number;
  readonly b: number;
  /** The number of merges that were made before the offer was computed. */
  readonly when: number;
}

const isBetter = (one: Offer, other: Offer) =>
  one.gain > other.gain || (one.gain === other.gain && (one.a < other.a || (one.a === other.a && one.b < other.b)));

interface Rules {
  /** Returns the groups that an offer merges. */
  readonly parts: (offer: Offer) => Ops;
  /** Generates the merges of a group that save time or bytes. Yields undefined at pause points. */
  readonly offers: (group: number) => Iterable<Offer | undefined>;
  /** Returns the groups whose offers change after the merge that made `group`. */
  readonly changed: (group: number) => Ops;
}

/** How many offers are evaluated between two pause points. */
const OFFERS_PER_PAUSE = 16;

/** Repeats the merge with the largest gain until no merge gains. */
function* mergeAll(state: MergeState, { parts, offers, changed }: Rules): Work<Partition> {
  const heap = heapOf(isBetter);
  function* collect(groups: Ops): Work<void> {
    for (const group of groups) {
      yield;
      for (const offer of offers(group)) {
        if (offer) heap.push(offer);
        else yield;
      }
    }
  }
  yield* collect(state.numbers);
  let popped = 0;
  for (let offer = heap.pop(); offer; offer = heap.pop()) {
    if (++popped % OFFERS_PER_PAUSE === 0) yield;
    const merged = state.isThere([offer.a], offer.when) ? parts(offer) : [];
    if (merged.length === 0 || !state.isThere(merged, offer.when)) continue;
    yield;
    // Skip the merge if it closes a cycle. A later merge of a group on that cycle makes a new offer.
    if (!state.waits(merged)) yield* collect(changed(state.merge(merged)));
  }
  return state.finished();
}

interface Pairing {
  readonly cost: Cost;
  readonly fits?: Fits | undefined;
  /**
   * The smallest gain that counts, as a share of the time of the two separate groups. If this is negative, every legal
   * merge is made.
   */
  readonly least: number;
  /** Whether merged groups may merge again. */
  readonly further?: boolean;
}

/** Merges two groups at a time, starting with the largest gain. */
export function* mergeGreedily(
  graph: Graph,
  kit: MergeGroups,
  { cost, fits = fitsUnlessClashing(graph), least, further = true }: Pairing,
): Work<Partition> {
  const state = mergeStateOf(graph, kit);
  const time = ({ flops, bytes, ops }: MergeGroup) => cost(flops, bytes, ops);
  const times: number[] = [];
  const timeOf = (group: number) => {
    times[group] ??= time(state.at(group));
    return times[group] as number;
  };
  // Reused for each pair, because the garbage of many pairs would delay frames.
  const flops = new Float64Array(graph.classes.length);
  const union: number[] = [];
  function* offers(group: number): Generator<Offer | undefined> {
    const isFirst = state.now() === 0;
    let tried = 0;
    for (const other of state.near(group)) {
      if (isFirst && other > group) continue;
      if (++tried % OFFERS_PER_PAUSE === 0) yield;
      const [a, b] = group < other ? [group, other] : [other, group];
      const [one, two] = [state.at(a), state.at(b)];
      if (!state.isLegalWith(one, two)) continue;
      union.length = 0;
      for (const op of one.ops) union.push(op);
      for (const op of two.ops) union.push(op);
      if (!fits(union.sort(ascending))) continue;
      for (let at = 0; at < flops.length; at++) flops[at] = (one.flops[at] as number) + (two.flops[at] as number);
      const alone = timeOf(a) + timeOf(b);
      const gain = alone - cost(flops, state.bytesOf(one, two), union);
      if (least < 0 || gain > least * alone) yield { gain, a, b, when: state.now() };
    }
  }
  return yield* mergeAll(state, {
    parts: ({ a, b }) => [a, b],
    offers,
    changed(merged) {
      times[merged] = time(state.at(merged));
      return further ? [merged] : [];
    },
  });
}

const byBytes: Cost = (_, bytes) => bytes;

/**
 * Merges ops in pairs. The pair that saves most bytes is merged first. If several pairs save the same number of bytes,
 * the pair with the first ops is merged first.
 */
export function* pairOps(graph: Graph, values: GraphValues, fits?: Fits): Work<Partition> {
  return yield* mergeGreedily(graph, yield* mergeGroupsOf(graph, values), {
    cost: byBytes,
    fits,
    least: -1,
    further: false,
  });
}

/**
 * Merges as XLA does: each producer is merged into all of its consumers. The merge that saves most time is made first.
 * Merging ends when no merge saves time.
 */
export function* fuseLikeXla(
  graph: Graph,
  values: GraphValues,
  cost: Cost,
  fits: Fits = fitsUnlessClashing(graph),
): Work<Partition> {
  const state = mergeStateOf(graph, yield* mergeGroupsOf(graph, values));
  const time = ({ flops, bytes, ops }: MergeGroup) => cost(flops, bytes, ops);
  const partsOf = (producer: number) => [producer, ...state.readers(producer)];
  function* offers(producer: number): Generator<Offer | undefined> {
    const parts = partsOf(producer).map(state.at);
    if (parts.length < 2) return;
    let union = parts[0] as MergeGroup;
    for (const part of parts.slice(1)) {
      if (state.clashes(union, part)) return;
      union = state.join(union, part);
    }
    if (!state.isLegal(union) || !fits(union.ops)) return;
    const gain = parts.reduce((sum, part) => sum + time(part), 0) - time(union);
    if (gain > 0) yield { gain, a: producer, b: 0, when: state.now() };
  }
  return yield* mergeAll(state, {
    parts: ({ a }) => partsOf(a),
    offers,
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
