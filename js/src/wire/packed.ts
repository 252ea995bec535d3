// Binary values and compressed texts that travel as base64 text.

/** Newer browsers decode base64 in native code. A loop in a script that has just started is slow. */
const { fromBase64 } = Uint8Array as { fromBase64?: (text: string) => Uint8Array<ArrayBuffer> };

/** Returns the bytes of a base64 text. */
export const bytesOf = (text: string): Uint8Array<ArrayBuffer> =>
  fromBase64?.(text) ?? Uint8Array.from(atob(text), (character) => character.charCodeAt(0));

/**
 * Returns the bytes that Python compressed with gzip. They are never text in between: making a text of them and bytes
 * again takes as long as inflating them.
 */
export async function inflated(packed: string): Promise<ArrayBuffer> {
  const { writable, readable } = new DecompressionStream("gzip");
  try {
    const writer = writable.getWriter();
    // If the bytes are broken, reading fails too.
    Promise.all([writer.write(bytesOf(packed)), writer.close()]).catch(() => {});
    return await new Response(readable).arrayBuffer();
  } catch (cause) {
    // Some errors of a stream have no message.
    throw new Error("roofwidget: compressed data is damaged", { cause });
  }
}

/** Returns the text that Python compressed with gzip. */
export const inflatedText = async (packed: string) => new TextDecoder().decode(await inflated(packed));
