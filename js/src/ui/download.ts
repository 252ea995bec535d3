// Handing a file to the person at the browser.

export function saveFile(document: Document, name: string, content: Blob): void {
  const address = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  // The browser has to have begun with it.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/** A file's name out of any text; `otherwise` where that has nothing that a name may hold. */
export function fileName(text: string, extension: string, otherwise: string): string {
  const stem = text
    .replace(/^.*[/\\]/, "")
    .replace(/\.[a-z0-9.]{1,12}$/i, "")
    .replace(/[^\p{L}\p{N}._-]+/gu, "-")
    .replace(/^[-.]+|[-.]+$/g, "");
  return `${stem.slice(0, 80) || otherwise}.${extension}`;
}
