// Which keys are the widget's: those pressed alone. With a modifier they are the host's, but for undo and redo.

import { keepFocusNear } from "./focus.ts";

export const isModified = (event: KeyboardEvent) => event.ctrlKey || event.altKey || event.metaKey || event.shiftKey;

/** What is typed into has an undo of its own. */
const TEXT_INPUTS = "textarea, input:not([type='range'], [type='checkbox'])";

interface UndoSteps {
  undo(): void;
  redo(): void;
}

/** The keys of every editor; on a Mac Command is their Control. */
export const UNDO_KEYS = { "Control+Z": "undo", "Control+Shift+Z": "redo", "Control+Y": "redo" } as const;

/** What a key of UNDO_KEYS does; undefined for other keys. */
export function stepOf({ key, ctrlKey, metaKey, altKey, shiftKey }: KeyboardEvent): keyof UndoSteps | undefined {
  if (!(ctrlKey || metaKey) || altKey) return undefined;
  return lookUp(UNDO_KEYS, `Control+${shiftKey ? "Shift+" : ""}${key.toUpperCase()}`);
}

const go = (by: (page: number) => number) => (from: number | null, count: number, page: number) =>
  from === null ? 0 : Math.max(0, Math.min(count - 1, from + by(page)));

/** Where the keys of a list lead, `page` rows at a time; null for nowhere, undefined for keys that are the host's. */
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

/** Wherever the focus is in the widget, as it is wherever something is edited. */
export function undoByKey(event: KeyboardEvent, steps: UndoSteps): void {
  const step = stepOf(event);
  const control = event.target as Element;
  if (!step || control.matches(TEXT_INPUTS)) return;
  keepFocusNear(control, steps[step]);
  used(event);
}

/** What a table of keys has for a key; undefined also for names that every object has. */
export const lookUp = <T extends Readonly<Record<string, unknown>>>(table: T, key: string): T[keyof T] | undefined =>
  Object.hasOwn(table, key) ? (table[key] as T[keyof T]) : undefined;

/** The keys of tables, as `aria-keyshortcuts` lists them. */
export const keyShortcuts = (...tables: readonly (readonly string[] | Readonly<Record<string, unknown>>)[]): string =>
  [...new Set(tables.flatMap((table) => (Array.isArray(table) ? table : Object.keys(table))))]
    .map((key) => ARIA_NAMES[key] ?? (key.length === 1 ? key.toUpperCase() : key))
    .join(" ");

/** Keys whose characters separate keys in that list. */
const ARIA_NAMES: Readonly<Record<string, string>> = { " ": "Space", "+": "Plus" };

/** What has had its effect here has none on the page or on its host. */
export function used(event: Event): void {
  event.preventDefault();
  event.stopPropagation();
}
