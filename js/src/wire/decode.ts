// What Python sends, decoded: the mirror of roofwidget/wire.py, and the only file that knows the wire's names.

import { type Baseline, type DictColumn, everyRow, type Kernels, sumOfKnown, untold } from "./columns.ts";

export type { Baseline, DictColumn, Kernels } from "./columns.ts";
export { sumOfKnown, textAt } from "./columns.ts";

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

type WireChip = Omit<Chip, "peaks" | "memories" | "share"> & {
  peaks: [string, number][];
  memories: [string, number | null][];
  share: [level: string, bytes: number, units: number] | null;
};

/** Null where no row has a word. */
type WireTexts = {
  /** The different words: a list in JSON. */
  values: DataView;
  /** Without them row i has word i of n, or the only one. */
  codes: DataView | null;
} | null;

interface WireColumns {
  n: number;
  name: WireTexts;
  short: WireTexts;
  precision: WireTexts;
  category: WireTexts;
  /** Null where none is known, where it is `time`, where each is 1. */
  time: DataView | null;
  self_time: DataView | null;
  count: DataView | null;
  flops: Record<string, DataView>;
  bytes: Record<string, DataView>;
  extra: [name: string, column: WireTexts | DataView][];
  origin: [key: string, column: WireTexts][];
}

interface WireKernels extends WireColumns {
  program: WireColumns | null;
  chip: WireChip | null;
  warnings: string[];
  source: string;
}

interface WireBaseline {
  kernels: WireKernels;
  match: DataView;
  verdict: WireTexts;
}

export const decodeChips = (wire: unknown): Chip[] => (wire as WireChip[]).map(decodeChip);

const decodeChip = (chip: WireChip): Chip => ({
  ...chip,
  peaks: new Map(chip.peaks),
  memories: new Map(chip.memories),
  share: chip.share && { level: chip.share[0], bytes: chip.share[1], units: chip.share[2] },
});

export function decodeKernels(wire: unknown): Kernels {
  const { program, chip, warnings, source, ...told } = wire as WireKernels;
  return {
    ...decodeColumns(told),
    program: program && decodeColumns(program),
    chip: chip && decodeChip(chip),
    warnings,
    source,
  };
}

function decodeColumns(told: WireColumns): Kernels {
  const { n } = told;
  const texts = (column: WireTexts) => textsOf(column, n);
  const flops = columns(told.flops);
  const time = told.time ? floats(told.time) : new Float64Array(n).fill(Number.NaN);
  const selfTime = told.self_time ? floats(told.self_time) : time;
  return {
    ...untold(
      {
        n,
        name: texts(told.name),
        precision: texts(told.precision),
        category: byTime(texts(told.category), selfTime),
        time,
        count: told.count ? floats(told.count) : new Float64Array(n).fill(1),
        flops,
        bytes: columns(told.bytes),
        byLevel: new Map(),
        totalFlops: sumOfKnown([...flops.values()], n),
      },
      selfTime,
    ),
    short: texts(told.short),
    extra: new Map(told.extra.map(([name, column]) => [name, isTexts(column) ? texts(column) : floats(column)])),
    origin: new Map(told.origin.map(([key, column]) => [key, texts(column)])),
  };
}

export function decodeBaseline(wire: unknown): Baseline | null {
  if (!wire) return null;
  const { kernels, match, verdict } = wire as WireBaseline;
  const rows = integers(match);
  return { kernels: decodeKernels(kernels), match: rows, verdict: textsOf(verdict, rows.length) };
}

type WireSnapshot = Omit<Snapshot, "kernels"> & { kernels: [name: string, ai: number | null, rate: number][] };

export const decodeSnapshots = (wire: unknown): Snapshot[] =>
  (wire as WireSnapshot[]).map(({ kernels, ...told }) => ({
    ...told,
    kernels: kernels.map(([name, ai, rate]) => [name, ai ?? Number.POSITIVE_INFINITY, rate]),
  }));

export const encodeSnapshots = (snapshots: readonly Snapshot[]): WireSnapshot[] =>
  snapshots.map(({ kernels, ...rest }) => ({
    ...rest,
    kernels: kernels.map(([name, ai, rate]) => [name, Number.isFinite(ai) ? ai : null, rate]),
  }));

/** The same with other codes: the words by falling seconds of their rows, of equals as they appear. */
function byTime(column: DictColumn, seconds: Float64Array): DictColumn {
  const { values, codes } = column;
  if (values.length < 2) return column;
  const sums = new Float64Array(values.length);
  for (let row = 0; row < codes.length; row++) {
    const code = codes[row] as number;
    sums[code] = (sums[code] as number) + (seconds[row] || 0);
  }
  const order = values.map((_, code) => code).sort((a, b) => (sums[b] as number) - (sums[a] as number) || a - b);
  const place = new Int32Array(values.length);
  for (const [at, code] of order.entries()) place[code] = at;
  return { values: order.map((code) => values[code] ?? null), codes: codes.map((code) => place[code] as number) };
}

function textsOf(wire: WireTexts, n: number): DictColumn {
  if (!wire) return { values: [null], codes: new Int32Array(n) };
  const values = JSON.parse(new TextDecoder().decode(wire.values));
  return {
    values,
    codes: wire.codes ? integers(wire.codes) : values.length === n ? everyRow({ n }) : new Int32Array(n),
  };
}

// A buffer may start anywhere inside a message, a typed array only at multiples of its element: hence the copy.
const copy = (view: DataView) => view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength) as ArrayBuffer;
const floats = (view: DataView) => new Float64Array(copy(view));
const integers = (view: DataView) => new Int32Array(copy(view));
const isTexts = (column: WireTexts | DataView): column is WireTexts => !column || "codes" in column;
const columns = (wire: Record<string, DataView>) =>
  new Map(Object.entries(wire).map(([key, view]) => [key, floats(view)] as const));
