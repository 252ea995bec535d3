// Compares an earlier run with the present run. The result lists the kernels whose times changed, and the kernels that
// only one of the two runs has.

import { type Baseline, type Kernels, textAt } from "../wire/columns.ts";

export interface RunChange {
  /** The row of the kernel in the earlier run. */
  readonly earlier: number;
  /** The row of the kernel in the present run. */
  readonly row: number;
  /**
   * The time in the earlier run, in seconds. It is the time of one launch if `launches` is defined, else of all
   * launches.
   */
  readonly from: number;
  /**
   * The time in the present run, in seconds. It is the time of one launch if `launches` is defined, else of all
   * launches.
   */
  readonly to: number;
  /** The numbers of launches in the two runs if the times of one launch are compared; else undefined. */
  readonly launches: readonly [from: number, to: number] | undefined;
  /**
   * "faster", "slower", "same", "unknown" or "other work". The verdict is computed from the ranges of the two times.
   */
  readonly verdict: string;
}

export interface Runs {
  readonly before: Kernels;
  /** The kernels in both runs, sorted by the size of the change, largest first. */
  readonly changes: readonly RunChange[];
  /** Rows of the kernels that only the earlier run has. The kernel with the longest time is first. */
  readonly onlyBefore: readonly number[];
  /** Rows of the kernels that only the present run has. The kernel with the longest time is first. */
  readonly onlyNow: readonly number[];
}

export function runsOf(baseline: Baseline, kernels: Kernels): Runs {
  const { kernels: before, match, verdict, isPerLaunch } = baseline;
  const changes: RunChange[] = [];
  const onlyBefore: number[] = [];
  const isNew = new Uint8Array(kernels.n).fill(1);
  for (let earlier = 0; earlier < before.n; earlier++) {
    const row = match[earlier] as number;
    // New kernels may arrive before the message that matches them with the earlier run.
    if (row < 0 || row >= kernels.n) {
      onlyBefore.push(earlier);
      continue;
    }
    const word = textAt(verdict, earlier) ?? "unknown";
    isNew[row] = 0;
    const counts = [before.count[earlier] as number, kernels.count[row] as number] as const;
    const launches = isPerLaunch[earlier] ? counts : undefined;
    changes.push({
      earlier,
      row,
      from: (before.time[earlier] as number) / (launches?.[0] ?? 1),
      to: (kernels.time[row] as number) / (launches?.[1] ?? 1),
      launches,
      verdict: word,
    });
  }
  const onlyNow = Array.from({ length: kernels.n }, (_, row) => row).filter((row) => isNew[row]);
  const size = (change: RunChange) => Math.abs(changeOf(change)) || 0;
  const longest =
    ({ time }: Kernels) =>
    (a: number, b: number) =>
      (time[b] || 0) - (time[a] || 0) || a - b;
  return {
    before,
    changes: changes.sort((a, b) => size(b) - size(a) || a.row - b.row),
    onlyBefore: onlyBefore.sort(longest(before)),
    onlyNow: onlyNow.sort(longest(kernels)),
  };
}

/** The largest changes have numbers, on the chart and in the table: at most this many. */
const MAX_NUMBERED = 7;

/** Returns the change of the time over all launches, also if the times of one launch are compared, s. */
export const changeOf = ({ from, to, launches: [then, now] = [1, 1] }: RunChange) => to * now - from * then;

/** Returns the changes that have a number, the largest first: of the kernels that the chart draws. */
export function largestChanges({ changes }: Pick<Runs, "changes">, isDrawn: (row: number) => boolean): RunChange[] {
  const found: RunChange[] = [];
  for (const change of changes) {
    const isChanged = change.verdict === "faster" || change.verdict === "slower";
    if (found.length < MAX_NUMBERED && isChanged && isDrawn(change.row)) found.push(change);
  }
  return found;
}

/**
 * Returns the part of the comparison that passes the filters. `rowsBefore` has the rows of the earlier run that pass,
 * `rowsNow` the rows of the present run. A kernel in both runs passes if at least one of its two rows passes.
 */
export function passing(runs: Runs, rowsBefore: Int32Array, rowsNow: Int32Array): Runs {
  const [then, now] = [new Set(rowsBefore), new Set(rowsNow)];
  return {
    before: runs.before,
    changes: runs.changes.filter(({ earlier, row }) => then.has(earlier) || now.has(row)),
    onlyBefore: runs.onlyBefore.filter((row) => then.has(row)),
    onlyNow: runs.onlyNow.filter((row) => now.has(row)),
  };
}
