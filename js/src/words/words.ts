// Every word a person reads, in the language of the widget. The words of a language are a script of their own: it
// declares this constant in front of the code, and each pair of code and language is imported as a module of its own.
// Words are added in words/en and, which tsc holds to the same shape, in words/de.

import type { catalogue } from "./en/index.ts";

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
