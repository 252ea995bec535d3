// The English catalogue: all texts that a user reads, in one object per topic.

import { strings } from "./chart.ts";
import { words } from "./chips.ts";
import { filterWords } from "./filters.ts";
import { fusionWords } from "./fusion.ts";
import { moveWords } from "./moves.ts";
import { numerals } from "./numbers.ts";
import { rulerWords, snapshotWords } from "./rulers.ts";
import { runWords } from "./runs.ts";
import { tableWords } from "./table.ts";
import { axisWords, toolWords } from "./view.ts";
import { workloadWords } from "./workload.ts";

export const catalogue = {
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
};
