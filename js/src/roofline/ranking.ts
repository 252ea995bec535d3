// Which kernels to fix first: the kernels that would save most of the program's time by reaching their roof.

import type { Kernels } from "../wire/columns.ts";
import { headroomOf, isUnlinked, probeOf } from "./bound.ts";
import { type Roof, roofElsewhere } from "./roofline.ts";

export interface Ranking {
  /** The rows with the largest savings, largest first. */
  readonly rows: readonly number[];
  /** Seconds that each row would save. */
  readonly gains: readonly number[];
  /** The savings of all rows together, as a share of the time of all kernels. */
  readonly share: number;
  /**
   * The collectives whose bytes over the link are unknown. The ranking leaves these collectives out, because no roof
   * explains their time.
   */
  readonly leftOut: { readonly count: number; readonly seconds: number };
}

/** The maximum number of kernels in the ranking. */
export const MAX_RANKED_KERNELS = 5;

/**
 * Ranks the rows, which must be sorted by time, longest first. If the kernels ran on another chip whose figures are
 * known, the roof of the other chip judges them. Otherwise, `roof` judges them. A kernel without work, or above its
 * roof, saves nothing.
 */
export function rankingOf(kernels: Kernels, rows: Int32Array, roof: Roof | undefined): Ranking {
  const best: { row: number; gain: number }[] = [];
  const probe = roof && probeOf(kernels, roofElsewhere(kernels, roof) ?? roof);
  for (let at = 0; probe && at < rows.length; at++) {
    const row = rows[at] as number;
    const least = best[MAX_RANKED_KERNELS - 1]?.gain ?? 0;
    // A kernel cannot save more than its own time. This kernel and all later kernels take too little time to enter the
    // ranking.
    if (!((kernels.selfTime[row] as number) >= least)) break;
    const gain = headroomOf(kernels, row, probe(row).time);
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
    leftOut: roof ? leftOutOf(kernels, rows) : NOTHING,
  };
}

const NOTHING = { count: 0, seconds: 0 };

function leftOutOf(kernels: Kernels, rows: Int32Array): Ranking["leftOut"] {
  if (!kernels.unlinked) return NOTHING;
  const found = rows.filter((row) => isUnlinked(kernels, row) && (kernels.selfTime[row] as number) > 0);
  return { count: found.length, seconds: found.reduce((sum, row) => sum + (kernels.selfTime[row] as number), 0) };
}
