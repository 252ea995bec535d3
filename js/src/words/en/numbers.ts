// How numbers are written and read.

/** A count with separated thousands. */
export const whole = (count: number) => count.toLocaleString("en");

const PREFIXES: Record<string, string> = { k: "kilo", M: "mega", G: "giga", T: "tera", P: "peta", E: "exa" };

export const numerals = {
  whole,
  /** The language code of the page's parts in this language. */
  language: "en",
  mark: ".",
  list: (numbers: readonly string[]) => numbers.join(", "),
  /** Separates typed numbers. */
  apart: /[\s,;]+/,
  /** A typed number, or a typed whole number, rewritten with a point as decimal mark. */
  read: (typed: string) => typed,
  readWhole: (typed: string) => typed,
  /** A rate as it is spoken. */
  spoken: (number: string, prefix: string, unit: "FLOP/s" | "B/s") =>
    `${number} ${PREFIXES[prefix] ?? prefix}${unit === "B/s" ? "bytes" : "FLOPs"} per second`,
};
