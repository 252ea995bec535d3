// English texts for the ranking, the projected time, and the comparison of two runs.

const kernels = (count: number) => (count === 1 ? "1 kernel" : `${count} kernels`);

export const runWords = {
  fixFirst: (count: number) => `Fix these ${count} first`,
  back: (percent: string, isBrief: boolean) => `${percent} ${isBrief ? "" : "of run time "}to gain`,
  gains: (chip: string) => `What each kernel saves if it reaches its roof on ${chip}, of the time of all kernels:`,
  selectThem: (count: number) => `Select these ${count}`,

  projected: "Projected time",
  ranFor: (time: string, chip: string, precision: string) => `${time} on ${chip} (${precision})`,
  goesFor: (time: string, chip: string, precision: string, ratio: string) =>
    `${time} on ${chip} (${precision}): ${ratio === "1" ? "just" : `${ratio}×`} as fast`,
  keeps: "Each kernel keeps its share of the roof.",
  stays: (time: string) => `${time} of kernels with an unknown bound stay as measured.`,
  far: (percent: string, limit: string) =>
    `Kernels below ${limit} of their roof (${percent} of the time) may not get faster on another chip.`,
  ranOn: "Ran on",
  runIn: "All FLOPs in",
  asTold: "their precision",
  reaching: "If these reach their roof:",
  selectSome: "Select kernels to see the time if they reach their roof.",
  allSelected: (count: number) => `all ${count} selected`,
  more: (count: number) => `and ${count} more`,

  compared: "Two runs",
  verdicts: {
    faster: "faster",
    slower: "slower",
    equal: "equal",
    "other work": "other work",
    unknown: "unknown",
  } as Record<string, string>,
  verdictTitle: "equal: the ranges of their times overlap; other work: their FLOPs differ",
  kernel: "Kernel",
  before: "Before",
  now: "Now",
  change: "Change",
  verdict: "Verdict",
  showMore: (count: number) => `${count} more`,
  onlyBefore: (count: number) => `${kernels(count)} only before:`,
  onlyNow: (count: number) => `${kernels(count)} only now:`,
} as const;
