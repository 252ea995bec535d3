// The sentence under the chart: of the kernel that is meant, or of the roof.

import { roofsAbove } from "../chart/rulers.tsx";
import { sentenceOf, sentenceOfRoof } from "../describe.ts";
import { withMove } from "../movetext.ts";
import type { Store } from "../store.ts";
import { strings } from "../strings.ts";
import { reasonOf } from "./reasons.ts";
import { Said } from "./said.tsx";

interface SentenceProps {
  readonly store: Store;
  readonly notDrawn: number;
  readonly pointedChip: string | undefined;
}

export function Sentence({ store, notDrawn, pointedChip }: SentenceProps) {
  const row = store.pointed.value ?? store.selected.value[0];
  const roofs = store.shownRoofs.value;
  const pointed = row === undefined ? undefined : roofs.find((roof) => roof.chip.id === pointedChip);
  const roof = pointed ?? store.focusRoof.value ?? roofs[0];
  const said = { class: "roofwidget-sentence", held: store.held.value };
  if (!roof) return <Said {...said} text={noRoof(store)} />;
  const text =
    row === undefined
      ? sentenceOfRoof(roof, store.view.value)
      : withMove(store, row, sentenceOf(store.drawn.value, row, roof));
  return (
    <Said
      {...said}
      text={unbroken(text)}
      note={notDrawn > 0 ? strings.notDrawn(notDrawn) : ""}
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
