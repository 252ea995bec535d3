// All texts that a user reads, in the widget's language. The build makes one script per language that declares
// `roofwidgetWords`. It joins each of these scripts with the code to one module; the script comes first. To add a text,
// add it in en.ts, and its translation with the same key in de.ts.

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

/** The type of a translation: the same keys and parameters as in English, but other texts. */
export type Like<T> = T extends (...parts: infer Parts) => string
  ? (...parts: Parts) => string
  : T extends string
    ? string
    : T extends RegExp
      ? RegExp
      : { readonly [Key in keyof T]: Like<T[Key]> };
