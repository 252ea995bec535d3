// How numbers are written and read in German.

import type { Like } from "../catalogue.ts";
import type * as en from "../en/numbers.ts";

/** Formats a count with separators between thousands. */
export const whole = (count: number) => count.toLocaleString("de");

const PREFIXES: Record<string, string> = { k: "Kilo", M: "Mega", G: "Giga", T: "Tera", P: "Peta", E: "Exa" };

export const numerals: Like<typeof en.numerals> = {
  whole,
  language: "de",
  mark: ",",
  // A comma would be read as a decimal mark.
  list: (numbers) => numbers.join("; "),
  apart: /[\s;]+|,\s+/,
  read: (typed) => typed.replace(",", "."),
  // "4.096" is four thousand and ninety-six, but "1.5k" is fifteen hundred.
  readWhole: (typed) => typed.replace(/\.(?=\d{3}(?!\d))/g, "_").replace(",", "."),
  spoken(number, prefix, unit) {
    const [many, joint, one] = [PREFIXES[prefix] ?? prefix, ...(unit === "B/s" ? ["byte", "Byte"] : ["-FLOP", "FLOP"])];
    return `${number} ${many ? `${many}${joint}` : one} pro Sekunde`;
  },
};
