// Texts about a kernel: the sentence under the chart, the rows of the tooltip, and the label of the gap between the
// kernel and the roof.

import { type Bound, hasTime, intensityAt, isUnlinked, judge, perByte } from "../roofline/bound.ts";
import { codeAt, colouringOf } from "../roofline/colouring.ts";
import { type Operation, operationIn, operationOf } from "../roofline/operations.ts";
import { bytesAt, CLASSES, peakFor, type Roof, ridgePoint, roofElsewhere } from "../roofline/roofline.ts";
import { isTotal } from "../roofline/totals.ts";
import { type Kernels, textAt } from "../wire/columns.ts";
import type { Terms } from "../wire/types.ts";
import { filterWords, latencyWords, strings } from "../words/words.ts";
import { colourTitle, formatValue } from "./columns.ts";
import { withoutControls } from "./controls.ts";
import { shortNameOf } from "./kernel_names.ts";
import { latencySentence } from "./latency.ts";
import { shortNames } from "./names.ts";
import {
  formatFactor,
  formatIntensity,
  formatPercent,
  formatQuantity,
  formatRatio,
  formatSignificant,
  type RateUnit,
  roundUp,
} from "./numbers.ts";
import { bytesReasonOf } from "./reasons.ts";
import { tellingRows } from "./why.ts";

export type TooltipRow = readonly [label: string, value: string];

/**
 * Returns the displayed name of what binds a kernel: "compute", "network", "overhead", "unknown", or a memory level.
 */
export const bindingWord = (answer: string) => strings.binding[answer] ?? answer;

/** If the compute time is at least the memory time, the attainable rate is a peak. Peaks are shown with four digits. */
export const attainableDigits = ({ memoryOverCompute }: Bound) => (memoryOverCompute <= 1 ? 4 : 3);

/** Returns the label of a roof lowered by exposed communication. */
export const exposedText = (fraction: number) => strings.exposed(formatPercent(fraction));

/** Returns the shown name of a category or a series. */
export const categoryName = (name: string | null) => withoutControls(name || strings.noCategory);

export function sentenceOfRoof(roof: Roof, view: "roofline" | "time" = "roofline", terms: Terms = {}): string {
  const unit = operationIn(roof.precision);
  const peak = withFactor(roof.peak, roof.sheetPeak, `${unit}/s`);
  const { exposedComm } = roof.conditions;
  const exposed = exposedComm > 0 ? ` · ${exposedText(exposedComm)}` : "";
  if (roof.levels.length > 1) return strings.ridges(roof, peak) + exposed;
  const bandwidth = withFactor(roof.bandwidth, roof.sheetBandwidth, "B/s");
  const ridge = strings.ridge(roof, formatIntensity(ridgePoint(roof), 4, `${unit}/B`), peak, bandwidth, terms);
  return `${ridge}: ${strings.sides[view]}${exposed}`;
}

/**
 * Returns a rate as text. If a what-if changed the rate, the text ends with the rate divided by the data sheet's rate,
 * such as "(×1.5)".
 */
function withFactor(rate: number, sheet: number, unit: RateUnit): string {
  const [told, factor] = [formatQuantity(rate, unit, 4), factorOf(rate, sheet)];
  return factor ? `${told} (${factor})` : told;
}

/** Returns the rate divided by the data sheet's rate as text, such as "×1.5". If the text would be "×1", returns "". */
export function factorOf(rate: number, sheet: number): string {
  const ratio = formatSignificant(rate / sheet);
  return ratio === "1" ? "" : `×${ratio}`;
}

/** Returns the word for a kernel's operations. */
const workOf = (kernels: Kernels, row: number, roof: Roof) => strings.work[operationOf(kernels, row, roof.precision)];

/** Returns the sentence of a kernel. With `isBrief`, the sentence has no formula. */
export function sentenceOf(kernels: Kernels, row: number, roof: Roof, isBrief = false): string {
  const bound = judge(kernels, roof)(row);
  const series = kernels.series && !isTotal(kernels, row) ? textAt(kernels.category, row) : null;
  const name = shortNameOf(kernels, row);
  const parts = [strings.on(series ? `${name} (${categoryName(series)})` : name, roof.chip.name)];
  const elsewhere = elsewhereOf(kernels, row, roof);
  if (elsewhere) parts.push(strings.measuredOn(elsewhere));
  const lacking = lacksPeakFor(kernels, row, roof);
  if (lacking !== undefined)
    return [...parts, strings.noPeakForKernel(roof.chip.name, lacking, strings.work[operationIn(lacking)])].join(" · ");
  if (bound.regime === "unknown") {
    return [...parts, bytesReasonOf(kernels, row, roof) ?? strings.unknownSentence(workOf(kernels, row, roof))].join(
      " · ",
    );
  }
  if (roof.conditions.exposedComm > 0) parts.push(exposedText(roof.conditions.exposedComm));
  if (!isBrief) parts.push(leastOf(kernels, row, roof, bound, strings.attainable));
  parts.push(strings.bound(bound.boundBy, bound.regime, formatQuantity(bound.time, "s")));
  // If the kernel was measured on another chip, the possible speed-up is unknown. It is also unknown for a collective
  // whose bytes over the link are unknown, unless the kernel is above the roof.
  const hasNoGap = elsewhere !== undefined || (isUnlinked(kernels, row) && !bound.aboveRoof);
  return [...parts, ...yardsticks(bound, hasNoGap)].join(" · ");
}

/** Returns what bounds a kernel: the formula of its roof with its numbers, and the regime in words. */
export function formulaOf(kernels: Kernels, row: number, roof: Roof): string {
  const bound = judge(kernels, roof)(row);
  if (bound.regime === "unknown") return sentenceOf(kernels, row, roof);
  const least = leastOf(kernels, row, roof, bound, (formula, rate) => `${formula} = ${rate}`);
  return `${least} · ${strings.bound(bound.boundBy, bound.regime, formatQuantity(bound.time, "s"))}`;
}

/** Returns the sentence of a ridge point of `chip`: on which of its sides kernels are bound by what. */
export function sentenceOfRidge(roof: Roof, view: "roofline" | "time", chip: string): string {
  if (roof.levels.length > 1) return sentenceOfRoof(roof, view);
  if (view === "time") return `${chip}: ${strings.sides.time}.`;
  const unit = operationIn(roof.precision);
  return strings.sidesOf(chip, formatIntensity(ridgePoint(roof), 4, `${unit}/B`));
}

/**
 * Returns the name of the chip that the kernel was measured on. Returns undefined if this is the roof's chip, or if the
 * kernel was not measured.
 */
const elsewhereOf = (kernels: Kernels, row: number, roof: Roof) =>
  hasTime(kernels, row) || hasTime(perByte(kernels), row) ? roofElsewhere(kernels, roof)?.chip.name : undefined;

/**
 * Returns the formula min(peak, slope) in numbers, such as "min(989.4 TFLOP/s, 100 FLOP/B × 3.35 TB/s) = 335 TFLOP/s".
 * If all levels are shown, the formula has a slope for each level whose bytes are known. `told` joins the formula and
 * its result. Without FLOPs there is only a time.
 */
function leastOf(
  kernels: Kernels,
  row: number,
  roof: Roof,
  bound: Bound,
  told: (formula: string, rate: string) => string,
): string {
  if (kernels.totalFlops[row] === 0) return zeroFlops(kernels, row, roof, bound);
  const unit = operationOf(kernels, row, roof.precision);
  const peak = formatQuantity(bound.peak, `${unit}/s`, 4);
  const slopes = roof.levels.flatMap(({ name, bandwidth }) => {
    const ai = intensityAt(kernels, row, roof.chip, name);
    const slope = `${formatIntensity(ai, 3, `${unit}/B`)} × ${formatQuantity(bandwidth, "B/s", 4)}`;
    return Number.isNaN(ai) ? [] : [roof.levels.length > 1 ? `${name} ${slope}` : slope];
  });
  const { exposedComm } = roof.conditions;
  const limit = formatQuantity(bound.attainable, `${unit}/s`, attainableDigits(bound));
  const least = strings.least([peak, ...slopes]);
  return told(exposedComm > 0 ? strings.leaving(formatPercent(1 - exposedComm), least) : least, limit);
}

function zeroFlops(kernels: Kernels, row: number, roof: Roof, bound: Bound): string {
  const { name, bandwidth } = bound.slowest;
  const bytes = bytesAt(kernels, roof.chip, name)[row] as number;
  const rate = formatQuantity(bandwidth, "B/s", 4);
  const unit = operationOf(kernels, row, roof.precision);
  return strings.zeroFlopsSentence(unit, formatQuantity(bytes, "B"), formatQuantity(bound.memoryTime, "s"), rate);
}

/**
 * Returns the share of the peak, the share of the roof, and the possible speed-up. If `hasNoGap`, leaves out the
 * speed-up.
 */
function yardsticks(bound: Bound, hasNoGap: boolean): string[] {
  if (Number.isNaN(bound.utilization)) {
    return bound.attainableFraction > 0 ? [strings.atMostOfPeak(formatPercent(bound.attainableFraction))] : [];
  }
  const shares = [strings.ofPeak(formatPercent(bound.peakFraction)), shareText(bound)];
  const factor = factorText(bound);
  if (hasNoGap || (!bound.aboveRoof && factor === "1")) return shares;
  return [...shares, bound.aboveRoof ? strings.aboveRoof : strings.possible(factor)];
}

export function gapText(bound: Bound): string {
  const [share, upTo] = [shareText(bound), upToText(bound)];
  return bound.aboveRoof || upTo === share ? upTo : `${isFar(bound) ? strings.farBelow : share} · ${upTo}`;
}

/** Returns the label of the gap of the kernel to fix first, such as "24× below its roof". */
export const belowRoofText = (bound: Bound): string =>
  bound.aboveRoof || factorText(bound) === "1" ? upToText(bound) : strings.belowRoof(factorText(bound));

const shareText = ({ utilization }: Bound) => strings.ofRoof(formatPercent(utilization));

/** Returns the label of the possible speed-up. */
export function upToText(bound: Bound): string {
  if (bound.aboveRoof) return strings.aboveRoofShort;
  const factor = factorText(bound);
  if (factor === "1") return shareText(bound);
  return isFar(bound) ? `${factor}×` : strings.upTo(factor);
}

/**
 * If the possible speed-up is larger than this, the text is "> 1000", because the roof does not explain the kernel's
 * time.
 */
const MAX_SHOWN_FACTOR = 1000;
const isFar = ({ utilization }: Bound) => 1 / utilization > MAX_SHOWN_FACTOR;
const factorText = (bound: Bound) =>
  isFar(bound) ? strings.moreThan(formatRatio(MAX_SHOWN_FACTOR)) : formatFactor(1 / bound.utilization);

/** Returns the time of a kernel with its share of the run. Undefined if the time is unknown. */
function timeRow(kernels: Kernels, row: number): TooltipRow | undefined {
  const [seconds, own] = [kernels.time[row] as number, kernels.selfTime[row] as number];
  if (!(seconds > 0)) return undefined;
  const part = isTotal(kernels, row) ? Number.NaN : own / kernels.totalTime;
  const share = Number.isNaN(part) ? "" : ` · ${strings.tooltip.share(formatPercent(part))}`;
  return [strings.tooltip.time, formatQuantity(seconds, "s") + share];
}

/** Returns the first text without the unit that it shares with the second. */
function withoutUnit(text: string, other: string): string {
  const [number = text, unit] = text.split(" ");
  return unit && other.endsWith(` ${unit}`) ? number : text;
}

/**
 * Returns the rows of the tooltip of a hovered kernel: how long it takes, what it reaches, and what bounds it. An unknown
 * bound has its reason. Latency and the counters that explain the kernel come last.
 */
export function briefRows(kernels: Kernels, row: number, roof: Roof, roofs: readonly Roof[] = []): TooltipRow[] {
  const words = strings.tooltip;
  const bound = judge(kernels, roof)(row);
  const unit = operationOf(kernels, row, roof.precision);
  const each = kernels.count[row] as number;
  const rows: TooltipRow[] = [];
  const time = timeRow(kernels, row);
  if (time) rows.push(time);
  // An unmeasured kernel has a point on each roof.
  else if (roofs.length > 1 && Number.isNaN(bound.achieved))
    rows.push([words.chip, shortNames(roofs.map(({ chip }) => chip)).get(roof.chip.id) as string]);
  if (time && each > 1)
    rows.push([words.launches, `${each} × ${formatQuantity((kernels.time[row] as number) / each, "s")}`]);
  const isUnknown = bound.regime === "unknown";
  const [rate, limit] =
    bound.ai === 0
      ? ratesOfBytes(kernels, row, roof, bound)
      : [
          Number.isNaN(bound.achieved) ? "" : formatQuantity(bound.achieved, `${unit}/s`),
          formatQuantity(bound.attainable, `${unit}/s`, attainableDigits(bound)),
        ];
  if (rate) rows.push([words.achieved, isUnknown ? rate : words.of(rate, withoutUnit(limit, rate))]);
  else if (!isUnknown) rows.push([words.limit, limit]);
  const intensity = bound.ai === 0 ? `0 ${unit}` : formatIntensity(bound.ai, 3, `${unit}/B`);
  rows.push([words.boundBy, isUnknown ? strings.unknown : `${bindingWord(bound.boundBy)}, ${intensity}`]);
  if (isUnknown)
    rows.push([words.why, bytesReasonOf(kernels, row, roof) ?? strings.unknownSentence(workOf(kernels, row, roof))]);
  if (bound.aboveRoof) rows.push([words.ofRoof, words.above]);
  else if (!Number.isNaN(bound.utilization)) rows.push([words.ofRoof, formatPercent(bound.utilization)]);
  const latency = latencySentence(kernels, row, roof);
  if (latency) rows.push([latencyWords.name, latency]);
  return [...rows, ...tellingRows(kernels, row)];
}

/** Returns the bytes/s that a kernel without FLOPs reaches, empty if it was not measured, and the bandwidth. */
function ratesOfBytes(kernels: Kernels, row: number, roof: Roof, { slowest }: Bound): [rate: string, limit: string] {
  const seconds = perByte(kernels).time[row] as number;
  const rate = (bytesAt(perByte(kernels), roof.chip, slowest.name)[row] as number) / seconds;
  return [rate > 0 ? formatQuantity(rate, "B/s") : "", formatQuantity(slowest.bandwidth, "B/s", 4)];
}

/**
 * Returns all rows of the tooltip, for a selected kernel. `roofs` are the roofs of the shown chips. One of the rows names the chips on which
 * the kernel would be compute-bound.
 */
export function tooltipRows(
  kernels: Kernels,
  row: number,
  roof: Roof,
  view: "roofline" | "time" = "roofline",
  roofs: readonly Roof[] = [],
  terms: Terms = {},
  colourBy = "category",
): TooltipRow[] {
  const words = strings.tooltip;
  const bound = judge(kernels, roof)(row);
  const unit = operationOf(kernels, row, roof.precision);
  const measured = !Number.isNaN(bound.achieved) || hasTime(kernels, row);
  const seconds = (kernels.time[row] as number) || Number.NaN;
  const category = textAt(kernels.category, row);
  const rows: TooltipRow[] = [];
  const add = (label: string, value: string | undefined) => value !== undefined && rows.push([label, value]);
  add(kernels.series ? strings.series : words.category, category === null ? undefined : categoryName(category));
  const colour = colourRow(kernels, row, colourBy, roof.precision);
  if (colour) rows.push(colour);
  const each = kernels.count[row] as number;
  if (view === "time") {
    add(strings.time.axisX, formatQuantity(bound.computeTime / each, "s"));
    add(strings.time.axisY, formatQuantity(bound.memoryTime / each, "s"));
  }
  add(words.chip, roof.chip.name);
  add(words.measuredOn, elsewhereOf(kernels, row, roof));
  for (const [label, value] of intensityRows(kernels, row, roof, bound, terms, unit)) add(label, value);
  const outside = bound.regime === "network" || bound.regime === "overhead";
  if (bound.ai !== 0) {
    const rate = (value: number, digits?: number) => formatQuantity(value, `${unit}/s`, digits);
    add(words.achieved, measured ? rate(bound.achieved) : undefined);
    add(words.attainable, rate(bound.attainable, attainableDigits(bound)));
    if (outside) add(words.withOutside, rate((kernels.totalFlops[row] as number) / bound.time));
  }
  add(words.roof, measured ? formatPercent(bound.utilization) : undefined);
  add(words.peak, measured ? formatPercent(bound.peakFraction) : undefined);
  add(words.atMost, measured || bound.ai === 0 ? undefined : formatPercent(bound.attainableFraction));
  add(words.boundBy, bindingWord(bound.boundBy));
  add(words.why, bound.regime === "unknown" ? bytesReasonOf(kernels, row, roof) : undefined);
  add(latencyWords.name, latencySentence(kernels, row, roof));
  for (const [label, value] of tellingRows(kernels, row)) add(label, value);
  const ratio = bound.memoryOverCompute;
  if (bound.regime === "memory" && Number.isFinite(ratio) && roof.levels.length === 1) {
    // The bandwidth is rounded up, because the kernel would not be compute-bound at a bandwidth that is rounded down.
    const least = formatQuantity(roundUp(ratio * bound.slowest.bandwidth, 4), "B/s", 4);
    add(words.flip, `${least} (×${formatSignificant(roundUp(ratio, 3))})`);
  }
  add(words.computeBoundOn, computeBoundOn(kernels, row, roofs));
  const own = kernels.selfTime[row] as number;
  const part = isTotal(kernels, row) ? Number.NaN : own / kernels.totalTime;
  const share = Number.isNaN(part) ? "" : ` · ${words.share(formatPercent(part))}`;
  // The rows from here on are less important. If there is little space, the tooltip drops the last rows first.
  const time = formatQuantity(seconds, "s") + (own === seconds ? share : "");
  add(words.time, measured ? (Number.isNaN(seconds) ? words.noTime : time) : undefined);
  add(words.selfTime, measured && own !== seconds && !Number.isNaN(own) ? formatQuantity(own, "s") + share : undefined);
  if (measured) for (const [label, value] of bandwidthRows(kernels, row, roof)) add(label, value);
  add(words.boundTime, formatQuantity(bound.time, "s"));
  add(words.launches, each > 1 ? String(each) : undefined);
  return rows;
}

/** The columns whose values are in every tooltip. */
const ALWAYS_IN_TOOLTIP = ["category", "time", "self_time"];

/**
 * Returns the name and the value of the column that gives points their colours. Returns undefined for a column whose
 * value the tooltip has anyway, and for a total. `asked` is the precision of kernels that have none of their own.
 */
export function colourRow(kernels: Kernels, row: number, colourBy: string, asked: string): TooltipRow | undefined {
  const colouring = colouringOf(kernels, colourBy);
  if (ALWAYS_IN_TOOLTIP.includes(colouring.key) || isTotal(kernels, row)) return;
  const [title, unit] = colourTitle(colouring.key);
  if (codeAt(colouring, row) < 0) return [title, filterWords.notTold];
  if (colouring.kind === "text") return [title, textAt(colouring.column, row) ?? ""];
  return [title, formatValue(colouring.values[row] as number, unit, 3, operationOf(kernels, row, asked))];
}

/**
 * Returns the names of the chips on which the kernel is compute-bound. If the kernel is compute-bound on no chip or on
 * all chips, returns undefined. If the bound on a chip is unknown, or if the row is a total, returns undefined too.
 */
function computeBoundOn(kernels: Kernels, row: number, roofs: readonly Roof[]): string | undefined {
  const regimes = roofs.map((roof) => judge(kernels, roof)(row).regime);
  const short = shortNames(roofs.map(({ chip }) => chip));
  const names = roofs.flatMap(({ chip }, at) => (regimes[at] === "compute" ? [short.get(chip.id)] : []));
  const isSplit = names.length > 0 && names.length < roofs.length;
  return isSplit && !regimes.includes("unknown") && !isTotal(kernels, row) ? names.join(", ") : undefined;
}

/**
 * Returns the rows for arithmetic intensity. If all levels are shown, there is a row for each level whose bytes are
 * known.
 */
function intensityRows(
  kernels: Kernels,
  row: number,
  roof: Roof,
  bound: Bound,
  terms: Terms,
  unit: Operation,
): TooltipRow[] {
  const label = strings.tooltip.ai(terms);
  const shown = (ai: number) => formatIntensity(ai, 3, `${unit}/B`);
  if (roof.levels.length === 1) return [[label, shown(bound.ai)]];
  return roof.levels.flatMap(({ name }): TooltipRow[] => {
    const ai = intensityAt(kernels, row, roof.chip, name);
    return Number.isNaN(ai) ? [] : [[strings.tooltip.aiAt(name, terms), shown(ai)]];
  });
}

/** Returns a row with the achieved rate for each level whose bytes and bandwidth are known. */
function bandwidthRows(kernels: Kernels, row: number, roof: Roof): TooltipRow[] {
  const rows: TooltipRow[] = [];
  const work = perByte(kernels);
  for (const [level, bandwidth] of roof.bandwidths) {
    const rate = (bytesAt(work, roof.chip, level)[row] as number) / (work.time[row] as number);
    if (bandwidth === null || !(rate > 0)) continue;
    const percent = formatPercent(rate / bandwidth);
    rows.push([strings.tooltip.bandwidth(level), `${formatQuantity(rate, "B/s")} · ${percent}`]);
  }
  return rows;
}

function lacksPeakFor(kernels: Kernels, row: number, roof: Roof): string | undefined {
  for (const [key, column] of perByte(kernels).flops) {
    const own = textAt(kernels.precision, row);
    // If FLOPs have no precision, they have the precision of the kernel. If FLOPs have a class, such as "matmul", in
    // place of a precision, they have the precision of the kernel too.
    if (!Number.isNaN(column[row] as number) && peakFor(roof, key, own) === undefined)
      return own && (key === "" || CLASSES.includes(key)) ? own : key;
  }
  return undefined;
}
