// Rows as text for a spreadsheet, copied to the clipboard or saved as a file.

import { saveFile } from "../../ui/download.ts";

/** What is written of each row, under a key. */
export interface CsvColumn {
  readonly key: string;
  at(row: number): string | number | null;
}

/** What a spreadsheet would take for the start of a formula; also as wide letters. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/;

/** One line a row under a line of keys, in base units and with all digits; what is unknown is empty. */
export function toCsv(columns: readonly CsvColumn[], rows: Int32Array): string {
  return written(columns, rows, ",", "\r\n");
}

export function toTsv(columns: readonly CsvColumn[], rows: Int32Array): string {
  return written(columns, rows, "\t", "\n");
}

function written(columns: readonly CsvColumn[], rows: Int32Array, apart: string, end: string): string {
  const quoted = new RegExp(`["\\r\\n${apart}]`);
  const cell = (text: string) => (quoted.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const lines = [columns.map(({ key }) => cell(harmless(key))).join(apart)];
  for (const row of rows) lines.push(columns.map((column) => cell(plain(column, row))).join(apart));
  return lines.map((line) => line + end).join("");
}

function plain(column: CsvColumn, row: number): string {
  const value = column.at(row) ?? "";
  if (typeof value === "string") return harmless(value);
  return Number.isNaN(value) ? "" : String(value);
}

/** A text that no spreadsheet takes for a formula. */
export const harmless = (text: string) => (FORMULA.test(text) ? `'${text}` : text);

/** Whether it could be copied: a page that is not served securely may only copy what is marked. */
export async function copyText(document: Document, text: string): Promise<boolean> {
  try {
    await document.defaultView?.navigator.clipboard.writeText(text);
    return document.defaultView?.navigator.clipboard !== undefined;
  } catch {
    return copyMarked(document, text);
  }
}

function copyMarked(document: Document, text: string): boolean {
  const box = document.createElement("textarea");
  box.value = text;
  box.className = "roofwidget-spoken";
  const before = document.activeElement as HTMLElement | null;
  document.body.append(box);
  box.select();
  const done = document.execCommand("copy");
  box.remove();
  before?.focus();
  return done;
}

/** The mark in front tells spreadsheets that letters beyond ASCII are UTF-8. */
export function saveText(document: Document, name: string, text: string): void {
  saveFile(document, name, new Blob(["\ufeff", text], { type: "text/csv;charset=utf-8" }));
}
