// The texts around the chart: the legend of categories, and the sentence under the chart. The panels and the saved
// pictures show the same texts.

import { isTotal } from "../roofline/totals.ts";
import type { Store } from "../state/store.ts";
import { sentenceOf, sentenceOfRoof, shortNameOf } from "../text/describe.ts";
import { reasonOf } from "../text/reasons.ts";
import { withWhatIf } from "../text/what_if.ts";
import type { Kernels } from "../wire/columns.ts";
import { openWords, strings } from "../words/words.ts";
import type { Theme } from "./theme.ts";

/** An entry of the legend. The last entry has no colour if there are more categories than colours. */
interface LegendEntry {
  readonly name: string;
  readonly colour?: string | undefined;
  /** The number of the category, which has a pattern of its own. */
  readonly code: number;
}

/** Whether there is a legend. Without measured kernels the points have the colours of their chips. */
export const hasLegend = ({ showsTotals, points }: Pick<Store, "showsTotals" | "points">) =>
  !showsTotals.value && points.value.measured > 0;

/** Returns the legend of the categories. Empty if all kernels have the same category. */
export function legendOf({ category: { values } }: Kernels, { categories }: Theme): LegendEntry[] {
  if (values.length < 2) return [];
  const shown = values.slice(0, categories.length);
  const entries = shown.map((name, code) => ({ name: name ?? strings.noCategory, colour: categories[code], code }));
  const more = values.length - shown.length;
  return more > 0 ? [...entries, { name: strings.moreCategories(more), code: -1 }] : entries;
}

interface Caption {
  readonly text: string;
  /** Says how many kernels are not drawn. */
  readonly note: string;
}

/**
 * Returns the sentence under the chart. It describes the hovered or selected kernel, or the roof. A kernel can have a
 * mark on several roofs: `pointedChip` is the chip of the hovered mark.
 */
export function captionOf(store: Store, pointedChip: string | undefined): Caption {
  const row = store.described.value;
  const roofs = store.shownRoofs.value;
  const { notDrawn } = store.points.value;
  const pointed = row === undefined ? undefined : roofs.find((roof) => roof.chip.id === pointedChip);
  const roof = pointed ?? store.focusRoof.value ?? roofs[0];
  if (!roof) return { text: noRoof(store), note: "" };
  // The text of the what-if replaces the formula, so that nothing below moves.
  const text =
    row === undefined
      ? sentenceOfRoof(roof, store.view.value, store.terms.value)
      : withWhatIf(store.kernelWhatIfs.value, row, sentenceOf(store.drawn.value, row, roof, row in store.moves.value));
  return { text: unbroken(text), note: notDrawn > 0 ? strings.notDrawn(notDrawn, namesNotDrawn(store)) : "" };
}

/** The maximum number of kernels that the note under the chart names as not drawn. */
const MAX_NAMES_NOT_DRAWN = 3;

/** Returns the names of the first kernels that have no point. */
function namesNotDrawn({ drawn, drawnRows, points }: Store): string[] {
  const names: string[] = [];
  for (const row of drawnRows.value) {
    const isDrawn = (points.value.home[row] ?? -1) >= 0;
    if (!isDrawn && !isTotal(drawn.value, row)) names.push(shortNameOf(drawn.value, row));
    if (names.length === MAX_NAMES_NOT_DRAWN) break;
  }
  return names;
}

/**
 * Returns the text that says why there is no roof: no chip is shown, or the shown chips lack the chosen precision or
 * memory.
 */
function noRoof(store: Store): string {
  if (store.chips.value.length === 0) return store.drawn.value.n > 0 ? strings.noChips : openWords.invite;
  const shown = store.chips.value.filter(({ id }) => store.shown.value.includes(id));
  const reasons = shown.flatMap((chip) => {
    const missing = store.lacking.value.get(chip.id);
    return missing ? [reasonOf(chip, missing)] : [];
  });
  return reasons.length > 0 ? `${reasons.join("; ")}.` : strings.noChip;
}

/** Keeps a number and its unit on one line. Also prevents a line from starting with a dot. */
const unbroken = (sentence: string) =>
  sentence.replace(/(?<=\d) (?=%|[kMGTPEµnpm]?(?:FLOP|OP|B|s)\b)| (?=·)/g, "\u00a0");
