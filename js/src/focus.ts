// Where the focus goes from a control that goes away: lost, its keys would be the host's.

const CHART = ".roofwidget-chart";

/** To the next of its kind, or the one before, else to what stands in for them. */
export function handOn(control: Element, kind = CHART, other = CHART): void {
  const root = control.closest(".roofwidget") as Element;
  const alike = [...root.querySelectorAll<HTMLElement>(kind)];
  const at = alike.indexOf(control as HTMLElement);
  const next = alike[at + 1] ?? alike[at - 1] ?? root.querySelector<HTMLElement>(other);
  next?.focus({ preventScroll: true });
}
