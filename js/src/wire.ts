// What Python sends, decoded: the mirror of roofwidget/wire.py, and the only file that knows the wire's names.

export interface Chip {
  readonly id: string;
  readonly name: string;
  readonly vendor: string;
  readonly family: string;
  readonly generation: number;
  readonly kind: string;
  readonly year: number | null;
  /** "cross-checked", "single-source" or "given". */
  readonly status: string;
  /** The precision that "auto" means. */
  readonly precision: string;
  /** FLOP/s by precision. */
  readonly peaks: ReadonlyMap<string, number>;
  /** bytes/s by level, main memory first; null where unknown. */
  readonly memories: ReadonlyMap<string, number | null>;
  /** Levels whose bandwidth was chosen to show something and is true of no chip. */
  readonly illustrative: readonly string[];
  /** Of its link to other chips, bytes/s one way; null where unknown. */
  readonly link: number | null;
  /** What each of its units may keep on chip; null where unknown. */
  readonly share: Share | null;
  readonly ceilings: readonly Ceiling[];
  readonly figures: readonly Figure[];
  readonly notes: readonly string[];
}

/** A unit's part of the memory nearest to it. */
export interface Share {
  readonly level: string;
  readonly bytes: number;
  /** How many have such a part. */
  readonly units: number;
}

/** A roof below the peak: FLOP/s, or bytes/s of a memory level. */
export interface Ceiling {
  readonly key: string;
  readonly name: string;
  readonly rate: number;
  /** The level that it lies under; null for a ceiling of compute. */
  readonly memory: string | null;
  /** The precision whose peak it lies under; null for all. */
  readonly precision: string | null;
  readonly measured: boolean;
}

/** One row of a chip's card. */
export interface Figure {
  readonly label: string;
  /** In base units; null where unknown. */
  readonly value: number | null;
  readonly unit: string;
  /** Whether somebody measured it: a ceiling, not a figure of the data sheet. */
  readonly measured: boolean;
  readonly source: string;
  readonly url: string;
  readonly confidence: string;
  /** What other sources say that is more than 3 % off. */
  readonly checks: readonly (readonly [value: number, source: string])[];
}

/** Dictionary-coded texts: one code a row. */
export interface Texts {
  readonly values: readonly (string | null)[];
  readonly codes: Int32Array;
}

/** Columns of n rows; NaN is unknown. */
export interface Kernels {
  readonly n: number;
  readonly name: Texts;
  readonly precision: Texts;
  readonly category: Texts;
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
  /** Seconds over all rows that were measured. */
  readonly totalTime: number;
}

/** Changed rates by chip id, quantity, and precision or level. */
export type WhatIf = Readonly<Record<string, Readonly<Partial<Record<Quantity, Readonly<Record<string, number>>>>>>>;
export type Quantity = "peak_flops" | "bandwidth";

type WireChip = Omit<Chip, "peaks" | "memories" | "share"> & {
  peaks: [string, number][];
  memories: [string, number | null][];
  share: [level: string, bytes: number, units: number] | null;
};

interface WireTexts {
  values: (string | null)[];
  codes: DataView;
}

interface WireKernels {
  n: number;
  name: WireTexts;
  precision: WireTexts;
  category: WireTexts;
  time: DataView;
  count: DataView;
  flops: Record<string, DataView>;
  bytes: Record<string, DataView>;
}

export function decodeChips(wire: unknown): Chip[] {
  return (wire as WireChip[]).map((chip) => ({
    ...chip,
    peaks: new Map(chip.peaks),
    memories: new Map(chip.memories),
    share: chip.share && { level: chip.share[0], bytes: chip.share[1], units: chip.share[2] },
  }));
}

export function decodeKernels(wire: unknown): Kernels {
  const { n, name, precision, category, time, count, flops, bytes } = wire as WireKernels;
  const flopsColumns = columns(flops);
  const seconds = floats(time);
  return {
    n,
    name: texts(name),
    precision: texts(precision),
    category: texts(category),
    time: seconds,
    count: floats(count),
    flops: flopsColumns,
    bytes: columns(bytes),
    byLevel: new Map(),
    totalFlops: sumOfKnown([...flopsColumns.values()], n),
    totalTime: seconds.reduce((sum, t) => (t > 0 ? sum + t : sum), 0),
  };
}

export function textAt(column: Texts, row: number): string | null {
  return column.values[column.codes[row] ?? -1] ?? null;
}

/** Row by row, the sum of what is known; NaN where nothing is. */
export function sumOfKnown(parts: readonly Float64Array[], n: number): Float64Array {
  const sum = new Float64Array(n).fill(Number.NaN);
  for (const part of parts) {
    for (let row = 0; row < n; row++) {
      const value = part[row] as number;
      if (!Number.isNaN(value)) sum[row] = Number.isNaN(sum[row]) ? value : (sum[row] as number) + value;
    }
  }
  return sum;
}

// A buffer may start anywhere inside a message, a typed array only at multiples of its element: hence the copy.
const copy = (view: DataView) => view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength) as ArrayBuffer;
const floats = (view: DataView) => new Float64Array(copy(view));
const texts = ({ values, codes }: WireTexts): Texts => ({ values, codes: new Int32Array(copy(codes)) });
const columns = (wire: Record<string, DataView>) =>
  new Map(Object.entries(wire).map(([key, view]) => [key, floats(view)] as const));
