// Texts about a kernel's what-if: the note next to the kernel's point, the sentence, and the row of the tooltip.

import { hasTime, isByRatios, judge } from "../roofline/bound.ts";
import { judgeOf, type Moved, totalOf } from "../roofline/kernel_moves.ts";
import { operationOf } from "../roofline/operations.ts";
import type { Roof } from "../roofline/roofline.ts";
import type { Kernels } from "../wire/columns.ts";
import type { Moves } from "../wire/types.ts";
import { moveWords, strings } from "../words/words.ts";
import type { TooltipRow } from "./describe.ts";
import { shortNameOf } from "./kernel_names.ts";
import { ofChip } from "./names.ts";
import { formatFactor, formatPercent, formatQuantity, type RateUnit } from "./numbers.ts";

/** If a factor or share differs from 1 by less than this, it counts as 1. */
const FACTOR_TOLERANCE = 1e-9;
const seconds = (time: number) => formatQuantity(time, "s");
const line = (parts: readonly string[]) => parts.join(" · ");
const isOne = (ratio: number) => Math.abs(ratio - 1) < FACTOR_TOLERANCE;

/** The what-ifs of the kernels, and the results of these what-ifs under the focus roof. */
export interface MovedKernels {
  readonly kernels: Kernels;
  readonly moves: Moves;
  readonly moved: Moved | undefined;
  readonly focus: Roof;
  /** The kernel that is being dragged, by pointer or by keys. */
  readonly dragged: { readonly row: number; readonly byKeys: boolean } | undefined;
}

/**
 * Returns the lines of a what-if's note. The first line is about the kernel, the second line is about all kernels. If
 * the first line does not fit, the first line is split, and there is no second line. If only the second line does not
 * fit, there is no second line. If the kernel has no what-if, returns no lines.
 */
export function noteOf(
  { kernels, moves, moved, focus }: Omit<MovedKernels, "dragged">,
  row: number,
  fits: (line: string) => boolean = () => true,
): readonly string[] {
  const at = moved?.rows.indexOf(row) ?? -1;
  if (!moved || at < 0) return [];
  const { bytes = 1, time = 1 } = moves[row] ?? {};
  const traffic = formatFactor(bytes < 1 ? 1 / bytes : bytes);
  const [before, after] = totalOf(kernels, moved);
  // If there is only one kernel, the line about all kernels would repeat the kernel's line.
  const others =
    before - (kernels.selfTime[row] as number) > FACTOR_TOLERANCE * before && seconds(before) !== seconds(after);
  const share = isOne(moved.after[at] as number)
    ? moveWords.atRoof
    : strings.ofRoof(formatPercent(moved.after[at] as number));
  const there = (figure: string) => ofChip(figure, judgeOf(kernels, focus).chip, focus);
  const ownWith = (where: (figure: string) => string) => [
    ...(traffic === "1" ? [] : [bytes < 1 ? moveWords.less(traffic) : moveWords.more(traffic)]),
    kernels.time[row] ? timeText(kernels, moved, at, where) : rateText(kernels, moved, at, focus),
  ];
  const own = ownWith(there);
  const rest = [...(time === 1 ? [] : [there(share)]), ...(others ? [moveWords.all(changeOf(before, after))] : [])];
  const [first, second] = [line(own), line(rest)];
  // If the first line does not fit, each of its parts becomes a line. If a part with the chip's name does not fit, the
  // chip's name is left out.
  if (!fits(first)) return own.every(fits) ? own : ownWith((figure) => figure);
  return second === "" || !fits(second) ? [first] : [first, second];
}

/** Returns the change of the time as text. `there` can add the name of the chip that the times are for. */
function timeText(
  kernels: Kernels,
  { rows, factor, kernels: { time } }: Moved,
  at: number,
  there: (figure: string) => string,
): string {
  const by = factor[at] as number;
  const [before, after] = [kernels.time[rows[at] as number] as number, time[at] as number];
  if (Number.isNaN(by)) return moveWords.unknownTime;
  const [ratio, change] = [formatFactor(by < 1 ? 1 / by : by), there(changeOf(before, after))];
  if (ratio === "1") return moveWords.still(there(seconds(before)));
  return by < 1 ? moveWords.faster(change, ratio) : moveWords.slower(change, ratio);
}

/** Returns the change of the attainable rate as text, for an unmeasured kernel. */
function rateText(kernels: Kernels, { rows, kernels: then }: Moved, at: number, focus: Roof): string {
  const row = rows[at] as number;
  const before = judge(kernels, focus)(row).attainable;
  const unit = operationOf(kernels, row, focus.precision);
  return moveWords.attainable(changeOf(before, judge(then, focus)(at).attainable, `${unit}/s`));
}

/** Returns the text "from → to" of two amounts. If the two amounts have the same unit, the unit is written once. */
function changeOf(from: number, to: number, unit: "s" | RateUnit = "s"): string {
  const [before, after] = [formatQuantity(from, unit), formatQuantity(to, unit)];
  const [figure = "", prefixed] = before.split(" ");
  return `${after.endsWith(` ${prefixed}`) ? figure : before} → ${after}`;
}

/** Adds the what-if to a kernel's sentence. While the kernel is dragged, the what-if replaces the sentence. */
export function withWhatIf(whatIfs: MovedKernels | undefined, row: number, sentence: string): string {
  if (!whatIfs) return sentence;
  const { dragged } = whatIfs;
  if (dragged?.row === row) return sentenceOfCarried(whatIfs, row, dragged.byKeys);
  const note = noteOf(whatIfs, row);
  return note.length > 0 ? line([sentence, moveWords.whatIf(line(note))]) : sentence;
}

/** Returns the row of the what-if in the tooltip. */
export function whatIfRow(whatIfs: MovedKernels | undefined, row: number): TooltipRow[] {
  const [first] = whatIfs ? noteOf(whatIfs, row) : [];
  return first === undefined ? [] : [[moveWords.told, first]];
}

/**
 * Returns which figures of a kernel a what-if can change. If the bound is known and the number of bytes is above zero,
 * a what-if can change the number of bytes. If the kernel was measured, a what-if can change the time. A kernel without
 * FLOPs, bytes and seconds has no figure to change.
 */
export function possibleWhatIfs(
  kernels: Kernels,
  row: number,
  focus: Roof,
): { readonly bytes: boolean; readonly time: boolean } {
  if (isByRatios(kernels, row)) return { bytes: false, time: false };
  const bound = judge(kernels, judgeOf(kernels, focus))(row);
  const hasPlace = bound.aiOfSlowest > 0 && Number.isFinite(bound.aiOfSlowest);
  return { bytes: hasPlace && bound.regime !== "unknown", time: hasTime(kernels, row) };
}

/** Returns the sentence of the dragged kernel. Until the kernel has moved, the sentence says how to move the kernel. */
function sentenceOfCarried(whatIfs: MovedKernels, row: number, byKeys: boolean): string {
  const name = shortNameOf(whatIfs.kernels, row);
  const note = noteOf(whatIfs, row);
  return note.length > 0
    ? `${name}: ${line(note)}`
    : moveWords.pickedUp(name, possibleWhatIfs(whatIfs.kernels, row, whatIfs.focus), byKeys);
}
