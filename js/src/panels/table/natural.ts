// The natural order of texts ("k2" before "k10"), and the order of rows by their values.

import { finish, type Work } from "../../ui/slices.ts";

/**
 * The rank of each text. The ranks are computed once: ahead of time in slices, or at once when they are first needed.
 */
export interface Ranks {
  ahead(): Work<void>;
  places(): Float64Array;
}

/** How many texts are processed between two pause points. */
const TEXTS_PER_PAUSE = 4096;
const [ZERO, NINE] = [48, 57];
const isDigit = (code: number) => code >= ZERO && code <= NINE;

export function ranksOf(texts: () => readonly (string | null)[]): Ranks {
  let work: Work<Float64Array> | undefined;
  let places: Float64Array | undefined;
  function* ahead(): Work<void> {
    while (!places) {
      work ??= placing(texts());
      const { done, value } = work.next();
      if (done) places = value;
      else yield;
    }
  }
  return {
    ahead,
    places: () => {
      finish(ahead());
      return places as Float64Array;
    },
  };
}

/** Computes the rank of each text. Equal texts have the same rank. Case is ignored. A missing text has the rank NaN. */
function* placing(texts: readonly (string | null)[]): Work<Float64Array> {
  const folded = texts.map((text) => text?.toLowerCase() ?? "");
  yield;
  const order = yield* merged(folded);
  const places = new Float64Array(texts.length).fill(Number.NaN);
  let place = 0;
  for (const [at, which] of order.entries()) {
    const before = order[at - 1];
    if (before !== undefined && compare(folded[before] as string, folded[which] as string) !== 0) place = at;
    if (texts[which] !== null) places[which] = place;
  }
  return places;
}

/** Merge sort: repeatedly merges sorted runs into longer runs. */
function* merged(texts: readonly string[]): Work<Int32Array> {
  const n = texts.length;
  const shared = texts.reduce((end, text) => differAt(texts[0] as string, text, 0, end), texts[0]?.length ?? 0);
  yield;
  let [from, to] = [Int32Array.from(texts.keys()), new Int32Array(n)];
  let looked = 0;
  for (let run = 1; run < n; run *= 2) {
    for (let left = 0; left < n; left += 2 * run) {
      const [middle, end] = [Math.min(left + run, n), Math.min(left + 2 * run, n)];
      let [one, other] = [left, middle];
      for (let at = left; at < end; at++) {
        const [a, b] = [from[one] as number, from[other] as number];
        const isFirst = other >= end || (one < middle && compare(texts[a] as string, texts[b] as string, shared) <= 0);
        to[at] = isFirst ? a : b;
        if (isFirst) one++;
        else other++;
      }
      looked += end - left;
      if (looked > TEXTS_PER_PAUSE) {
        yield;
        looked = 0;
      }
    }
    [from, to] = [to, from];
  }
  return from;
}

function differAt(a: string, b: string, from: number, to: number): number {
  let at = from;
  while (at < to && a.charCodeAt(at) === b.charCodeAt(at)) at++;
  return at;
}

/** Compares two texts whose first `from` characters are equal. Returns a negative number if `a` comes first. */
function compare(a: string, b: string, from = 0): number {
  const at = differAt(a, b, from, a.length);
  // If the texts differ inside a number, the number with more digits is larger.
  let start = at;
  while (isDigit(a.charCodeAt(start - 1))) start--;
  const longer = isDigit(a.charCodeAt(start)) && isDigit(b.charCodeAt(start)) ? digits(a, start) - digits(b, start) : 0;
  return longer || (a.charCodeAt(at) || 0) - (b.charCodeAt(at) || 0);
}

/** Returns the number of digits from `start` on. */
function digits(text: string, start: number): number {
  let end = start;
  while (isDigit(text.charCodeAt(end))) end++;
  return end - start;
}

/** Returns the rows sorted by their values. Equal values keep their order, and NaN comes last. */
export function orderOf(rows: Int32Array, values: Float64Array, falling: boolean): Int32Array {
  const n = rows.length;
  const digits = digitsOf(rows, values, falling);
  let before = Int32Array.from(rows.keys());
  let after = new Int32Array(n);
  // Radix sort, starting at the lowest digit. If two digits are equal, each pass keeps the order from the previous
  // pass.
  for (let digit = 0; digit < 4; digit++) {
    const free = new Int32Array(65_536);
    for (let at = digit; at < digits.length; at += 4) raise(free, digits[at] as number);
    let start = 0;
    for (let value = 0; value < free.length; value++) {
      start += free[value] as number;
      free[value] = start - (free[value] as number);
    }
    for (const at of before) after[raise(free, digits[4 * at + digit] as number)] = at;
    [before, after] = [after, before];
  }
  return before.map((at) => rows[at] as number);
}

/** Increments a count and returns the old count. */
function raise(counts: Int32Array, at: number): number {
  const count = counts[at] as number;
  counts[at] = count + 1;
  return count;
}

/** Returns each value as four digits of 16 bits. The digits sort as the values do, and NaN sorts last. */
function digitsOf(rows: Int32Array, values: Float64Array, falling: boolean): Uint16Array {
  // Adding 0 gives 0 and -0 the same bits.
  const doubles = Float64Array.from(rows, (row) => (values[row] as number) + 0);
  const words = new Uint32Array(doubles.buffer);
  for (let at = 0; at < doubles.length; at++) {
    const value = doubles[at] as number;
    // For rising order, all bits of a negative number are flipped, because a smaller negative number has larger bits.
    // Only the sign bit of every other number is flipped, so that this number comes after the negative numbers. For
    // falling order, all bits of these results are flipped again.
    const flip = value < 0 === falling ? 0 : 0xffffffff;
    const sign = value < 0 ? 0 : 0x80000000;
    words[2 * at] = Number.isNaN(value) ? 0xffffffff : (words[2 * at] as number) ^ flip;
    words[2 * at + 1] = Number.isNaN(value) ? 0xffffffff : (words[2 * at + 1] as number) ^ flip ^ sign;
  }
  return new Uint16Array(words.buffer);
}
