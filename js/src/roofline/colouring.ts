// Which column gives the points their colours: texts are categories, numbers are steps of a scale.

import { memoize } from "../ui/memoize.ts";
import type { DictColumn, Kernels } from "../wire/columns.ts";
import { idleRows } from "./positions.ts";
import { familyOf } from "./verdict.ts";

/** The colours of texts. Each text has its own colour. */
export interface TextColouring {
  readonly kind: "text";
  readonly key: string;
  readonly column: DictColumn;
  /** The number of rows without a text, whose points are hollow. Rows without a category have a colour, so it is 0. */
  readonly unknown: number;
  /** Whether the texts are names of series: later series then leave the colours of earlier ones. */
  readonly isSeries: boolean;
}

/** The colours of numbers: steps of a scale from `low` to `high`, which is logarithmic if `isLog`. */
export interface NumberColouring {
  readonly kind: "number";
  readonly key: string;
  readonly values: Float64Array;
  readonly low: number;
  readonly high: number;
  readonly isLog: boolean;
  /** The number of rows whose value is unknown. Their points are hollow. */
  readonly unknown: number;
}

export type Colouring = TextColouring | NumberColouring;

/** The number of colours of a scale. Each colour needs sprites of its own. */
export const SCALE_STEPS = 32;
/** Positive numbers that span more than this factor have a logarithmic scale. */
const MAX_LINEAR_FACTOR = 100;

const CATEGORY = "category";

/** Returns the column with this key. The columns of the file may not have the names of the table's own columns. */
function columnOf({ extra, category, precision, time, selfTime, count, totalFlops }: Kernels, key: string) {
  const own = { category, precision, time, self_time: selfTime, count, flops: totalFlops };
  return Object.hasOwn(own, key) ? own[key as keyof typeof own] : extra.get(key);
}

/** The keys of the columns that the points can be coloured by: those with at least two values. */
export function colourKeys(kernels: Kernels): string[] {
  const isSelf = kernels.selfTime !== kernels.time;
  const own = [CATEGORY, "precision", "time", ...(isSelf ? ["self_time"] : []), "count", "flops"];
  return [...own, ...kernels.extra.keys()].filter((key) => {
    const colouring = colouringOf(kernels, key);
    if (colouring.kind === "number") return colouring.low < colouring.high;
    return colouring.column.values.length + Math.min(1, colouring.unknown) > 1;
  });
}

const memo = memoize<Colouring>();

/** Returns how a column colours the points. If the table lacks the column, the category colours them. */
export function colouringOf(kernels: Kernels, key: string): Colouring {
  const column = columnOf(kernels, key);
  if (column === undefined) return colouringOf(kernels, CATEGORY);
  const isSeries = kernels.series && key === CATEGORY;
  return memo(column, [key, kernels.own, isSeries], () =>
    column instanceof Float64Array ? numbers(key, column, kernels.own) : texts(key, column, kernels.own, isSeries),
  );
}

/** Categories keep their order. The texts of other columns are sorted, so that node 2 comes before node 10. */
function texts(key: string, column: DictColumn, n: number, isSeries: boolean): TextColouring {
  if (key === CATEGORY) return { kind: "text", key, column, unknown: 0, isSeries };
  const known = column.values.filter((value) => value !== null);
  const values = known.sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  const places = new Map([...values, null].map((value, code) => [value, code]));
  const codeOf = column.values.map((value) => places.get(value) as number);
  const codes = column.codes.map((code) => codeOf[code] as number);
  let unknown = 0;
  for (let row = 0; row < n; row++) if (codes[row] === values.length) unknown++;
  return { kind: "text", key, column: { values, codes }, unknown, isSeries };
}

function numbers(key: string, values: Float64Array, n: number): NumberColouring {
  let [low, high, unknown] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0];
  for (let row = 0; row < n; row++) {
    const value = values[row] as number;
    if (!Number.isFinite(value)) unknown++;
    else [low, high] = [Math.min(low, value), Math.max(high, value)];
  }
  const isLog = low > 0 && high > MAX_LINEAR_FACTOR * low;
  return { kind: "number", key, values, low, high, isLog, unknown };
}

const families = memoize<readonly number[]>();

/**
 * Returns for each code the first code of the same family. Copies of any kind are one family, and so are collectives.
 * Every other text is a family of its own.
 */
export const familyCodes = ({ key, column, isSeries }: TextColouring): readonly number[] =>
  families(column, [key, isSeries], () => {
    const all = column.values.map((value) => (key === CATEGORY && !isSeries ? familyOf(value) : value));
    return all.map((family) => all.indexOf(family));
  });

/** Returns the text of codes of one family: their family if there are several. */
export const familyText = ({ column: { values } }: TextColouring, codes: readonly number[]): string | null => {
  const text = values[codes[0] ?? -1] ?? null;
  return codes.length > 1 ? familyOf(text) : text;
};

/** The kernels of one colour of texts. */
export interface ColourPart {
  /** The codes of the texts: those of one family. -1 for unknown texts. */
  readonly codes: readonly number[];
  readonly kernels: number;
  /** The self time of the kernels, s. */
  readonly seconds: number;
}

/** Returns the parts of a column of texts, longest time first. Idle time is no part. */
export function partsOf(kernels: Kernels, colouring: TextColouring): ColourPart[] {
  const isIdle = idleRows(kernels);
  const first = familyCodes(colouring);
  const found = new Map<number, { codes: number[]; kernels: number; seconds: number }>();
  for (let row = 0; row < kernels.own; row++) {
    if (isIdle(row)) continue;
    const code = codeAt(colouring, row);
    const family = first[code] ?? code;
    const part = found.get(family) ?? { codes: [], kernels: 0, seconds: 0 };
    found.set(family, part);
    if (!part.codes.includes(code)) part.codes.push(code);
    part.kernels++;
    part.seconds += kernels.selfTime[row] || 0;
  }
  return [...found.values()].sort((a, b) => b.seconds - a.seconds || (a.codes[0] as number) - (b.codes[0] as number));
}

/** Returns the value at a share of the scale: at 0 the lowest, at 1 the highest. */
export const valueAt = ({ low, high, isLog }: NumberColouring, share: number): number =>
  share === 1 ? high : isLog ? low * (high / low) ** share : low + (high - low) * share;

/** Returns the step of a value, from 0 to SCALE_STEPS - 1. Returns -1 if the value is unknown. */
export function stepOf({ low, high, isLog }: NumberColouring, value: number): number {
  if (!Number.isFinite(value)) return -1;
  const share = isLog ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
  return low < high ? Math.min(SCALE_STEPS - 1, Math.floor(share * SCALE_STEPS)) : SCALE_STEPS - 1;
}

/**
 * Returns the code of a row's colour: the code of its text, or the step of its number. Returns -1 if the value is
 * unknown.
 */
export function codeAt(colouring: Colouring, row: number): number {
  if (colouring.kind === "number") return stepOf(colouring, colouring.values[row] as number);
  const { column } = colouring;
  const code = column.codes[row] as number;
  return code < column.values.length ? code : -1;
}
