// Fusion panel.

import type { Share } from "../../wire/types.ts";

export const fusionWords = {
  title: "Fusion",
  graph: (name: string, ops: number) =>
    `${name || "Graph"} of ${ops} ops. Arrow keys move from op to op, M marks an op, Enter merges with the marked op or the next op downstream, S splits an op off, X cuts its kernel above it, Ctrl+Z and Ctrl+Y undo and redo.`,
  hint: "Click an edge, or drag an op onto another, to merge; click an edge within a kernel, or drag an op out, to split. Keys: arrows, Enter merges, S splits off, X cuts, M marks.",
  ends: (first: string, last: string, count: number) => `${first} + … + ${last} (${count} ops)`,
  same: (group: string) => `${group} is already one kernel`,
  notConnected: (one: string, other: string) => `${one} and ${other} share no tensor`,
  barrier: (op: string) => `${op} is opaque: a whole algorithm that cannot share its kernel`,
  kinds: {
    epilogue: (product: string, op: string, kind = "") =>
      `${product} is a matrix product: only elementwise ops that follow it can join its kernel; ${op} is ${kind === "injective" ? "an injective op: it moves elements from one tile to another" : `a ${kind}`}`,
    fed: (one: string, product: string) =>
      `${product} reads the output of ${one}: an op before a matrix product cannot join its kernel`,
    operands: (one: string, other: string) =>
      `${one} and ${other} share no input: two matrix products share a kernel only if they share an input`,
    apart: (product: string, op: string) =>
      `${op} does not use the result of ${product}: only ops on its result can join a matrix product`,
    rows: (one: string, other: string) => `${one} and ${other} reduce tensors of different shapes`,
    moved: (one: string, op: string) =>
      `${op} moves elements to other places, so it cannot follow ${one} row by row in one kernel`,
  },
  notConvex: (inner: string, first: string, last: string) => `${inner} must run after ${first} and before ${last}`,
  cycle: (group: string, between: string) => `${group} in one kernel would run both before and after ${between}`,
  capacity: (group: string, need: string, { level, units }: Share, chip: string, there: string) =>
    `the tiles of ${group} need ${need} at a time; ${units > 1 ? "a unit's share of the" : "the"} ${level} of ${chip} holds ${there}`,
  crowded: (sentence: string, more: number) =>
    `${sentence}${more > 0 ? `, and ${more} more ${more === 1 ? "kernel does" : "kernels do"} not fit` : ""}: the figures assume that they fit`,
  merged: (group: string) => `${group}: one kernel`,
  apartNow: (op: string) => `${op} is now a kernel of its own`,
  alone: (op: string) => `${op} is already a kernel of its own`,
  last: (op: string) => `no op reads the output of ${op}: mark one of the two ops with M`,
  marked: (op: string) => `${op} is marked: Enter on another op merges them`,
  topmost: (op: string) => `${op} is the first op of its kernel`,
  at: (op: string, kind: string, parts: { enters: string; leaves: string; from: string; to: string; others: string }) =>
    [
      ...[op, kind, `${parts.enters} in, ${parts.leaves} out`],
      ...(parts.from ? [`from ${parts.from}`] : []),
      ...(parts.to ? [`to ${parts.to}`] : []),
      ...(parts.others ? [`in one kernel with ${parts.others}`] : []),
    ].join(" · "),
  members: "Kernels and their ops",
  more: (kernels: number) => `and ${kernels} more`,
  presets: "Presets",
  none: "none",
  pairs: "pairs",
  xla: "XLA-like",
  best: (chip: string) => (chip ? `best for ${chip}` : "best"),
  undo: "Undo",
  redo: "Redo",
  kernels: "Kernels",
  flops: "FLOPs",
  bytes: "Bytes",
  intensity: "Intensity",
  time: "Roofline time",
  speedUp: "Against unfused",
  compulsory: "Compulsory bytes",
  least: (bytes: string, ratio: string) => `${bytes} · now ${ratio}×`,
  toBest: "Best",
  times: (ratio: string) => (ratio === "1" ? "as fast" : `${ratio}×`),
  /**
   * Label next to a merged kernel on the chart. The ratio is the kernel's intensity divided by the intensity of its
   * parts before the merge.
   */
  trail: (ratio: string) => `this merge ${ratio}× · same FLOPs`,
  faster: (ratio: string, how: string) => `${ratio}× faster (${how})`,
  isBest: (how: string) => (how === "optimal" ? "this partition (optimal)" : "none better found (greedy)"),
  isNone: "this partition does not fit on chip",
  found: (chip: string, kernels: string, how: string) => `best for ${chip}: ${kernels} (${how})`,
  working: "computing…",
  counted: (kernels: number) => (kernels === 1 ? "1 kernel" : `${kernels} kernels`),
} as const;
