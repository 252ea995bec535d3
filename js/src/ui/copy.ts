// Copies a text to the clipboard.

/**
 * Copies a text. Returns whether the copy succeeded. On a page without https, the browser can copy only a selection.
 */
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
  box.className = "rw-spoken";
  const before = document.activeElement as HTMLElement | null;
  document.body.append(box);
  box.select();
  const done = document.execCommand("copy");
  box.remove();
  before?.focus();
  return done;
}
