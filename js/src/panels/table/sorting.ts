// The column that the rows are sorted by, and the numbers that give the order of the rows.

import type { Work } from "../../ui/slices.ts";
import { type Column, columnFor } from "./columns.ts";

/** The column that the rows are sorted by, and the direction. */
export interface Sorting {
  readonly column: Column;
  readonly falling: boolean;
}

/**
 * Decodes the trait `sort_by`. For example, "-time" sorts by the column "time", largest value first. For "" and for
 * unknown columns, rows are sorted by what they could save, or by self time if this is not known.
 */
export function sortingOf(columns: readonly Column[], sortBy: string): Sorting | undefined {
  const falling = sortBy === "" || sortBy.startsWith("-");
  const column = columnFor(columns, falling ? sortBy.slice(1) : sortBy);
  if (column) return { column, falling };
  const usual = columnFor(columns, "headroom") ?? columnFor(columns, "self_time");
  return usual && { column: usual, falling: true };
}

/**
 * Returns the trait `sort_by` after a click on a heading. A column of numbers starts with the largest number. A column
 * of texts starts with A. A second click on the same heading reverses the order.
 */
export function sortedNext(now: Sorting | undefined, { key, kind }: Column): string {
  const falling = now?.column.key === key ? !now.falling : kind !== "text";
  return falling ? `-${key}` : key;
}

/**
 * Returns the numbers by which a column's rows are sorted. A column of numbers is sorted by its own numbers. A column
 * of texts is sorted by the ranks of the texts. Only the numbers of `rows` are computed.
 */
export function valuesOf(column: Column, n: number, rows: Int32Array): Float64Array {
  const values = new Float64Array(n);
  if (column.kind !== "text") for (const row of rows) values[row] = column.at(row);
  else {
    const { codes } = column.texts();
    const places = column.ranks.places();
    for (const row of rows) values[row] = places[codes[row] as number] ?? Number.NaN;
  }
  return values;
}

/** Computes the ranks of the text columns ahead of time. */
export function* rankAhead(columns: readonly Column[]): Work<void> {
  for (const column of columns) if (column.kind === "text") yield* column.ranks.ahead();
}
