// What the Fusion tab finds out in this page: what the edge under the pointer would do, and the best partition.

import { signal } from "@preact/signals";
import type { Searched } from "../fusion/search.ts";
import type { Kernels } from "../wire/columns.ts";

/** A merge or a split that the chart shows before it is made. */
export interface MergePreview {
  /** The rows that would go. */
  readonly rows: readonly number[];
  /** The kernels that would come in their place, and their names. */
  readonly kernels: Kernels;
  readonly names: readonly string[];
}

export const createMergePreview = () => ({
  mergePreview: signal<MergePreview | undefined>(undefined),
  bestPartition: signal<Searched | undefined>(undefined),
});
