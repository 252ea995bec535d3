// Keyboard handling. The widget handles keys without a modifier, and the keys for undo and redo. All other keys are
// left to the host.

import { keepFocusNear } from "./focus.ts";

export const isModified = (event: KeyboardEvent) => event.ctrlKey || event.altKey || event.metaKey || event.shiftKey;

/** The inputs for text. In these inputs, the browser itself handles the keys for undo and redo. */
export const TEXT_INPUTS = "textarea, input:not([type='range'], [type='checkbox'])";

/** The attribute of an element whose keys are not for the host. JupyterLab would run its own shortcuts otherwise. */
export const OWN_KEYS = { "data-lm-suppress-shortcuts": "true" } as const;

interface UndoSteps {
  undo(): void;
  redo(): void;
}

/** The keys for undo and redo, as in most editors. On a Mac, the Command key also counts as Control. */
export const UNDO_KEYS = { "Control+Z": "undo", "Control+Shift+Z": "redo", "Control+Y": "redo" } as const;

/** The keys that work everywhere in the widget except in a text box. */
export const WIDGET_KEYS = { c: "chips", n: "network", "/": "search" } as const;

/** Returns the action of a key of UNDO_KEYS; undefined for other keys. */
export function stepOf({ key, ctrlKey, metaKey, altKey, shiftKey }: KeyboardEvent): keyof UndoSteps | undefined {
  if (!(ctrlKey || metaKey) || altKey) return undefined;
  return lookUp(UNDO_KEYS, `Control+${shiftKey ? "Shift+" : ""}${key.toUpperCase()}`);
}

const go = (by: (page: number) => number) => (from: number | null, count: number, page: number) =>
  from === null ? 0 : Math.max(0, Math.min(count - 1, from + by(page)));

/**
 * The keys of a list. The function of a key gets the current row, the number of rows, and the number of rows per page.
 * The function returns the new current row. If it returns null, there is no current row any more. If it returns
 * undefined, the list ignores the key, and the host gets the key.
 */
export const LIST_KEYS: Readonly<
  Record<string, (from: number | null, count: number, page: number) => number | null | undefined>
> = {
  ArrowDown: go(() => 1),
  ArrowUp: go(() => -1),
  PageDown: go((page) => page),
  PageUp: go((page) => -page),
  Home: () => 0,
  End: (_, count) => count - 1,
  Escape: (from) => (from === null ? undefined : null),
};

/** The keys of a marker on the chart, and by how many steps each moves it. */
export const KEYS_OF_MARKER: Readonly<Record<string, number>> = {
  ArrowLeft: -1,
  ArrowDown: -1,
  ArrowRight: 1,
  ArrowUp: 1,
  PageDown: -10,
  PageUp: 10,
};

/**
 * Calls undo or redo if the key is one of UNDO_KEYS, wherever the focus is in the widget. Ignores keys in text inputs.
 */
export function undoByKey(event: KeyboardEvent, steps: UndoSteps): void {
  const step = stepOf(event);
  const control = event.target as Element;
  if (!step || control.matches(TEXT_INPUTS)) return;
  keepFocusNear(control, steps[step]);
  used(event);
}

/**
 * Returns the value of a table for a key; undefined if the table lacks the key. "constructor" returns undefined too,
 * although every object inherits a property of this name.
 */
export const lookUp = <T extends Readonly<Record<string, unknown>>>(table: T, key: string): T[keyof T] | undefined =>
  Object.hasOwn(table, key) ? (table[key] as T[keyof T]) : undefined;

/** Returns the value of `aria-keyshortcuts` for the keys of these tables. */
export const keyShortcuts = (...tables: readonly (readonly string[] | Readonly<Record<string, unknown>>)[]): string =>
  [...new Set(tables.flatMap((table) => (Array.isArray(table) ? table : Object.keys(table))))]
    .map((key) => ARIA_NAMES[key] ?? (key.length === 1 ? key.toUpperCase() : key))
    .join(" ");

/** Keys that have another name in `aria-keyshortcuts`, because their characters are separators in this attribute. */
const ARIA_NAMES: Readonly<Record<string, string>> = { " ": "Space", "+": "Plus" };

/** Marks an event as handled by the widget. Neither the page nor the host acts on the event after that. */
export function used(event: Event): void {
  event.preventDefault();
  event.stopPropagation();
}
