// Where the focus goes from a control that goes away: lost, its keys would be the host's.

const CHART_SELECTOR = ".roofwidget-chart";

/** What Tab stops at. */
const TAB_STOPS = ":is(button, input, select, [tabindex]):not([tabindex='-1'])";

const among = (one: Element, kind: string) => [
  ...(one.closest(".roofwidget") as Element).querySelectorAll<HTMLElement>(kind),
];

/** Do what may take the control away that has the focus: then it goes to what stands in its place. */
export function keepFocusNear(control: Element, act: () => void): void {
  const all = among(control, TAB_STOPS);
  const before = all.slice(0, all.indexOf(control as HTMLElement)).reverse();
  act();
  // Once it is drawn.
  setTimeout(() => {
    const last = before.find((one) => one.isConnected);
    if (control.isConnected || !last) return;
    const now = among(last, TAB_STOPS);
    now[now.indexOf(last) + 1]?.focus({ preventScroll: true });
  });
}

/** To the next of its kind, or the one before, else to what stands in for them. */
export function focusNeighbour(control: Element, kind = CHART_SELECTOR, other = CHART_SELECTOR): void {
  const alike = among(control, kind);
  const at = alike.indexOf(control as HTMLElement);
  const next = alike[at + 1] ?? alike[at - 1] ?? among(control, other)[0];
  next?.focus({ preventScroll: true });
}
