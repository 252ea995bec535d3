// How long a measured program would take elsewhere if each kernel stayed as far from its roof as it is: the mirror of roofwidget/analysis/projection.py, held to the same golden file.

import { type Kernels, sumOfKnown } from "../wire/columns.ts";
import { computeTimes } from "./bound.ts";
import { bytesAt, CLASSES, NETWORK, type Roof } from "./roofline.ts";

/** Below this share of its roof something else than the roof explains a kernel's time. */
export const MIN_EXPLAINED_SHARE = 0.1;

/** Seconds, of their own: they may be added. */
export interface Projection {
  /** Of all that was measured, where it ran and where it goes. */
  readonly before: number;
  readonly time: number;
  /** Of the kernels that keep their time, since a bound of theirs is unknown. */
  readonly notScaled: number;
  /** Of those that scale, keep their share of the roof and reach little of it. */
  readonly far: number;
  /** Of each where it goes; NaN where it was not measured. */
  readonly byKernel: Float64Array;
}

/**
 * The least seconds that each kernel needs under the plain roof: what `judge` says of it, without all else that it says,
 * since a drag asks for those of the whole table.
 */
export function boundTimes(kernels: Kernels, roof: Roof): Float64Array {
  const compute = computeTimes(kernels, roof);
  const moved = roof.levels.map(({ name }) => bytesAt(kernels, roof.chip, name));
  const rates = roof.levels.map(({ bandwidth }) => bandwidth);
  const network = [...kernels.bytes].find(([name]) => name.toLowerCase() === NETWORK)?.[1];
  const times = new Float64Array(kernels.n);
  for (let row = 0; row < kernels.n; row++) {
    let memory = Number.NaN;
    for (let at = 0; at < moved.length; at++) {
      const seconds = (moved[at]?.[row] as number) / (rates[at] as number);
      if (seconds > memory || Number.isNaN(memory)) memory = seconds;
    }
    const sent = network?.[row] || 0;
    times[row] = Math.max(compute(row), memory, sent > 0 ? sent / (roof.chip.link ?? Number.NaN) : 0);
  }
  return times;
}

/** With bounds where they ran and where they go, and the rows that reach their roof there. */
export function project(
  { n, time, selfTime }: Kernels,
  there: Float64Array,
  here: Float64Array,
  atRoof: ReadonlySet<number>,
): Projection {
  const byKernel = selfTime.slice();
  const sum = { before: 0, time: 0, notScaled: 0, far: 0 };
  for (let row = 0; row < n; row++) {
    const own = selfTime[row] as number;
    if (Number.isNaN(own)) continue;
    const factor = (here[row] as number) / ((atRoof.has(row) ? time[row] : there[row]) as number);
    const scales = factor > 0 && Number.isFinite(factor);
    if (scales) byKernel[row] = own * factor;
    else sum.notScaled += own;
    if (scales && !atRoof.has(row) && (there[row] as number) < MIN_EXPLAINED_SHARE * (time[row] as number))
      sum.far += own;
    sum.before += own;
    sum.time += byKernel[row] as number;
  }
  return { ...sum, byKernel };
}

/** The same work without any precision, to be judged by the one of a roof; FLOPs of a class keep it. */
export function recast(kernels: Kernels): Kernels {
  const isClass = ([key]: readonly [string, Float64Array]) => CLASSES.includes(key);
  const told = [...kernels.flops];
  const plain = told.filter((entry) => !isClass(entry)).map(([, column]) => column);
  const flops = new Map(told.filter(isClass));
  if (plain.length > 0) flops.set("", sumOfKnown(plain, kernels.n));
  return { ...kernels, precision: { values: [null], codes: new Int32Array(kernels.n) }, flops };
}
