// All texts that a user reads, in the widget's language. Each language is built as a script that declares
// `roofwidgetWords`. The build joins this script and the code to one module per language; the script comes first. Each
// new text is added in en.ts and, with the same key, in de.ts.

import type { catalogue } from "./en.ts";

declare const roofwidgetWords: typeof catalogue;

export const {
  axisWords,
  filterWords,
  fusionWords,
  moveWords,
  numerals,
  rulerWords,
  runWords,
  snapshotWords,
  strings,
  tableWords,
  toolWords,
  words,
  workloadWords,
} = roofwidgetWords;

/** The type of a translation: the same keys and parameters, with other texts. */
export type Like<T> = T extends (...parts: infer Parts) => string
  ? (...parts: Parts) => string
  : T extends string
    ? string
    : T extends RegExp
      ? RegExp
      : { readonly [Key in keyof T]: Like<T[Key]> };
