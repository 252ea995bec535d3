// The types of what Python sends: as it arrives (Wire…), and as the front end uses it.

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
  /** The precision that "auto" stands for. */
  readonly precision: string;
  /** FLOP/s by precision. */
  readonly peaks: ReadonlyMap<string, number>;
  /** bytes/s by level, main memory first; null where unknown. */
  readonly memories: ReadonlyMap<string, number | null>;
  /** Levels with an invented bandwidth, chosen for teaching: no real chip has it. */
  readonly illustrative: readonly string[];
  /** Bandwidth of the link to other chips, bytes/s in one direction; null if unknown. */
  readonly link: number | null;
  /** Clock rate, Hz; null if unknown. */
  readonly clock: number | null;
  /** The on-chip memory of one unit; null if unknown. */
  readonly share: Share | null;
  readonly ceilings: readonly Ceiling[];
  readonly figures: readonly Figure[];
  readonly notes: readonly string[];
}

/** The part of the nearest memory that one unit, such as an SM, may use. */
export interface Share {
  readonly level: string;
  readonly bytes: number;
  /** The number of units. */
  readonly units: number;
}

/** A roof below the peak: FLOP/s, or bytes/s of a memory level. */
export interface Ceiling {
  readonly key: string;
  readonly name: string;
  readonly rate: number;
  /** The memory level that the ceiling belongs to; null for a ceiling of compute. */
  readonly memory: string | null;
  /** The precision that the ceiling belongs to; null for all. */
  readonly precision: string | null;
  readonly measured: boolean;
}

/** One row of a chip's data sheet card. */
export interface Figure {
  readonly label: string;
  /** In base units; null where unknown. */
  readonly value: number | null;
  readonly unit: string;
  /** Whether it was measured: a ceiling, not a figure of the data sheet. */
  readonly measured: boolean;
  readonly source: string;
  readonly url: string;
  readonly confidence: string;
  /** Other sources that differ by more than 3 %. */
  readonly checks: readonly (readonly [value: number, source: string])[];
}

/** A frozen roofline: the roof and the places of its kernels. */
export interface Snapshot {
  readonly name: string;
  /** The id of its chip, which may be gone from the model. */
  readonly chip: string;
  readonly precision: string;
  /** A level, or "all". */
  readonly memory: string;
  /** FLOP/s and bytes/s. */
  readonly peak: number;
  readonly bandwidth: number;
  readonly hidden: boolean;
  /** The place of each kernel: FLOP/B and FLOP/s; for a kernel without FLOPs 0 and bytes/s. */
  readonly kernels: readonly (readonly [name: string, ai: number, rate: number])[];
}

/** Changed rates, by chip id, quantity, and precision or memory level. */
export type WhatIf = Readonly<Record<string, Readonly<Partial<Record<Quantity, Readonly<Record<string, number>>>>>>>;
export type Quantity = "peak_flops" | "bandwidth";

export type WireChip = Omit<Chip, "peaks" | "memories" | "share"> & {
  peaks: [string, number][];
  memories: [string, number | null][];
  share: [level: string, bytes: number, units: number] | null;
};

/** A dictionary-encoded string column; null where every row is null. */
export type WireDictColumn = {
  /** The unique values: a JSON list as UTF-8. */
  values: DataView;
  /** One int32 a row. Null: row i has value i, or every row has the only value. */
  codes: DataView | null;
} | null;

export interface WireColumns {
  n: number;
  name: WireDictColumn;
  short: WireDictColumn;
  precision: WireDictColumn;
  category: WireDictColumn;
  /** Null: no time is known. */
  time: DataView | null;
  /** Null: the same as `time`. */
  self_time: DataView | null;
  /** Null: every row counts one launch. */
  count: DataView | null;
  flops: Record<string, DataView>;
  bytes: Record<string, DataView>;
  extra: [name: string, column: WireDictColumn | DataView][];
  origin: [key: string, column: WireDictColumn][];
}

export interface WireKernels extends WireColumns {
  program: WireColumns | null;
  chip: WireChip | null;
  warnings: string[];
  source: string;
}

export interface WireBaseline {
  kernels: WireKernels;
  match: DataView;
  verdict: WireDictColumn;
}

export type WireSnapshot = Omit<Snapshot, "kernels"> & { kernels: [name: string, ai: number | null, rate: number][] };

/** A number (in digits beyond 2^53), a symbol's name, or a sign and the parts it joins; "/" rounds up. */
export type WireExpression = number | string | readonly [sign: Sign, ...parts: WireExpression[]];
export type Sign = "+" | "*" | "/" | "min" | "max";

export type WireCondition = readonly [whose: string, count: WireExpression, divisor: WireExpression];

export interface WireTensor {
  readonly name: string;
  readonly shape: readonly WireExpression[];
  readonly dtype: string;
  readonly bytes: WireExpression;
}

export type OpKind = "elementwise" | "broadcast" | "injective" | "reduction" | "matmul" | "opaque";

export interface WireOp {
  readonly name: string;
  readonly kind: OpKind;
  /** Tensors by number; a tensor that is read twice is listed twice. */
  readonly inputs: readonly number[];
  readonly outputs: readonly number[];
  /** FLOPs by class. */
  readonly flops: Readonly<Record<string, WireExpression>>;
  /** Bytes moved in addition to those of its tensors. */
  readonly extra: WireExpression;
  /** The derivation of the FLOPs: named counts that add up to them. */
  readonly terms: readonly (readonly [name: string, count: WireExpression])[];
  /** The precision whose peak bounds the op; if it is missing see `statedBy`. */
  readonly precision?: string | null;
}

export interface WireGraph {
  name: string;
  dims: [string, number, number, number][];
  conditions?: WireCondition[];
  convention: string;
  ops: WireOp[];
  tensors: WireTensor[];
  outputs: number[];
  dtypes: Record<string, number>;
  conventions: Record<string, Record<string, number>>;
}
