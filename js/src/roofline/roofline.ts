// The roofline arithmetic that a drag needs. Mirrors roofwidget/analysis/roofline.py: the tests compare both files with
// the same golden file.

import { type Kernels, sumOfKnown } from "../wire/columns.ts";
import type { Chip, Quantity, WhatIf } from "../wire/types.ts";

/** FLOP/s and bytes/s. */
export interface Rates {
  readonly peak: number;
  readonly bandwidth: number;
}

/**
 * One memory level of a roof. `bandwidth` is the bandwidth with what-ifs, `sheet` is the bandwidth from the data sheet.
 * Both are in bytes/s.
 */
export interface Level {
  readonly name: string;
  readonly bandwidth: number;
  readonly sheet: number;
}

/**
 * Additional limits of a kernel: overlap of compute and memory, exposed communication, and launch overhead in seconds.
 */
export interface Conditions {
  readonly overlap: number;
  readonly exposedComm: number;
  readonly launchOverhead: number;
}

/** The roof of one chip at one precision and memory, with what-ifs. */
export interface Roof {
  readonly chip: Chip;
  readonly precision: string;
  /** The chosen level; the main memory if all levels are chosen. */
  readonly level: string;
  /** The chosen level; `ALL_LEVELS` if all levels are chosen. */
  readonly memory: string;
  /** Peak with what-ifs, FLOP/s. */
  readonly peak: number;
  /** Bandwidth of `level` with what-ifs, bytes/s. */
  readonly bandwidth: number;
  /** Peak from the data sheet, FLOP/s. */
  readonly sheetPeak: number;
  /** Bandwidth of `level` from the data sheet, bytes/s. */
  readonly sheetBandwidth: number;
  /** Peaks with what-ifs by precision, FLOP/s. */
  readonly peaks: ReadonlyMap<string, number>;
  /** Bandwidths with what-ifs by level, bytes/s. */
  readonly bandwidths: ReadonlyMap<string, number | null>;
  /** The levels that limit kernels: the chosen level, or all levels with a known bandwidth. */
  readonly levels: readonly Level[];
  readonly conditions: Conditions;
}

/** Why a chip has no roof at the chosen precision and memory. */
export interface Missing {
  readonly quantity: Quantity;
  readonly name: string;
}

/** The value of `memory` that means all levels. */
export const ALL_LEVELS = "all";
export const PLAIN: Conditions = { overlap: 1, exposedComm: 0, launchOverhead: 0 };

/** The level name for bytes that cross the chip's link. */
export const NETWORK = "network";
const OFF_CHIP = /^(?:main|hbm\d?e?|dram|(?:g|lp)?ddr\d?x?|unified memory|device memory)$/i;

export const isOffChip = (level: string) => OFF_CHIP.test(level.trim());

/** Returns the level of a chip that a name refers to; undefined if the name refers to no level of the chip. */
export function levelOf(chip: Chip, memory: string): string | undefined {
  const levels = [...chip.memories.keys()];
  if (memory === "main" || memory === ALL_LEVELS) return levels[0];
  const exact = levels.find((level) => level.toLowerCase() === memory.toLowerCase());
  return exact ?? levels.slice(0, 1).find((main) => isOffChip(memory) && isOffChip(main));
}

/** Returns the roof of a chip. If the chip has no roof, returns the figure that is missing. */
export function roofOf(
  chip: Chip,
  precision: string,
  memory: string,
  whatIf: WhatIf,
  conditions: Conditions = PLAIN,
): Roof | Missing {
  const wanted = precision === "auto" ? chip.precision : precision;
  const sheetPeak = chip.peaks.get(wanted);
  if (sheetPeak === undefined) return { quantity: "peak_flops", name: wanted };
  const level = levelOf(chip, memory) ?? "";
  const sheetBandwidth = chip.memories.get(level);
  if (!sheetBandwidth) return { quantity: "bandwidth", name: memory };
  const changes = Object.hasOwn(whatIf, chip.id) ? (whatIf[chip.id] ?? {}) : {};
  const peaks = new Map([...chip.peaks, ...Object.entries(changes.peak_flops ?? {})]);
  const bandwidths = new Map([...chip.memories, ...Object.entries(changes.bandwidth ?? {})]);
  const levels = [...chip.memories].flatMap(([name, sheet]) =>
    sheet === null || (memory !== ALL_LEVELS && name !== level)
      ? []
      : [{ name, bandwidth: bandwidths.get(name) ?? sheet, sheet }],
  );
  return {
    chip,
    precision: wanted,
    level,
    memory: memory === ALL_LEVELS ? ALL_LEVELS : level,
    peak: peaks.get(wanted) ?? sheetPeak,
    bandwidth: bandwidths.get(level) ?? sheetBandwidth,
    sheetPeak,
    sheetBandwidth,
    peaks,
    bandwidths,
    levels,
    conditions,
  };
}

/** Whether a rate of the roof's chip differs from the data sheet. */
export const hasWhatIfs = ({ chip, peaks, bandwidths }: Roof) =>
  [...peaks].some(([name, peak]) => peak !== chip.peaks.get(name)) ||
  [...bandwidths].some(([level, rate]) => rate !== chip.memories.get(level));

/** Returns the bandwidth of the link to other chips, bytes/s; NaN if it is unknown. */
export const linkOf = ({ chip, bandwidths }: Roof) =>
  chip.link === null ? Number.NaN : (bandwidths.get(NETWORK) ?? chip.link);

export const isRoof = (roof: Roof | Missing): roof is Roof => "chip" in roof;
export const ridgePoint = (roof: Rates) => roof.peak / roof.bandwidth;
export const attainable = (ai: number, roof: Rates) => Math.min(roof.peak, ai * roof.bandwidth);

/** Returns the bytes of each kernel at one level of a chip. Mirrors how Python's `bound` finds the bytes. */
export function bytesAt(kernels: Kernels, chip: Pick<Chip, "memories">, level: string): Float64Array {
  const isMain = level === chip.memories.keys().next().value;
  // Which bytes belong to the main memory depends on the names of the chip's other levels. Therefore the key for the
  // main memory has the names of all levels.
  const key = isMain ? [...chip.memories.keys()].join("\n") : `near ${level}`;
  let column = kernels.byLevel.get(key);
  if (!column) {
    column = findBytes(kernels, chip, level);
    kernels.byLevel.set(key, column);
  }
  return column;
}

/** Returns the bytes of each kernel at each level of a roof. */
export const bytesByLevel = (kernels: Kernels, { chip, levels }: Roof) =>
  levels.map(({ name }) => bytesAt(kernels, chip, name));

/**
 * If a kernel has bytes at no level of the roof, returns the other levels at which the kernel has bytes, the chip's own
 * levels first. Otherwise, returns an empty list. Mirrors `bytes_elsewhere` of Python's `Bound`.
 */
export function bytesElsewhere(kernels: Kernels, row: number, { chip, levels }: Roof): string[] {
  const has = (column: Float64Array) => !Number.isNaN(column[row] as number);
  if (levels.some(({ name }) => has(bytesAt(kernels, chip, name)))) return [];
  const own = [...chip.memories.keys()];
  const known = [...own.map((name) => name.toLowerCase()), NETWORK];
  const foreign = [...kernels.bytes].filter(
    ([name, column]) => !known.includes(name.toLowerCase()) && !isOffChip(name) && has(column),
  );
  return [...own.filter((name) => has(bytesAt(kernels, chip, name))), ...foreign.map(([name]) => name)];
}

function findBytes(kernels: Kernels, chip: Pick<Chip, "memories">, level: string): Float64Array {
  const [main, ...others] = [...chip.memories.keys()].map((name) => name.toLowerCase());
  const named = [...kernels.bytes].map(([name, column]) => [name.toLowerCase(), column] as const);
  const exact = named.find(([name]) => name === level.toLowerCase())?.[1];
  if (level.toLowerCase() !== main) return exact ?? new Float64Array(kernels.n).fill(Number.NaN);
  const outside = named.filter(([name]) => isOffChip(name) && name !== main && !others.includes(name));
  if (exact && outside.length === 0) return exact;
  const rest = sumOfKnown(
    outside.map(([, column]) => column),
    kernels.n,
  );
  return exact ? exact.map((value, row) => (Number.isNaN(value) ? (rest[row] as number) : value)) : rest;
}

const MATMUL = ["matmul", "tensor", "matrix"];
/** The classes of FLOPs. The name of a class does not name a precision. */
export const CLASSES = ["matmul", "tensor", "vector", "transcendental"];

/**
 * Returns the peak, in FLOP/s, that limits some FLOPs of a kernel; undefined if unknown. `key` is the precision or the
 * class of these FLOPs, such as "matmul"; "" if they have neither. `own` is the precision of the kernel.
 */
export function peakFor(roof: Roof, key: string, own: string | null): number | undefined {
  const plain = own ? roof.peaks.get(own) : roof.peak;
  if (key === "") return plain;
  if (!CLASSES.includes(key)) return roof.peaks.get(key);
  if (plain === undefined) return undefined;
  // Tries three peaks in this order: the peak of the class at this precision, the peak of the class at any precision,
  // and the peak of the precision.
  const words = MATMUL.includes(key) ? [key, ...MATMUL] : [key];
  const names = [...words.map((word) => `${own ?? roof.precision}_${word}`), ...words];
  const name = names.find((each) => roof.peaks.has(each));
  return name === undefined ? plain : roof.peaks.get(name);
}

/**
 * Returns the data-sheet roof of the chip that the kernels ran on. Returns undefined if the kernels ran on the roof's
 * chip, or if the figures of their chip are unknown.
 */
export function roofElsewhere({ chip }: Kernels, roof: Roof): Roof | undefined {
  if (!chip || chip.id === roof.chip.id) return undefined;
  const [main] = roof.chip.memories.keys();
  const memory = roof.memory !== ALL_LEVELS && roof.level === main ? "main" : roof.memory;
  const own = roofOf(chip, "auto", memory, {}, roof.conditions);
  return isRoof(own) ? own : undefined;
}
