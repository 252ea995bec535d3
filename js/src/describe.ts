// What is said of a kernel: the sentence under the chart, the tooltip's rows, the call-out of its gap.

import { formatIntensity, formatPercent, formatQuantity, formatRatio } from "./format.ts";
import type { Bound, Roof } from "./roofline.ts";
import { boundOf, bytesAt, ridgePoint } from "./roofline.ts";
import { strings } from "./strings.ts";
import type { Kernels } from "./wire.ts";
import { textAt } from "./wire.ts";

export type Row = readonly [label: string, value: string];

export function nameOf(kernels: Kernels, row: number): string {
  return textAt(kernels.name, row)?.trim() || strings.unnamed(row);
}

export function sentenceOfRoof(roof: Roof): string {
  return strings.ridge(
    roof,
    formatIntensity(ridgePoint(roof), 4),
    formatQuantity(roof.peak, "FLOP/s", 4),
    formatQuantity(roof.bandwidth, "B/s", 4),
  );
}

export function sentenceOf(kernels: Kernels, row: number, roof: Roof): string {
  const bytes = bytesAt(kernels, roof.chip, roof.level)[row] as number;
  const bound = boundOf(kernels, row, roof, bytes);
  const bandwidth = formatQuantity(roof.bandwidth, "B/s", 4);
  const parts = [strings.on(nameOf(kernels, row), roof.chip.name)];
  const lacking = lacksPeakFor(kernels, row, roof);
  if (lacking !== undefined) return [...parts, strings.noPeakForKernel(roof.chip.name, lacking)].join(" · ");
  if (bound.regime === "unknown") return [...parts, strings.unknownSentence].join(" · ");
  if (kernels.totalFlops[row] === 0) {
    parts.push(strings.zeroFlopsSentence(formatQuantity(bytes, "B"), formatQuantity(bound.time, "s"), bandwidth));
  } else {
    const peak = formatQuantity(bound.peak, "FLOP/s", 4);
    const slope = `${formatIntensity(bound.ai)} × ${bandwidth}`;
    const limit = bound.regime === "compute" ? peak : formatQuantity(bound.attainable, "FLOP/s");
    parts.push(`min(${peak}, ${slope}) = ${limit}`);
  }
  parts.push(strings.bound(bound.boundBy, bound.regime));
  return [...parts, ...yardsticks(bound)].join(" · ");
}

/** Both yardsticks together, and what closing the gap is worth. */
function yardsticks(bound: Bound): string[] {
  if (Number.isNaN(bound.utilization)) {
    return bound.ai > 0 ? [strings.atMostOfPeak(formatPercent(bound.attainableFraction))] : [];
  }
  const gap = bound.aboveRoof ? strings.aboveRoof : strings.possible(formatRatio(1 / bound.utilization));
  return [strings.ofPeak(formatPercent(bound.peakFraction)), strings.ofRoof(formatPercent(bound.utilization)), gap];
}

export function gapText(bound: Bound): string {
  return bound.aboveRoof
    ? strings.aboveRoofShort
    : strings.gap(formatPercent(bound.utilization), formatRatio(1 / bound.utilization));
}

export function tooltipRows(kernels: Kernels, row: number, roof: Roof): Row[] {
  const words = strings.tooltip;
  const bytes = bytesAt(kernels, roof.chip, roof.level)[row] as number;
  const bound = boundOf(kernels, row, roof, bytes);
  const measured = !Number.isNaN(bound.achieved) || (kernels.time[row] as number) > 0;
  const seconds = kernels.time[row] as number;
  const category = textAt(kernels.category, row);
  const rows: Row[] = [];
  const add = (label: string, value: string | undefined) => value !== undefined && rows.push([label, value]);
  add(words.category, category ?? undefined);
  add(words.chip, roof.chip.name);
  add(words.ai, formatIntensity(bound.ai));
  if (bound.ai !== 0) {
    add(words.achieved, measured ? formatQuantity(bound.achieved, "FLOP/s") : undefined);
    add(words.attainable, formatQuantity(bound.attainable, "FLOP/s"));
  }
  add(words.roof, measured ? formatPercent(bound.utilization) : undefined);
  add(words.peak, measured ? formatPercent(bound.peakFraction) : undefined);
  add(words.atMost, measured || bound.ai === 0 ? undefined : formatPercent(bound.attainableFraction));
  add(words.boundBy, bound.boundBy);
  if (bound.regime === "memory" && bound.computeTime > 0) {
    const enough = bytes / bound.computeTime;
    add(words.flip, words.ofNow(formatQuantity(enough, "B/s", 4), formatRatio(enough / roof.bandwidth)));
  }
  if (measured) for (const [label, value] of bandwidthRows(kernels, row, roof)) add(label, value);
  const share = kernels.totalTime > 0 ? ` · ${words.share(formatPercent(seconds / kernels.totalTime))}` : "";
  add(words.time, measured ? formatQuantity(seconds, "s") + share : undefined);
  add(words.boundTime, formatQuantity(bound.time, "s"));
  const launches = kernels.count[row] as number;
  add(words.launches, launches > 1 ? String(launches) : undefined);
  return rows;
}

/** The achieved rate at every level whose bytes and bandwidth are known. */
function bandwidthRows(kernels: Kernels, row: number, roof: Roof): Row[] {
  const rows: Row[] = [];
  for (const [level, bandwidth] of roof.bandwidths) {
    const rate = (bytesAt(kernels, roof.chip, level)[row] as number) / (kernels.time[row] as number);
    if (bandwidth === null || Number.isNaN(rate)) continue;
    const percent = formatPercent(rate / bandwidth);
    rows.push([strings.tooltip.bandwidth(level), strings.tooltip.ofBandwidth(formatQuantity(rate, "B/s"), percent)]);
  }
  return rows;
}

function lacksPeakFor(kernels: Kernels, row: number, roof: Roof): string | undefined {
  for (const [precision, column] of kernels.flops) {
    const own = precision || textAt(kernels.precision, row);
    if (!Number.isNaN(column[row] as number) && own && !roof.peaks.has(own)) return own;
  }
  return undefined;
}
