// The roofline arithmetic of roofwidget/roofline.py that a drag needs, held to the same golden file.

import type { Chip, Kernels, Quantity, WhatIf } from "./wire.ts";
import { sumOfKnown } from "./wire.ts";

/** One memory level of a roof: bytes/s in force, and on the data sheet. */
export interface Level {
  readonly name: string;
  readonly bandwidth: number;
  readonly sheet: number;
}

/** What else a bound hangs on: how much of compute and memory overlaps, exposed communication, seconds a launch. */
export interface Conditions {
  readonly overlap: number;
  readonly exposedComm: number;
  readonly launchOverhead: number;
}

/** One chip's roof at one precision and memory, with what-if values in force. */
export interface Roof {
  readonly chip: Chip;
  readonly precision: string;
  /** The chosen level; with all levels the main memory. */
  readonly level: string;
  /** FLOP/s and bytes/s in force, and on the data sheet. */
  readonly peak: number;
  readonly bandwidth: number;
  readonly sheetPeak: number;
  readonly sheetBandwidth: number;
  /** FLOP/s in force, by precision, and bytes/s by level. */
  readonly peaks: ReadonlyMap<string, number>;
  readonly bandwidths: ReadonlyMap<string, number | null>;
  /** The levels that judge: the chosen one, or all whose bandwidth is known. */
  readonly levels: readonly Level[];
  readonly conditions: Conditions;
}

/** Why a chip has no roof at the chosen precision and memory. */
export interface Missing {
  readonly quantity: Quantity;
  readonly name: string;
}

export type Regime = "compute" | "memory" | "network" | "overhead" | "unknown";

/** What a roof says about one kernel; NaN is unknown. Times in seconds, rates in FLOP/s. */
export interface Bound {
  readonly computeTime: number;
  /** Of the slowest level. */
  readonly memoryTime: number;
  readonly networkTime: number;
  readonly overheadTime: number;
  readonly time: number;
  readonly boundBy: string;
  readonly regime: Regime;
  /** FLOP/B at the roof's level, and at the level that memory time is of. */
  readonly ai: number;
  readonly slowest: Level;
  readonly aiOfSlowest: number;
  /** The peak that judges it: FLOPs over compute time. */
  readonly peak: number;
  readonly attainable: number;
  readonly achieved: number;
  readonly peakFraction: number;
  readonly attainableFraction: number;
  readonly utilization: number;
  readonly aboveRoof: boolean;
}

/** The memory that stands for every level. */
export const ALL = "all";
export const PLAIN: Conditions = { overlap: 1, exposedComm: 0, launchOverhead: 0 };

/** The level of bytes that cross the chip's link. */
export const NETWORK = "network";
const OFF_CHIP = /^(?:main|hbm\d?e?|dram|(?:g|lp)?ddr\d?x?|unified memory|device memory)$/i;
const TIE = 1e-12;
const ABOVE = 1 + 1e-9;

export const isOffChip = (level: string) => OFF_CHIP.test(level.trim());

/** The level of a chip that a chosen name means, or undefined. */
export function levelOf(chip: Chip, memory: string): string | undefined {
  const levels = [...chip.memories.keys()];
  if (memory === "main" || memory === ALL) return levels[0];
  const exact = levels.find((level) => level.toLowerCase() === memory.toLowerCase());
  const main = levels[0] ?? "";
  return exact ?? (isOffChip(memory) && isOffChip(main) ? main : undefined);
}

/** The roof of a chip, or what it lacks. */
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
  const level = levelOf(chip, memory);
  const sheetBandwidth = level === undefined ? null : (chip.memories.get(level) ?? null);
  if (level === undefined || sheetBandwidth === null) return { quantity: "bandwidth", name: memory };
  const changes = Object.hasOwn(whatIf, chip.id) ? (whatIf[chip.id] ?? {}) : {};
  const peaks = new Map([...chip.peaks, ...Object.entries(changes.peak_flops ?? {})]);
  const bandwidths = new Map([...chip.memories, ...Object.entries(changes.bandwidth ?? {})]);
  const levels = [...chip.memories].flatMap(([name, sheet]) =>
    sheet === null || (memory !== ALL && name !== level)
      ? []
      : [{ name, bandwidth: bandwidths.get(name) ?? sheet, sheet }],
  );
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
    levels,
    conditions,
  };
}

export const isRoof = (roof: Roof | Missing): roof is Roof => "chip" in roof;
export const ridgePoint = (roof: { peak: number; bandwidth: number }) => roof.peak / roof.bandwidth;
export const attainable = (ai: number, roof: { peak: number; bandwidth: number }) =>
  Math.min(roof.peak, ai * roof.bandwidth);

/** Bytes of each kernel at a chip's level, as Python's `bound` finds them. */
export function bytesAt(kernels: Kernels, chip: Chip, level: string): Float64Array {
  const isMain = level === chip.memories.keys().next().value;
  // Which words mean the main memory hangs on what the chip's other levels are called.
  const key = isMain ? [...chip.memories.keys()].join("\n").toLowerCase() : `near ${level.toLowerCase()}`;
  let column = kernels.byLevel.get(key);
  if (!column) {
    column = findBytes(kernels, chip, level);
    kernels.byLevel.set(key, column);
  }
  return column;
}

function findBytes(kernels: Kernels, chip: Chip, level: string): Float64Array {
  const [main = "", ...others] = [...chip.memories.keys()].map((name) => name.toLowerCase());
  const told = [...kernels.bytes].map(([name, column]) => [name.toLowerCase(), column] as const);
  const exact = told.find(([name]) => name === level.toLowerCase())?.[1];
  if (level.toLowerCase() !== main) return exact ?? new Float64Array(kernels.n).fill(Number.NaN);
  const outside = told.filter(([name]) => isOffChip(name) && name !== main && !others.includes(name));
  const rest = sumOfKnown(
    outside.map(([, column]) => column),
    kernels.n,
  );
  return exact ? exact.map((value, row) => (Number.isNaN(value) ? (rest[row] as number) : value)) : rest;
}

const MATMUL = ["matmul", "tensor", "matrix"];
/** Kinds of FLOPs that have no precision in their name. */
export const CLASSES = ["matmul", "tensor", "vector", "transcendental"];

/** FLOP/s for FLOPs of a precision or class, or plain ones (""), of a kernel whose own precision may be told. */
export function peakFor(roof: Roof, key: string, own: string | null): number | undefined {
  const plain = own ? roof.peaks.get(own) : roof.peak;
  if (key !== "" && !CLASSES.includes(key)) return roof.peaks.get(key);
  if (key === "" || plain === undefined) return plain;
  // A class has a peak of its own at the precision, else one for all precisions, else the precision's.
  const words = MATMUL.includes(key) ? [key, ...MATMUL.filter((word) => word !== key)] : [key];
  const names = [...words.map((word) => `${own ?? roof.precision}_${word}`), ...words];
  return roof.peaks.get(names.find((name) => roof.peaks.has(name)) ?? "") ?? plain;
}

/** Seconds at the peaks, row by row. */
export function computeTimes(kernels: Kernels, roof: Roof): (row: number) => number {
  const { values, codes } = kernels.precision;
  // The last peak is that of kernels without a precision.
  const peaksOf = (key: string) => [...values, null].map((own) => peakFor(roof, key, own) ?? Number.NaN);
  const parts = [...kernels.flops].map(([key, column]) => [column, peaksOf(key)] as const);
  return (row) => {
    let total = 0;
    let known = false;
    for (const [column, peaks] of parts) {
      const flops = column[row] as number;
      if (Number.isNaN(flops)) continue;
      total += flops / (peaks[codes[row] ?? -1] ?? (peaks.at(-1) as number));
      known = true;
    }
    return known ? total : Number.NaN;
  };
}

/** What a roof says of these kernels, row by row. */
export function judge(kernels: Kernels, roof: Roof): (row: number) => Bound {
  const { levels, conditions, peak: flat } = roof;
  const { overlap, exposedComm, launchOverhead } = conditions;
  const moved = levels.map(({ name }) => bytesAt(kernels, roof.chip, name));
  const ours = bytesAt(kernels, roof.chip, roof.level);
  const network = [...kernels.bytes].find(([name]) => name.toLowerCase() === NETWORK)?.[1];
  const compute = computeTimes(kernels, roof);
  return (row) => {
    const computeTime = compute(row);
    let [slowest, memoryTime] = [0, Number.NaN];
    for (let at = 0; at < levels.length; at++) {
      const seconds = (moved[at]?.[row] as number) / (levels[at] as Level).bandwidth;
      if (seconds > memoryTime || (Number.isNaN(memoryTime) && !Number.isNaN(seconds))) {
        [slowest, memoryTime] = [at, seconds];
      }
    }
    const sent = network?.[row] || 0;
    const networkTime = sent > 0 ? sent / (roof.chip.link ?? Number.NaN) : 0;
    const overheadTime = launchOverhead && (kernels.count[row] as number) * launchOverhead;
    const body = Math.max(computeTime, memoryTime) + (1 - overlap) * Math.min(computeTime, memoryTime);
    const time = Math.max(body / (1 - exposedComm), networkTime, overheadTime);
    const regime = Number.isNaN(time)
      ? "unknown"
      : (body / (1 - exposedComm)) * (1 + TIE) < Math.max(networkTime, overheadTime)
        ? networkTime * (1 + TIE) >= overheadTime
          ? "network"
          : "overhead"
        : computeTime * (1 + TIE) >= memoryTime
          ? "compute"
          : "memory";
    const flops = kernels.totalFlops[row] as number;
    const measured = (kernels.time[row] as number) || Number.NaN;
    const peak = flops > 0 ? flops / computeTime : flat;
    const level = levels[slowest] as Level;
    const roofRate = ((1 - exposedComm) * flops) / body;
    const achieved = flops / measured;
    const utilization = time / measured;
    return {
      computeTime,
      memoryTime,
      networkTime,
      overheadTime,
      time,
      boundBy: regime === "memory" ? level.name : regime,
      regime,
      ai: flops / (ours[row] as number),
      slowest: level,
      aiOfSlowest: flops / (moved[slowest]?.[row] as number),
      peak,
      attainable: roofRate,
      achieved,
      peakFraction: achieved / peak,
      attainableFraction: roofRate / peak,
      utilization,
      aboveRoof: utilization > ABOVE,
    };
  };
}
