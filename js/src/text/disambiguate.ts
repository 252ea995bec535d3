// Distinguishes kernels of the same name by a shape, a program, or another column of the file.

import { type DictColumn, type Kernels, textAt } from "../wire/columns.ts";
import { nameOf, shortNameOf } from "./describe.ts";

/** Matches the names of columns that contain operand shapes. */
export const SHAPE_COLUMN = /\b(?:shapes?|dims?)\b/i;
/**
 * `PROGRAM_COLUMN` matches the names of columns that contain programs. `RANK_COLUMN` matches the name "rank", because a
 * column of this name only numbers the rows.
 */
const [PROGRAM_COLUMN, RANK_COLUMN] = [/\bprogram\b/i, /^rank$/i];

type RowText = (row: number) => string;

/**
 * Returns a text for each row. The text distinguishes the row from other rows with the same short name. The text is
 * empty if no other row has this short name.
 */
export function distinctionsOf(kernels: Kernels, rows: readonly number[]): string[] {
  const names = rows.map((row) => shortNameOf(kernels, row));
  return rows.map((row, at) => {
    const twins = rows.filter((_, other) => names[other] === names[at]);
    return twins.length > 1 ? distinctionAmong(kernels, twins)(row) : "";
  });
}

/**
 * Returns a function that returns the text of a row. The texts come from one column: the column with the most different
 * texts in the given rows. If every column has the same text in all given rows, the texts are row numbers, such as
 * "#3".
 */
function distinctionAmong(kernels: Kernels, rows: readonly number[]): RowText {
  const differing = (words: RowText) => new Set(rows.map(words)).size;
  const place = (row: number) => `#${row + 1}`;
  const [best] = candidates(kernels, rows).sort((a, b) => differing(b) - differing(a));
  return best && differing(best) > 1 ? best : place;
}

/**
 * Returns the columns that may distinguish the rows. Columns of shapes come first, then columns of programs. A column
 * of numbers is included only if all its numbers are whole, because whole numbers may be identifiers.
 */
function candidates(kernels: Kernels, rows: readonly number[]): RowText[] {
  const weight = (name: string) => (SHAPE_COLUMN.test(name) ? 2 : PROGRAM_COLUMN.test(name) ? 1 : 0);
  const columns = [...kernels.extra].sort(([a], [b]) => weight(b) - weight(a));
  const extra = columns.flatMap(([name, values]): RowText[] => {
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
