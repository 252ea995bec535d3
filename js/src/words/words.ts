// All texts that a user reads, in the widget's language. For each language, the build makes a script that declares
// `roofwidgetWords`. The build then joins this script and the code to one module; the script comes first. If you add a
// text, add it in en.ts, and add its translation in de.ts with the same key.

import type { catalogue } from "./en.ts";

declare const roofwidgetWords: typeof catalogue;

export const {
  axisWords,
  emptyWords,
  figureWords,
  filterWords,
  fusionWords,
  graphLinkWords,
  instructionWords,
  latencyWords,
  marksWords,
  moveWords,
  networkWords,
  numerals,
  openWords,
  rulerWords,
  runWords,
  saveWords,
  snapshotWords,
  sourceWords,
  storyWords,
  strings,
  tableWords,
  tabWords,
  toolWords,
  unknownWords,
  verdictWords,
  words,
  workloadWords,
  workWords,
} = roofwidgetWords;

/** The type of a translation: the same keys and parameters as in English, but other texts. */
export type Like<T> = T extends (...parts: infer Parts) => string
  ? (...parts: Parts) => string
  : T extends string
    ? string
    : T extends RegExp
      ? RegExp
      : { readonly [Key in keyof T]: Like<T[Key]> };
