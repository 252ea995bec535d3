// Short names of kernels for the chart. Each short name stands for one kernel, and no number in a short name is cut.

import { memoize } from "../ui/memoize.ts";
import { firstRow, type Kernels } from "../wire/columns.ts";
import { shortNameOf } from "./kernel_names.ts";

/** If there are more kernels than this, only the given rows are compared, because comparing all rows takes too long. */
const MAX_COMPARED = 400;

const known = memoize<ReadonlyMap<number, string>>();

/**
 * Returns a map from row to short name, for at least the given rows. A short name has at most `most` letters, or a few
 * more if a number would have to be cut.
 */
export function shortNamesOf(kernels: Kernels, rows: readonly number[], most: number): ReadonlyMap<number, string> {
  const isSmall = kernels.n <= MAX_COMPARED;
  return known(kernels, isSmall ? [most] : [most, ...rows], () => {
    const all = isSmall ? [...kernels.time.keys()] : [...rows];
    // A kernel of several series has one name.
    const first = (row: number) => firstRow(kernels, row);
    const own = [...new Set(all.map(first))];
    const names = distinctNames(
      own.map((row) => shortNameOf(kernels, row)),
      own,
      most,
    );
    const texts = new Map(own.map((row, at) => [row, names[at] as string]));
    return new Map(all.map((row) => [row, texts.get(first(row)) as string]));
  });
}

/**
 * Returns a short name for each name. No short name could stand for another of the names: if only the middle of two
 * names differs, the short names keep this middle. If a name is still not clear, the number of its row follows, such as
 * "gemm #3".
 */
export function distinctNames(names: readonly string[], rows: readonly number[], most: number): string[] {
  const different = [...new Set(names)];
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  const texts = new Map(different.map((name) => [name, clearName(name, different, most)]));
  return names.map((name, at) => {
    const text = texts.get(name);
    if (text !== undefined && counts.get(name) === 1) return text;
    const place = ` #${(rows[at] as number) + 1}`;
    return shortenName(name, Math.max(4, most - place.length)) + place;
  });
}

/** Returns a short name that could stand for no other of the names; undefined if there is none. */
function clearName(name: string, names: readonly string[], most: number): string | undefined {
  const plain = shortenName(name, most);
  const rivals = rivalsOf(plain, name, names);
  if (rivals.length === 0) return plain;
  const around = shortenAround(name, middleOf(name, rivals), most);
  return rivalsOf(around, name, names).length === 0 ? around : undefined;
}

/** Returns the other names that a short name could stand for. */
function rivalsOf(short: string, name: string, names: readonly string[]): string[] {
  const pieces = short.split(/ ?… ?/);
  return short === name ? [] : names.filter((other) => other !== name && standsFor(pieces, other));
}

/** Whether a name consists of these pieces and of anything between them. A number is never a piece of another number. */
function standsFor(pieces: readonly string[], name: string): boolean {
  const [first = "", last = ""] = [pieces[0], pieces.at(-1)];
  const end = name.length - last.length;
  if (!name.startsWith(first) || !name.endsWith(last) || end < first.length) return false;
  if (!isWhole(name, 0, first.length) || !isWhole(name, end, name.length)) return false;
  let from = first.length;
  for (const piece of pieces.slice(1, -1)) {
    let found = name.indexOf(piece, from);
    while (found >= 0 && !isWhole(name, found, found + piece.length)) found = name.indexOf(piece, found + 1);
    if (found < 0 || found + piece.length > end) return false;
    from = found + piece.length;
  }
  return true;
}

/** Whether a range of a name does not begin or end inside a number. */
const isWhole = (name: string, from: number, to: number) =>
  !(/\d$/.test(name.slice(from, to)) && /^[.,]?\d/.test(name.slice(to, to + 2))) &&
  !(/^\d/.test(name.slice(from, to)) && /\d[.,]?$/.test(name.slice(0, from)));

/** The parts of a name that are kept whole or cut: numbers with their separators, words, and single other letters. */
const partsOf = (name: string): string[] => name.match(/\d+(?:[.,]\d+)*|\p{L}+|[^\p{L}\d]/gu) ?? [];
const isNumber = (part: string) => /^\d/.test(part);

/** Shortens a long name in its middle, because the start and the end together say more than the start alone. */
export function shortenName(name: string, most: number): string {
  if (name.length <= most) return name;
  const parts = partsOf(name);
  const head = taken(parts, Math.ceil((most - 1) * 0.6), (part, room) => part.slice(0, room), false);
  const tail = taken([...parts].reverse(), most - 1 - head.length, (part, room) => part.slice(-room), true);
  return joined(head, tail);
}

/**
 * Returns the first parts that fit. A word may be cut, a number may not. A full stop beside the mark of the omission
 * would look like a part of the mark, so it is left out.
 */
function taken(
  parts: readonly string[],
  most: number,
  cut: (part: string, room: number) => string,
  isReversed: boolean,
): string {
  let text = "";
  const add = (part: string) => {
    text = isReversed ? part + text : text + part;
  };
  for (const part of parts) {
    const room = most - text.length;
    if (part.length <= room) add(part);
    else {
      if (!isNumber(part) && room > 0) add(cut(part, room));
      return text.replace(isReversed ? /^\.+/ : /\.+$/, "");
    }
  }
  return text;
}

/** Joins a start and an end. A number beside the mark of the omission would seem to be cut, so a space is between. */
function joined(head: string, tail: string): string {
  return `${head}${/\d$/.test(head) ? " " : ""}…${/^\d/.test(tail) ? " " : ""}${tail}`;
}

/** A range of the parts of a name. */
type Part = readonly [from: number, to: number];

/** Returns the range in which a name differs from other names: between their common start and their common end. */
function middleOf(name: string, others: readonly string[]): Part {
  const [own, all] = [partsOf(name), others.map(partsOf)];
  const least = Math.min(own.length, ...all.map(({ length }) => length));
  let head = 0;
  while (head < least && all.every((parts) => parts[head] === own[head])) head++;
  let tail = 0;
  while (tail < least - head && all.every((parts) => parts.at(-1 - tail) === own.at(-1 - tail))) tail++;
  return [head, own.length - tail];
}

/** Shortens a name, but keeps the range `part` where there is room. */
function shortenAround(name: string, [from, to]: Part, most: number): string {
  if (name.length <= most) return name;
  const parts = partsOf(name);
  const [before, middle, after] = [parts.slice(0, from), parts.slice(from, to).join(""), parts.slice(to)];
  const kept = shortenName(middle, Math.max(4, most - 4));
  const room = Math.max(0, most - kept.length - 2);
  const head = taken(before, Math.ceil(room * 0.6), (word, left) => word.slice(0, left), false);
  const tail = taken([...after].reverse(), room - head.length, (word, left) => word.slice(-left), true);
  const start = head === before.join("") ? head + kept : joined(head, kept);
  const text = tail === after.join("") ? start + tail : joined(start, tail);
  return text.replace(/…(?: ?…)+/g, "…").replace(/\.+…|…\.+/g, "…");
}
