// How long a measured program would take on another roof if each kernel kept its share of the roof. Mirrors
// roofwidget/analysis/projection.py: the tests compare both files with the same golden file.

import { type Kernels, sumOfKnown } from "../wire/columns.ts";
import { computeTimes, MIN_UTILIZATION_ABOVE_ROOF, networkBytes } from "./bound.ts";
import { bytesByLevel, CLASSES, linkOf, type Roof } from "./roofline.ts";

/** If a kernel reaches a smaller share of its roof than this, the roof does not explain the time of the kernel. */
export const MIN_EXPLAINED_SHARE = 0.1;

/** The result of a projection. All times are self times in seconds, so that they can be added. */
export interface Projection {
  /** Total time of all measured kernels on the chip that they ran on. */
  readonly before: number;
  /** Total time of all measured kernels on the other chip. */
  readonly time: number;
  /** Total time of the kernels that keep their time because one of their bounds is unknown. */
  readonly notScaled: number;
  /** Total time of the scaled kernels that reach only a small share of their roof. */
  readonly far: number;
  /**
   * Total time of the scaled kernels that are above their roof. Their counts, their times or the chip's peaks are
   * wrong. Therefore the projected times of these kernels are wrong too.
   */
  readonly above: number;
  /** Projected self time per kernel; NaN if unmeasured. */
  readonly byKernel: Float64Array;
}

/**
 * Returns the bound time of each kernel in seconds, without exposed communication and launch overhead. A drag needs the
 * bound times of the full table, and this function takes half as long as `probeOf`.
 */
export function boundTimes(kernels: Kernels, roof: Roof): Float64Array {
  const compute = computeTimes(kernels, roof);
  const moved = bytesByLevel(kernels, roof);
  const rates = roof.levels.map(({ bandwidth }) => bandwidth);
  const network = networkBytes(kernels);
  const link = linkOf(roof);
  const times = new Float64Array(kernels.n);
  for (let row = 0; row < kernels.n; row++) {
    let memory = Number.NaN;
    for (let at = 0; at < moved.length; at++) {
      const seconds = (moved[at]?.[row] as number) / (rates[at] as number);
      if (seconds > memory || Number.isNaN(memory)) memory = seconds;
    }
    const sent = network?.[row] || 0;
    times[row] = Math.max(compute(row), memory, sent > 0 ? sent / link : 0);
  }
  return times;
}

/**
 * Projects the times. `there` has the bound times on the roof that the program ran on. `here` has the bound times on
 * the other roof. Kernels in `atRoof` are assumed to reach the other roof.
 */
export function project(
  { n, time, selfTime }: Kernels,
  there: Float64Array,
  here: Float64Array,
  atRoof: ReadonlySet<number>,
): Projection {
  const byKernel = selfTime.slice();
  const sum = { before: 0, time: 0, notScaled: 0, far: 0, above: 0 };
  for (let row = 0; row < n; row++) {
    const own = selfTime[row] as number;
    if (Number.isNaN(own)) continue;
    const factor = (here[row] as number) / ((atRoof.has(row) ? time[row] : there[row]) as number);
    const scales = factor > 0 && Number.isFinite(factor);
    if (scales) byKernel[row] = own * factor;
    else sum.notScaled += own;
    if (scales && !atRoof.has(row) && (there[row] as number) < MIN_EXPLAINED_SHARE * (time[row] as number))
      sum.far += own;
    const measured = time[row] as number;
    if (scales && measured > 0 && (there[row] as number) / measured > MIN_UTILIZATION_ABOVE_ROOF) sum.above += own;
    sum.before += own;
    sum.time += byKernel[row] as number;
  }
  return { ...sum, byKernel };
}

/**
 * Returns a copy of the kernels without precisions, so that the roof's precision applies. FLOPs of a class keep their
 * class.
 */
export function recast(kernels: Kernels): Kernels {
  const isClass = ([key]: readonly [string, Float64Array]) => CLASSES.includes(key);
  const columns = [...kernels.flops];
  const plain = columns.filter((entry) => !isClass(entry)).map(([, column]) => column);
  const flops = new Map(columns.filter(isClass));
  if (plain.length > 0) flops.set("", sumOfKnown(plain, kernels.n));
  return { ...kernels, precision: { values: [null], codes: new Int32Array(kernels.n) }, flops };
}
