// Filter bar.

import { whole } from "./numbers.ts";

export const filterWords = {
  title: "Filters",
  counted: (shown: number, all: number) => `${whole(shown)} of ${whole(all)} kernels`,
  ofTime: (percent: string) => `${percent} of time`,
  totals: (count: number) => (count === 1 ? "1 total" : `${whole(count)} totals`),
  almostAll: "over 99 %",
  search: "Search names",
  searchHint: "gemm  fused*norm",
  category: "Category",
  boundBy: "Bound by",
  precision: "Precision",
  all: "all",
  chosen: (count: number) => `${count} chosen`,
  notTold: "not given",
  timeShare: "Time",
  longest: (percent: string) => `the longest kernels, together ${percent} of the time`,
  top: "Top",
  infeed: "Infeed and outfeed",
  scope: "Points",
  scopes: { kernels: "kernels", program: "program and steps" },
  clear: "Clear filters",
  byCategory: "Self time by category. Click: show this category only. Shift or Ctrl and click: add it.",
  part: (name: string, percent: string, kernels: number) =>
    `${name} · ${percent} of time · ${kernels === 1 ? "1 kernel" : `${whole(kernels)} kernels`}`,
  rest: (categories: number) => `${categories} more categories`,
  remarks: (count: number) => (count === 1 ? "1 remark on this file" : `${count} remarks on this file`),
} as const;
