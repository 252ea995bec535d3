// The sentence under the chart. It describes the hovered or selected kernel, or the roof.

import { useRef } from "preact/hooks";
import { linesOf } from "../chart/labels/text_fitting.ts";
import { roofsAbove } from "../chart/layers/rulers.tsx";
import type { Store } from "../state/store.ts";
import { sentenceOf, sentenceOfRoof } from "../text/describe.ts";
import { reasonOf } from "../text/reasons.ts";
import { withWhatIf } from "../text/what_if.ts";
import { LiveText } from "../ui/live_text.tsx";
import { strings } from "../words/words.ts";

interface SentenceProps {
  readonly store: Store;
  /** The available width, px. */
  readonly width: number;
  readonly pointedChip: string | undefined;
}

/**
 * The number of lines that are reserved for the sentence, and the width of the widget for which they are reserved, px.
 */
interface Room {
  readonly width: number;
  readonly lines: number;
}

/** The number of lines of most sentences, the total space at the left and right sides, and the font size. */
const [USUAL_LINES, SIDE_SPACE_PX, FONT_PX] = [2, 8, 13];

/**
 * Returns the reserved lines. While the width stays the same, the number of lines never gets smaller. Otherwise, the
 * content below would move under the pointer.
 */
export function roomFor(parts: readonly string[], width: number, before?: Room): Room {
  const lines = parts.flatMap((part) => linesOf(part, width - SIDE_SPACE_PX, FONT_PX)).length;
  return { width, lines: Math.max(lines, before?.width === width ? before.lines : USUAL_LINES) };
}

export function Sentence({ store, width, pointedChip }: SentenceProps) {
  const room = useRef<Room>(undefined);
  const row = store.pointed.value ?? store.selected.value[0];
  const roofs = store.shownRoofs.value;
  const { notDrawn } = store.points.value;
  const pointed = row === undefined ? undefined : roofs.find((roof) => roof.chip.id === pointedChip);
  const roof = pointed ?? store.focusRoof.value ?? roofs[0];
  const said = (text: string, note = "") => {
    room.current = roomFor([text, note], width, room.current);
    return { class: "roofwidget-sentence", dragging: store.dragging.value, text, note, lines: room.current.lines };
  };
  if (!roof) return <LiveText {...said(noRoof(store))} />;
  // The text of the what-if replaces the formula, so that nothing below moves.
  const text =
    row === undefined
      ? sentenceOfRoof(roof, store.view.value)
      : withWhatIf(store.kernelWhatIfs.value, row, sentenceOf(store.drawn.value, row, roof, row in store.moves.value));
  return (
    <LiveText
      {...said(unbroken(text), notDrawn > 0 ? strings.notDrawn(notDrawn) : "")}
      more={row === undefined ? "" : roofsAbove(store, row)}
    />
  );
}

/**
 * Returns the text that says why there is no roof: no chip is shown, or the shown chips lack the chosen precision or
 * memory.
 */
function noRoof(store: Store): string {
  if (store.chips.value.length === 0) return strings.noChips;
  const shown = store.chips.value.filter(({ id }) => store.shown.value.includes(id));
  const reasons = shown.flatMap((chip) => {
    const missing = store.lacking.value.get(chip.id);
    return missing ? [reasonOf(chip, missing)] : [];
  });
  return reasons.length > 0 ? `${reasons.join("; ")}.` : strings.noChip;
}

/** Keeps a number and its unit on one line. Also prevents a line from starting with a dot. */
const unbroken = (sentence: string) => sentence.replace(/(?<=\d) (?=%|[kMGTPEµnpm]?(?:FLOP|B|s)\b)| (?=·)/g, "\u00a0");
