// The trails of the last merge. A trail shows the kernels that were merged, and the factor by which the merge reduced
// the bytes.

import { computed, effect, type ReadonlySignal, signal } from "@preact/signals";
import { kernelsOf } from "../fusion/group_kernels.ts";
import type { Partition } from "../fusion/legality.ts";
import type { Kernels } from "../wire/columns.ts";
import type { KernelGroups } from "./traits.ts";
import type { Workload } from "./workload.ts";

/**
 * A merged group and the groups that were merged into it. `row` is the index of the merged group in the partition after
 * the merge. `groups` has, for each group that was merged, the ops of this group.
 */
export interface Merge {
  readonly row: number;
  readonly groups: KernelGroups;
}

interface Trail {
  /** The row of the merged kernel. */
  readonly row: number;
  /** The rows, in `parts`, of the kernels that were merged. */
  readonly from: readonly number[];
  /** Bytes before the merge divided by bytes after the merge. */
  readonly ratio: number;
}

export interface Trails {
  readonly merges: readonly Merge[];
  readonly parts: Kernels;
  readonly list: readonly Trail[];
}

/** Returns the groups of `after` that consist of several complete groups of `before`. */
export function mergesBetween(before: Partition, after: Partition): Merge[] {
  return after.groups.flatMap((group, row) => {
    const groups = [...new Set(group.map((op) => before.groupOf[op] as number))].map((at) => before.groups[at] ?? []);
    const isWhole = groups.reduce((ops, part) => ops + part.length, 0) === group.length;
    return isWhole && groups.length > 1 ? [{ row, groups }] : [];
  });
}

/**
 * Returns the trails of the last merge. The trails exist until the partition changes again. A new size, counting
 * convention or dtype updates the trails.
 */
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

function trailsOf({ graph, values, partition, forms }: Workload, merges: readonly Merge[]): Trails {
  const parts: (readonly number[])[] = [];
  const bytes = (group: readonly number[]) => forms.loadOf(group).bytes;
  const list = merges.map(({ row, groups }): Trail => {
    const from = groups.map((group) => parts.push(group) - 1);
    const before = groups.reduce((sum, group) => sum + bytes(group), 0);
    return { row, from, ratio: before / bytes(partition.groups[row] ?? []) };
  });
  return { merges, parts: kernelsOf(graph, { groups: parts }, values, forms), list };
}
