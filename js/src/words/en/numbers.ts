// How numbers are written and read.

/** A count with its thousands apart. */
export const whole = (count: number) => count.toLocaleString("en");

const PREFIXES: Record<string, string> = { k: "kilo", M: "mega", G: "giga", T: "tera", P: "peta", E: "exa" };

export const numerals = {
  whole,
  /** Of the page's parts in this language. */
  language: "en",
  mark: ".",
  list: (numbers: readonly string[]) => numbers.join(", "),
  /** What stands between typed numbers. */
  apart: /[\s,;]+/,
  /** A typed number, and one that is meant to be whole, with a point for its decimal mark. */
  read: (typed: string) => typed,
  readWhole: (typed: string) => typed,
  /** A rate as it is said. */
  spoken: (number: string, prefix: string, unit: "FLOP/s" | "B/s") =>
    `${number} ${PREFIXES[prefix] ?? prefix}${unit === "B/s" ? "bytes" : "FLOPs"} per second`,
};
