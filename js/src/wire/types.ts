// The types of what Python sends: plain values as they arrive (Wire…), and as the front end uses them.

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
  /** Hz; null where unknown. */
  readonly clock: number | null;
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

/** A curve that was frozen. */
export interface Snapshot {
  readonly name: string;
  /** Of its chip, which need not be here any more. */
  readonly chip: string;
  readonly precision: string;
  /** A level, or "all". */
  readonly memory: string;
  /** FLOP/s and bytes/s. */
  readonly peak: number;
  readonly bandwidth: number;
  readonly hidden: boolean;
  /** Where they stood: FLOP/B and FLOP/s, without FLOPs 0 and bytes/s. */
  readonly kernels: readonly (readonly [name: string, ai: number, rate: number])[];
}

/** Changed rates by chip id, quantity, and precision or level. */
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
  /** Tensors; one that is read twice stands there twice. */
  readonly inputs: readonly number[];
  readonly outputs: readonly number[];
  /** FLOPs by class. */
  readonly flops: Readonly<Record<string, WireExpression>>;
  /** Bytes moved besides those of its tensors. */
  readonly extra: WireExpression;
  /** The derivation: names, and counts that add up to the FLOPs. */
  readonly terms: readonly (readonly [name: string, count: WireExpression])[];
  /** The precision whose peak judges it; without one `statedBy` says what does. */
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
