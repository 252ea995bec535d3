// By which column the rows are sorted, and the numbers that they are sorted by.

import type { Work } from "../../ui/slices.ts";
import { type Column, columnFor } from "./columns.ts";

/** The sorting column and its direction. */
export interface Sorting {
  readonly column: Column;
  readonly falling: boolean;
}

/** Decodes a trait such as "-time". "" and unknown columns mean the longest self time first. */
export function sortingOf(columns: readonly Column[], sortBy: string): Sorting | undefined {
  const falling = sortBy === "" || sortBy.startsWith("-");
  const column = columnFor(columns, falling ? sortBy.slice(1) : sortBy);
  if (column) return { column, falling };
  const usual = columnFor(columns, "self_time");
  return usual && { column: usual, falling: true };
}

/** The trait after a click on a heading. Numbers start with the largest, texts with A; a second click reverses. */
export function sortedNext(now: Sorting | undefined, { key, kind }: Column): string {
  const falling = now?.column.key === key ? !now.falling : kind !== "text";
  return falling ? `-${key}` : key;
}

/** The sort values of a column's rows: its numbers, or the ranks of its texts. */
export function valuesOf(column: Column, n: number): Float64Array {
  const values = new Float64Array(n);
  if (column.kind !== "text") for (let row = 0; row < n; row++) values[row] = column.at(row);
  else {
    const { codes } = column.texts();
    const places = column.ranks.places();
    for (let row = 0; row < n; row++) values[row] = places[codes[row] as number] ?? Number.NaN;
  }
  return values;
}

/** Computes the ranks of the text columns ahead of time. */
export function* rankAhead(columns: readonly Column[]): Work<void> {
  for (const column of columns) if (column.kind === "text") yield* column.ranks.ahead();
}
