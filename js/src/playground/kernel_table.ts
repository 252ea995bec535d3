// The kernels that a person types or pastes: a table of texts, read as numbers in base units.

import { formatQuantity } from "../text/numbers.ts";
import { readNumber } from "../text/written.ts";
import type { WireKernels } from "../wire/types.ts";
import { type KernelRecord, kernelRecord, type Numbers } from "./records.ts";
import { playgroundWords as words } from "./words.ts";

/** "work" has FLOPs, bytes and seconds; "ratios" has what papers print: intensities and rates. */
export type Form = keyof typeof COLUMNS;
interface Column {
  readonly key: "flops" | "bytes" | "time" | "intensity" | "rate";
  readonly unit: "FLOP" | "B" | "s" | "FLOP/B" | "FLOP/s";
  readonly example: string;
  /** How headers of pasted tables name the column, in lower case. */
  readonly headers: readonly string[];
}
/** The columns after the name, by form. */
export const COLUMNS = {
  work: [
    { key: "flops", unit: "FLOP", example: "4 TFLOP", headers: ["flops", "flop"] },
    { key: "bytes", unit: "B", example: "12 GB", headers: ["bytes", "byte", "b"] },
    { key: "time", unit: "s", example: "12 ms", headers: ["time", "seconds", "s"] },
  ],
  ratios: [
    { key: "intensity", unit: "FLOP/B", example: "12.5", headers: ["intensity", "ai", "flop/b"] },
    { key: "rate", unit: "FLOP/s", example: "880 GFLOP/s", headers: ["rate", "flop/s"] },
  ],
} as const satisfies Readonly<Record<string, readonly Column[]>>;
const NAMES: readonly string[] = ["name", "kernel"];
export const FORMS = Object.keys(COLUMNS) as Form[];
const columnsOf = (form: Form): readonly Column[] => COLUMNS[form];

/** A row of texts: the name, and a text for each column. */
export type Row = readonly string[];
/** The rows of both forms; the chart shows those of `form`. */
export interface KernelTable {
  readonly form: Form;
  readonly rows: Readonly<Record<Form, readonly Row[]>>;
}
/** A cell that cannot be read. Rows and columns are counted from 0; column 0 is the name. */
export interface Fault {
  readonly row: number;
  readonly column: number;
  readonly text: string;
}
/** Kernels as columns of numbers; NaN is unknown. */
export interface KernelColumns {
  readonly names: readonly string[];
  readonly numbers: Readonly<Partial<Record<Column["key"], readonly number[]>>>;
}

/** The most rows. More are a profile, which Python reads. */
export const MAX_ROWS = 200;
const MAX_NAME_LETTERS = 300;
const MAX_SHOWN_LETTERS = 40;

export const emptyRow = (form: Form): Row => ["", ...columnsOf(form).map(() => "")];
export const EMPTY_TABLE: KernelTable = {
  form: "work",
  rows: { work: [emptyRow("work")], ratios: [emptyRow("ratios")] },
};
export const isBlank = (row: Row) => row.every((cell) => cell.trim() === "");
export const nameOf = (row: Row, at: number) => row[0]?.trim() || words.unnamed(at + 1);

/** Reads a cell. An empty cell is NaN, unknown. If the text is no such number, returns a sentence that says so. */
export function readCell(text: string, { key, unit, example }: Column): number | string {
  if (text.trim() === "") return Number.NaN;
  const value = readNumber(text, unit, example);
  const shown = text.trim().slice(0, MAX_SHOWN_LETTERS);
  if (typeof value === "string") return words.notANumber(shown, words.quantities[key], example);
  return value >= 0 ? value : words.negative(shown, example);
}

/** Reads a table. Rows without a number, and rows with a fault, have no kernel. */
export function kernelsOf({ form, rows }: KernelTable): { readonly kernels: KernelColumns; readonly faults: Fault[] } {
  const [names, faults]: [string[], Fault[]] = [[], []];
  const found: number[][] = [];
  for (const [at, row] of rows[form].entries()) {
    const cells = columnsOf(form).map((column, place) => readCell(row[place + 1] ?? "", column));
    const wrong = cells.flatMap((text, place) =>
      typeof text === "string"
        ? [{ row: at, column: place + 1, text: words.fault(at + 1, columnName(form, place + 1), text) }]
        : [],
    );
    faults.push(...wrong);
    if (wrong.length > 0 || cells.every((cell) => Number.isNaN(cell))) continue;
    names.push(nameOf(row, at));
    found.push(cells as number[]);
  }
  const numbers = columnsOf(form).map(({ key }, place) => [key, found.map((cells) => cells[place] as number)]);
  return { kernels: { names, numbers: Object.fromEntries(numbers) }, faults };
}

export const columnName = (form: Form, column: number): string =>
  column === 0 ? words.columns.name : words.columns[(columnsOf(form)[column - 1] as Column).key];

/**
 * Reads a pasted table: lines of cells with tabs or commas between them. Its columns are those of `form`, or those that
 * its header names. Returns a sentence if it is no such table.
 */
export function readPasted(text: string, form: Form): { readonly form: Form; readonly rows: readonly Row[] } | string {
  const lines = text
    .replace(/\r\n?/g, "\n")
    .split("\n")
    .filter((line) => line.trim() !== "");
  const mark = text.includes("\t") ? "\t" : ",";
  const cells = lines.map((line) => line.split(mark).map((cell) => cell.trim()));
  const [first] = cells;
  if (!first) return words.nothingPasted;
  const header = headerOf(first);
  const [used, order] = header ?? [form, undefined];
  const columns = columnsOf(used);
  const rows = cells.slice(header ? 1 : 0);
  if (rows.length === 0) return words.nothingPasted;
  if (rows.length > MAX_ROWS) return words.tooManyRows(rows.length, MAX_ROWS);
  const offset = header ? 2 : 1;
  for (const [at, row] of rows.entries()) {
    if (row.length !== columns.length + 1) return words.cellCount(at + offset, row.length, titlesOf(used));
  }
  const ordered = rows.map((row) => (order ? order.map((place) => row[place] as string) : row));
  for (const [at, row] of ordered.entries()) {
    for (const [place, column] of columns.entries()) {
      const read = readCell(row[place + 1] as string, column);
      if (typeof read === "string") return words.fault(at + offset, columnName(used, place + 1), read);
    }
  }
  return { form: used, rows: ordered.map(([name = "", ...rest]) => [name.slice(0, MAX_NAME_LETTERS), ...rest]) };
}

const titlesOf = (form: Form) => [NAMES[0], ...columnsOf(form).map(({ key }) => words.columns[key])].join(", ");

/** Returns the form of a header, and where it has each of the form's columns. */
function headerOf(cells: readonly string[]): readonly [Form, readonly number[]] | undefined {
  const given = cells.map((cell) => cell.toLowerCase());
  for (const form of FORMS) {
    const order = [NAMES, ...columnsOf(form).map(({ headers }) => headers)].map((known: readonly string[]) =>
      given.findIndex((cell) => known.includes(cell)),
    );
    if (order.length === cells.length && new Set(order).size === order.length && !order.includes(-1))
      return [form, order];
  }
  return undefined;
}

/** Returns the table with pasted rows in place of its blank rows at the end. */
export function withPasted(table: KernelTable, form: Form, pasted: readonly Row[]): KernelTable {
  const kept = table.rows[form].filter((row) => !isBlank(row));
  return { form, rows: { ...table.rows, [form]: [...kept, ...pasted] } };
}

/** Returns the record of a table's kernels. */
export function recordOf(table: KernelTable): KernelRecord {
  const { names, numbers } = kernelsOf(table).kernels;
  const unknown = names.map(() => Number.NaN);
  const { flops = unknown, bytes = unknown, ...plain } = numbers;
  const known = Object.entries(plain).filter(([, column]) => column.some((value) => !Number.isNaN(value)));
  const columns = known.map(([key, column]) => [key, nullable(column)]);
  return { names, flops: { "": nullable(flops) }, bytes: { main: nullable(bytes) }, ...Object.fromEntries(columns) };
}
const nullable = (column: readonly number[]) => column.map((value) => (Number.isNaN(value) ? null : value));

/** Returns the table that a person could have typed for these kernels; undefined if they have other columns. */
export function tableOf(wire: WireKernels): KernelTable | undefined {
  if (wire.n === 0) return EMPTY_TABLE;
  if (wire.n > MAX_ROWS || wire.extra.length > 0 || wire.program || wire.source) return undefined;
  const { names, flops = {}, bytes = {}, ...plain } = kernelRecord(wire);
  if (Object.keys(flops).some((key) => key !== "") || Object.keys(bytes).some((key) => key !== "main"))
    return undefined;
  const columns: Readonly<Record<string, unknown>> = { ...plain, flops: flops[""], bytes: bytes["main"] };
  const known = Object.keys(columns).filter((key) => {
    const column = columns[key];
    return Array.isArray(column) ? column.some((value) => value !== null) : column !== undefined;
  });
  const form = FORMS.find((one) => known.every((key) => columnsOf(one).some((column) => column.key === key)));
  if (!form) return undefined;
  const rows = names.map((name, at) => [
    name,
    ...columnsOf(form).map((column) =>
      written((columns[column.key] as Numbers | undefined)?.[at] ?? Number.NaN, column),
    ),
  ]);
  return { form, rows: { ...EMPTY_TABLE.rows, [form]: rows } };
}

/** Returns the shortest text that is read as exactly this number. */
function written(value: number, column: Column): string {
  if (Number.isNaN(value)) return "";
  for (let digits = 3; digits <= 17; digits++) {
    const text = formatQuantity(value, column.unit, digits);
    if (readCell(text, column) === value) return text;
  }
  return String(value);
}
