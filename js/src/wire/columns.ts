// Tables of kernels, stored by columns.

import type { Chip } from "./types.ts";

/** A dictionary-encoded string column: the unique values, and one code per row. */
export interface DictColumn {
  readonly values: readonly (string | null)[];
  readonly codes: Int32Array;
}

/** The columns of every table of kernels, with n rows; NaN means unknown. */
export interface KernelColumns {
  readonly n: number;
  readonly name: DictColumn;
  readonly precision: DictColumn;
  /** Its values are sorted by the time of their rows, longest first. */
  readonly category: DictColumn;
  /** Seconds. */
  readonly time: Float64Array;
  readonly count: Float64Array;
  /** FLOPs by precision; "" for FLOPs given as a plain number. */
  readonly flops: ReadonlyMap<string, Float64Array>;
  /** Bytes by level; "main" for bytes given as a plain number, "network" for the chip's link. */
  readonly bytes: ReadonlyMap<string, Float64Array>;
  /** A cache: bytes by the level of a chip. */
  readonly byLevel: Map<string, Float64Array>;
  /** FLOPs over all precisions. */
  readonly totalFlops: Float64Array;
}

/** What a file may say beside the columns. */
interface KernelMetadata {
  /** The number of rows that are kernels; rows with the totals of a program may follow. */
  readonly own: number;
  /** Short names for the chart; null where the name itself is short enough. */
  readonly short: DictColumn;
  /** Seconds without the time of other rows nested in this row; these may be added up. */
  readonly selfTime: Float64Array;
  /** The sum of `selfTime` over the measured rows, seconds. */
  readonly totalTime: number;
  /** Further columns of the file, in its order. */
  readonly extra: ReadonlyMap<string, DictColumn | Float64Array>;
  /** The source of each number, by "flops", "bytes:L2", "time" and so on. */
  readonly origin: ReadonlyMap<string, DictColumn>;
  /** The totals of the whole program (category "program"), then the totals of its steps (category "step"). */
  readonly program: Kernels | null;
  /** The chip that the kernels ran on. */
  readonly chip: Chip | null;
  /** The warnings of the reader of the file. */
  readonly warnings: readonly string[];
  readonly source: string;
}

export interface Kernels extends KernelColumns, KernelMetadata {}

/** An earlier run. */
export interface Baseline {
  readonly kernels: Kernels;
  /** For each row of the earlier run, the row of the same kernel now, or -1. */
  readonly match: Int32Array;
  /** For each row of the earlier run: "faster", "slower", "equal", "unknown" or "other work"; null if it is gone. */
  readonly verdict: DictColumn;
}

/** Kernels with columns alone, without what a file may add. */
export function withoutMetadata(counts: KernelColumns, selfTime = counts.time): Kernels {
  return {
    ...counts,
    own: counts.n,
    short: counts.name,
    selfTime,
    totalTime: sumOfMeasured(selfTime),
    extra: new Map(),
    origin: new Map(),
    program: null,
    chip: null,
    warnings: [],
    source: "",
  };
}

export function textAt(column: DictColumn, row: number): string | null {
  return column.values[column.codes[row] ?? -1] ?? null;
}

export function everyRow({ n }: Pick<KernelColumns, "n">): Int32Array {
  const rows = new Int32Array(n);
  for (let row = 0; row < n; row++) rows[row] = row;
  return rows;
}

/** The sum of each row over the columns, ignoring NaN; NaN where all are NaN. */
export function sumOfKnown(parts: readonly Float64Array[], n: number): Float64Array {
  const [only] = parts;
  if (only && parts.length === 1) return only;
  const sum = new Float64Array(n).fill(Number.NaN);
  for (const part of parts) {
    for (let row = 0; row < n; row++) {
      const value = part[row] as number;
      if (!Number.isNaN(value)) sum[row] = Number.isNaN(sum[row]) ? value : (sum[row] as number) + value;
    }
  }
  return sum;
}

export function sumOfMeasured(seconds: Float64Array): number {
  let sum = 0;
  for (let row = 0; row < seconds.length; row++) sum += seconds[row] || 0;
  return sum;
}
