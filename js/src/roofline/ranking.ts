// Which kernels to fix first: those that would save most of the program's time by reaching their roof.

import type { Kernels } from "../wire/columns.ts";
import { probeOf } from "./bound.ts";
import { type Roof, roofElsewhere } from "./roofline.ts";

export interface Ranking {
  /** The rows with the largest savings, in that order. */
  readonly rows: readonly number[];
  /** Seconds that each row would save. */
  readonly gains: readonly number[];
  /** What the rows would save together, as a share of all kernels' time. */
  readonly share: number;
}

/** How many kernels the list names. */
const MAX_RANKED_KERNELS = 5;

/**
 * Ranks the rows, which must come longest first. Each is judged by the chip it ran on if known, else by `roof`. A
 * kernel without work, or above its roof, saves nothing.
 */
export function rankingOf(kernels: Kernels, rows: Int32Array, roof: Roof | undefined): Ranking {
  const best: { row: number; gain: number }[] = [];
  const probe = roof && probeOf(kernels, roofElsewhere(kernels, roof) ?? roof);
  for (let at = 0; probe && at < rows.length; at++) {
    const row = rows[at] as number;
    const least = best[MAX_RANKED_KERNELS - 1]?.gain ?? 0;
    // A kernel cannot save more than its time, so the loop can stop early.
    if (!((kernels.selfTime[row] as number) >= least)) break;
    const gain = gainOf(kernels, row, probe(row).time);
    if (!(gain > 0)) continue;
    // Equal savings keep the table order.
    const after = best.findIndex((other) => gain > other.gain || (gain === other.gain && row < other.row));
    best.splice(after < 0 ? best.length : after, 0, { row, gain });
    best.length = Math.min(best.length, MAX_RANKED_KERNELS);
  }
  const gains = best.map(({ gain }) => gain);
  return {
    rows: best.map(({ row }) => row),
    gains,
    share: gains.reduce((sum, gain) => sum + gain, 0) / kernels.totalTime,
  };
}

/** Seconds saved at the roof, scaled to the kernel's self time. */
function gainOf({ time, selfTime }: Kernels, row: number, bound: number): number {
  const seconds = time[row] as number;
  return bound > 0 ? (seconds - bound) * ((selfTime[row] as number) / seconds) : 0;
}
