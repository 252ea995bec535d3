// The German catalogue. It has the same keys as the English catalogue.

import type { Like } from "../catalogue.ts";
import type * as en from "../en/index.ts";
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

export const catalogue: Like<typeof en.catalogue> = {
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
