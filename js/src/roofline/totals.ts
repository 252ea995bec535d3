// The totals of a program and of its steps. They are additional rows after the kernels, so that they are drawn and
// selected like kernels.

import { type DictColumn, type Kernels, textAt } from "../wire/columns.ts";

/** The category of the total of a full program. */
const PROGRAM = "program";

export const isTotal = (kernels: Kernels, row: number) => row >= kernels.own;
export const isProgram = (kernels: Kernels, row: number) =>
  isTotal(kernels, row) && textAt(kernels.category, row) === PROGRAM;

/** Returns the table with the totals appended. */
export function withTotals(kernels: Kernels): Kernels {
  const { program } = kernels;
  if (!program || program.n === 0) return kernels;
  const both = (name: "time" | "selfTime" | "count" | "totalFlops") => joined(kernels[name], program[name]);
  const ratio = (name: "intensity" | "rate") =>
    kernels[name] && joined(kernels[name], new Float64Array(program.n).fill(Number.NaN));
  const words = (name: "name" | "short" | "precision" | "category") => joinedTexts(kernels[name], program[name]);
  const columns = (name: "flops" | "bytes") => {
    const keys = new Set([...kernels[name].keys(), ...program[name].keys()]);
    const column = (table: Kernels, key: string) => table[name].get(key) ?? new Float64Array(table.n).fill(Number.NaN);
    return new Map([...keys].map((key) => [key, joined(column(kernels, key), column(program, key))] as const));
  };
  return {
    ...kernels,
    n: kernels.n + program.n,
    name: words("name"),
    short: words("short"),
    precision: words("precision"),
    category: words("category"),
    time: both("time"),
    selfTime: both("selfTime"),
    count: both("count"),
    totalFlops: both("totalFlops"),
    intensity: ratio("intensity"),
    rate: ratio("rate"),
    flops: columns("flops"),
    bytes: columns("bytes"),
    byLevel: new Map(),
  };
}

/**
 * Returns the rows to draw. Later rows are drawn on top of earlier rows. The given rows come first, and the total of
 * the program comes last. If `programOnly` is true, returns only the totals of the program and its steps.
 */
export function drawnRows(kernels: Kernels, rows: Int32Array, programOnly: boolean): Int32Array {
  const totals = Array.from({ length: kernels.n - kernels.own }, (_, at) => kernels.own + at);
  if (programOnly) return Int32Array.from(totals.reverse());
  const program = totals.filter((row) => isProgram(kernels, row)).slice(0, 1);
  const drawn = new Int32Array(rows.length + program.length);
  drawn.set(rows);
  drawn.set(program, rows.length);
  return drawn;
}

function joined(one: Float64Array, other: Float64Array): Float64Array {
  const both = new Float64Array(one.length + other.length);
  both.set(one);
  both.set(other, one.length);
  return both;
}

function joinedTexts(one: DictColumn, other: DictColumn): DictColumn {
  const codes = new Int32Array(one.codes.length + other.codes.length);
  codes.set(one.codes);
  codes.set(
    other.codes.map((code) => code + one.values.length),
    one.codes.length,
  );
  return { values: [...one.values, ...other.values], codes };
}
