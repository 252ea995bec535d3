// How large a point is: its area is its share of the time in which something ran.

import type { Kernels } from "../wire/columns.ts";
import { isProgram, isTotal } from "./totals.ts";

/** px. */
export const LEAST = 3;
const [MOST, STAR] = [16, 9];
/** Radii go by steps of this, px, so that many points share one look. */
const STEP = 0.5;

/**
 * The radius of each row, px, and NaN where it says nothing of time: not measured, or each takes as long as all others.
 */
export function radii(kernels: Kernels): (row: number) => number {
  const { own, selfTime } = kernels;
  const equal = isEach(selfTime, own);
  const busy = busyTime(kernels);
  return (row) => {
    if (isTotal(kernels, row)) return isProgram(kernels, row) ? STAR : Number.NaN;
    const seconds = selfTime[row] as number;
    if (equal || Number.isNaN(seconds)) return Number.NaN;
    const radius = MOST * Math.sqrt(seconds / busy);
    return Math.max(LEAST, Math.min(Math.round(radius / STEP) * STEP, MOST));
  };
}

/** Whether all that were measured took equally long. */
function isEach(seconds: Float64Array, own: number): boolean {
  let first = Number.NaN;
  for (let row = 0; row < own; row++) {
    const now = seconds[row] as number;
    if (Number.isNaN(now) || now === first) continue;
    if (!Number.isNaN(first)) return false;
    first = now;
  }
  return true;
}

/** The category of the time in which nothing ran, or nothing is known to have. */
const IDLE = "idle";

function busyTime({ category, selfTime, totalTime }: Kernels): number {
  const idle = category.values.findIndex((word) => word?.toLowerCase() === IDLE);
  let busy = totalTime;
  for (let row = 0; idle >= 0 && row < selfTime.length; row++) {
    if (category.codes[row] === idle) busy -= selfTime[row] || 0;
  }
  return busy;
}
