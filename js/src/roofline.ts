// The roofline arithmetic of roofwidget/roofline.py that a drag needs, held to the same golden file.

import type { Chip, Kernels, Quantity, WhatIf } from "./wire.ts";
import { sumOfKnown, textAt } from "./wire.ts";

/** One chip's roof at one precision and memory level, with what-if values in force. */
export interface Roof {
  readonly chip: Chip;
  readonly precision: string;
  readonly level: string;
  /** FLOP/s and bytes/s in force, and on the data sheet. */
  readonly peak: number;
  readonly bandwidth: number;
  readonly sheetPeak: number;
  readonly sheetBandwidth: number;
  /** FLOP/s in force, by precision, and bytes/s by level. */
  readonly peaks: ReadonlyMap<string, number>;
  readonly bandwidths: ReadonlyMap<string, number | null>;
}

/** Why a chip has no roof at the chosen precision and memory. */
export interface Missing {
  readonly quantity: Quantity;
  readonly name: string;
}

/** What a roof says about one kernel; NaN is unknown. Times in seconds, rates in FLOP/s. */
export interface Bound {
  readonly computeTime: number;
  readonly memoryTime: number;
  readonly time: number;
  readonly boundBy: string;
  readonly regime: "compute" | "memory" | "unknown";
  readonly ai: number;
  /** The peak that judges it: FLOPs over compute time. */
  readonly peak: number;
  readonly attainable: number;
  readonly achieved: number;
  readonly peakFraction: number;
  readonly attainableFraction: number;
  readonly utilization: number;
  readonly aboveRoof: boolean;
}

const OFF_CHIP = /^(?:main|hbm\d?e?|dram|(?:g|lp)?ddr\d?x?|unified memory|device memory)$/i;
const TIE = 1e-12;
const ABOVE = 1 + 1e-9;

export const isOffChip = (level: string) => OFF_CHIP.test(level.trim());

/** The level of a chip that a chosen name means, or undefined. */
export function levelOf(chip: Chip, memory: string): string | undefined {
  const levels = [...chip.memories.keys()];
  if (memory === "main") return levels[0];
  const exact = levels.find((level) => level.toLowerCase() === memory.toLowerCase());
  const main = levels[0] ?? "";
  return exact ?? (isOffChip(memory) && isOffChip(main) ? main : undefined);
}

/** The roof of a chip, or what it lacks. */
export function roofOf(chip: Chip, precision: string, memory: string, whatIf: WhatIf): Roof | Missing {
  const wanted = precision === "auto" ? chip.precision : precision;
  const sheetPeak = chip.peaks.get(wanted);
  if (sheetPeak === undefined) return { quantity: "peak_flops", name: wanted };
  const level = levelOf(chip, memory);
  const sheetBandwidth = level === undefined ? null : (chip.memories.get(level) ?? null);
  if (level === undefined || sheetBandwidth === null) return { quantity: "bandwidth", name: memory };
  const changes = Object.hasOwn(whatIf, chip.id) ? (whatIf[chip.id] ?? {}) : {};
  const peaks = new Map([...chip.peaks, ...Object.entries(changes.peak_flops ?? {})]);
  const bandwidths = new Map([...chip.memories, ...Object.entries(changes.bandwidth ?? {})]);
  return {
    chip,
    precision: wanted,
    level,
    peak: peaks.get(wanted) ?? sheetPeak,
    bandwidth: bandwidths.get(level) ?? sheetBandwidth,
    sheetPeak,
    sheetBandwidth,
    peaks,
    bandwidths,
  };
}

export const isRoof = (roof: Roof | Missing): roof is Roof => "chip" in roof;
export const ridgePoint = (roof: { peak: number; bandwidth: number }) => roof.peak / roof.bandwidth;
export const attainable = (ai: number, roof: { peak: number; bandwidth: number }) =>
  Math.min(roof.peak, ai * roof.bandwidth);

/** Bytes of each kernel at a chip's level, as Python's `bound` finds them. */
export function bytesAt(kernels: Kernels, chip: Chip, level: string): Float64Array {
  const isMain = level === chip.memories.keys().next().value;
  const key = `${isMain ? "main" : "near"} ${level.toLowerCase()}`;
  let column = kernels.byLevel.get(key);
  if (!column) {
    column = findBytes(kernels, level, isMain);
    kernels.byLevel.set(key, column);
  }
  return column;
}

function findBytes(kernels: Kernels, level: string, isMain: boolean): Float64Array {
  const exact = [...kernels.bytes].find(([name]) => name.toLowerCase() === level.toLowerCase())?.[1];
  if (!isMain) return exact ?? new Float64Array(kernels.n).fill(Number.NaN);
  const offChip = sumOfKnown(
    [...kernels.bytes].filter(([name]) => isOffChip(name)).map(([, column]) => column),
    kernels.n,
  );
  return exact ? exact.map((value, row) => (Number.isNaN(value) ? (offChip[row] as number) : value)) : offChip;
}

/** Seconds at the peaks: FLOPs of a named precision at its peak, the others at the kernel's own or the chosen one. */
export function computeTime(kernels: Kernels, row: number, roof: Roof): number {
  let total = 0;
  let known = false;
  for (const [precision, column] of kernels.flops) {
    const flops = column[row] as number;
    if (Number.isNaN(flops)) continue;
    const own = precision || textAt(kernels.precision, row);
    total += flops / (own ? (roof.peaks.get(own) ?? Number.NaN) : roof.peak);
    known = true;
  }
  return known ? total : Number.NaN;
}

export function boundOf(kernels: Kernels, row: number, roof: Roof, bytes: number): Bound {
  const flops = kernels.totalFlops[row] as number;
  const seconds = kernels.time[row] as number;
  const measured = seconds > 0 ? seconds : Number.NaN;
  const compute = computeTime(kernels, row, roof);
  const memory = bytes / roof.bandwidth;
  const time = Math.max(compute, memory);
  const regime = Number.isNaN(time) ? "unknown" : compute * (1 + TIE) >= memory ? "compute" : "memory";
  const peak = flops > 0 ? flops / compute : roof.peak;
  const roofRate = flops / time;
  const achieved = flops / measured;
  const utilization = time / measured;
  return {
    computeTime: compute,
    memoryTime: memory,
    time,
    boundBy: regime === "memory" ? roof.level : regime,
    regime,
    ai: flops / bytes,
    peak,
    attainable: roofRate,
    achieved,
    peakFraction: achieved / peak,
    attainableFraction: roofRate / peak,
    utilization,
    aboveRoof: utilization > ABOVE,
  };
}
