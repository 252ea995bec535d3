// A JSON value as letters at the end of an address, after "#g=" or "#s=": compressed with zlib, and in the alphabet of
// base64 for addresses. roofwidget/export/graph_link.py writes and reads the same.

import { bytesOf } from "./packed.ts";

/** The most letters of a link. Some mail programs and chats cut longer addresses. */
export const MAX_LINK_LETTERS = 8000;
/** Returns the letters of a value. */
export async function linkLetters(value: unknown): Promise<string> {
  const text = new Blob([JSON.stringify(value)]).stream().pipeThrough(new CompressionStream("deflate"));
  const bytes = new Uint8Array(await new Response(text).arrayBuffer());
  const base64 = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  return base64.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/**
 * Returns the value of the letters. Rejects if they are damaged, or inflate to more than `most` bytes: a hostile link could
 * grow a thousand times.
 */
export async function linkValue(letters: string, most: number): Promise<unknown> {
  if (letters.length > MAX_LINK_LETTERS) throw new Error("the link is too long");
  const base64 = letters.replaceAll("-", "+").replaceAll("_", "/");
  const bytes = bytesOf(base64.padEnd(4 * Math.ceil(base64.length / 4), "="));
  return JSON.parse(await inflatedWithin(bytes, "deflate", most));
}

/** Inflates bytes to a text of at most `most` bytes. */
export async function inflatedWithin(
  bytes: Uint8Array<ArrayBuffer>,
  format: CompressionFormat,
  most: number,
): Promise<string> {
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream(format)).getReader();
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    size += part.value.length;
    if (size > most) {
      await reader.cancel();
      throw new Error("there is too much to inflate");
    }
    parts.push(part.value);
  }
  return new Blob(parts).text();
}
