// The starter: the outer part of the script that Python sends with each widget. A browser keeps every script that a page
// has imported, so each closed widget leaves its script behind. Therefore this script holds the loader (loader.ts) only as
// text. A page imports the same text once, for all widgets of the page.

import { importText } from "./wire/import_text.ts";

const LOADERS = Symbol.for("roofwidget loaders");

/** Makes what anywidget initializes and draws. */
type Make = () => unknown;

/** Returns what the script of each widget exports. The build calls this function once per language. */
export const starterOf = (loader: string) => async () => {
  const page = globalThis as { [LOADERS]?: Record<string, Promise<Make>> };
  page[LOADERS] ??= {};
  const known = page[LOADERS];
  known[loader] ??= importText<Make>([loader]).catch((error: unknown) => {
    // The next widget tries to import the loader again.
    delete known[loader];
    throw error;
  });
  return (await known[loader])();
};
