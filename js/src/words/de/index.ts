// The German catalogue, of the shape of the English one.

export { strings } from "./chart.ts";
export { words } from "./chips.ts";
export { filterWords } from "./filters.ts";
export { fusionWords } from "./fusion.ts";
export { loadWords } from "./loader.ts";
export { moveWords } from "./moves.ts";
export { numerals, whole } from "./numbers.ts";
export { rulerWords, snapshotWords } from "./rulers.ts";
export { runWords } from "./runs.ts";
export { tableWords } from "./table.ts";
export { axisWords, toolWords } from "./view.ts";
export { workloadWords } from "./workload.ts";
