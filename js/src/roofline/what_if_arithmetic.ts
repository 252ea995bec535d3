// What kernels become with other bytes and another share of the roof: the mirror of
// roofwidget/analysis/what_if_arithmetic.py.

import { type DictColumn, type Kernels, sumOfMeasured } from "../wire/columns.ts";
import { probeOf } from "./bound.ts";
import { NETWORK, type Roof, roofElsewhere } from "./roofline.ts";

/** Factors on a kernel's bytes, and on the time that follows from them at the same share of the roof. Default 1. */
export interface Move {
  readonly bytes?: number;
  readonly time?: number;
}

/** By row. */
export type Moves = Readonly<Record<string, Move>>;

/** The kernels with what-ifs applied. */
export interface Moved {
  /** The rows, ascending. */
  readonly rows: Int32Array;
  /** One kernel per row. */
  readonly kernels: Kernels;
  /** Factors on the times; NaN if unknown. */
  readonly factor: Float64Array;
  /** Shares of the roof, before and after. */
  readonly before: Float64Array;
  readonly after: Float64Array;
}

/** The roof that judges the kernels: that of the chip they ran on if known, else the given one. */
export const judgeOf = (kernels: Kernels, roof: Roof): Roof => roofElsewhere(kernels, roof) ?? roof;

/** Applies the what-ifs to their kernels. */
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
    // A what-if never lifts a kernel above its roof; a kernel that is above already stays there. An unknown share sets
    // no limit.
    const used = Math.max(time, Math.min(share || 0, 1));
    shares.before[at] = share;
    shares.after[at] = share / used;
    return bytes === 1 ? used : (used * now(at).time) / bound;
  });
  const changed = (column: Float64Array) => column.map((seconds, at) => seconds * (factor[at] as number));
  const [time, selfTime] = [changed(before.time), changed(before.selfTime)];
  return { rows, kernels: { ...after, time, selfTime }, factor, ...shares };
}

/** Total self time of all measured rows in seconds, before and after. */
export function totalOf(kernels: Kernels, { rows, factor }: Moved): readonly [before: number, after: number] {
  const { totalTime, selfTime } = kernels;
  const gained = rows.reduce(
    (sum, row, at) => sum + ((selfTime[row] as number) * (1 - (factor[at] as number)) || 0),
    0,
  );
  return [totalTime, totalTime - gained];
}

/** Some rows of a table, without the totals. */
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
    selfTime,
    totalTime: sumOfMeasured(selfTime),
    program: null,
  };
}
