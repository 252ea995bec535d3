// Which column the rows are sorted by, and what stands for its cells then.

import type { Column } from "./columns.ts";
import { columnFor } from "./shown.ts";

/** The column that sorts, and which way. */
export interface Sorting {
  readonly column: Column;
  readonly falling: boolean;
}

/** Of more different texts than this, numbers within them are not compared as numbers: a click would take too long. */
const MANY = 5000;

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
    const { values: texts, codes } = column.texts();
    const places = placesOf(texts);
    for (let row = 0; row < n; row++) values[row] = places[codes[row] as number] ?? Number.NaN;
  }
  return values;
}

/** Where each of these texts stands among all; case makes no difference, and NaN is for none. */
function placesOf(texts: readonly (string | null)[]): Float64Array {
  const folded = texts.map((text) => text?.toLowerCase() ?? null);
  const ordered = folded.filter((text) => text !== null);
  if (ordered.length > MANY) ordered.sort();
  else ordered.sort(new Intl.Collator("en", { numeric: true, sensitivity: "base" }).compare);
  // Of equal ones the last place counts, for each of them.
  const places = new Map<string | null, number>(ordered.map((text, place) => [text, place]));
  return Float64Array.from(folded, (text) => places.get(text) ?? Number.NaN);
}
