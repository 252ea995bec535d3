// All texts that a user reads, in the widget's language. Each language is built as a script that declares
// `roofwidgetWords`. The build puts this script before the code, and both together make one module per language. Add
// texts in words/en and, with the same keys, in words/de.

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
