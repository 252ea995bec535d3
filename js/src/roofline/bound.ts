// What a roof allows each kernel: the bound time, the resource that binds, and the share of the roof that the kernel
// reaches.

import { memoize } from "../ui/memoize.ts";
import type { Kernels } from "../wire/columns.ts";
import type { Chip } from "../wire/types.ts";
import { bytesAt, bytesByLevel, type Level, linkOf, NETWORK, peakFor, type Roof } from "./roofline.ts";

export type Regime = "compute" | "memory" | "network" | "overhead" | "unknown";

/** The bound of one kernel under a roof. Times are in seconds, rates in FLOP/s. NaN is unknown. */
export interface Bound {
  readonly computeTime: number;
  /** The memory time at the slowest level. */
  readonly memoryTime: number;
  readonly networkTime: number;
  readonly overheadTime: number;
  readonly time: number;
  readonly boundBy: string;
  readonly regime: Regime;
  /** Arithmetic intensity at the roof's level, FLOP/B. */
  readonly ai: number;
  /** The memory level with the longest time. */
  readonly slowest: Level;
  /** The memory time over the compute time. */
  readonly memoryOverCompute: number;
  /** Arithmetic intensity at the slowest level, FLOP/B. */
  readonly aiOfSlowest: number;
  /** The peak that applies to the kernel, which is the kernel's FLOPs divided by its compute time. */
  readonly peak: number;
  readonly attainable: number;
  readonly achieved: number;
  readonly peakFraction: number;
  readonly attainableFraction: number;
  readonly utilization: number;
  readonly aboveRoof: boolean;
}

/** The times of one kernel in seconds, and the kernel's slowest memory level. NaN is unknown. */
export interface Probe {
  computeTime: number;
  memoryTime: number;
  /** The index of the slowest level in the levels of the roof. `memoryTime` is the time at this level. */
  slowest: number;
  networkTime: number;
  overheadTime: number;
  /** Time of compute and memory together, without exposed communication. */
  body: number;
  time: number;
  regime: Regime;
}

/** Two times count as equal if their relative difference is smaller than this. */
export const TIE_TOLERANCE = 1e-12;
/** A kernel whose utilization is larger than this is above its roof. */
export const MIN_UTILIZATION_ABOVE_ROOF = 1 + 1e-9;

/**
 * Returns the peaks that apply to some FLOPs. `key` is the precision or the class of these FLOPs. The result has one
 * entry per precision code of the kernels, and a last entry for kernels without a precision.
 */
export const peaksByPrecision = ({ precision }: Kernels, roof: Roof, key: string) =>
  Float64Array.from([...precision.values, null], (own) => peakFor(roof, key, own) ?? Number.NaN);

const unitTables = memoize<Kernels>();

/**
 * Returns a table for ratios: a kernel with an intensity and without FLOPs has the work of one byte of main memory, and
 * the time that its rate means. A kernel that has a rate only has 1 FLOP. The table has no launches of these kernels.
 * All other kernels are as in the given table. Mirrors `per_byte` of Python's `Bound`.
 */
export const perByte = (kernels: Kernels): Kernels =>
  kernels.intensity || kernels.rate ? unitTables(kernels, [], () => unitTable(kernels)) : kernels;

function unitTable(kernels: Kernels): Kernels {
  const { n, totalFlops, intensity, rate } = kernels;
  const [work, moved] = [new Float64Array(n).fill(Number.NaN), new Float64Array(n).fill(Number.NaN)];
  const [time, count] = [kernels.time.slice(), kernels.count.slice()];
  const isUnit = Uint8Array.from(totalFlops, (flops, row) => {
    const [ai, speed] = [intensity?.[row] ?? Number.NaN, rate?.[row] ?? Number.NaN];
    if (!Number.isNaN(flops) || (Number.isNaN(ai) && Number.isNaN(speed))) return 0;
    work[row] = Number.isNaN(ai) ? 1 : ai;
    moved[row] = Number.isNaN(ai) ? ai : 1;
    time[row] = (work[row] as number) / speed || Number.NaN;
    count[row] = 0;
    return 1;
  });
  const filled = (columns: ReadonlyMap<string, Float64Array>, plain: string, units: Float64Array) => {
    const key = [...columns.keys()].find((name) => name.toLowerCase() === plain) ?? plain;
    const blank = new Float64Array(n).fill(Number.NaN);
    return new Map(
      [...columns, ...(columns.has(key) ? [] : [[key, blank] as const])].map(([name, column]) => [
        name,
        column.map((value, row) => (isUnit[row] ? ((name === key ? units : blank)[row] as number) : value)),
      ]),
    );
  };
  return {
    ...kernels,
    flops: filled(kernels.flops, "", work),
    bytes: filled(kernels.bytes, "main", moved),
    byLevel: new Map(),
    totalFlops: totalFlops.map((flops, row) => (isUnit[row] ? (work[row] as number) : flops)),
    time,
    count,
  };
}

/** Whether a kernel is known by its intensity or its rate, and has no FLOPs. */
export const isByRatios = (kernels: Kernels, row: number) =>
  Number.isNaN(kernels.totalFlops[row]) && !Number.isNaN(perByte(kernels).totalFlops[row]);

/** Returns the intensity of a kernel at a level of a chip, FLOP/B; NaN if unknown. */
export function intensityAt(kernels: Kernels, row: number, chip: Chip, level: string): number {
  const work = perByte(kernels);
  return (work.totalFlops[row] as number) / (bytesAt(work, chip, level)[row] as number);
}

/** Returns the rate of a kernel, FLOP/s; NaN if it was not measured. */
export function achievedOf({ totalFlops, time, rate }: Kernels, row: number): number {
  const flops = totalFlops[row] as number;
  return Number.isNaN(flops) ? (rate?.[row] ?? Number.NaN) : flops / (time[row] || Number.NaN);
}

/** Returns the bytes of each kernel that cross the chip's link. */
export const networkBytes = (kernels: Kernels) =>
  [...kernels.bytes].find(([name]) => name.toLowerCase() === NETWORK)?.[1];

/** Returns a function from a row to its compute time in seconds. */
export function computeTimes(kernels: Kernels, roof: Roof): (row: number) => number {
  const { values, codes } = kernels.precision;
  const parts = [...kernels.flops].map(([key, column]) => [column, peaksByPrecision(kernels, roof, key)] as const);
  const none = values.length;
  return (row) => {
    let total = 0;
    let known = false;
    for (let at = 0; at < parts.length; at++) {
      const [column, peaks] = parts[at] as readonly [Float64Array, Float64Array];
      const flops = column[row] as number;
      if (Number.isNaN(flops)) continue;
      const code = codes[row] as number;
      total += flops / (peaks[code >= 0 && code < none ? code : none] as number);
      known = true;
    }
    return known ? total : Number.NaN;
  };
}

/**
 * Returns a function from a row to the times of its kernel. The function returns the same object in every call, because
 * a drag asks for 100,000 kernels per frame.
 */
export function probeOf(kernels: Kernels, roof: Roof): (row: number) => Readonly<Probe> {
  const { levels, conditions } = roof;
  const { overlap, exposedComm, launchOverhead } = conditions;
  const moved = bytesByLevel(kernels, roof);
  const rates = levels.map(({ bandwidth }) => bandwidth);
  const network = networkBytes(kernels);
  const link = linkOf(roof);
  const { count } = kernels;
  const compute = computeTimes(kernels, roof);
  const found = {} as Probe;
  return (row) => {
    const computeTime = compute(row);
    let [slowest, memoryTime] = [0, Number.NaN];
    for (let at = 0; at < moved.length; at++) {
      const seconds = ((moved[at] as Float64Array)[row] as number) / (rates[at] as number);
      if (seconds > memoryTime || (Number.isNaN(memoryTime) && !Number.isNaN(seconds))) {
        slowest = at;
        memoryTime = seconds;
      }
    }
    const sent = network?.[row] || 0;
    const networkTime = sent > 0 ? sent / link : 0;
    const overheadTime = launchOverhead && (count[row] as number) * launchOverhead;
    const body = Math.max(computeTime, memoryTime) + (1 - overlap) * Math.min(computeTime, memoryTime);
    const shown = body / (1 - exposedComm);
    found.computeTime = computeTime;
    found.memoryTime = memoryTime;
    found.slowest = slowest;
    found.networkTime = networkTime;
    found.overheadTime = overheadTime;
    found.body = body;
    found.time = Math.max(shown, networkTime, overheadTime);
    if (Number.isNaN(found.time)) found.regime = "unknown";
    else if (shown * (1 + TIE_TOLERANCE) < Math.max(networkTime, overheadTime)) {
      found.regime = networkTime * (1 + TIE_TOLERANCE) >= overheadTime ? "network" : "overhead";
    } else found.regime = computeTime * (1 + TIE_TOLERANCE) >= memoryTime ? "compute" : "memory";
    return found;
  };
}

/**
 * Returns whether a row is a collective whose bytes over the link are unknown. No roof explains the time of such a row.
 */
export const isUnlinked = ({ unlinked }: Kernels, row: number) => unlinked?.[row] === 1;

/** Whether a row has a measured time. */
export const hasTime = ({ time }: Kernels, row: number) => (time[row] as number) > 0;

/**
 * Returns the seconds that a row would save at its roof; NaN if unknown. If the self time of the row is shorter than
 * its time, the saving is shorter in the same ratio. The saving is unknown for rows without work, and for collectives
 * whose bytes over the link are unknown.
 */
export function headroomOf(kernels: Kernels, row: number, boundTime: number): number {
  if (!(boundTime > 0) || isUnlinked(kernels, row)) return Number.NaN;
  const [seconds, own] = [kernels.time[row] || Number.NaN, kernels.selfTime[row] as number];
  return (seconds - boundTime) * (own / seconds);
}

const judgeByRoof = memoize<(row: number) => Bound>();

/** Returns a function from a row to its bound, memoized per roof and table. */
export const judge = (kernels: Kernels, roof: Roof): ((row: number) => Bound) =>
  judgeByRoof(roof, [kernels], () => boundOf(kernels, roof));

function boundOf(kernels: Kernels, roof: Roof): (row: number) => Bound {
  const { levels, conditions, peak: flat } = roof;
  const work = perByte(kernels);
  const moved = bytesByLevel(work, roof);
  const ours = bytesAt(work, roof.chip, roof.level);
  const probe = probeOf(work, roof);
  const ownProbe = work === kernels ? probe : probeOf(kernels, roof);
  return (row) => {
    const { computeTime, memoryTime, slowest, body, time, regime } = probe(row);
    const own = ownProbe(row);
    const flops = work.totalFlops[row] as number;
    const measured = (work.time[row] as number) || Number.NaN;
    const achieved = achievedOf(kernels, row);
    const peak = flops > 0 ? flops / computeTime : flat;
    const level = levels[slowest] as Level;
    const roofRate = ((1 - conditions.exposedComm) * flops) / body;
    const utilization = time / measured;
    return {
      computeTime: own.computeTime,
      memoryTime: own.memoryTime,
      networkTime: own.networkTime,
      overheadTime: own.overheadTime,
      time: own.time,
      boundBy: regime === "memory" ? level.name : regime,
      regime,
      ai: flops / (ours[row] as number),
      slowest: level,
      memoryOverCompute: memoryTime / computeTime,
      aiOfSlowest: flops / (moved[slowest]?.[row] as number),
      peak,
      attainable: roofRate,
      achieved,
      peakFraction: achieved / peak,
      attainableFraction: roofRate / peak,
      utilization,
      aboveRoof: utilization > MIN_UTILIZATION_ABOVE_ROOF,
    };
  };
}
