// How much of the communication is exposed: one share on a slider, or several typed; each is a roof of its own.

import type { Store } from "../../state/store.ts";
import { formatPercent, formatQuantity } from "../../text/numbers.ts";
import { Fault, TypedBox, useTypedValue } from "../../ui/number_box.tsx";
import { Slider } from "../../ui/slider.tsx";
import { words } from "../../words/words.ts";
import { formatFractions, parseFractions } from "./fractions.ts";

/** Percent: the slider's end, and what an arrow key and PageUp move. */
const MOST = 95;
const STEPS: Record<string, number> = {
  ArrowRight: 1,
  ArrowUp: 1,
  ArrowLeft: -1,
  ArrowDown: -1,
  PageUp: 10,
  PageDown: -10,
};

export function Exposed({ store }: { store: Store }) {
  const fractions = store.exposedComm.value;
  const percent = Math.min(MOST, Math.round((fractions[0] ?? 0) * 100));
  const peak = store.focusRoof.value?.peak ?? Number.NaN;
  const said = (share: number) => words.flat(formatPercent(share), formatQuantity(peak * (1 - share), "FLOP/s", 4));

  function set(values: readonly number[], stream = false) {
    entry.clear();
    store.setExposedComm(values, { stream });
  }
  const slide = (to: number) => set(to > 0 ? [Math.min(MOST, Math.round(to)) / 100] : [], true);
  const entry = useTypedValue(parseFractions, set);
  function keyed(key: string) {
    const step = STEPS[key];
    if (step !== undefined) return () => slide(percent + step);
    return key === "Home" || key === "End" ? () => slide(key === "Home" ? 0 : MOST) : undefined;
  }

  return (
    <>
      <div class="roofwidget-row">
        <span>{words.exposedShort}</span>
        <TypedBox
          entry={entry}
          label={words.exposedFractions}
          shown={formatFractions(fractions)}
          hint={words.fractionsHint}
          reset={{
            label: words.nothingExposed,
            title: words.nothingExposed,
            done: fractions.length === 0,
            act: () => set([]),
          }}
        />
      </div>
      <Slider
        label={words.exposed}
        text={fractions.length > 0 ? fractions.map(said).join("; ") : words.noneExposed}
        min={0}
        max={MOST}
        step={1}
        position={percent}
        start={store.dragExposedComm}
        slide={slide}
        keyed={keyed}
      />
      <Fault entry={entry} />
      {!entry.fault.value &&
        fractions.map((share) => (
          <p key={share} class="roofwidget-muted">
            {said(share)}
          </p>
        ))}
    </>
  );
}
