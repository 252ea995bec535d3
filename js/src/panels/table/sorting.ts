// Which column the rows are sorted by, and what stands for its cells then.

import type { Work } from "../../ui/slices.ts";
import { type Column, columnFor } from "./columns.ts";

/** The column that sorts, and which way. */
export interface Sorting {
  readonly column: Column;
  readonly falling: boolean;
}

/** What a trait such as "-time" means; "" and what no column is called mean the longest self time first. */
export function sortingOf(columns: readonly Column[], sortBy: string): Sorting | undefined {
  const falling = sortBy === "" || sortBy.startsWith("-");
  const column = columnFor(columns, falling ? sortBy.slice(1) : sortBy);
  if (column) return { column, falling };
  const usual = columnFor(columns, "self_time");
  return usual && { column: usual, falling: true };
}

/** The trait after a click on a heading: numbers start with the largest, texts from A on; once more, the other way. */
export function sortedNext(now: Sorting | undefined, { key, kind }: Column): string {
  const falling = now?.column.key === key ? !now.falling : kind !== "text";
  return falling ? `-${key}` : key;
}

/** What stands for a column of n rows when it sorts: its numbers, or the places of its texts among one another. */
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

/** Makes these columns ready to sort by. */
export function* rankAhead(columns: readonly Column[]): Work<void> {
  for (const column of columns) if (column.kind === "text") yield* column.ranks.ahead();
}
