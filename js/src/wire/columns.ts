// Tables of kernels, stored by columns.

import type { Activity, Chip, Communication, ReadAs, Reason } from "./types.ts";

/** A dictionary-encoded string column: the unique values, and one code per row. */
export interface DictColumn {
  readonly values: readonly (string | null)[];
  readonly codes: Int32Array;
}

/**
 * The columns of every table of kernels. Each column has n values, where n is the number of rows. NaN means unknown.
 */
interface KernelColumns {
  readonly n: number;
  readonly name: DictColumn;
  readonly precision: DictColumn;
  /**
   * The category of each kernel. The distinct categories are sorted by the total time of their rows, longest total
   * first.
   */
  readonly category: DictColumn;
  /** The time of each kernel, seconds. */
  readonly time: Float64Array;
  readonly count: Float64Array;
  /** FLOPs by precision. The key "" is for FLOPs given as a plain number. */
  readonly flops: ReadonlyMap<string, Float64Array>;
  /**
   * Bytes by level. The key "main" is for bytes given as a plain number. The key "network" is for bytes that cross the
   * chip's link.
   */
  readonly bytes: ReadonlyMap<string, Float64Array>;
  /** Cache of `bytesAt`: the bytes of each kernel at a level of a chip. The keys are made by `bytesAt`. */
  readonly byLevel: Map<string, Float64Array>;
  /** FLOPs summed over all precisions. */
  readonly totalFlops: Float64Array;
}

/** Equal calls of a collective. NaN means unknown. */
export interface Message {
  readonly kind: string;
  /** The name and the ranks of the group. */
  readonly group: string;
  /** The series that the calls are of, such as a run. Missing without series. */
  readonly series?: string | undefined;
  /** The larger of what a rank puts in and gets out, bytes. */
  readonly size: number;
  readonly ranks: number;
  readonly count: number;
  /** Seconds of all calls, of the fastest call, and how long all calls waited at most. */
  readonly time: number;
  readonly fastest: number;
  readonly waiting: number;
}

/** A vertical line of the instruction roofline: accesses with a pattern have this many instructions per transaction. */
export interface Wall {
  readonly name: string;
  /** "global" or "shared". */
  readonly space: string;
  readonly intensity: number;
}

/** Loads and stores of a memory space, by row. */
export interface Accesses {
  /** Loads and stores per transaction. */
  readonly intensity: Float64Array;
  /** Loads and stores per second. */
  readonly rate: Float64Array;
}

/** The instruction roofline of the kernels. Its columns have a value for each row. NaN means unknown. */
export interface InstructionRoofline {
  /** "warp" or "wavefront". */
  readonly unit: "warp" | "wavefront";
  /** The highest rate, instructions/s, and whether it is an estimate. */
  readonly peak: number;
  readonly isEstimate: boolean;
  /** The roofs by level, transactions/s. */
  readonly roofs: ReadonlyMap<string, number>;
  readonly walls: readonly Wall[];
  /** Instructions/s. */
  readonly rate: Float64Array;
  /** The share of the lanes that did something. */
  readonly lanes: Float64Array;
  /** The rate over the lowest roof, and which roof this is: "instructions", a level, or "unknown". */
  readonly utilization: Float64Array;
  readonly bound: DictColumn;
  /** Instructions per transaction, by level. */
  readonly levels: ReadonlyMap<string, Float64Array>;
  readonly accesses: ReadonlyMap<string, Accesses>;
}

/** Optional data of a file, in addition to the columns. */
interface KernelMetadata {
  /**
   * The number of rows that are kernels. These rows come first. The rows after them, if any, are the totals of a
   * program.
   */
  readonly own: number;
  /** Short names for the chart; null for a name that is short enough. */
  readonly short: DictColumn;
  /**
   * The time of each row in seconds, without the time of other rows that are nested in the row. No time is counted in
   * two rows, so the self times of several rows can be added.
   */
  readonly selfTime: Float64Array;
  /** The sum of `selfTime` over the measured rows, seconds. */
  readonly totalTime: number;
  /**
   * For each kernel: 1 if it is a collective whose bytes over the link are unknown, else 0. Null if there is no such
   * collective. Only Python recognizes collectives.
   */
  readonly unlinked: Int32Array | null;
  /**
   * The bytes that one launch of each kernel has in flight, as far as the file counts them; NaN for other kernels. Null
   * if the file counts none.
   */
  readonly inFlight: Float64Array | null;
  /**
   * FLOP per byte of the main memory and FLOP/s of kernels whose FLOPs are unknown: they have a place on the chart, and
   * no amounts and no seconds. NaN for other kernels. Null if no kernel has a value.
   */
  readonly intensity: Float64Array | null;
  readonly rate: Float64Array | null;
  /** Whether the categories are series, such as runs. */
  readonly series: boolean;
  /**
   * The number of the kernel in each row: rows of several series with one number are the same kernel. Null without
   * several series.
   */
  readonly same: Int32Array | null;
  /** Additional columns of the file, in the order of the file. */
  readonly extra: ReadonlyMap<string, DictColumn | Float64Array>;
  /**
   * By column name: the source of each number of the column. Examples of column names are "flops", "bytes:L2" and
   * "time".
   */
  readonly origin: ReadonlyMap<string, DictColumn>;
  /** The totals of the full program (category "program"), followed by the totals of its steps (category "step"). */
  readonly program: Kernels | null;
  /** The chip that the kernels ran on. */
  readonly chip: Chip | null;
  /** The warnings of the file's reader. */
  readonly warnings: readonly string[];
  readonly source: string;
  /** These two are null if the times of launches are unknown. */
  readonly communication: Communication | null;
  readonly activity: Activity | null;
  readonly messages: readonly Message[];
  /** Null if the kernels have no counts of instructions. */
  readonly instructions: InstructionRoofline | null;
  /** How the file was read; null for kernels that are not from a file. */
  readonly readAs: ReadAs | null;
  /** Why kernels are slow, by row: what keeps the chip empty first. */
  readonly reasons: ReadonlyMap<number, readonly Reason[]>;
}

export interface Kernels extends KernelColumns, KernelMetadata {}

/** An earlier run (the baseline). Each kernel of this run is matched with the same kernel of the present run. */
export interface Baseline {
  readonly kernels: Kernels;
  /**
   * For each row of the earlier run: the row of the same kernel in the present run. -1 if the present run does not have
   * the kernel.
   */
  readonly match: Int32Array;
  /**
   * For each row of the earlier run: "faster", "slower", "same", "unknown" or "other work". Null for kernels that the
   * present run does not have.
   */
  readonly verdict: DictColumn;
  /**
   * For each row of the earlier run: 1 if the times of one launch are compared, because the numbers of launches differ.
   * 0 if the times over all launches are compared.
   */
  readonly isPerLaunch: Int32Array;
}

const NO_REASONS: Kernels["reasons"] = new Map();

/** Returns a table of kernels with the columns of `counts`. The table has no optional data of a file. */
export function withoutMetadata(counts: KernelColumns, selfTime = counts.time): Kernels {
  return {
    ...counts,
    own: counts.n,
    short: counts.name,
    selfTime,
    totalTime: sumOfMeasured(selfTime),
    unlinked: null,
    inFlight: null,
    intensity: null,
    rate: null,
    series: false,
    same: null,
    extra: new Map(),
    origin: new Map(),
    program: null,
    chip: null,
    warnings: [],
    source: "",
    communication: null,
    activity: null,
    messages: [],
    instructions: null,
    readAs: null,
    reasons: NO_REASONS,
  };
}

export function textAt(column: DictColumn, row: number): string | null {
  return column.values[column.codes[row] ?? -1] ?? null;
}

/** Whether two tables have the same kernels in the same rows. */
export const areSameRows = (one: Kernels, other: Kernels): boolean => String(cells(one)) === String(cells(other));
const cells = ({ name: { values, codes }, time }: Kernels) => [values, codes, time];

/** Returns the first row of the kernel in a row. Only a kernel of several series has several rows. */
export const firstRow = ({ same }: Kernels, row: number): number =>
  same && row < same.length ? same.indexOf(same[row] as number) : row;

export const everyRow = ({ n }: Pick<KernelColumns, "n">) => new Int32Array(n).map((_, row) => row);

/**
 * Returns for each row the sum of its values in all columns. NaN values are ignored. If all values of a row are NaN,
 * the sum of this row is NaN.
 */
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
