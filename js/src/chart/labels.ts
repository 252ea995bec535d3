// Where labels go: each takes the first of its places that is free; when none is, it is left out.

import type { Box } from "../scales.ts";

export type Anchor = "start" | "middle" | "end";

export interface Place {
  readonly x: number;
  readonly y: number;
  readonly anchor: Anchor;
}

export interface Label {
  readonly key: string;
  readonly text: string;
  readonly size: number;
  readonly bold?: boolean;
  readonly colour: string;
  readonly places: readonly Place[];
  /** Rather across a line than left out; never across another label. */
  readonly must?: boolean;
}

export interface Placed extends Place, Omit<Label, "places" | "must"> {
  /** Which of its places it took. */
  readonly choice: number;
}

/** Width of a text in a user-interface font, px: an upper estimate that needs no measuring. */
export function textWidth(text: string, size: number, bold = false): number {
  let width = 0;
  for (const char of text) {
    width += /[iljtfrI.,:;·'|() ]/.test(char) ? 0.4 : /[mwMW%@∞]/.test(char) ? 0.98 : /[A-Z]/.test(char) ? 0.73 : 0.63;
  }
  return width * size * (bold ? 1.07 : 1);
}

export function boxOf(width: number, size: number, place: Place): Box {
  const left = place.x - (place.anchor === "start" ? 0 : place.anchor === "end" ? width : width / 2);
  return { left, right: left + width, top: place.y - size * 0.86, bottom: place.y + size * 0.26 };
}

/** Two labels in a line stay this far apart, px. */
const APART = 6;

/**
 * Place labels, the most important first, clear of each other and of `taken`, inside `bounds`. A label in `choices`
 * keeps the place it had, whatever has come under it: while a roof is dragged, names stand still.
 */
export function placeLabels(
  labels: readonly Label[],
  bounds: Box,
  taken: readonly Box[],
  choices: ReadonlyMap<string, number> = new Map(),
): Placed[] {
  const written: Box[] = [];
  const placed: Placed[] = [];
  for (const { places, must, ...label } of labels) {
    const width = textWidth(label.text, label.size, label.bold);
    const box = (choice: number) => boxOf(width, label.size, places[choice] as Place);
    const free = (choice: number) => {
      const candidate = box(choice);
      return inside(candidate, bounds) && !written.some((other) => overlap(candidate, other, APART));
    };
    const clear = (choice: number) => {
      const candidate = box(choice);
      return free(choice) && !taken.some((other) => overlap(candidate, other));
    };
    const all = places.map((_, index) => index);
    const before = choices.get(label.key);
    const kept = before !== undefined && before < places.length && free(before) ? before : undefined;
    const choice = kept ?? all.find(clear) ?? (must ? all.find(free) : undefined);
    if (choice === undefined) continue;
    written.push(box(choice));
    placed.push({ ...label, ...(places[choice] as Place), choice });
  }
  return placed;
}

/** The middle of a long name left out: its two ends tell more than its start. */
export function shorten(text: string, most: number): string {
  if (text.length <= most) return text;
  const head = Math.ceil((most - 1) * 0.6);
  return `${text.slice(0, head)}…${text.slice(text.length - (most - 1 - head))}`;
}

const inside = (box: Box, bounds: Box) =>
  box.left >= bounds.left && box.right <= bounds.right && box.top >= bounds.top && box.bottom <= bounds.bottom;
const overlap = (a: Box, b: Box, apart = 0) =>
  a.left < b.right + apart && b.left < a.right + apart && a.top < b.bottom && b.top < a.bottom;
