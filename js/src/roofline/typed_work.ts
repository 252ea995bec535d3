// Work that a user has typed for kernels whose FLOPs or bytes are unknown. Mirrors `with_typed_work` of
// roofwidget/kernels/work.py: the tests compare both with the same golden file.

import { type DictColumn, type Kernels, sumOfKnown, sumOfMeasured, textAt } from "../wire/columns.ts";
import type { TypedWork } from "../wire/types.ts";
import { isUnlinked, perByte } from "./bound.ts";
import { IDLE } from "./positions.ts";
import { bytesAt, levelOf } from "./roofline.ts";

/** The origin of FLOPs and bytes that a user has typed. Python has the same text. */
export const TYPED_ORIGIN = "typed per launch in the widget";
/** The most FLOPs or bytes of one launch. Python has the same limit. */
export const MAX_AMOUNT = 1e27;

/** Represents a chip whose memory is unknown. */
const UNKNOWN_CHIP = { memories: new Map([["main", null]]) };

/** The bytes of the main memory of the chip that the kernels ran on. */
function mainBytes(kernels: Kernels): Float64Array {
  const main = kernels.chip && levelOf(kernels.chip, "main");
  return main ? bytesAt(kernels, kernels.chip, main) : bytesAt(kernels, UNKNOWN_CHIP, "main");
}

/** Returns which amounts of a kernel are unknown, so that they can be typed. */
export const unknownWork = (kernels: Kernels, row: number) => ({
  flops: Number.isNaN(kernels.totalFlops[row]),
  bytes: Number.isNaN(mainBytes(kernels)[row]),
});

/**
 * Returns the rows whose work is unknown, in the given order. Leaves out time in which no kernel runs, and collectives,
 * whose bytes cross a link.
 */
export function rowsWithoutWork(kernels: Kernels, rows: Int32Array): Int32Array {
  const work = perByte(kernels);
  const bytes = mainBytes(work);
  return rows.filter(
    (row) =>
      Number.isNaN((work.totalFlops[row] as number) + (bytes[row] as number)) &&
      !isUnlinked(kernels, row) &&
      textAt(kernels.category, row)?.toLowerCase() !== IDLE,
  );
}

/** Returns the table with the typed FLOPs and bytes where these are unknown. */
export function withTypedWork(kernels: Kernels, typed: TypedWork): Kernels {
  const [flops, bytes, origin] = [new Map(kernels.flops), new Map(kernels.bytes), new Map(kernels.origin)];
  for (const [quantity, columns, plain] of [["flops", flops, ""] as const, ["bytes", bytes, "main"] as const]) {
    const rows = Object.keys(typed)
      .map(Number)
      .filter(
        (row) => row < kernels.own && typed[row]?.[quantity] !== undefined && unknownWork(kernels, row)[quantity],
      );
    if (rows.length === 0) continue;
    const key = [...columns.keys()].find((name) => name.toLowerCase() === plain) ?? plain;
    const column = columns.get(key)?.slice() ?? new Float64Array(kernels.n).fill(Number.NaN);
    for (const row of rows) column[row] = (typed[row]?.[quantity] as number) * (kernels.count[row] as number);
    columns.set(key, column);
    origin.set(quantity, withText(origin.get(quantity), rows, kernels.n));
  }
  const filled = {
    ...kernels,
    flops,
    bytes,
    origin,
    byLevel: new Map(),
    totalFlops: sumOfKnown([...flops.values()], kernels.n),
  };
  return kernels.intensity || kernels.rate ? completed(filled, Object.keys(typed).map(Number)) : filled;
}

/** Computes amounts and seconds of rows that follow from the ratios. Mirrors `Kernels._complete` of Python. */
function completed(kernels: Kernels, rows: readonly number[]): Kernels {
  const { n, own, intensity, rate } = kernels;
  const before = mainBytes(kernels);
  const blank = () => new Float64Array(n).fill(Number.NaN);
  const [flops, moved] = [kernels.flops.get("")?.slice() ?? blank(), kernels.bytes.get("main")?.slice() ?? blank()];
  const [time, totalFlops] = [kernels.time.slice(), kernels.totalFlops.slice()];
  for (const row of rows) {
    const [ai, speed] = [intensity?.[row] ?? Number.NaN, rate?.[row] ?? Number.NaN];
    const bytes = before[row] as number;
    if (Number.isNaN(totalFlops[row]) && bytes > 0) {
      flops[row] = ai * bytes;
      totalFlops[row] = flops[row] as number;
    }
    const work = totalFlops[row] as number;
    if (Number.isNaN(bytes) && work > 0 && ai > 0) moved[row] = work / ai;
    if (Number.isNaN(time[row]) && work > 0 && speed > 0) time[row] = work / speed;
  }
  const selfTime = kernels.selfTime === kernels.time ? time : kernels.selfTime;
  return {
    ...kernels,
    flops: new Map([...kernels.flops, ["", flops]]),
    bytes: new Map([...kernels.bytes, ["main", moved]]),
    byLevel: new Map(),
    totalFlops,
    time,
    selfTime,
    totalTime: sumOfMeasured(selfTime.subarray(0, own)),
  };
}

/** Returns a column of origins in which some rows are typed. */
function withText(column: DictColumn | undefined, rows: readonly number[], n: number): DictColumn {
  const values = [...(column?.values ?? [null]), TYPED_ORIGIN];
  const codes = column?.codes.slice() ?? new Int32Array(n);
  for (const row of rows) codes[row] = values.length - 1;
  return { values, codes };
}
