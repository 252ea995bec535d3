// Texts of the instruction roofline: the tooltip, and what is said of a kernel and of the roofs.

import { type InstructionRoofline, type Kernels, textAt } from "../wire/columns.ts";
import { instructionWords as words } from "../words/words.ts";
import type { TooltipRow } from "./describe.ts";
import { nameOf, shortNameOf } from "./kernel_names.ts";
import { formatPercent, formatQuantity, formatSignificant } from "./numbers.ts";

/** The shapes of the points at each level, as letters. */
export const LEVEL_SIGNS: Readonly<Record<string, string>> = { L1: "●", L2: "■", HBM: "◆" };

export const instructionRate = (rate: number) => formatQuantity(rate, "IPS", 4);
export const transactionRate = (rate: number) => formatQuantity(rate, "TXN/s", 4);
const known = (value: number, format: (value: number) => string): string[] =>
  Number.isFinite(value) ? [format(value)] : [];

/** Returns the peak as text, which says whether it is an estimate. */
export const peakText = ({ peak, isEstimate }: InstructionRoofline) =>
  isEstimate ? words.about(instructionRate(peak)) : instructionRate(peak);

/** Returns the head and the rows of the tooltip of a kernel. */
export function instructionCard(
  kernels: Kernels,
  counts: InstructionRoofline,
  row: number,
): readonly [name: string, rows: readonly TooltipRow[]] {
  const at = (column: Float64Array | undefined) => column?.[row] ?? Number.NaN;
  const rate = at(counts.rate);
  const levels = [...counts.levels].map(([level, column]): TooltipRow => {
    const share = rate / (at(column) * (counts.roofs.get(level) ?? Number.NaN));
    const parts = [...known(at(column), formatSignificant), ...known(share, (of) => words.ofRoof(formatPercent(of)))];
    return [`${LEVEL_SIGNS[level] ?? ""} ${words.perLevelRow(level)}`.trim(), parts.join(" · ")];
  });
  const accesses = (["global", "shared"] as const).map((space): TooltipRow => {
    const [each = ""] = known(1 / at(counts.accesses.get(space)?.intensity), (count) =>
      words.each[space](formatSignificant(count)),
    );
    return [words.accesses[space], each];
  });
  const [share = ""] = known(at(counts.utilization), formatPercent);
  const rows: TooltipRow[] = [
    [words.rate, instructionRate(rate)],
    ...levels,
    [words.lowest, share && `${share} · ${boundText(counts, row)}`],
    [words.lanes, known(at(counts.lanes), formatPercent)[0] ?? ""],
    ...accesses,
  ];
  return [nameOf(kernels, row), rows.filter(([, value]) => value !== "")];
}

function boundText({ bound }: InstructionRoofline, row: number): string {
  const name = textAt(bound, row) ?? "unknown";
  return name === "instructions" ? words.peak : name;
}

/** Returns what is said of a kernel: its roof as a formula, and how much of it the kernel reaches. */
export function instructionFormula(kernels: Kernels, counts: InstructionRoofline, row: number): string {
  const rate = counts.rate[row] as number;
  if (!(rate > 0)) return `${shortNameOf(kernels, row)}: ${words.uncounted}`;
  const share = counts.utilization[row] as number;
  const level = boundText(counts, row);
  const bandwidth = counts.roofs.get(level);
  const intensity = counts.levels.get(level)?.[row];
  const name = `${shortNameOf(kernels, row)}: ${instructionRate(rate)}`;
  if (!Number.isFinite(share)) return `${name}; ${words.unknownRoof}`;
  const roof = instructionRate(rate / share);
  if (bandwidth === undefined || intensity === undefined) return `${name}; ${words.ofPeak(formatPercent(share), roof)}`;
  const product = `${words.perLevel(formatSignificant(intensity), level)} × ${transactionRate(bandwidth)} = ${roof}`;
  return `${name}; ${words.ofProduct(formatPercent(share), product)}`;
}

/** Returns what is said of the plane if no kernel is hovered or selected. */
export function instructionSentence(counts: InstructionRoofline | null): string {
  if (!counts) return words.noCounts;
  if (counts.roofs.size === 0 && Number.isNaN(counts.peak)) return words.noRoofs;
  return counts.isEstimate ? `${words.model}; ${words.estimate}` : words.model;
}
