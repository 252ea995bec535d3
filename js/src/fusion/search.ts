// The fastest partition of a page without a kernel: the best of all partitions of a small graph, greedy merges of a larger.

import { peakFor, type Roof } from "../roofline/roofline.ts";
import type { Work } from "../ui/slices.ts";
import { type Cost, type Form, type Forms, isForm, timeOf } from "./forms.ts";
import { dtypeOf, type Graph, type GraphValues, isFloating, listOf, type Ops } from "./graph.ts";
import { mergeGreedily } from "./greedy.ts";
import { broken, linked, type Partition } from "./legality.ts";
import { compulsory, partitionOf, precisionOf, statedBy, total } from "./partition.ts";

export interface BestPartition extends Partition {
  readonly seconds: number;
  readonly how: "optimal" | "greedy";
}

/** All partitions of a graph with at most this many ops are tried. */
export const MAX_OPS_TRIED = 12;
/** Two times whose relative difference is smaller than this count as equal. */
const TIE_TOLERANCE = 1e-12;
/** How many groups are tried between two pause points. */
const GROUPS_PER_PAUSE = 16;

/**
 * Returns the cost function of a roof, which computes the bound time of a kernel as `judge` does. With `ownPrecision`,
 * the precision of each group selects the peak for this group.
 */
export function costOn(graph: Graph, values: GraphValues, roof: Roof, ownPrecision = true): Cost {
  const { overlap, exposedComm, launchOverhead } = roof.conditions;
  const bandwidth = mainBandwidth(roof);
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
  const ofClasses = (flops: ArrayLike<number>, own: string | null) =>
    peaksOf(own).reduce((sum, peak, at) => sum + (flops[at] ? (flops[at] as number) / peak : 0), 0);
  const stated = graph.ops.map(({ kind }, op) => (kind === "matmul" ? statedBy(graph, values, op) : null));
  const isMixed = (group: Ops) => new Set(group.map((op) => stated[op] ?? null).filter((one) => one !== null)).size > 1;
  /** Products of several precisions each have the peak of their own. All other FLOPs have the precision of the group. */
  const mixed = (group: Ops, own: string | null, times: Form["times"] | undefined) =>
    group.reduce((sum, op) => {
      const each = values.flops.map((column) => (times?.get(op) ?? 1) * (column[op] as number));
      const isOf = (word: string | undefined) => (word === "tensor" ? (stated[op] ?? own) : own);
      return (
        sum +
        each.reduce(
          (seconds, count, at) => seconds + (count && count / (peaksOf(isOf(graph.classes[at]))[at] as number)),
          0,
        )
      );
    }, 0);
  return (flops, bytes, group, times) => {
    const own = !ownPrecision ? null : all.size === 1 ? (only ?? null) : precisionOf(graph, values, group);
    const compute = ownPrecision && all.size > 1 && isMixed(group) ? mixed(group, own, times) : ofClasses(flops, own);
    const memory = bytes / bandwidth;
    const body = Math.max(compute, memory) + (1 - overlap) * Math.min(compute, memory);
    return Math.max(body / (1 - exposedComm), launchOverhead);
  };
}

/** The least time and bytes of any program for the ops of a graph. */
export interface Light {
  readonly seconds: number;
  readonly bytes: number;
}

/**
 * Returns the speed of light: each byte moves once, each FLOP is done once, and all units of the chip work at the same
 * time. A product has the peak of its own precision. Other FLOPs have the fastest peak of all precisions of the graph,
 * because a kernel does them at the precision of its product. `workloads/speed_of_light.py` has the same formula.
 */
export function lightOf(
  graph: Graph,
  values: GraphValues,
  { isGather }: Forms,
  roof: Roof,
  ownPrecision = true,
): Light {
  const gathers = [...graph.ops.keys()].filter(isGather);
  const bytes = compulsory(graph, values) + total(values.extra, gathers);
  const own = graph.ops.map((_, op) => (ownPrecision ? precisionOf(graph, values, [op]) : null));
  const works = (op: number) => values.flops.some((column) => (column[op] as number) > 0);
  const working = [...new Set(own.filter((_, op) => works(op)))];
  const seconds = values.flops.map((column, at) => {
    const word = graph.classes[at] ?? "";
    const fastest = (of: readonly (string | null)[]) =>
      Math.max(...of.map((one) => peakFor(roof, word, one) ?? Number.NaN));
    const beside = fastest(working);
    return column.reduce((sum, count, op) => {
      if (!count) return sum;
      return sum + count / (word === "tensor" ? fastest([own[op] ?? null]) : beside);
    }, 0);
  });
  return { seconds: Math.max(bytes / mainBandwidth(roof), ...seconds), bytes };
}

/** Returns the bandwidth of the main memory, whichever level the chart shows. */
function mainBandwidth(roof: Roof): number {
  const [main = roof.level] = roof.chip.memories.keys();
  return roof.bandwidths.get(main) ?? roof.bandwidth;
}

/** The best partition of a graph beside the best one of kernels that compilers make today. */
export interface Searched extends BestPartition {
  readonly graph: Graph;
  readonly compiler: BestPartition;
}

/** Finds the fastest partition, and the fastest one of kernels that compilers make today. */
export function* searchBoth(graph: Graph, forms: Forms, cost: Cost, light?: Light): Work<Searched> {
  const best = yield* searchPartition(graph, forms, cost);
  const compiler = yield* searchPartition(graph, forms, cost, forms.isOfCompilers);
  return { ...fasterOf(best, compiler, light), compiler, graph };
}

/**
 * Returns the best partition found. Greedy merges can miss what a search among fewer kernels finds. A partition that
 * takes the time of the speed of light is the best of all.
 */
export function fasterOf(best: BestPartition, compiler: BestPartition, light?: Light): BestPartition {
  const found: BestPartition = compiler.seconds < best.seconds ? { ...compiler, how: "greedy" } : best;
  return light && found.seconds <= light.seconds * (1 + TIE_TOLERANCE) ? { ...found, how: "optimal" } : found;
}

/** Finds the fastest partition. Of equally fast ones, the one that moves fewer bytes is the best. */
export function* searchPartition(
  graph: Graph,
  forms: Forms,
  cost: Cost,
  isKernel: (ops: Ops) => boolean = (ops) => isForm(forms.formOf(ops)),
): Work<BestPartition> {
  const isSmall = graph.ops.length <= MAX_OPS_TRIED;
  const partition = yield* (isSmall ? bestOfAll : mergeGreedily)(graph, forms, cost, isKernel);
  const seconds = partition.groups.map(timeOf(forms, cost)).reduce((sum, one) => sum + one, 0);
  return { ...partition, seconds, how: isSmall ? "optimal" : "greedy" };
}

/** The fastest way to run a set of ops: the ops before its last group, and this group. */
interface Way {
  readonly seconds: number;
  readonly bytes: number;
  readonly kernels: number;
  readonly before: number;
  readonly group: number;
}

/**
 * Tries all partitions. A set of ops that may be finished contains with each op all ops that this op depends on. A group
 * leads from one such set to another, so it is convex and makes no cycle. Sets are bits of the ops' numbers.
 */
function* bestOfAll(
  graph: Graph,
  forms: Pick<Forms, "loadOf">,
  cost: Cost,
  isOne: (ops: Ops) => boolean,
): Work<Partition> {
  const { loadOf } = forms;
  const seconds = timeOf(forms, cost);
  const n = graph.ops.length;
  const all = 2 ** n - 1;
  const needs = graph.ops.map((_, op) => listOf(graph.before, op).reduce((bits, other) => bits | (1 << other), 0));
  const opsOf = (bits: number) => [...graph.ops.keys()].filter((op) => (bits >> op) & 1);
  const isClosed = (bits: number) => opsOf(bits).every((op) => ((needs[op] as number) & ~bits) === 0);
  const isKernel = (ops: Ops) =>
    ops.length === 1 || (linked(graph, ops).length === 1 && !broken(graph, ops) && isOne(ops));
  const known = new Map<number, { readonly seconds: number; readonly bytes: number } | null>();
  const ways: (Way | undefined)[] = [{ seconds: 0, bytes: 0, kernels: 0, before: 0, group: 0 }];
  let tried = 0;
  for (let done = 0; done < all; done++) {
    const way = ways[done];
    if (!way) continue;
    const left = all & ~done;
    for (let group = left; group > 0; group = (group - 1) & left) {
      if (!isClosed(done | group)) continue;
      if (!known.has(group)) {
        if (++tried % GROUPS_PER_PAUSE === 0) yield;
        const ops = opsOf(group);
        known.set(group, isKernel(ops) ? { seconds: seconds(ops), bytes: loadOf(ops).bytes } : null);
      }
      const found = known.get(group);
      if (!found) continue;
      const next = {
        seconds: way.seconds + found.seconds,
        bytes: way.bytes + found.bytes,
        kernels: way.kernels + 1,
        before: done,
        group,
      };
      const old = ways[done | group];
      if (!old || isBetter(next, old)) ways[done | group] = next;
    }
  }
  const groups: Ops[] = [];
  for (let at = all; at > 0; at = (ways[at] as Way).before) groups.unshift(opsOf((ways[at] as Way).group));
  return partitionOf(graph, groups);
}

function isBetter(one: Way, other: Way): boolean {
  if (Math.abs(one.seconds - other.seconds) > TIE_TOLERANCE * other.seconds) return one.seconds < other.seconds;
  return one.bytes === other.bytes ? one.kernels < other.kernels : one.bytes < other.bytes;
}
