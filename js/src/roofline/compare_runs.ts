// What has become of the kernels of an earlier run.

import { type Baseline, type Kernels, textAt } from "../wire/columns.ts";

export interface RunChange {
  /** Its row before, and now. */
  readonly earlier: number;
  readonly row: number;
  /** Seconds over all launches, before and now. */
  readonly from: number;
  readonly to: number;
  /** What the two ranges of times say: faster, slower, equal; or unknown. */
  readonly verdict: string;
}

export interface Runs {
  readonly before: Kernels;
  /** Of kernels in both runs, the largest first. */
  readonly changes: readonly RunChange[];
  /** Rows of the run before, and of now, that have no match: the longest first. */
  readonly onlyBefore: readonly number[];
  readonly onlyNow: readonly number[];
}

export function runsOf(baseline: Baseline, kernels: Kernels): Runs {
  const { kernels: before, match, verdict } = baseline;
  const changes: RunChange[] = [];
  const onlyBefore: number[] = [];
  const isNew = new Uint8Array(kernels.n).fill(1);
  for (let earlier = 0; earlier < before.n; earlier++) {
    const row = match[earlier] as number;
    // The kernels of now may have come before word of how they match.
    if (row < 0 || row >= kernels.n) {
      onlyBefore.push(earlier);
      continue;
    }
    const word = textAt(verdict, earlier) ?? "unknown";
    isNew[row] = 0;
    changes.push({
      earlier,
      row,
      from: before.time[earlier] as number,
      to: kernels.time[row] as number,
      verdict: word,
    });
  }
  const onlyNow = Array.from({ length: kernels.n }, (_, row) => row).filter((row) => isNew[row]);
  const size = ({ from, to }: RunChange) => Math.abs(to - from) || 0;
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

/** Of two runs what passes the filters: a kernel that is in both where it passes in either, so that none is lost. */
export function passing(runs: Runs, rowsBefore: Int32Array, rowsNow: Int32Array): Runs {
  const [then, now] = [new Set(rowsBefore), new Set(rowsNow)];
  return {
    before: runs.before,
    changes: runs.changes.filter(({ earlier, row }) => then.has(earlier) || now.has(row)),
    onlyBefore: runs.onlyBefore.filter((row) => then.has(row)),
    onlyNow: runs.onlyNow.filter((row) => now.has(row)),
  };
}

/** How many kernels became what. */
export function countsOf(changes: readonly RunChange[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { verdict } of changes) counts.set(verdict, (counts.get(verdict) ?? 0) + 1);
  return counts;
}
