// Saves a file through the browser.

export function saveFile(document: Document, name: string, content: Blob): void {
  const address = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  // The download must have started before its address goes away.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/** Makes a file name from any text; from `otherwise` if the text has no character that a file name may have. */
export function fileName(text: string, extension: string, otherwise: string): string {
  const stem = text
    .replace(/^.*[/\\]/, "")
    .replace(/\.[a-z0-9.]{1,12}$/i, "")
    .replace(/[^\p{L}\p{N}._-]+/gu, "-")
    .replace(/^[-.]+|[-.]+$/g, "");
  return `${stem.slice(0, 80) || otherwise}.${extension}`;
}
