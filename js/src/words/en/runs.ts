// Ranking, projected time and comparison of two runs.

const kernels = (count: number) => (count === 1 ? "1 kernel" : `${count} kernels`);

export const runWords = {
  fixFirst: (count: number) => `Fix these ${count} first`,
  back: (percent: string) => `${percent} of the time`,
  gains: (chip: string) => `What each would give back on reaching its roof on ${chip}, of the time of all kernels:`,
  selectThem: (count: number) => `Select these ${count}`,

  projected: "Projected time",
  fromTo: (from: string, to: string) => `${from} → ${to}`,
  ranFor: (time: string, chip: string, precision: string) => `${time} on ${chip} (${precision})`,
  goesFor: (time: string, chip: string, precision: string, ratio: string) =>
    `${time} on ${chip} (${precision}): ${ratio === "1" ? "just" : `${ratio}×`} as fast`,
  keeps: "Each kernel keeps its share of the roof.",
  stays: (time: string) => `${time} stay as they are: a bound of theirs is unknown.`,
  far: (percent: string, limit: string) =>
    `${percent} of the time is that of kernels below ${limit} of their roof, which another roof may not speed up.`,
  ranOn: "Ran on",
  runIn: "All FLOPs in",
  asTold: "their precision",
  reaching: "If these reach their roof:",
  selectSome: "Select kernels that are to reach their roof.",
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
