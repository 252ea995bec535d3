// How numbers are written and read in English.

/** Formats a count with separators between thousands. */
export const whole = (count: number) => count.toLocaleString("en");

const PREFIXES: Record<string, string> = { k: "kilo", M: "mega", G: "giga", T: "tera", P: "peta", E: "exa" };

export const numerals = {
  whole,
  /** The language code of the parts of the page that are in this language. */
  language: "en",
  mark: ".",
  list: (numbers: readonly string[]) => numbers.join(", "),
  /** The characters that separate typed numbers. */
  apart: /[\s,;]+/,
  /** Returns a typed number with a point as decimal mark. */
  read: (typed: string) => typed,
  /** Returns a typed whole number with a point as decimal mark. Separators between thousands are no decimal marks. */
  readWhole: (typed: string) => typed,
  /** Returns a rate as screen readers speak it. */
  spoken: (number: string, prefix: string, unit: "FLOP/s" | "B/s") =>
    `${number} ${PREFIXES[prefix] ?? prefix}${unit === "B/s" ? "bytes" : "FLOPs"} per second`,
};
