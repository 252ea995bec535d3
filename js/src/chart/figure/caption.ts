// The caption of a figure, which is also its alternative text.

import type { Store } from "../../state/store.ts";
import { withoutControls } from "../../text/controls.ts";
import { formatPercent } from "../../text/numbers.ts";
import { figureWords, numerals } from "../../words/words.ts";
import type { Counts } from "./dots.ts";

/** Returns one sentence about what is shown, and one about what is not shown, if there is any. */
export function captionOf(
  { rates: { shownRoofs }, rows: { drawn } }: Store,
  counts: Counts,
  isTimed: boolean,
): string[] {
  const roofs = shownRoofs.value;
  const precisions = [...new Set(roofs.map(({ precision }) => precision))];
  const chips = precisions.map((precision) => {
    const names = roofs.filter((roof) => roof.precision === precision).map(({ chip }) => withoutControls(chip.name));
    return figureWords.at(numerals.list(names), precision);
  });
  const file = withoutControls(drawn.value.source.split(/[/\\]/).at(-1) ?? "");
  const lines =
    roofs.length + counts.shown > 0 ? [figureWords.caption(counts.shown, file, chips.join("; "), isTimed)] : [];
  const { zeroFlops, withoutCounts, leftOut } = counts;
  if (zeroFlops + withoutCounts > 0)
    lines.push(figureWords.notShown(zeroFlops, withoutCounts, leftOut > 0 ? formatPercent(leftOut) : ""));
  return lines;
}
