// The sentence under the chart: of the kernel that is meant, or of the roof.

import { useRef } from "preact/hooks";
import { roofsAbove } from "../chart/rulers.tsx";
import { sentenceOf, sentenceOfRoof } from "../describe.ts";
import { withMove } from "../movetext.ts";
import { linesOf } from "../picture.ts";
import type { Store } from "../store.ts";
import { strings } from "../strings.ts";
import { reasonOf } from "./reasons.ts";
import { Said } from "./said.tsx";

interface SentenceProps {
  readonly store: Store;
  /** px. */
  readonly width: number;
  readonly pointedChip: string | undefined;
}

/** As many lines as most sentences have, and the space at their side, px. */
const [USUAL, EDGE] = [2, 8];

export function Sentence({ store, width, pointedChip }: SentenceProps) {
  const room = useRef({ width, lines: USUAL });
  if (room.current.width !== width) room.current = { width, lines: USUAL };
  const row = store.pointed.value ?? store.selected.value[0];
  const roofs = store.shownRoofs.value;
  const { notDrawn } = store.points.value;
  const pointed = row === undefined ? undefined : roofs.find((roof) => roof.chip.id === pointedChip);
  const roof = pointed ?? store.focusRoof.value ?? roofs[0];
  const said = (text: string, note = "") => {
    const lines = [text, note].flatMap((part) => linesOf(part, width - EDGE)).length;
    // One that gave lines back would pull what stands below it from under the pointer.
    room.current.lines = Math.max(room.current.lines, lines);
    return { class: "roofwidget-sentence", held: store.held.value, text, note, lines: room.current.lines };
  };
  if (!roof) return <Said {...said(noRoof(store))} />;
  const text =
    row === undefined
      ? sentenceOfRoof(roof, store.view.value)
      : withMove(store, row, sentenceOf(store.drawn.value, row, roof));
  return (
    <Said
      {...said(unbroken(text), notDrawn > 0 ? strings.notDrawn(notDrawn) : "")}
      more={row === undefined ? "" : roofsAbove(store, row)}
    />
  );
}

/** Why there is no roof: no chip is shown, or those that are lack what was chosen. */
function noRoof(store: Store): string {
  if (store.chips.value.length === 0) return strings.noChips;
  const shown = store.chips.value.filter(({ id }) => store.shown.value.includes(id));
  const reasons = shown.flatMap((chip) => {
    const missing = store.lacking.value.get(chip.id);
    return missing ? [reasonOf(chip, missing)] : [];
  });
  return reasons.length > 0 ? `${reasons.join("; ")}.` : strings.noChip;
}

/** A number keeps its unit on its line. */
const unbroken = (sentence: string) => sentence.replace(/(?<=\d) (?=%|[kMGTPEµnpm]?(?:FLOP|B|s)\b)/g, "\u00a0");
