// How much room the table takes: its columns side by side, or a card a row where there is little; px.

import type { Column } from "./columns.ts";

export interface Layout {
  /** Of a row. */
  readonly height: number;
  /** How many rows are in sight at once, at the most. */
  readonly inSight: number;
  /** The widths of columns, as a style sheet has them; empty for cards. */
  readonly template: string;
  /** The width below which it scrolls sideways. */
  readonly width: number;
}

const ROW = 28;
const LINE = 20;
const [NAME, TEXT, NUMBER, RATE] = [240, 128, 88, 108];
/** Of a letter of a heading, and of what stands around it. */
const [LETTER, AROUND] = [7, 34];

export function gridLayout(columns: readonly Column[]): Layout {
  const widths = columns.map(widthOf);
  const template = columns.map(({ key }, at) => (key === "name" ? `minmax(${widths[at]}px, 1fr)` : `${widths[at]}px`));
  return { height: ROW, inSight: 12, template: template.join(" "), width: widths.reduce((sum, one) => sum + one, 0) };
}

/** The name has a line of its own, the others stand two in a line. */
export function cardLayout(columns: readonly Column[]): Layout {
  const lines = 1 + Math.ceil(columns.filter(({ key }) => key !== "name").length / 2);
  return { height: lines * LINE + 16, inSight: 3, template: "", width: 0 };
}

function widthOf({ key, kind, title }: Column): number {
  if (key === "name") return NAME;
  const cells = kind === "text" ? TEXT : kind.startsWith("FLOP/") ? RATE : NUMBER;
  return Math.max(cells, Math.min(title.length * LETTER + AROUND, NAME));
}

/** The places of the rows to draw: those in sight and one more at each end. */
export function placesInSight(scrolled: number, { height, inSight }: Layout, count: number): number[] {
  const first = Math.max(0, Math.min(Math.floor(scrolled / height) - 1, count - inSight - 2));
  return Array.from({ length: Math.min(inSight + 3, count - first) }, (_, at) => first + at);
}

/** How far to scroll so that a place is in sight. */
export function scrollFor(place: number, scrolled: number, { height, inSight }: Layout): number {
  return Math.max((place + 1 - inSight) * height, Math.min(place * height, scrolled));
}
