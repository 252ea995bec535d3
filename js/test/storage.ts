// Storages of a browser for tests.

/** A browser's storage in memory. */
export function memory(entries = new Map<string, string>()): Storage {
  return {
    getItem: (key: string) => entries.get(key) ?? null,
    setItem: (key: string, value: string) => void entries.set(key, value),
  } as Storage;
}

/** A storage that the browser refuses, as for a page from a file. */
export const refused = () => {
  throw new Error("SecurityError");
};
