// Rows as text for spreadsheets: comma-separated for a file, tab-separated for the clipboard.

/** What is written of each row, under a key. */
export interface Written {
  readonly key: string;
  at(row: number): string | number | null;
}

/** What a spreadsheet would take for the start of a formula; also as wide letters. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/;

/** One line a row under a line of keys, in base units and with all digits; what is unknown is empty. */
export function toCsv(columns: readonly Written[], rows: Int32Array): string {
  return written(columns, rows, ",", "\r\n");
}

export function toTsv(columns: readonly Written[], rows: Int32Array): string {
  return written(columns, rows, "\t", "\n");
}

function written(columns: readonly Written[], rows: Int32Array, apart: string, end: string): string {
  const quoted = new RegExp(`["\\r\\n${apart}]`);
  const cell = (text: string) => (quoted.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const lines = [columns.map(({ key }) => cell(harmless(key))).join(apart)];
  for (const row of rows) lines.push(columns.map((column) => cell(plain(column, row))).join(apart));
  return lines.map((line) => line + end).join("");
}

function plain(column: Written, row: number): string {
  const value = column.at(row) ?? "";
  if (typeof value === "string") return harmless(value);
  return Number.isNaN(value) ? "" : String(value);
}

/** A text that no spreadsheet takes for a formula. */
export const harmless = (text: string) => (FORMULA.test(text) ? `'${text}` : text);
