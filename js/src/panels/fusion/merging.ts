// What a click on an edge does: where to split a group, what a merge gains or why it is refused, and the texts that say
// so.

import { type Cost, isForm, type Tally, tally } from "../../fusion/forms.ts";
import {
  allOf,
  dtypeOf,
  type Graph,
  type GraphValues,
  listOf,
  makerOf,
  type Ops,
  opName,
  opNames,
  reached,
} from "../../fusion/graph.ts";
import {
  type FormRefusal,
  groupAt,
  groupWith,
  linked,
  mergedWith,
  type Partition,
  type ReducingOp,
  type Refusal,
  type RefusalOf,
} from "../../fusion/legality.ts";
import { fuse, legalParts, partitionOf, precisionOf, total } from "../../fusion/partition.ts";
import { operationIn } from "../../roofline/operations.ts";
import type { Roof } from "../../roofline/roofline.ts";
import type { Workload } from "../../state/workload.ts";
import { formatQuantity, formatSpeedUp } from "../../text/numbers.ts";
import type { Chip } from "../../wire/types.ts";
import { fusionWords } from "../../words/words.ts";

type CountedGraph = Pick<Workload, "graph" | "values">;

/**
 * Returns a precision that an op needs and for which the chip has no peak. Returns undefined if the chip has all peaks
 * that the ops need.
 */
export function lackingPeak(graph: Graph, values: GraphValues, { peaks }: Roof): string | undefined {
  const isLacking = (precision: string | null | undefined) => typeof precision === "string" && !peaks.has(precision);
  const named = new Set(graph.tensors.map((_, tensor) => dtypeOf(graph, values, tensor)));
  for (const { precision } of graph.ops) if (precision) named.add(precision);
  if (![...named].some(isLacking)) return undefined;
  const works = (op: number) => values.flops.some((column) => (column[op] as number) > 0);
  const op = graph.ops.findIndex((_, at) => works(at) && isLacking(precisionOf(graph, values, [at])));
  return op < 0 ? undefined : (precisionOf(graph, values, [op]) ?? undefined);
}

/** Returns the description of an op and its neighbours. */
export function descriptionOf(
  { graph, values, partition }: CountedGraph & Pick<Workload, "partition">,
  op: number,
): string {
  const bytes = (tensors: Ops) => formatQuantity(total(values.bytes, tensors), "B");
  const group = groupWith(partition, op);
  return fusionWords.at(opName(graph, op), graph.ops[op]?.kind ?? "", {
    enters: bytes(listOf(graph.reads, op)),
    leaves: bytes(listOf(graph.makes, op)),
    from: spoken(graph, listOf(graph.before, op)),
    to: spoken(graph, listOf(graph.after, op)),
    others: spoken(
      graph,
      group.filter((other) => other !== op),
    ),
  });
}

/**
 * Splits a group above op `to`. One part has `to` and the ops downstream of `to`. The other part has the rest of the
 * group. A part that is not connected is split further. A part that is not legal as a group is split into single ops.
 */
export function cut(graph: Graph, partition: Partition, to: number, refusalOf: RefusalOf): Partition {
  const { groups, groupOf } = partition;
  const after = reached(graph, to, graph.after);
  const isBelow = (op: number) => op === to || after[op] === 1;
  const group = groupWith(partition, to);
  const parts = legalParts(graph, [group.filter((op) => !isBelow(op)), group.filter(isBelow)], refusalOf);
  return partitionOf(graph, [...groups.filter((_, at) => at !== groupOf[to]), ...parts]);
}

/**
 * Returns the first op outside the group that reads from `op`. If no such op exists, returns the first op outside the
 * group that reads from any op of the group.
 */
export function downstream(graph: Graph, partition: Partition, op: number): number | undefined {
  const group = groupWith(partition, op);
  return allOf(graph.after, [op, ...group]).find((other) => !group.includes(other));
}

/**
 * Returns pairs of ops between which the panel draws a connection. The pairs connect parts of a group that only share
 * an input and have no edge between them.
 */
export function sharedInputPairs(graph: Graph, group: Ops): [number, number][] {
  if (group.length < 2) return [];
  const inside = new Set(group);
  const [first, ...others] = linked(graph, group, (tensor) => inside.has(makerOf(graph, tensor)));
  return others.map((part) => [first?.[0] as number, part[0] as number]);
}

/** A group with more ops than this is named by its first and its last op. */
const MAX_NAMED_OPS = 3;

/** Returns the name of a group, such as "gelu + dropout + add". */
export function spoken(graph: Graph, ops: Ops): string {
  const names = opNames(graph, ops);
  if (names.length <= MAX_NAMED_OPS) return names.join(" + ");
  return fusionWords.ends(names[0] as string, names.at(-1) as string, names.length);
}

/** Returns the sentence that says why a group is no kernel on the chip. */
export function formSentence(
  { graph }: Pick<Workload, "graph">,
  { reason, ops, tensor = -1, need = 0, needs = [] }: FormRefusal,
  group: Ops,
  chip: Chip | undefined,
): string {
  const [one = "", two = "", three = ""] = opNames(graph, ops);
  const [first, second] = ops.map((op) => ({ name: opName(graph, op), axes: graph.ops[op]?.axes ?? [] }));
  const there = chip?.share?.bytes ?? Number.NaN;
  // If a size would look equal to what there is with fewer digits, show all digits.
  const sizes = needs.length > 0 ? needs.map(({ bytes }) => bytes) : [need];
  const text = (digits: number) => (size: number) => formatQuantity(size, "B", digits);
  const said = text(sizes.some((size) => text(3)(size) === text(3)(there)) ? 15 : 3);
  const holds = chip?.share ? fusionWords.holds(chip.share, chip.name, said(there)) : fusionWords.holdsUnknown;
  switch (reason) {
    case "joined":
      return fusionWords.joined(tensorName(graph, tensor));
    case "prologue axis":
      return fusionWords.prologueAxis(first as ReducingOp, two);
    case "differ":
      return fusionWords.axes(first as ReducingOp, second as ReducingOp, {
        ...{ group: spoken(graph, group), need: said(need), holds },
      });
    case "shuffle":
      return fusionWords.shuffle(one, said(need), holds);
    case "tiles":
      return fusionWords.capacity(fusionWords.tiles(spoken(graph, group)), said(need), holds);
    case "side":
      return fusionWords.capacity(fusionWords.tilesOf(needs[0]?.rows ?? 0), said(sizes[0] as number), holds);
    case "rows":
      return fusionWords.rows(
        needs.map(({ rows, tensors, bytes }) => [rows, tensors.map((one) => tensorName(graph, one)), said(bytes)]),
        holds,
      );
    default:
      return fusionWords.reasons[reason](one, two, three);
  }
}
const tensorName = (graph: Graph, tensor: number) => graph.tensors[tensor]?.name ?? "";

/** Returns the sentence that says why two ops may not share a kernel. */
export function sentenceOf(
  { graph, partition }: Pick<Workload, "graph" | "partition">,
  a: number,
  b: number,
  refusal: Refusal,
  chip?: Chip,
): string {
  const names = opNames(graph, refusal.path);
  const [first = "", last = ""] = [names[0], names.at(-1)];
  const [one, other] = [groupWith(partition, a), groupWith(partition, b)];
  const both = [...new Set([...one, ...other])].sort((x, y) => x - y);
  if (refusal.form) return formSentence({ graph }, refusal.form, both, chip);
  switch (refusal.code) {
    case "same":
      return fusionWords.same(spoken(graph, both));
    case "not-connected":
      return fusionWords.notConnected(spoken(graph, one), spoken(graph, other));
    case "not-convex":
      return fusionWords.notConvex(spoken(graph, refusal.path.slice(1, -1)), first, last);
    case "cycle":
      return fusionWords.cycle(spoken(graph, both), spoken(graph, refusal.path.slice(1, -1)));
    default:
      return fusionWords.barrier(first);
  }
}

/** What a click on an edge would do. */
export interface Proposal {
  /** The text of the pill beside the edge, such as "Merge: 1.28 ms → 962 µs". */
  readonly text: string;
  /** What the merged kernel computes or reads more than once, such as "gelu runs 8 times: 8.19 kFLOP → 65.5 kFLOP". */
  readonly again?: string;
  /** The partition afterwards. Missing if the ops may not merge. */
  readonly next?: Partition;
  /** The kernels that would come. */
  readonly groups: readonly Ops[];
}

interface ProposalInput {
  /** Without it, times are unknown, and the text has bytes. */
  readonly cost: Cost | undefined;
  readonly chip: Chip | undefined;
}

/** Returns what a click on the edge between two ops would do: an edge within a kernel splits it, another one merges. */
export function proposalOf(
  workload: Pick<Workload, "graph" | "values" | "partition" | "forms">,
  from: number,
  to: number,
  { cost, chip }: ProposalInput,
): Proposal {
  const { graph, partition, forms } = workload;
  const [a, b] = [groupAt(partition, from), groupAt(partition, to)];
  const merged = a === b ? [] : mergedWith(graph, partition, a, b, forms.refusalOf);
  if (!isMerged(merged)) return { groups: [], text: fusionWords.cannot(sentenceOf(workload, from, to, merged, chip)) };
  const next = a === b ? cut(graph, partition, to, forms.refusalOf) : fuse(graph, partition, ...merged);
  const [before, now] = [partition, next].map((one) => tally(forms, one, cost)) as [Tally, Tally];
  const { before: was, now: is, factor } = formatSpeedUp(before.seconds, now.seconds);
  const bytes = [before, now].map((one) => formatQuantity(one.bytes, "B")) as [string, string];
  const isMerge = a !== b;
  const groups = next.groups.filter((group) => !partition.groups.includes(group));
  const change = !cost
    ? fusionWords.proposed(isMerge, ...bytes)
    : factor === "1"
      ? fusionWords.noGain(isMerge, is)
      : fusionWords.proposed(isMerge, was, is);
  const text = merged.length > 2 ? `${spoken(graph, groups[0] ?? [])}: ${change}` : change;
  const again = isMerge ? againOf(workload, groups[0] ?? []) : "";
  return again ? { groups, next, text, again } : { groups, next, text };
}

export const isMerged = (found: readonly number[] | Refusal): found is readonly number[] => Array.isArray(found);

/** Returns what a kernel computes or reads more than once, and what this costs. */
export function againOf({ graph, values, forms }: Pick<Workload, "graph" | "values" | "forms">, group: Ops): string {
  const form = forms.formOf(group);
  if (!isForm(form)) return "";
  const several = (counts: ReadonlyMap<number, number>) => [...counts].filter(([, count]) => count > 1);
  return [
    ...several(form.times).flatMap(([op, count]) => {
      const operation = operationIn(precisionOf(graph, values, [op]) ?? "");
      const [once, now] = [1, count].map((times) => formatQuantity(times * values.own(op), operation));
      return values.own(op) > 0 ? [fusionWords.runs(opName(graph, op), count, `${once} → ${now}`)] : [];
    }),
    ...several(form.reads).map(([tensor, count]) => fusionWords.isRead(tensorName(graph, tensor), count)),
    ...(form.workspace > 0 ? [fusionWords.partial(formatQuantity(form.workspace, "B"))] : []),
  ].join(", ");
}

/** The side of the ridge point on which ops are: their bytes or their FLOPs take longer. */
export type Side = "memory" | "compute" | "";

/** Returns a function that returns on which side of the ridge point ops are as one kernel; "" if neither takes longer. */
export function sidesOf({ graph, forms }: Pick<Workload, "graph" | "forms">, cost: Cost | undefined) {
  const none = new Float64Array(graph.classes.length);
  return (ops: Ops): Side => {
    if (!cost) return "";
    const { flops, bytes, times } = forms.loadOf(ops);
    const [memory, compute] = [cost(none, bytes, ops), cost(flops, 0, ops, times)];
    return memory > compute ? "memory" : compute > memory ? "compute" : "";
  };
}
