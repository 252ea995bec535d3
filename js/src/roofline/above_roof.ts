// Why kernels are above their roof: the first cause that fits most of them.

import { type Kernels, textAt } from "../wire/columns.ts";
import { judge, perByte, probeOf } from "./bound.ts";
import { busyTime } from "./positions.ts";
import { bytesAt, type Roof } from "./roofline.ts";
import { MIN_ABOVE } from "./verdict.ts";

/** A cause, and the precision or the memory level that it names. */
interface Cause {
  readonly name: keyof typeof FITS | "chip" | "clock" | "wrong";
  readonly what: string;
}

const ASYNCHRONOUS = /-start\b|-done\b|async/i;
const FROM_SHAPES = /\bshapes?\b/i;
/** The part of the kernel time that must be above the roof for the chip to be in doubt. */
const MIN_SHARE_OF_WRONG_CHIP = 0.5;
/** Boost clocks explain a utilization up to this. */
const MAX_BOOST = 1.15;

/** Returns the rows that are above their roof, in the given order. */
export function rowsAbove(kernels: Kernels, roof: Roof, rows: Int32Array): number[] {
  const work = perByte(kernels);
  const probe = probeOf(work, roof);
  return [...rows.filter((row) => probe(row).time / (work.time[row] || Number.NaN) > MIN_ABOVE)];
}

/** Returns the likely cause why `rows` are above the roof. `rows` must not be empty. */
export function causeOf(kernels: Kernels, roof: Roof, rows: readonly number[]): Cause {
  const most = (fits: (row: number) => boolean) => 2 * rows.filter(fits).length > rows.length;
  for (const [name, candidates] of Object.entries(FITS)) {
    for (const [what, fits] of candidates(kernels, roof)) if (most(fits)) return { name: name as Cause["name"], what };
  }
  const seconds = rows.reduce((sum, row) => sum + (kernels.selfTime[row] || 0), 0);
  const isUnnamed = kernels.source !== "" && kernels.chip === null;
  if (isUnnamed && seconds > MIN_SHARE_OF_WRONG_CHIP * busyTime(kernels)) return { name: "chip", what: roof.chip.name };
  const boundOf = judge(kernels, roof);
  return { name: rows.every((row) => boundOf(row).utilization <= MAX_BOOST) ? "clock" : "wrong", what: "" };
}

type Candidate = readonly [what: string, fits: (row: number) => boolean];

/** The causes in the order in which they are tried, each with what it can name. */
const FITS = {
  asynchronous: ({ name }: Kernels): Candidate[] => [["", (row) => ASYNCHRONOUS.test(textAt(name, row) ?? "")]],
  precision: (kernels: Kernels, roof: Roof): Candidate[] => {
    const boundOf = judge(kernels, roof);
    const isNarrower = (name: string) =>
      isInteger(name) === isInteger(roof.precision) && bitsOf(name) < bitsOf(roof.precision);
    // The slowest peak that explains the rates comes first.
    const narrower = [...roof.peaks].filter(([name]) => isNarrower(name)).sort((a, b) => a[1] - b[1]);
    return narrower.map(([name, peak]) => [
      name,
      (row) => {
        const own = textAt(kernels.precision, row);
        const { regime, achieved } = boundOf(row);
        return (own === null || own === roof.precision) && regime === "compute" && achieved <= peak;
      },
    ]);
  },
  cache: (kernels: Kernels, roof: Roof): Candidate[] => {
    const boundOf = judge(kernels, roof);
    const levels = [...roof.chip.memories.keys()];
    const level = levels[levels.indexOf(roof.level) + 1];
    const bandwidth = level === undefined ? null : roof.chip.memories.get(level);
    if (level === undefined || !bandwidth) return [];
    const bytes = bytesAt(kernels, roof.chip, roof.level);
    const isServed = (row: number) => (bytes[row] as number) / (kernels.time[row] as number) <= bandwidth;
    return [[level, (row) => boundOf(row).regime === "memory" && isServed(row)]];
  },
  shapes: ({ origin }: Kernels): Candidate[] => {
    const columns = [...origin].flatMap(([key, texts]) => (/^(?:flops|bytes)\b/.test(key) ? [texts] : []));
    return [["", (row) => columns.some((texts) => FROM_SHAPES.test(textAt(texts, row) ?? ""))]];
  },
} as const;

const isInteger = (precision: string) => precision.startsWith("int");
/** Returns the number of bits of a precision; NaN for the name of a class of operations. */
const bitsOf = (precision: string) =>
  precision === "tf32" ? 19 : Number.parseInt(/\d+/.exec(precision)?.[0] ?? "", 10);
