// The latency roof of a kernel: the bytes/s that its bytes in flight allow, by Little's law. It changes no bound. Mirrors
// roofwidget/analysis/latency.py: the tests compare both with the same golden file.

import type { Kernels } from "../wire/columns.ts";
import { judge, TIE_TOLERANCE } from "./bound.ts";
import { latencyOf } from "./clock.ts";
import { bytesAt, type Roof } from "./roofline.ts";
import { isTotal } from "./totals.ts";

export interface LatencyRoof {
  /** Seconds from a load to its data, without other loads. */
  readonly latency: number;
  /** Bytes of one launch. */
  readonly bytes: number;
  /** The most bytes that one launch has in flight: never more than it moves. */
  readonly inFlight: number;
  /** The highest rate, bytes/s. */
  readonly rate: number;
  /** The least seconds of all launches. */
  readonly time: number;
}

/**
 * Returns the latency roof of a kernel at the memory level of a roof. Undefined if the latency of the level or the bytes
 * are unknown, and if the bytes in flight allow the whole bandwidth.
 */
export function latencyRoof(kernels: Kernels, row: number, roof: Roof): LatencyRoof | undefined {
  const latency = latencyOf(roof);
  if (latency === undefined || isTotal(kernels, row)) return undefined;
  const all = bytesAt(kernels, roof.chip, roof.level)[row] as number;
  const bytes = all / (kernels.count[row] as number);
  const counted = kernels.inFlight?.[row] ?? Number.NaN;
  const inFlight = counted < bytes ? counted : bytes;
  const rate = inFlight / latency;
  return bytes > 0 && rate < roof.bandwidth ? { latency, bytes, inFlight, rate, time: all / rate } : undefined;
}

/** Returns the latency roof of a kernel if latency takes longer than the bound of the kernel. */
export function latencyLimit(kernels: Kernels, row: number, roof: Roof): LatencyRoof | undefined {
  const found = latencyRoof(kernels, row, roof);
  return found && found.time > judge(kernels, roof)(row).time * (1 + TIE_TOLERANCE) ? found : undefined;
}

/** A share up to this counts as the whole time, because clocks and timers are a little off. */
const MAX_EXPLAINED = 1.05;

/**
 * Whether a kernel is faster than its latency roof. Its bytes are then miscounted, or are those of a nearer level.
 */
export const isContradicted = ({ time }: LatencyRoof, measured: number) => time > measured * MAX_EXPLAINED;
