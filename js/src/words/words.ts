// Every text that a user reads, in the widget's language. Each language is built as a script that declares
// `roofwidgetWords`. It stands in front of the code; each pair of code and language is one module. Add texts in
// words/en and, with the same shape, in words/de.

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
