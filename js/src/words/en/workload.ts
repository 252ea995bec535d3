// Workload panel.

export const workloadWords = {
  title: "Workload",
  phase: "Phase",
  dtype: "dtype",
  asBuilt: (dtype: string) => `as built (${dtype})`,
  noPeak: (dtype: string, chip: string) => `${dtype} (${chip} has no peak)`,
  convention: "Convention",
  asPeaks: "Kernels count a multiply-add as 2 FLOPs, as peaks do.",
  reset: (name: string, size: number) => `Back to the default: ${name} = ${size}`,
  notWhole: (typed: string, example: number) => `“${typed}” is not a whole number; write for example “${example}”`,
  outside: (name: string, low: number, high: number) => `${name} must be from ${low} to ${high}`,
  tooSmall: (whose: string, size: string) => `${whose} = ${size}, which is not at least 1`,
  noMultiple: (whose: string, count: string, divisor: string) => `${whose} = ${count} is no multiple of ${divisor}`,
  wouldDo: (fault: string, name: string, size: number | undefined) =>
    size === undefined ? fault : `${fault}; ${name} = ${size} would do`,
  operations: "Operations",
  pointAtOne: "Hover an operation, or move to it with the arrow keys, to see its formula.",
  flops: (kind: string) => (kind === "" ? "FLOPs" : `FLOPs, ${kind}`),
  bytes: "Bytes",
  terms: "Of its FLOPs",
} as const;
