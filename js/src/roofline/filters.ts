// Which kernels pass the filters. Must agree with roofwidget/kernels/filters.py: the tests compare both files with the
// same golden file.

import type { DictColumn, Kernels } from "../wire/columns.ts";

export interface Filters {
  /** Words that must all occur in the full name of a kernel. Case is ignored. "*" in a word matches any characters. */
  readonly search: string;
  /** Only kernels of these categories pass. "" matches kernels without a category. If null, all kernels pass. */
  readonly categories: readonly string[] | null;
  /**
   * What must bind a kernel on the focus chip, so that the kernel passes. Possible values are "compute", the name of a
   * level, "network", "overhead" and "unknown". If null, all kernels pass.
   */
  readonly bounds: readonly string[] | null;
  /** Only kernels of these precisions pass. "" matches kernels without a precision. If null, all kernels pass. */
  readonly precisions: readonly string[] | null;
  /** Only kernels of these phases pass. "" matches kernels without a phase. If null, all kernels pass. */
  readonly phases: readonly string[] | null;
  /**
   * Only the longest kernels pass: as many as are needed to make up this share of all self time. If the share is 1, all
   * kernels pass, even unmeasured kernels.
   */
  readonly timeShare: number;
  /**
   * Only this many kernels pass: the kernels with the longest self time. This filter is applied after all other
   * filters. If null, there is no limit.
   */
  readonly top: number | null;
  /** Whether infeed and outfeed kernels pass. */
  readonly infeed: boolean;
}

export const UNFILTERED: Filters = {
  search: "",
  categories: null,
  bounds: null,
  precisions: null,
  phases: null,
  timeShare: 1,
  top: 1000,
  infeed: true,
};

// Languages differ in what they call blank.
// biome-ignore lint/suspicious/noControlCharactersInRegex: separators of old are blanks to Python
const BLANKS = /[\s\u001c-\u001f\u0085]+/;
/** The relative rounding error of a sum that is accepted when the sum is compared with a share of the time. */
const ROUNDING = 1e-12;

/** Data of a table of kernels. Each function computes its data when a filter calls the function for the first time. */
export interface Prepared {
  /** Returns each distinct name in lower case. The index of a name is its code in the column. */
  names(): readonly string[];
  /** Returns all rows, sorted by self time, longest first. */
  order(): Int32Array;
  /** Returns what binds each kernel: compute, a level's name, network, overhead or unknown. */
  boundBy(): DictColumn;
}

/** Returns the rows that pass the filters, in table order. */
export function filteredRows(kernels: Kernels, filters: Filters, prepared: Prepared): Int32Array {
  const keep = new Uint8Array(kernels.n).fill(1);
  const { search, categories, bounds, precisions, phases, timeShare, top, infeed } = filters;
  if (timeShare < 1) drop(keep, isAmongLongest(kernels, prepared.order(), timeShare));
  const matches = matcher(search);
  if (matches) dropWords(keep, kernels.name, prepared.names().map(matches));
  const among = (column: DictColumn, allowed: readonly string[]) =>
    dropWords(
      keep,
      column,
      column.values.map((word) => allowed.includes(word ?? "")),
    );
  if (categories) among(kernels.category, categories);
  if (bounds) among(prepared.boundBy(), bounds);
  if (precisions) among(kernels.precision, precisions);
  if (phases) among(phaseColumn(kernels), phases);
  if (!infeed) {
    const { category } = kernels;
    dropWords(
      keep,
      category,
      category.values.map((word) => !isInfeed(word)),
    );
  }
  return firstRows(keep, top, prepared);
}

/** Returns each distinct name in lower case. The index of a name is its code in the column. */
export const smallNames = ({ name }: Kernels): readonly string[] => name.values.map((word) => small(word ?? ""));

/**
 * Returns the text in lower case. The result for a letter does not depend on neighbouring letters: the lower-case sigma
 * is always "σ", and an i never has a separate dot.
 */
export function small(text: string): string {
  const lower = text.toLowerCase();
  return ODD.test(lower) ? lower.replaceAll("ς", "σ").replaceAll("i\u0307", "i") : lower;
}

const ODD = /ς|i\u0307/;

/** Returns all rows sorted by self time, longest first. Equal times keep the table order. Unmeasured rows come last. */
export function byFallingTime({ n, selfTime }: Kernels): Int32Array {
  // Sorting plain numbers is much faster than sorting rows with a comparison function. The upper half of each key holds
  // the seconds, and the lower half holds the row.
  const keys = selfTime.map((seconds) => (seconds >= 0 ? Math.abs(seconds) : -1));
  const halves = new Uint32Array(keys.buffer);
  for (let row = 0; row < n; row++) halves[2 * row] = row;
  const rows = new Int32Array(n);
  keys.sort().reverse();
  for (let at = 0; at < n; at++) rows[at] = halves[2 * at] as number;
  // Keys with equal upper halves are not sorted yet. This loop sorts each group of equal upper halves by the exact
  // times.
  const later = (a: number, b: number) => (selfTime[b] as number) - (selfTime[a] as number) || a - b;
  for (let start = 0, at = 1; at <= n; at++) {
    if (at < n && halves[2 * at + 1] === halves[2 * start + 1]) continue;
    if (at - start > 1) rows.subarray(start, at).sort(later);
    start = at;
  }
  return rows;
}

/** Returns `rows`, sorted by their positions in `order`. */
export function inOrder(order: Int32Array, rows: Int32Array): Int32Array {
  if (rows.length === order.length) return order;
  const passes = new Uint8Array(order.length);
  for (let at = 0; at < rows.length; at++) passes[rows[at] as number] = 1;
  const found = new Int32Array(rows.length);
  let n = 0;
  for (let at = 0; at < order.length; at++) if (passes[order[at] as number]) found[n++] = order[at] as number;
  return found;
}

export const isInfeed = (category: string | null): boolean => /infeed|outfeed/.test((category ?? "").toLowerCase());

/** Returns the phase of each kernel in a model or a training step; null for each in a table without phases. */
export function phaseColumn({ n, extra }: Kernels): DictColumn {
  const column = extra.get("phase");
  return column === undefined || column instanceof Float64Array ? { values: [null], codes: new Int32Array(n) } : column;
}

/**
 * Returns a function that tests whether a lower-case name contains all words of the search; undefined if the search has
 * no words.
 */
function matcher(search: string): ((name: string) => boolean) | undefined {
  const words = small(search).split(BLANKS).filter(Boolean);
  if (words.length === 0) return undefined;
  const runs = words.map((word) => word.split("*"));
  return (name) => runs.every((pieces) => holds(name, pieces));
}

/** Returns whether a name contains the pieces in this order, with any characters between the pieces. */
function holds(name: string, pieces: readonly string[]): boolean {
  let from = 0;
  for (const piece of pieces) {
    const at = name.indexOf(piece, from);
    if (at < 0) return false;
    from = at + piece.length;
  }
  return true;
}

/** Returns a mask: 1 for the longest rows that together make up `share` of all self time. */
function isAmongLongest({ n, selfTime }: Kernels, order: Int32Array, share: number): Uint8Array {
  const among = new Uint8Array(n);
  let total = 0;
  for (let at = 0; at < n; at++) total += selfTime[order[at] as number] || 0;
  // In a table without times there are no shares, so all rows are kept.
  if (!(total > 0)) return among.fill(1);
  const enough = share * total * (1 - ROUNDING);
  let sum = 0;
  for (let at = 0; at < n && sum < enough; at++) {
    const row = order[at] as number;
    among[row] = 1;
    sum += selfTime[row] || 0;
  }
  return among;
}

function firstRows(keep: Uint8Array, top: number | null, { order }: Prepared): Int32Array {
  let left = 0;
  for (let row = 0; row < keep.length; row++) left += keep[row] as number;
  if (top !== null && left > top) {
    left = 0;
    for (const row of order()) {
      if (keep[row] && left < top) left++;
      else keep[row] = 0;
    }
  }
  const rows = new Int32Array(left);
  let at = 0;
  for (let row = 0; row < keep.length; row++) if (keep[row]) rows[at++] = row;
  return rows;
}

function drop(keep: Uint8Array, allowed: Uint8Array) {
  for (let row = 0; row < keep.length; row++) if (!allowed[row]) keep[row] = 0;
}

function dropWords(keep: Uint8Array, { codes }: DictColumn, allowed: readonly boolean[]) {
  for (let row = 0; row < keep.length; row++) if (!allowed[codes[row] as number]) keep[row] = 0;
}
