// Computes the effect of what-ifs on kernels. A what-if changes the number of bytes of a kernel, and the share of the
// roof that the kernel reaches. Mirrors roofwidget/analysis/kernel_moves.py.

import { type DictColumn, type Kernels, sumOfMeasured } from "../wire/columns.ts";
import type { Move, Moves } from "../wire/types.ts";
import { isUnlinked, probeOf } from "./bound.ts";
import { NETWORK, type Roof, roofElsewhere } from "./roofline.ts";

/** The kernels that have a what-if, with the what-ifs applied. */
export interface Moved {
  /** The rows of the kernels that have a what-if, ascending. */
  readonly rows: Int32Array;
  /** A table with one kernel per row of `rows`. */
  readonly kernels: Kernels;
  /** The factor on the time of each kernel; NaN if unknown. */
  readonly factor: Float64Array;
  /** The share of the roof that each kernel reaches without the what-if. */
  readonly before: Float64Array;
  /** The share of the roof that each kernel reaches with the what-if. */
  readonly after: Float64Array;
}

/**
 * Returns the roof that judges the kernels. If the kernels ran on another chip whose figures are known, this is the
 * roof of the other chip. Otherwise, it is the given roof.
 */
export const judgeOf = (kernels: Kernels, roof: Roof): Roof => roofElsewhere(kernels, roof) ?? roof;

/** Applies the what-ifs to the kernels that have a what-if. */
export function moved(kernels: Kernels, moves: Moves, focus: Roof): Moved {
  const rows = Int32Array.from(Object.keys(moves), Number).filter((row) => row < kernels.own);
  const asked = Array.from(rows, (row) => moves[row] as Move);
  const before = picked(kernels, rows);
  const bytes = new Map(
    [...before.bytes].map(([level, column]) => [
      level,
      level.toLowerCase() === NETWORK ? column : column.map((value, at) => value * (asked[at]?.bytes ?? 1)),
    ]),
  );
  const after = { ...before, bytes, byLevel: new Map() };
  const roof = judgeOf(kernels, focus);
  const [then, now] = [probeOf(before, roof), probeOf(after, roof)];
  const shares = { before: new Float64Array(rows.length), after: new Float64Array(rows.length) };
  const factor = Float64Array.from(asked, ({ bytes = 1, time = 1 }, at) => {
    const bound = then(at).time;
    const share = bound / ((before.time[at] as number) || Number.NaN);
    // A what-if never raises a kernel above its roof. A kernel that is already above its roof stays there. If the share
    // is unknown, there is no limit.
    const used = Math.max(time, Math.min(share || 0, 1));
    shares.before[at] = share;
    shares.after[at] = share / used;
    return bytes === 1 ? used : (now(at).time / bound) * used;
  });
  const changed = (column: Float64Array) => column.map((seconds, at) => seconds * (factor[at] as number));
  const [time, selfTime] = [changed(before.time), changed(before.selfTime)];
  return { rows, kernels: { ...after, time, selfTime }, factor, ...shares };
}

/** Returns the total self time of all measured rows in seconds, without and with the what-ifs. */
export function totalOf(kernels: Kernels, { rows, factor }: Moved): readonly [before: number, after: number] {
  const { totalTime, selfTime } = kernels;
  const gained = rows.reduce(
    (sum, row, at) => sum + ((selfTime[row] as number) * (1 - (factor[at] as number)) || 0),
    0,
  );
  return [totalTime, totalTime - gained];
}

/** Returns the given rows of a table, without the totals. */
function picked(kernels: Kernels, rows: Int32Array): Kernels {
  const column = (all: Float64Array) => Float64Array.from(rows, (row) => all[row] as number);
  const columns = (all: ReadonlyMap<string, Float64Array>) =>
    new Map([...all].map(([key, values]) => [key, column(values)] as const));
  const texts = ({ values, codes }: DictColumn): DictColumn => ({
    values,
    codes: rows.map((row) => codes[row] as number),
  });
  const selfTime = column(kernels.selfTime);
  return {
    ...kernels,
    n: rows.length,
    own: rows.length,
    name: texts(kernels.name),
    short: texts(kernels.short),
    precision: texts(kernels.precision),
    category: texts(kernels.category),
    time: column(kernels.time),
    count: column(kernels.count),
    flops: columns(kernels.flops),
    bytes: columns(kernels.bytes),
    byLevel: new Map(),
    totalFlops: column(kernels.totalFlops),
    intensity: kernels.intensity && column(kernels.intensity),
    rate: kernels.rate && column(kernels.rate),
    selfTime,
    unlinked: kernels.unlinked ? Int32Array.from(rows, (row) => (isUnlinked(kernels, row) ? 1 : 0)) : null,
    totalTime: sumOfMeasured(selfTime),
    program: null,
  };
}
