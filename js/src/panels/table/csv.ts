// Rows as text for a spreadsheet, copied to the clipboard or saved as a file.

import { saveFile } from "../../ui/download.ts";

/** A column of the file: its heading, and a function that returns the value of a row. */
export interface CsvColumn {
  readonly key: string;
  at(row: number): string | number | null;
}

/**
 * Matches texts that start with a formula character of a spreadsheet, or with its full-width form. Apostrophes may come
 * before the character. Texts with such apostrophes match too, because Python removes one apostrophe when it reads the
 * file.
 */
const FORMULA = /^'*[=+\-@\t\r\n＝＋－＠]/;

/** Returns a heading line and a line per row. Values are in base units with all digits. Unknown values are empty. */
export function toCsv(columns: readonly CsvColumn[], rows: Int32Array, apart = ",", end = "\r\n"): string {
  const quoted = new RegExp(`["\\r\\n${apart}]`);
  const cell = (text: string) => (quoted.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const lines = [columns.map(({ key }) => cell(harmless(key))).join(apart)];
  for (const row of rows) lines.push(columns.map((column) => cell(plain(column, row))).join(apart));
  return lines.map((line) => line + end).join("");
}

export const toTsv = (columns: readonly CsvColumn[], rows: Int32Array) => toCsv(columns, rows, "\t", "\n");

function plain(column: CsvColumn, row: number): string {
  const value = column.at(row) ?? "";
  if (typeof value === "string") return harmless(value);
  return Number.isNaN(value) ? "" : String(value);
}

/**
 * Returns the text in a form that no spreadsheet reads as a formula. NUL becomes U+FFFD, because many programs end a text
 * at NUL, or refuse the file.
 */
export const harmless = (text: string) => (FORMULA.test(text) ? "'" : "") + text.replaceAll("\0", "\ufffd");

/** Makes spreadsheets read a file as UTF-8. */
export const BYTE_ORDER_MARK = "\ufeff";

export function saveText(document: Document, name: string, text: string): void {
  saveFile(document, name, new Blob([BYTE_ORDER_MARK, text], { type: "text/csv;charset=utf-8" }));
}
