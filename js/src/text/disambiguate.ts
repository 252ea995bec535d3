// What tells kernels of one name apart: a shape, a program, or whatever else the file has of them.

import { type DictColumn, type Kernels, textAt } from "../wire/columns.ts";
import { nameOf, shortNameOf } from "./describe.ts";

/** What a file calls the sizes of a kernel's operands, and what it counts rows by. */
export const SHAPE_COLUMN = /\b(?:shapes?|dims?)\b/i;
const [PROGRAM_COLUMN, RANK_COLUMN] = [/\bprogram\b/i, /^rank$/i];

type RowText = (row: number) => string;

/** For each of these rows what tells it from the others of its short name; empty where none has that name too. */
export function apartOf(kernels: Kernels, rows: readonly number[]): string[] {
  const names = rows.map((row) => shortNameOf(kernels, row));
  return rows.map((row, at) => {
    const twins = rows.filter((_, other) => names[other] === names[at]);
    return twins.length > 1 ? tellingOf(kernels, twins)(row) : "";
  });
}

/** The first in which all of them differ, else that in which most do, else their places in the table. */
function tellingOf(kernels: Kernels, rows: readonly number[]): RowText {
  const differing = (words: RowText) => new Set(rows.map(words)).size;
  const place = (row: number) => `#${row + 1}`;
  const [best] = candidates(kernels, rows).sort((a, b) => differing(b) - differing(a));
  return best && differing(best) > 1 ? best : place;
}

/** In the order of how much they say; of numbers only whole ones, which may be identifiers. */
function candidates(kernels: Kernels, rows: readonly number[]): RowText[] {
  const weight = (name: string) => (SHAPE_COLUMN.test(name) ? 2 : PROGRAM_COLUMN.test(name) ? 1 : 0);
  const told = [...kernels.extra].sort(([a], [b]) => weight(b) - weight(a));
  const extra = told.flatMap(([name, values]): RowText[] => {
    if (RANK_COLUMN.test(name)) return [];
    if (values instanceof Float64Array) {
      return rows.every((row) => Number.isSafeInteger(values[row])) ? [(row) => `${name} ${values[row]}`] : [];
    }
    const words = wordsOf(values);
    return [SHAPE_COLUMN.test(name) ? words : (row) => words(row) && `${name} ${words(row)}`];
  });
  return [...extra, wordsOf(kernels.precision), wordsOf(kernels.category), (row) => nameOf(kernels, row)];
}

const wordsOf =
  (texts: DictColumn): RowText =>
  (row) =>
    textAt(texts, row) ?? "";
