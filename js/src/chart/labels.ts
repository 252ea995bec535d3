// Where labels go: each takes the first of its places that is free; when none is, it is left out.

import type { Box } from "../scales.ts";

export type Anchor = "start" | "middle" | "end";

export interface Place {
  readonly x: number;
  readonly y: number;
  readonly anchor: Anchor;
  /** Degrees it is turned by about its place, clockwise; 0 when left out. */
  readonly angle?: number;
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
  /** What it names, px: from a place far away a line leads there. */
  readonly mark?: Mark;
}

export interface Mark {
  readonly x: number;
  readonly y: number;
  readonly radius: number;
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

/** The boxes that a text covers: one, or for a turned text a chain of small ones. */
export function boxesOf(width: number, size: number, place: Place): Box[] {
  if (!place.angle) return [boxOf(width, size, place)];
  const [cos, sin] = [Math.cos((place.angle * Math.PI) / 180), Math.sin((place.angle * Math.PI) / 180)];
  const start = place.anchor === "start" ? 0 : place.anchor === "end" ? -width : -width / 2;
  // Turned by about 30°, such a box reaches as far across the text as the letters do.
  const half = size * 0.36;
  const links = Math.max(2, Math.ceil(width / (1.6 * half)));
  return Array.from({ length: links }, (_, link) => {
    // Along the middle of the letters, which is above the line they stand on.
    const along = start + half + ((width - 2 * half) * link) / (links - 1);
    const [x, y] = [place.x + along * cos + size * 0.24 * sin, place.y + along * sin - size * 0.24 * cos];
    return { left: x - half, right: x + half, top: y - half, bottom: y + half };
  });
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
    const boxes = (choice: number) => boxesOf(width, label.size, places[choice] as Place);
    const free = (choice: number) =>
      boxes(choice).every((box) => inside(box, bounds) && !written.some((other) => overlap(box, other, APART)));
    const clear = (choice: number) =>
      free(choice) && boxes(choice).every((box) => !taken.some((other) => overlap(box, other)));
    const all = places.map((_, index) => index);
    const before = choices.get(label.key);
    const kept = before !== undefined && before < places.length && free(before) ? before : undefined;
    const choice = kept ?? all.find(clear) ?? (must ? all.find(free) : undefined);
    if (choice === undefined) continue;
    written.push(...boxes(choice));
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

/** A label further than this from its mark has a line to it, px. */
const FAR = 20;

/** A path from a label to the rim of what it names, where that is far. */
export function leaderOf(label: Placed): string {
  const { mark } = label;
  if (!mark) return "";
  const box = boxOf(textWidth(label.text, label.size, label.bold), label.size, label);
  const [x, y] = [within(mark.x, box.left, box.right), within(mark.y, box.top, box.bottom)];
  const length = Math.hypot(mark.x - x, mark.y - y);
  if (length - mark.radius <= FAR) return "";
  const rim = mark.radius / length;
  return `M${x},${y}L${mark.x + (x - mark.x) * rim},${mark.y + (y - mark.y) * rim}`;
}

const within = (at: number, low: number, high: number) => Math.max(low, Math.min(at, high));

/** As many whole words of a name as fit, its number among them: cut within one it would be another name. */
export function inWords(text: string, fits: (text: string) => boolean): string {
  const words = text.split(" ");
  const heads = words.map((_, left) => words.slice(0, words.length - left).join(" "));
  const telling = heads.filter((head) => /\d/.test(head) || !/\d/.test(text));
  const [, ...shorter] = telling.map((head) => `${head.replace(/[\s,;:·(-]+$/, "")}…`);
  return [text, ...shorter].find(fits) ?? (shorter.at(-1) || text);
}

const inside = (box: Box, bounds: Box) =>
  box.left >= bounds.left && box.right <= bounds.right && box.top >= bounds.top && box.bottom <= bounds.bottom;
const overlap = (a: Box, b: Box, apart = 0) =>
  a.left < b.right + apart && b.left < a.right + apart && a.top < b.bottom && b.top < a.bottom;
