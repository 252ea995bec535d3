// Shares of communication that is exposed: what a person types, and back to text.

import { formatPercent } from "../../text/numbers.ts";
import { numerals, words } from "../../words/words.ts";

const NUMBER = /^(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$/;

/**
 * Fractions from text such as "20, 40, 60 %", in rising order, or a sentence about what is wrong with it. Where a "%"
 * stands anywhere all numbers are percentages; without one those below 1 are fractions, the others percentages.
 */
export function parseFractions(text: string): readonly number[] | string {
  const percent = text.includes("%");
  const fractions: number[] = [];
  for (const part of text.replaceAll("%", " ").split(numerals.apart)) {
    if (part === "") continue;
    const digits = numerals.read(part);
    if (!NUMBER.test(digits)) return words.noFraction(part);
    const number = Number(digits);
    const fraction = percent || number >= 1 ? number / 100 : number;
    if (!(fraction < 1)) return words.notAFraction(part);
    if (fraction > 0) fractions.push(fraction);
  }
  return [...new Set(fractions)].sort((a, b) => a - b);
}

/** "20, 40, 60 %"; nothing for no fractions. */
export function formatFractions(fractions: readonly number[]): string {
  const percents = fractions.map((fraction) => formatPercent(fraction).replace(" %", ""));
  return percents.length > 0 ? `${numerals.list(percents)} %` : "";
}
