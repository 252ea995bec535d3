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
  const way = falling ? -1 : 1;
  return rows.slice().sort((one, other) => {
    const [a, b] = [values[one] as number, values[other] as number];
    if (a < b) return -way;
    if (a > b) return way;
    return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
  });
}
