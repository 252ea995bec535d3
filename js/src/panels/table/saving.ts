// Handing rows over to the person's computer: the clipboard, or a file.

import { saveFile } from "../../ui/download.ts";

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
