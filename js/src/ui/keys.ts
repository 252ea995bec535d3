// Which keys are the widget's: those pressed alone. With a modifier they are the host's, but for undo and redo.

import { stayNear } from "./focus.ts";

export const isModified = (event: KeyboardEvent) => event.ctrlKey || event.altKey || event.metaKey || event.shiftKey;

/** What is typed into has an undo of its own. */
const TYPED = "textarea, input:not([type='range'], [type='checkbox'])";

interface Steps {
  undo(): void;
  redo(): void;
}

/** What a key does in every editor, if it is one of those. */
export function stepOf({ key, ctrlKey, metaKey, altKey, shiftKey }: KeyboardEvent): keyof Steps | undefined {
  if (!(ctrlKey || metaKey) || altKey) return undefined;
  const letter = key.toLowerCase();
  if (letter === "z") return shiftKey ? "redo" : "undo";
  return letter === "y" && !shiftKey ? "redo" : undefined;
}

/** Wherever the focus is in the widget, as it is wherever something is edited. */
export function undoByKey(event: KeyboardEvent, steps: Steps): void {
  const step = stepOf(event);
  const control = event.target as Element;
  if (!step || control.matches(TYPED)) return;
  stayNear(control, steps[step]);
  used(event);
}

/** What has had its effect here has none on the page or on its host. */
export function used(event: Event): void {
  event.preventDefault();
  event.stopPropagation();
}
