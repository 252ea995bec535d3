// Which kernels to fix first: those that would give back most of the program's time at their roof.

import type { Kernels } from "../wire/columns.ts";
import { probing } from "./bound.ts";
import { type Roof, roofElsewhere } from "./roofline.ts";

export interface Ranking {
  /** The rows with most to give back, most first. */
  readonly rows: readonly number[];
  /** Seconds of the program that each would give back. */
  readonly gains: readonly number[];
  /** Of the time of all kernels, what they would give back together. */
  readonly share: number;
}

/** How many are fixed first. */
const MAX_RANKED_KERNELS = 5;

/**
 * Of these rows, those that take longest first, by the chip they ran on if that is known, else by `roof`; what has no
 * work that a roof could judge, or beats its roof, has nothing to give back.
 */
export function rankingOf(kernels: Kernels, rows: Int32Array, roof: Roof | undefined): Ranking {
  const best: { row: number; gain: number }[] = [];
  const probe = roof && probing(kernels, roofElsewhere(kernels, roof) ?? roof);
  for (let at = 0; probe && at < rows.length; at++) {
    const row = rows[at] as number;
    const least = best[MAX_RANKED_KERNELS - 1]?.gain ?? 0;
    // None gives back more than all its time: few of very many need be judged.
    if (!((kernels.selfTime[row] as number) >= least)) break;
    const gain = gainOf(kernels, row, probe(row).time);
    if (!(gain > 0)) continue;
    // Of equal ones the first of the table.
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

/** Of its own seconds, those of others within it left out. */
function gainOf({ time, selfTime }: Kernels, row: number, bound: number): number {
  const seconds = time[row] as number;
  return bound > 0 ? (seconds - bound) * ((selfTime[row] as number) / seconds) : 0;
}
