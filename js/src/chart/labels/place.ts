// Where labels go: each takes the first of its places that is free; when none is, it is left out.

import type { Box } from "../scales.ts";
import { add, covered, inStrips, isOff, type Strips } from "./box_index.ts";
import { boxesAlong, lineFrom, type Mark } from "./leaders.ts";

export { overlap } from "./box_index.ts";
export type { Mark } from "./leaders.ts";

export type Anchor = "start" | "middle" | "end";

export interface Place {
  readonly x: number;
  readonly y: number;
  readonly anchor: Anchor;
  /** Whether it stands by a line that leads to what it names: it needs none of its own. */
  readonly isLed?: boolean;
  /** Degrees it is turned by about its place, clockwise; 0 when left out. */
  readonly angle?: number;
  /** What else it takes, px: right of the text, and for its further lines under the first. */
  readonly more?: readonly [right: number, down: number];
}

export interface Label {
  /** Of several that have one key the first that has room is written. */
  readonly key: string;
  readonly text: string;
  readonly size: number;
  readonly bold?: boolean;
  readonly colour: string;
  readonly places: readonly Place[];
  /** What it says where that has no room, the longest first. */
  readonly brief?: readonly string[];
  /** Rather across a line or anything else than left out, but across no other label; or across lines alone. */
  readonly must?: boolean | "lines";
  /** What it names, px: from a place far away a line leads there. */
  readonly mark?: Mark;
  /** What it tells of, and what else it could be read as telling of: it stands clearly nearer to the one. */
  readonly near?: readonly [own: readonly Box[], others: readonly Box[]];
  /** So many of its places are better in brief than any other in full. */
  readonly best?: number;
  /** The key of the one without which it says nothing. */
  readonly beside?: string | false;
}

export interface Placed extends Place, Omit<Label, "places" | "must" | "brief" | "near" | "best" | "beside"> {
  /** Which of its places it took; those of what it says in brief count on from there. */
  readonly choice: number;
}

const widthOf = (char: string) =>
  /[iljtfrI.,:;·'|() ]/.test(char) ? 0.4 : /[mwMW%@∞]/.test(char) ? 0.98 : /[A-Z]/.test(char) ? 0.73 : 0.63;
/** Of the letters that most texts are made of: every name is measured in every frame of a drag. */
const WIDTHS = Array.from({ length: 128 }, (_, code) => widthOf(String.fromCharCode(code)));

/** Width of a text in a user-interface font, px: an upper estimate that needs no measuring. */
export function textWidth(text: string, size: number, bold = false): number {
  if (text.includes("\n")) return Math.max(...text.split("\n").map((line) => textWidth(line, size, bold)));
  let width = 0;
  for (const char of text) width += WIDTHS[char.charCodeAt(0)] ?? widthOf(char);
  return width * size * (bold ? 1.07 : 1);
}

/** A text in lines that are at most so wide, px. */
export function linesOf(text: string, size: number, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(/ +/)) {
    const longer = `${lines.at(-1)} ${word}`;
    if (lines.length > 0 && textWidth(longer, size) <= width) lines[lines.length - 1] = longer;
    else if (word) lines.push(word);
  }
  return lines;
}

export function boxOf(width: number, size: number, place: Place): Box {
  const left = place.x - (place.anchor === "start" ? 0 : place.anchor === "end" ? width : width / 2);
  const [right, down] = place.more ?? [0, 0];
  return { left, right: left + width + right, top: place.y - size * 0.86, bottom: place.y + size * 0.26 + down };
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

/** Of the spots along a line to a mark so many are about that. */
const CLOSE = 3;

/** What is drawn beside what labels keep clear of. */
interface Drawn {
  /** What those that must be written may lie across. */
  readonly lines?: readonly Box[];
  /** What they may lie across where there is nothing else. */
  readonly arrows?: readonly Box[];
  /** What they may cover as little as one another. */
  readonly solid?: readonly Box[];
  /** What none may cover, close by as it may stand. */
  readonly rings?: readonly Box[];
}

/**
 * Place labels, the most important first, clear of each other and of what is drawn, inside `bounds`. A label in `choices`
 * keeps the place it had, whatever has come under it: while a roof is dragged, names stand still.
 */
export function placeLabels(
  labels: readonly Label[],
  bounds: Box,
  taken: readonly Box[],
  choices: ReadonlyMap<string, number> = new Map(),
  { lines = [], arrows = [], solid = [], rings = [] }: Drawn = {},
): Placed[] {
  const [written, others, along, across, drawn] = [solid, taken, arrows, lines, rings].map(inStrips) as [
    Strips,
    Strips,
    Strips,
    Strips,
    Strips,
  ];
  const placed: Placed[] = [];
  for (const { places, must, brief = [], near, best = 0, beside, ...label } of labels) {
    const isPlaced = (key: string) => placed.some((other) => other.key === key);
    if (isPlaced(label.key) || (beside && !isPlaced(beside))) continue;
    const texts = [label.text, ...brief];
    const count = texts.length * places.length;
    const textOf = (at: number) => texts[Math.floor(at / places.length)] as string;
    const placeOf = (at: number) => places[at % places.length] as Place;
    const known: (readonly Box[] | undefined)[] = [];
    const boxes = (at: number) => {
      known[at] ??= boxesOf(textWidth(textOf(at), label.size, label.bold), label.size, placeOf(at));
      return known[at];
    };
    // Nor does the line from a place far off lie across another text, or a point.
    const leader = (at: number) => boxesAlong(lineFrom(boxes(at)[0] as Box, label.mark, placeOf(at).isLed));
    const free: (boolean | undefined)[] = [];
    const isFree = (at: number) => {
      free[at] ??=
        boxes(at).every((box) => inside(box, bounds)) &&
        isOff(boxes(at), written, APART) &&
        isOff(boxes(at), drawn) &&
        isOff(leader(at), written) &&
        !placed.some((other) => isCrossed(label.mark, placeOf(at), other)) &&
        !(near && boxes(at).some((box) => isAstray(box, near)));
      return free[at];
    };
    // What costs least is asked first. About its mark others may lie, wherever it may.
    const stands = (at: number, ...parts: readonly Strips[]) =>
      parts.every((part) => isOff(boxes(at), part)) &&
      isFree(at) &&
      (parts.length === 0 || isOff(leader(at).slice(0, -CLOSE), others));
    const first = (...parts: readonly Strips[]) => {
      for (const isBest of [true, false]) {
        for (let at = 0; at < count; at++) {
          if (at % places.length < best === isBest && stands(at, ...parts)) return at;
        }
      }
      return undefined;
    };
    // A line that runs along a text strikes it out.
    const leastStruck = () => {
      for (let from = 0; from < count; from += places.length) {
        const able = places.map((_, at) => from + at).filter((at) => stands(at, others, along));
        const costs = able.map((at) => covered(boxes(at), across));
        if (able.length > 0) return able[costs.indexOf(Math.min(...costs))];
      }
      return undefined;
    };
    const before = choices.get(label.key);
    const kept = before !== undefined && before < count && isFree(before) ? before : undefined;
    const choice =
      kept ??
      first(others, along, across) ??
      (must ? leastStruck() : undefined) ??
      (must === true ? first() : undefined);
    if (choice === undefined) continue;
    add(written, [...boxes(choice), ...leader(choice)]);
    placed.push({ ...label, ...placeOf(choice), text: textOf(choice), choice });
  }
  return placed;
}

/** The middle of a long name left out: its two ends tell more than its start. */
export function shorten(text: string, most: number): string {
  if (text.length <= most) return text;
  const head = Math.ceil((most - 1) * 0.6);
  return `${text.slice(0, head)}…${text.slice(text.length - (most - 1 - head))}`;
}

/** A path from a label to the rim of what it names, where that is far. */
export function leaderOf(label: Placed): string {
  const box = boxOf(textWidth(label.text, label.size, label.bold), label.size, label);
  const [x, y, toX, toY] = lineFrom(box, label.mark, label.isLed);
  return x === undefined ? "" : `M${x},${y}L${toX},${toY}`;
}

/** What a label covers, with the line that leads from it. */
export function takenBy(label: Placed): Box[] {
  const boxes = boxesOf(textWidth(label.text, label.size, label.bold), label.size, label);
  return [...boxes, ...boxesAlong(lineFrom(boxes[0] as Box, label.mark, label.isLed))];
}

/** As many whole words of a name as fit, its number among them: cut within one it would be another name. */
export function inWords(text: string, fits: (text: string) => boolean): string {
  const words = text.split(" ");
  const heads = words.map((_, left) => words.slice(0, words.length - left).join(" "));
  const telling = heads.filter((head) => /\d/.test(head) || !/\d/.test(text));
  const [, ...shorter] = telling.map((head) => `${head.replace(/[\s,;:·(-]+$/, "")}…`);
  return [text, ...shorter].find(fits) ?? (shorter.at(-1) || text);
}

/** Whether lines from a place and from another at the same side would cross on their way to their marks. */
const isCrossed = (mark: Mark | undefined, { x, y }: Place, other: Placed) =>
  !!mark && !!other.mark && x === other.x && y < other.y !== mark.y < other.mark.y;

/** So much nearer is a label to what it tells of, px. */
export const CLEARLY = 3;

function isAstray(box: Box, [own, others]: NonNullable<Label["near"]>): boolean {
  const reach = Math.sqrt(Math.min(...own.map((each) => apartness(box, each)))) + CLEARLY;
  for (const other of others) if (apartness(box, other) < reach * reach) return true;
  return false;
}

/** From one to the other, the square of px. */
function apartness(a: Box, b: Box): number {
  const across = Math.max(0, a.left - b.right, b.left - a.right);
  const down = Math.max(0, a.top - b.bottom, b.top - a.bottom);
  return across * across + down * down;
}

const inside = (box: Box, bounds: Box) =>
  box.left >= bounds.left && box.right <= bounds.right && box.top >= bounds.top && box.bottom <= bounds.bottom;
