// The synced traits: who changes them, which a page can undo, and their types. `make traits` writes this file from the
// declarations in roofwidget/state.

import type { Baseline, Kernels } from "./columns.ts";
import type {
  Attempt,
  Chip,
  Moves,
  RatesByQuantity,
  Snapshot,
  Story,
  Terms,
  TypedWork,
  WhatIf,
  Zoom,
} from "./types.ts";

/** The values of the traits in a page. */
export interface TraitTypes {
  story: Story | null;
  step: number;
  answers: Readonly<Record<string, readonly Attempt[]>>;
  locks: readonly string[];
  hiddenPanels: readonly string[];
  ranges: RatesByQuantity;
  snap: RatesByQuantity;
  terms: Terms;
  graphs: readonly (readonly [phase: string, graph: unknown])[];
  phase: string;
  dims: Readonly<Record<string, number>>;
  convention: string;
  dtype: string | null;
  partition: readonly (readonly number[])[] | null;
  kernels: Kernels;
  baseline: Baseline | null;
  chips: readonly Chip[];
  addedChips: readonly string[];
  shown: readonly string[];
  focusChip: string;
  precision: string;
  memory: string;
  link: string;
  whatIf: WhatIf;
  exposedRoofs: readonly number[];
  ceilings: readonly string[] | null;
  allLevels: boolean;
  launchOverhead: number;
  exposedComm: number;
  rules: Readonly<Record<string, string>>;
  typedWork: TypedWork;
  selected: readonly number[];
  hovered: number | null;
  atRoof: readonly number[];
  moves: Moves;
  snapshots: readonly Snapshot[];
  search: string;
  categories: readonly string[] | null;
  bounds: readonly string[] | null;
  precisions: readonly string[] | null;
  phases: readonly string[] | null;
  timeShare: number;
  top: number | null;
  infeed: boolean;
  scope: "kernels" | "program";
  sortBy: string;
  columns: readonly string[] | null;
  colourBy: string;
  title: string;
  view: "roofline" | "time" | "network" | "instructions";
  topology: "ring" | "switch" | "in-network";
  timeScale: "log" | "linear";
  zoom: Zoom | null;
  rateUnit: "FLOP/s" | "FLOP/cycle";
  word: 0 | 2 | 4 | 8;
  xAxis: "intensity" | "balance";
  tickBase: 10 | 2;
  frame: "points" | "chip";
  openFiles: "folder" | "uploads" | "nothing";
  presentation: boolean;
  rulers: boolean;
}

/**
 * By trait: who may change it, or whether it is a mapping whose keys are sent alone and with what it is undone;
 * and the value that a saved notebook lacks, because it is older than the trait.
 */
export const TRAITS = {
  story: ["python", null],
  step: ["alone", 0],
  answers: ["mapping", {}],
  locks: ["python", []],
  hiddenPanels: ["python", []],
  ranges: ["python", {}],
  snap: ["python", {}],
  terms: ["python", {}],
  graphs: ["python", []],
  phase: ["with graph", ""],
  dims: ["mapping with graph", {}],
  convention: ["with graph", ""],
  dtype: ["with graph", null],
  partition: ["with graph", null],
  kernels: ["python", null],
  baseline: ["python", null],
  chips: ["python", []],
  addedChips: ["alone", []],
  shown: ["alone", []],
  focusChip: ["alone", ""],
  precision: ["alone", "auto"],
  memory: ["alone", "main"],
  link: ["alone", ""],
  whatIf: ["mapping alone", {}],
  exposedRoofs: ["alone", []],
  ceilings: ["alone", null],
  allLevels: ["alone", false],
  launchOverhead: ["python", 0.0],
  exposedComm: ["python", 0.0],
  rules: ["mapping alone", {}],
  typedWork: ["mapping alone", {}],
  selected: ["shared", []],
  hovered: ["browser", null],
  atRoof: ["shared", []],
  moves: ["mapping alone", {}],
  snapshots: ["alone", []],
  search: ["shared", ""],
  categories: ["shared", null],
  bounds: ["shared", null],
  precisions: ["shared", null],
  phases: ["shared", null],
  timeShare: ["shared", 1.0],
  top: ["shared", 1000],
  infeed: ["shared", true],
  scope: ["shared", "kernels"],
  sortBy: ["shared", ""],
  columns: ["shared", null],
  colourBy: ["shared", "category"],
  title: ["python", ""],
  view: ["alone", "roofline"],
  topology: ["alone", "switch"],
  timeScale: ["alone", "log"],
  zoom: ["alone", null],
  rateUnit: ["shared", "FLOP/s"],
  word: ["shared", 0],
  xAxis: ["shared", "intensity"],
  tickBase: ["shared", 10],
  frame: ["alone", "points"],
  openFiles: ["python", "uploads"],
  presentation: ["shared", false],
  rulers: ["shared", true],
} as const;
