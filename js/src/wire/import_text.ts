// Imports scripts that the page has as text and not as files: the loader for the starter, the code for the loader.

/** Imports a script, and returns its default export. */
export async function importText<T>(script: BlobPart[]): Promise<T> {
  const url = URL.createObjectURL(new Blob(script, { type: "text/javascript" }));
  try {
    return (await import(/* @vite-ignore */ url)).default;
  } finally {
    URL.revokeObjectURL(url);
  }
}
