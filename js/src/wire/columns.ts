// Tables of kernels, in columns.

import type { Chip } from "./types.ts";

/** Dictionary-coded texts: one code a row. */
export interface DictColumn {
  readonly values: readonly (string | null)[];
  readonly codes: Int32Array;
}

/** What every table of kernels has, in columns of n rows; NaN is unknown. */
export interface KernelColumns {
  readonly n: number;
  readonly name: DictColumn;
  readonly precision: DictColumn;
  /** The words by falling seconds of their rows. */
  readonly category: DictColumn;
  /** Seconds. */
  readonly time: Float64Array;
  readonly count: Float64Array;
  /** FLOPs by precision; "" holds those given as plain numbers. */
  readonly flops: ReadonlyMap<string, Float64Array>;
  /** Bytes by level; "main" holds those given as plain numbers, "network" what crosses the chip's link. */
  readonly bytes: ReadonlyMap<string, Float64Array>;
  /** Bytes by the level of a chip, once they have been found. */
  readonly byLevel: Map<string, Float64Array>;
  /** FLOPs over all precisions. */
  readonly totalFlops: Float64Array;
}

/** What a file tells beside them. */
interface KernelMetadata {
  /** How many rows are kernels; the totals of a program may follow. */
  readonly own: number;
  /** Names as the chart shows them; null where they are short as they are. */
  readonly short: DictColumn;
  /** Seconds without those of other rows within them: these may be added. */
  readonly selfTime: Float64Array;
  /** Seconds of its own over all rows that were measured. */
  readonly totalTime: number;
  /** Columns of the file's own, in its order. */
  readonly extra: ReadonlyMap<string, DictColumn | Float64Array>;
  /** Where numbers came from, by "flops", "bytes:L2", "time" and so on. */
  readonly origin: ReadonlyMap<string, DictColumn>;
  /** The totals of the whole program, of category "program", then those of its steps, of category "step". */
  readonly program: Kernels | null;
  /** The one they ran on. */
  readonly chip: Chip | null;
  /** What the reader of the file had to say. */
  readonly warnings: readonly string[];
  readonly source: string;
}

export interface Kernels extends KernelColumns, KernelMetadata {}

/** An earlier run. */
export interface Baseline {
  readonly kernels: Kernels;
  /** For each of its rows the row of the kernels now, or -1. */
  readonly match: Int32Array;
  /** Of each of its rows, what has become of it. */
  readonly verdict: DictColumn;
}

/** Kernels of which no file told more. */
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

/** Row by row, the sum of what is known; NaN where nothing is. */
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
