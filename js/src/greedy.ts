// Partitions that are made step by step: as far as is legal, by twos, and as a compiler makes them.

import { groupBytes, groupFlops, partitionOf } from "./fusion.ts";
import type { Graph, Values } from "./graph.ts";
import { broken, type Fits, neighbours, type Partition, wayBack, whyNot } from "./legality.ts";

type Ops = readonly number[];

/** Seconds of a kernel: FLOPs for each of the graph's classes, bytes, and its ops. */
export type Cost = (flops: Float64Array, bytes: number, group: readonly number[]) => number;

export const timeOf = (graph: Graph, values: Values, cost: Cost) => (group: Ops) =>
  cost(groupFlops(values, group), groupBytes(graph, values, group), group);

/** Groups that are merged as one goes: each keeps its number until it is merged, and is then empty. */
interface Line extends Partition {
  readonly groups: Ops[];
}

export const lineOf = (graph: Graph): Line => ({
  groups: graph.ops.map((_, op) => [op]),
  groupOf: Int32Array.from(graph.ops.keys()),
});
const unionOf = ({ groups }: Line, parts: Ops) => parts.flatMap((at) => groups[at] as Ops).sort((a, b) => a - b);
const isThere = ({ groups }: Line, parts: Ops) => parts.every((at) => (groups[at] as Ops).length > 0);
const finished = (graph: Graph, { groups }: Line) =>
  partitionOf(
    graph,
    groups.filter((group) => group.length > 0),
  );

function merge(line: Line, parts: Ops): number {
  const union = unionOf(line, parts);
  for (const part of parts) line.groups[part] = [];
  const number = line.groups.push(union) - 1;
  for (const op of union) line.groupOf[op] = number;
  return number;
}

/** Ops by twos: those that save most bytes first, of equals the smallest ops. */
export function pairs(graph: Graph, values: Values): Partition {
  const line = lineOf(graph);
  const bytes = (...group: number[]) => groupBytes(graph, values, group);
  const alone = graph.ops.map((_, op) => bytes(op));
  const found = graph.ops.flatMap((_, a) =>
    neighbours(graph, line, a)
      .filter((b) => b > a)
      .map((b) => ({ a, b, saved: (alone[a] as number) + (alone[b] as number) - bytes(a, b) })),
  );
  found.sort((one, other) => other.saved - one.saved || one.a - other.a || one.b - other.b);
  for (const { a, b } of found) if (isThere(line, [a, b]) && !whyNot(graph, line, a, b)) merge(line, [a, b]);
  return finished(graph, line);
}

/** A merge that is legal, unless it would wait for itself by way of other groups. */
interface Offer {
  readonly parts: Ops;
  readonly gain: number;
  /** The first ops of its first two parts: of equal gains those with the smaller ones come first. */
  readonly first: readonly [number, number];
}

const byGain = (one: Offer, other: Offer) =>
  one.gain - other.gain || other.first[0] - one.first[0] || other.first[1] - one.first[1];

function offerOf({ groups }: Line, parts: Ops, gain: number): Offer {
  const first = (at: number) => groups[parts[at] as number]?.[0] as number;
  return { parts, gain, first: [first(0), first(1)] };
}

/** Makes the merge that gains most, and again, as long as there is one; each makes more offers. */
function mergeAll(
  graph: Graph,
  line: Line,
  start: readonly Offer[],
  next: (merged: number) => readonly Offer[],
): Partition {
  let offers = [...start];
  for (;;) {
    const offer = offers.reduce<Offer | undefined>((a, b) => (a && byGain(a, b) >= 0 ? a : b), undefined);
    if (!offer) return finished(graph, line);
    // A way round goes only when a group on it is merged with one of these, which makes a new offer.
    if (wayBack(graph, unionOf(line, offer.parts), line)) offers.splice(offers.indexOf(offer), 1);
    else {
      const added = next(merge(line, offer.parts));
      offers = [...offers.filter(({ parts }) => isThere(line, parts)), ...added];
    }
  }
}

/** Merges two groups at a time, those that gain most first, if it is more than this share of what they take apart. */
export function greedily(graph: Graph, time: (group: Ops) => number, fits: Fits, least: number): Partition {
  const line = lineOf(graph);
  const times = line.groups.map(time);
  const offers = (group: number, others: Ops): Offer[] =>
    others.flatMap((other) => {
      const parts = [group, other].sort((a, b) => (line.groups[a]?.[0] as number) - (line.groups[b]?.[0] as number));
      const union = unionOf(line, parts);
      if (broken(graph, union) || !fits(union)) return [];
      const alone = (times[group] as number) + (times[other] as number);
      const gain = alone - time(union);
      return gain > least * alone ? [offerOf(line, parts, gain)] : [];
    });
  const all = line.groups.flatMap((_, at) =>
    offers(
      at,
      neighbours(graph, line, at).filter((other) => other < at),
    ),
  );
  return mergeAll(graph, line, all, (merged) => {
    times[merged] = time(line.groups[merged] as Ops);
    return offers(merged, neighbours(graph, line, merged));
  });
}

/** As far as it is legal: the merges that save most bytes first. */
export const fully = (graph: Graph, values: Values, fits: Fits = () => true): Partition =>
  greedily(graph, (group) => groupBytes(graph, values, group), fits, -1);

/** As XLA does: each producer into all of its consumers, the one that saves most time first, while some is saved. */
export function likeXla(graph: Graph, values: Values, cost: Cost, fits: Fits = () => true): Partition {
  const line = lineOf(graph);
  const time = timeOf(graph, values, cost);
  const owners = (ops: Ops, along: Graph["after"], own: number) =>
    [...new Set(ops.flatMap((op) => (along[op] as Ops).map((other) => line.groupOf[other] as number)))].filter(
      (other) => other !== own,
    );
  const offer = (producer: number): Offer[] => {
    const parts = [producer, ...owners(line.groups[producer] as Ops, graph.after, producer)];
    const union = unionOf(line, parts);
    if (parts.length < 2 || broken(graph, union) || !fits(union)) return [];
    const gain = parts.reduce((sum, part) => sum + time(line.groups[part] as Ops), 0) - time(union);
    return gain > 0 ? [offerOf(line, parts, gain)] : [];
  };
  const all = line.groups.flatMap((_, at) => offer(at));
  return mergeAll(graph, line, all, (merged) =>
    [merged, ...owners(line.groups[merged] as Ops, graph.before, merged)].flatMap(offer),
  );
}
