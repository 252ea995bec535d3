// Moves the focus when the focused control disappears. Otherwise, the focus would leave the widget, and the host would
// get the keys that the user means for the widget.

const CHART_SELECTOR = ".rw-chart";

/** A selector of the elements that the Tab key can focus. */
const TAB_STOPS = ":is(button, input, select, [tabindex]):not([tabindex='-1'])";

const among = (one: Element, kind: string) => [
  ...(one.closest(".roofwidget") as Element).querySelectorAll<HTMLElement>(kind),
];

/**
 * Runs `act`. If `act` removes the focused control, focuses the control that replaces it. If the removed control was the
 * last control, focuses the control before it.
 */
export function keepFocusNear(control: Element, act: () => void): void {
  const all = among(control, TAB_STOPS);
  const before = all.slice(0, all.indexOf(control as HTMLElement)).reverse();
  act();
  // Wait until the change is drawn, because only then is the control removed.
  setTimeout(() => {
    const last = before.find((one) => one.isConnected);
    if (control.isConnected || !last) return;
    const now = among(last, TAB_STOPS);
    (now[now.indexOf(last) + 1] ?? last).focus({ preventScroll: true });
  });
}

/**
 * Focuses the next control of the same kind. If there is no next control, focuses the previous control of this kind. If
 * there is no previous control either, focuses the first control of the `other` kind.
 */
export function focusNeighbour(control: Element, kind = CHART_SELECTOR, other = CHART_SELECTOR): void {
  const alike = among(control, kind);
  const at = alike.indexOf(control as HTMLElement);
  const next = alike[at + 1] ?? alike[at - 1] ?? among(control, other)[0];
  next?.focus({ preventScroll: true });
}
