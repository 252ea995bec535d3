// German texts for the workload panel.

import type { Like } from "../catalogue.ts";
import type * as en from "../en/workload.ts";

export const workloadWords: Like<typeof en.workloadWords> = {
  title: "Arbeitslast",
  phase: "Phase",
  dtype: "Datentyp",
  asBuilt: (dtype) => `wie gebaut (${dtype})`,
  noPeak: (dtype, chip) => `${dtype} (${chip} ohne Spitze)`,
  convention: "Zählweise",
  asPeaks: "Kernel zählen ein Multiply-Add als 2 FLOPs, wie Spitzenleistungen.",
  reset: (name, size) => `Zurück zur Vorgabe: ${name} = ${size}`,
  notWhole: (typed, example) => `„${typed}“ ist keine ganze Zahl; zum Beispiel „${example}“ schreiben`,
  outside: (name, low, high) => `${name} muss von ${low} bis ${high} sein`,
  tooSmall: (whose, size) => `${whose} = ${size} ist nicht mindestens 1`,
  noMultiple: (whose, count, divisor) => `${whose} = ${count} ist kein Vielfaches von ${divisor}`,
  wouldDo: (fault, name, size) => (size === undefined ? fault : `${fault}; ${name} = ${size} ist möglich`),
  operations: "Operationen",
  pointAtOne: "Auf eine Operation zeigen oder mit den Pfeiltasten zu ihr gehen, um ihre Formel zu sehen.",
  flops: (kind) => (kind === "" ? "FLOPs" : `FLOPs, ${kind}`),
  bytes: "Bytes",
  terms: "Von den FLOPs",
};
