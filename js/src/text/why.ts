// Why a kernel is slow, as counters of its profile show. Mirrors roofwidget/analysis/reasons.py, which finds the rules.

import { type Kernels, textAt } from "../wire/columns.ts";
import { numerals } from "../words/words.ts";
import { formatPercent, formatSignificant } from "./numbers.ts";

/** The number of counters in a tooltip. */
const MAX_TELLING = 2;
const PERCENT = " (%)";
/** From this number on, a counter is whole. */
const MIN_WHOLE = 1000;

/** A reason with its numbers. */
interface ReasonText {
  /** The code of the language of `sentence` and `suggestion`. */
  readonly language: string;
  readonly sentence: string;
  readonly suggestion: string;
  /** The profiler's names of the counters, as text. */
  readonly counters: string;
  readonly source: string;
}

/** Returns the value of a kernel in a column of the file as text. Undefined if it has none. */
function counterText({ extra }: Kernels, row: number, name: string): string | undefined {
  const column = extra.get(name);
  if (!(column instanceof Float64Array)) return (column && textAt(column, row)) ?? undefined;
  const value = column[row] ?? Number.NaN;
  if (Number.isNaN(value)) return undefined;
  if (name.endsWith(PERCENT)) return formatPercent(value / 100, 3);
  const isWhole = value >= MIN_WHOLE || Number.isInteger(value);
  return isWhole ? numerals.whole(Math.round(value)) : formatSignificant(value);
}

/** Returns why a kernel is slow; empty if its counters do not show it. */
export function reasonsOf(kernels: Kernels, row: number): ReasonText[] {
  const filled = (text: string) =>
    text.replace(/\{([^{}]+)\}/g, (_, name: string) => counterText(kernels, row, name) ?? name);
  return (kernels.reasons.get(row) ?? []).map((reason) => {
    const translated = reason.translations?.[numerals.language];
    const { sentence, suggestion } = translated ?? reason;
    return {
      language: translated ? numerals.language : "en",
      sentence: filled(sentence),
      suggestion: filled(suggestion),
      counters: reason.counters.join(", "),
      source: reason.source,
    };
  });
}

/**
 * Returns the counters that say most about why a kernel is slow, each with its value: of two reasons the first counter
 * each, of one reason its first two.
 */
export function tellingRows(kernels: Kernels, row: number): (readonly [label: string, value: string])[] {
  const columns = (kernels.reasons.get(row) ?? []).map((reason) => reason.columns);
  const names = new Set([...columns.flatMap((own) => own.slice(0, 1)), ...columns.flatMap((own) => own.slice(1))]);
  return [...names]
    .flatMap((name): (readonly [string, string])[] => {
      const [label, text] = [name.replace(PERCENT, ""), counterText(kernels, row, name)];
      // A share of a stall or of a pipe has the name of the stall or of the pipe in a column of its own.
      const whose = label === name ? undefined : counterText(kernels, row, label);
      return text === undefined ? [] : [[label, whose === undefined ? text : `${whose} ${text}`]];
    })
    .slice(0, MAX_TELLING);
}
