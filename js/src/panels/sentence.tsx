// The sentence under the chart. It describes the hovered or selected kernel, or the roof.

import { useRef } from "preact/hooks";
import { captionOf } from "../chart/caption.ts";
import { linesOf } from "../chart/labels/text_fitting.ts";
import { roofsAbove } from "../chart/layers/rulers.tsx";
import type { Store } from "../state/store.ts";
import { colourRow } from "../text/describe.ts";
import { LiveText } from "../ui/live_text.tsx";

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
  const { text, note } = captionOf(store, pointedChip);
  const row = store.described.value;
  const colour =
    row === undefined ? undefined : colourRow(store.drawn.value, row, store.colourBy.value, store.askedPrecision.value);
  room.current = roomFor([text, note], width, room.current);
  return (
    <LiveText
      class="roofwidget-sentence"
      dragging={store.isInDrag()}
      text={text}
      note={note}
      lines={room.current.lines}
      more={row === undefined ? "" : `${colour ? `${colour.join(": ")}. ` : ""}${roofsAbove(store, row)}`}
    />
  );
}
