// What a roof says of kernels, row by row.

import { memoize } from "../ui/memoize.ts";
import type { Kernels } from "../wire/columns.ts";
import { bytesAt, type Level, NETWORK, peakFor, type Roof } from "./roofline.ts";

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

/** The times of one kernel in seconds, and what is the slowest; NaN is unknown. */
export interface Probe {
  computeTime: number;
  memoryTime: number;
  /** The level that memory time is of: an index into the roof's. */
  slowest: number;
  networkTime: number;
  overheadTime: number;
  /** Compute and memory, before exposed communication. */
  body: number;
  time: number;
  regime: Regime;
}

/** Times closer than this (relative) are the same. */
export const TIE_TOLERANCE = 1e-12;
/** A kernel is above its roof from this utilization on. */
export const MIN_UTILIZATION_ABOVE_ROOF = 1 + 1e-9;

/** For FLOPs of a precision or class the peak of each precision of kernels, the last that of kernels without one. */
export const peaksOf = ({ precision }: Kernels, roof: Roof, key: string) =>
  Float64Array.from([...precision.values, null], (own) => peakFor(roof, key, own) ?? Number.NaN);

/** What crosses the chip's link. */
export const networkOf = (kernels: Kernels) => [...kernels.bytes].find(([name]) => name.toLowerCase() === NETWORK)?.[1];

/** Seconds at the peaks, row by row. */
export function computeTimes(kernels: Kernels, roof: Roof): (row: number) => number {
  const { values, codes } = kernels.precision;
  const parts = [...kernels.flops].map(([key, column]) => [column, peaksOf(kernels, roof, key)] as const);
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

/** The times of each kernel, always in the same object: a drag asks for those of a hundred thousand with every frame. */
export function probing(kernels: Kernels, roof: Roof): (row: number) => Readonly<Probe> {
  const { levels, conditions } = roof;
  const { overlap, exposedComm, launchOverhead } = conditions;
  const moved = levels.map(({ name }) => bytesAt(kernels, roof.chip, name));
  const rates = levels.map(({ bandwidth }) => bandwidth);
  const network = networkOf(kernels);
  const link = roof.chip.link ?? Number.NaN;
  const { count } = kernels;
  const compute = computeTimes(kernels, roof);
  const found: Probe = {
    ...{ computeTime: Number.NaN, memoryTime: Number.NaN, slowest: 0, networkTime: Number.NaN },
    ...{ overheadTime: Number.NaN, body: Number.NaN, time: Number.NaN, regime: "unknown" },
  };
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

const judges = memoize<(row: number) => Bound>();

/** What a roof says of these kernels, row by row. */
export const judge = (kernels: Kernels, roof: Roof): ((row: number) => Bound) =>
  judges(roof, [kernels], () => judging(kernels, roof));

function judging(kernels: Kernels, roof: Roof): (row: number) => Bound {
  const { levels, conditions, peak: flat } = roof;
  const moved = levels.map(({ name }) => bytesAt(kernels, roof.chip, name));
  const ours = bytesAt(kernels, roof.chip, roof.level);
  const probe = probing(kernels, roof);
  return (row) => {
    const { computeTime, memoryTime, slowest, networkTime, overheadTime, body, time, regime } = probe(row);
    const flops = kernels.totalFlops[row] as number;
    const measured = (kernels.time[row] as number) || Number.NaN;
    const peak = flops > 0 ? flops / computeTime : flat;
    const level = levels[slowest] as Level;
    const roofRate = ((1 - conditions.exposedComm) * flops) / body;
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
      aboveRoof: utilization > MIN_UTILIZATION_ABOVE_ROOF,
    };
  };
}
