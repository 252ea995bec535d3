// Which keys are the widget's: those pressed alone. With a modifier they are the host's, but for undo and redo.

export const isModified = (event: KeyboardEvent) => event.ctrlKey || event.altKey || event.metaKey || event.shiftKey;

/** What is typed into has an undo of its own. */
const TYPED = "textarea, input:not([type='range'], [type='checkbox'])";

interface Steps {
  undo(): void;
  redo(): void;
}

/** Wherever the focus is in the widget, as it is wherever something is edited. */
export function undoByKey(event: KeyboardEvent, { undo, redo }: Steps): void {
  const { ctrlKey, metaKey, altKey, shiftKey, target } = event;
  const key = event.key.toLowerCase();
  if (!(ctrlKey || metaKey) || altKey || (target as Element).matches(TYPED)) return;
  if (key !== "z" && (key !== "y" || shiftKey)) return;
  if (key === "y" || shiftKey) redo();
  else undo();
  used(event);
}

/** What has had its effect here has none on the page or on its host. */
export function used(event: Event): void {
  event.preventDefault();
  event.stopPropagation();
}
