// What the last change of the partition merged: the kernels that it was made of, and how much fewer bytes they move.

import { computed, effect, type ReadonlySignal, signal } from "@preact/signals";
import { kernelsOf } from "../fusion/group_kernels.ts";
import type { Partition } from "../fusion/legality.ts";
import { groupBytes } from "../fusion/partition.ts";
import type { Kernels } from "../wire/columns.ts";
import type { Workload } from "./graph.ts";
import type { KernelGroups } from "./sync.ts";

/** A group, by its place in the partition, and the groups before that it was made of. */
export interface Merge {
  readonly row: number;
  readonly groups: KernelGroups;
}

export interface Trail {
  /** Of the merged kernel. */
  readonly row: number;
  /** Its rows among `parts`. */
  readonly from: readonly number[];
  /** Bytes before over bytes now: at the same FLOPs, by how much the intensity has risen. */
  readonly ratio: number;
}

export interface Trails {
  readonly merges: readonly Merge[];
  readonly parts: Kernels;
  readonly list: readonly Trail[];
}

/** The groups that hold several whole groups of before. */
export function mergesBetween(before: Partition, after: Partition): Merge[] {
  return after.groups.flatMap((group, row) => {
    const groups = [...new Set(group.map((op) => before.groupOf[op] as number))].map((at) => before.groups[at] ?? []);
    const isWhole = groups.reduce((ops, part) => ops + part.length, 0) === group.length;
    return isWhole && groups.length > 1 ? [{ row, groups }] : [];
  });
}

/** What is left of the last merge, until the partition changes again; it moves with sizes, convention and dtype. */
export function followMerges(workload: ReadonlySignal<Workload | undefined>, abort: AbortSignal) {
  const merges = signal<readonly Merge[]>([]);
  let last: Workload | undefined;
  const stop = effect(() => {
    const now = workload.value;
    if (now?.partition !== last?.partition) {
      merges.value = now && last?.graph === now.graph ? mergesBetween(last.partition, now.partition) : [];
    }
    last = now;
  });
  abort.addEventListener("abort", stop);
  return computed(() =>
    workload.value && merges.value.length > 0 ? trailsOf(workload.value, merges.value) : undefined,
  );
}

function trailsOf({ graph, values, partition }: Workload, merges: readonly Merge[]): Trails {
  const parts: (readonly number[])[] = [];
  const bytes = (group: readonly number[]) => groupBytes(graph, values, group);
  const list = merges.map(({ row, groups }): Trail => {
    const from = groups.map((group) => parts.push(group) - 1);
    const before = groups.reduce((sum, group) => sum + bytes(group), 0);
    return { row, from, ratio: before / bytes(partition.groups[row] ?? []) };
  });
  return { merges, parts: kernelsOf(graph, { groups: parts }, values), list };
}
