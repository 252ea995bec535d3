// The texts around the chart: the legend of colours, and the sentence under the chart. The panels and the saved
// pictures show the same texts.

import { chipFrame, isInFrame } from "../roofline/chip_frame.ts";
import { colouringOf, type TextColouring } from "../roofline/colouring.ts";
import { commonOperation } from "../roofline/operations.ts";
import { idleRows } from "../roofline/positions.ts";
import type { Roof } from "../roofline/roofline.ts";
import { isTotal } from "../roofline/totals.ts";
import type { Store } from "../state/store.ts";
import { colourTitle } from "../text/columns.ts";
import { categoryName, formulaOf, sentenceOf, sentenceOfRidge, sentenceOfRoof } from "../text/describe.ts";
import { instructionFormula, instructionSentence } from "../text/instructions.ts";
import { shortNameOf } from "../text/kernel_names.ts";
import { latencyBrief, latencySentence } from "../text/latency.ts";
import { withWhatIf } from "../text/moves.ts";
import { shortNames } from "../text/names.ts";
import { messageFormula, networkSentence } from "../text/network.ts";
import { reasonOf } from "../text/reasons.ts";
import type { Kernels } from "../wire/columns.ts";
import { filterWords, numerals, openWords, strings } from "../words/words.ts";
import { ticksOfScale } from "./layers/colour_scale.tsx";
import { PATTERN_COUNT } from "./points/shapes.ts";
import { categoryColour, type Theme } from "./theme.ts";

/** An entry of the legend. */
interface LegendEntry {
  readonly name: string;
  /** The text in the column, "" without a text. Undefined for the entries of further and of unknown values. */
  readonly value: string | undefined;
  /** Undefined for the entry of further texts, which have the same colours. */
  readonly colour: string | undefined;
  /** Index of the text: it selects a colour and a pattern. -1 for unknown values, whose points are outlines. */
  readonly code: number;
}

/** Whether there is a legend. Without measured kernels the points have the colours of their chips. */
export const hasLegend = ({ rows: { showsTotals, points } }: Pick<Store, "rows">) =>
  !showsTotals.value && points.value.measured > 0;

/** A legend: of a scale of numbers, or an entry for each text. */
export interface Legend {
  /** The name of the column. */
  readonly title: string;
  /** Whether the legend shows its title: not for categories. */
  readonly isTitled: boolean;
  /** The numbers under the scale of colours. Undefined for texts. */
  readonly ticks: readonly string[] | undefined;
  readonly entries: readonly LegendEntry[];
}

/** Returns the legend of the points' colours. Undefined if all kernels have the same category. */
export function legendOf(store: Pick<Store, "rows" | "view" | "rates">, theme: Theme): Legend | undefined {
  const kernels = store.rows.kernels.value;
  const colouring = colouringOf(kernels, store.view.colourBy.value);
  const { unknown } = colouring;
  const isTitled = colouring.key !== "category";
  const operation = commonOperation(kernels, store.rates.askedPrecision.value);
  const ticks = colouring.kind === "number" ? ticksOfScale(colouring, operation) : undefined;
  const values = colouring.kind === "number" ? [] : colouring.column.values;
  if (!ticks && values.length < 2 && !unknown) return;
  const most = kernels.series ? PATTERN_COUNT : theme.categories.length;
  const entries = values
    .slice(0, most)
    .map((value, code) =>
      entry(categoryName(value), code, categoryColour(theme, colouring as TextColouring, code), value ?? ""),
    );
  const more = values.length - most;
  if (more > 0) entries.push(entry(strings.moreCategories(more), -1));
  if (unknown > 0) entries.push(entry(`${filterWords.notTold} (${numerals.whole(unknown)})`, -1, theme.muted));
  return { title: titleOf(kernels, colouring.key), isTitled, ticks, entries };
}

const entry = (name: string, code: number, colour?: string, value?: string): LegendEntry => ({
  ...{ name, value, colour, code },
});

/** Returns the title of a column that gives points their colours. */
export const titleOf = ({ series }: Kernels, key: string) =>
  series && key === "category" ? strings.series : colourTitle(key)[0];

interface Caption {
  readonly text: string;
  /** The formula of the kernel's roof, or which side of the ridge point is bound by what. */
  readonly formula: string;
  /** Says how many kernels are not drawn, and how many are outside the axes. */
  readonly note: string;
}

/**
 * Returns what the status row says of the hovered or selected kernel, or of the roof. A kernel can have a
 * mark on several roofs: `pointedChip` is the chip of the hovered mark.
 */
export function captionOf(store: Store, pointedChip: string | undefined): Caption {
  const view = store.view.plane.value;
  // A picture of an open question says which chips it shows, and nothing of them.
  if (store.lesson.hidesHint("sentence")) {
    const chips = store.rates.shownRoofs.value.map(({ chip }) => chip.name).join(", ");
    return { text: strings.chart(chips, 0), formula: "", note: noteOf(store) };
  }
  if (view === "network") return networkCaption(store);
  if (view === "instructions") return instructionCaption(store);
  const row = store.rows.described.value;
  const roofs = store.rates.shownRoofs.value;
  const pointed = row === undefined ? undefined : roofs.find((roof) => roof.chip.id === pointedChip);
  const roof = pointed ?? store.rates.focusRoof.value ?? roofs[0];
  if (!roof) return { text: noRoof(store), formula: noRoof(store), note: "" };
  // The text of the what-if replaces the formula, so that nothing below moves.
  const text =
    row === undefined
      ? sentenceOfRoof(roof, view, store.view.terms.value)
      : withWhatIf(
          store.rows.movedKernels.value,
          row,
          sentenceOf(store.rows.drawn.value, row, roof, row in store.rows.moves.value),
        );
  const isMoved = row !== undefined && row in store.rows.moves.value;
  const withLatency = (sentence: string, told: typeof latencyBrief) =>
    unbroken(
      [sentence, row === undefined || isMoved ? undefined : told(store.rows.drawn.value, row, roof)]
        .filter(Boolean)
        .join(" · "),
    );
  const formula = isMoved
    ? text
    : row === undefined
      ? outsideOf(store) || sentenceOfRidge(roof, view, nameOfChip(store, roof))
      : formulaOf(store.rows.drawn.value, row, roof);
  return { text: withLatency(text, latencySentence), formula: withLatency(formula, latencyBrief), note: noteOf(store) };
}

function networkCaption(store: Store): Caption {
  const messages = store.rows.messages.value;
  const message = messages[store.view.message.value ?? -1];
  const network = { link: store.rates.focusLink.value, topology: store.rates.topology.value };
  // A question hides the messages.
  const isHidden = messages.length === 0 && store.rows.kernels.value.messages.length > 0;
  const sentence = isHidden ? "" : networkSentence(messages, network, noChips(store));
  const text = unbroken(message ? messageFormula(message, network) : sentence);
  return { text, formula: text, note: "" };
}

function instructionCaption({ rows: { kernels, described } }: Store): Caption {
  const { instructions } = kernels.value;
  const row = described.value;
  const isOfKernel = instructions && row !== undefined && row < kernels.value.own;
  const text = unbroken(
    isOfKernel ? instructionFormula(kernels.value, instructions, row) : instructionSentence(instructions),
  );
  return { text, formula: text, note: "" };
}

function noteOf(store: Store): string {
  const { notDrawn, home } = store.rows.points.value;
  const isIdle = idleRows(store.rows.drawn.value);
  const names = notDrawn > 0 ? namesOf(store, (row) => (home[row] ?? -1) < 0 && !isIdle(row)) : [];
  return [notDrawn > 0 ? strings.notDrawn(notDrawn, names) : "", outsideOf(store)].filter(Boolean).join(" ");
}

/** Says which kernels the range of the chips leaves out. Empty if it leaves out none. */
function outsideOf(store: Store): string {
  const outside = outsideFrame(store);
  const names = namesOf(store, (row) => outside.has(row));
  return outside.size > 0 ? strings.outside(outside.size, names) : "";
}

const nameOfChip = ({ rates }: Store, { chip }: Roof) => shortNames(rates.chips.value).get(chip.id) ?? chip.name;

/** The maximum number of kernels that a note under the chart names. */
const MAX_NAMED = 3;

/** Returns the names of the first kernels of which a note speaks. */
function namesOf({ rows: { drawn, drawnRows } }: Store, has: (row: number) => boolean): string[] {
  const names: string[] = [];
  for (const row of drawnRows.value) {
    if (has(row) && !isTotal(drawn.value, row)) names.push(shortNameOf(drawn.value, row));
    if (names.length === MAX_NAMED) break;
  }
  return names;
}

/** Returns the rows of the kernels that the range of the chips leaves out. A zoom is the user's own choice. */
function outsideFrame({
  view: { axes, plane: view, zoom },
  rates: { shownRoofs },
  rows: { points, drawn },
}: Store): ReadonlySet<number> {
  const rows = new Set<number>();
  const isFrame = axes.frame.value === "chip" && view.value === "roofline" && zoom.value === null;
  const frame = isFrame ? chipFrame(shownRoofs.value) : undefined;
  const { n, row, x, y } = points.value;
  for (let at = 0; frame && at < n; at++) {
    const one = row[at] as number;
    if (!isInFrame(frame, x[at] as number, y[at] as number) && !isTotal(drawn.value, one)) rows.add(one);
  }
  return rows;
}

/** Says that there is no chip; empty if there are chips. */
export function noChips({ rates, rows }: Pick<Store, "rates" | "rows">): string {
  if (rates.chips.value.length > 0) return "";
  return rows.drawn.value.n > 0 ? strings.noChips : openWords.invite;
}

/**
 * Returns the text that says why there is no roof: no chip is shown, or the shown chips lack the chosen precision or
 * memory.
 */
function noRoof(store: Store): string {
  const none = noChips(store);
  if (none) return none;
  const shown = store.rates.chips.value.filter(({ id }) => store.rates.shown.value.includes(id));
  const reasons = shown.flatMap((chip) => {
    const missing = store.rates.lacking.value.get(chip.id);
    return missing ? [reasonOf(chip, missing)] : [];
  });
  return reasons.length > 0 ? `${reasons.join("; ")}.` : strings.noChip;
}

/** Keeps a number and its unit on one line. Also prevents a line from starting with a dot. */
const unbroken = (sentence: string) =>
  sentence.replace(/(?<=\d) (?=%|[kMGTPEµnpm]?(?:FLOP|OP|IPS|TXN|B|s)\b)| (?=·)/g, "\u00a0");
