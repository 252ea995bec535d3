// Saves a file through the browser.

export function saveFile(document: Document, name: string, content: Blob): void {
  const address = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  // Revoke the address only after the download has certainly started.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/** Makes a file name from any text. Uses `otherwise` if no character of the text is allowed in a file name. */
export function fileName(text: string, extension: string, otherwise: string): string {
  const stem = text
    .replace(/^.*[/\\]/, "")
    .replace(/\.[a-z0-9.]{1,12}$/i, "")
    .replace(/[^\p{L}\p{N}._-]+/gu, "-")
    .replace(/^[-.]+|[-.]+$/g, "");
  return `${stem.slice(0, 80) || otherwise}.${extension}`;
}
