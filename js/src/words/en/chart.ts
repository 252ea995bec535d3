// English texts for the chart, the tooltip, the sentence under the chart, typed rates, and the controls above the
// chart.

import type { Roof } from "../../roofline/roofline.ts";

export const strings = {
  unknown: "unknown",
  noNumber: (typed: string, example: string) => `no number in “${typed}”; write for example “${example}”`,
  notAUnit: (suffix: string, unit: string, example: string) =>
    `“${suffix}” is not a unit of ${unit}; write for example “${example}”`,
  unitMissing: (typed: string, example: string) => `“${typed}” has no unit; write for example “${example}”`,
  notAboveZero: (example: string) => `a rate must be above zero; write for example “${example}”`,
  chips: "Chips",
  precision: "Precision",
  memory: "Memory",
  auto: (names: readonly string[]) => (names.length === 1 ? `auto (${names[0]})` : "auto"),
  main: (names: readonly string[]) => (names.length === 1 ? `main (${names[0]})` : "main"),
  otherVendor: "Other",
  focus: (chip: string) => `Focus ${chip}: the sliders change it`,
  show: (chip: string) => `Show ${chip}`,
  lacksPeak: (precision: string) => `no ${precision}`,
  lacksBandwidth: (memory: string) => `no ${memory}`,
  lacksPeakReason: (chip: string, precision: string) => `${chip} has no peak for ${precision}`,
  lacksBandwidthReason: (chip: string, memory: string) => `${chip} has no bandwidth for ${memory}`,
  noSliders: (reason: string) => `${reason}: choose another chip, precision or memory.`,
  peak: (precision: string) => `Peak ${precision}`,
  bandwidth: (level: string) => `${level} bandwidth`,
  typed: (label: string) => `${label}, typed`,
  reset: "Back to the data sheet",
  chart: (chips: string, kernels: number) =>
    `Roofline of ${chips || "no chip"} with ${kernels} kernels. Arrow keys move from kernel to kernel, Enter selects one, M moves one.`,
  memoryRegion: "memory-bound",
  computeRegion: "compute-bound",
  noChip: "No chip is shown: switch one on.",
  noChips: 'No chip to compare these kernels with: set chips, for example w.chips = ["h100-sxm"].',
  ridge: (roof: Roof, ridge: string, peak: string, bandwidth: string) =>
    `${roof.chip.name} · ${peak} at ${roof.precision}, ${bandwidth} from ${roof.level} · ridge point ${ridge}`,
  ridges: (roof: Roof, peak: string) =>
    `${roof.chip.name} · ${peak} at ${roof.precision} · one roof and ridge point per level; the slowest level binds`,
  /** The label of the ridge point. */
  ridgeAt: (ai: string) => `ridge ${ai}`,
  sides: {
    roofline: "kernels left of it are memory-bound, right of it compute-bound",
    time: "kernels above the diagonal are memory-bound, below it compute-bound",
  },
  on: (kernel: string, chip: string) => `${kernel} on ${chip}`,
  measuredOn: (chip: string) => `measured on ${chip}`,
  least: (terms: readonly string[]) => `min(${terms.join(", ")})`,
  attainable: (formula: string, rate: string) => `${formula} = ${rate} attainable`,
  bound: (by: string, regime: string, time: string) =>
    ({
      memory: `memory-bound (${by})`,
      compute: "compute-bound",
      network: `network-bound: ${time} over its link`,
      overhead: `launch-bound: ${time} of launch overhead`,
    })[regime] ?? "bound unknown",
  /** Texts for what binds a kernel, unless it is a memory level. */
  binding: {
    compute: "compute",
    network: "network",
    overhead: "overhead",
    unknown: "unknown",
  } as Readonly<Record<string, string>>,
  ofPeak: (percent: string) => `${percent} of peak`,
  atMostOfPeak: (percent: string) => `at most ${percent} of peak`,
  ofRoof: (percent: string) => `${percent} of roof`,
  possible: (ratio: string) => `${ratio}× possible`,
  upTo: (ratio: string) => `up to ${ratio}×`,
  farBelow: "far below its roof",
  moreThan: (ratio: string) => `> ${ratio}`,
  aboveRoof: "above its roof: check its counts, its time and the peaks",
  aboveRoofShort: "above its roof",
  zeroFlopsSentence: (bytes: string, time: string, bandwidth: string) =>
    `0 FLOP, ${bytes}: at least ${time} at ${bandwidth}`,
  unknownSentence: "its FLOPs or bytes are unknown, so it is not on the chart",
  noPeakForKernel: (chip: string, precision: string) => `${chip} has no peak for its ${precision} FLOPs`,
  notDrawn: (count: number) =>
    count === 1
      ? "1 kernel is not drawn: its FLOPs, bytes or peak are unknown."
      : `${count} kernels are not drawn: their FLOPs, bytes or peaks are unknown.`,
  noCategory: "no category",
  moreCategories: (count: number) => `and ${count} more, in the same colours`,
  unnamed: (row: number) => `(unnamed ${row})`,
  level: (name: string, bandwidth: string, illustrative: boolean) =>
    `${name} · ${bandwidth}${illustrative ? " (illustrative)" : ""}`,
  exposed: (percent: string) => `${percent} exposed`,
  tooltip: {
    category: "category",
    chip: "on",
    measuredOn: "measured on",
    ai: "AI",
    aiAt: (level: string) => `AI at ${level}`,
    achieved: "achieved",
    attainable: "attainable",
    attainableAlone: "without network and launches",
    possible: "attainable",
    roof: "of roof",
    peak: "of peak",
    atMost: "of peak, at most",
    boundBy: "bound by",
    bandwidth: (level: string) => `${level} rate`,
    flip: "compute-bound from",
    computeBoundOn: "compute-bound on",
    time: "time",
    selfTime: "self time",
    boundTime: "least time",
    launches: "launches",
    share: (percent: string) => `${percent} of all`,
  },
  time: {
    chart: (chip: string, kernels: number) =>
      `Compute and memory time of ${kernels} kernels on ${chip || "no chip"}. Arrow keys move from kernel to kernel, Enter selects one.`,
    axisX: "compute time per launch",
    axisY: "memory time per launch",
    diagonal: (chip: string) => `${chip}: compute = memory`,
    overhead: (seconds: string) => `launch overhead ${seconds}`,
    zeroFlops: "0 FLOP",
    zeroBytes: "0 B",
    empty: "No kernel has both FLOPs and bytes.",
  },
} as const;
