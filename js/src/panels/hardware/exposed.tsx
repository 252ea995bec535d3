// Exposed communication, as fractions of the time. The user sets one fraction by a slider or types several fractions.
// Each fraction is drawn as a lower roof.

import { operationIn } from "../../roofline/operations.ts";
import type { Store } from "../../state/store.ts";
import { formatPercent, formatQuantity } from "../../text/numbers.ts";
import { Fault, TypedBox, useTypedValue } from "../../ui/number_box.tsx";
import { KEY_STEPS, Slider } from "../../ui/slider.tsx";
import { numerals, words } from "../../words/words.ts";

/** The end of the slider, percent. */
const MAX_PERCENT = 95;

export function Exposed({ store }: { store: Store }) {
  const fractions = store.rates.exposedRoofs.value;
  const percent = Math.min(MAX_PERCENT, Math.round((fractions[0] ?? 0) * 100));
  const { peak = Number.NaN, precision = "" } = store.rates.focusRoof.value ?? {};
  const rate = (share: number) => formatQuantity(peak * (1 - share), `${operationIn(precision)}/s`, 4);
  const said = (share: number) => words.flat(formatPercent(share), rate(share));

  function set(values: readonly number[], stream = false) {
    entry.clear();
    store.rates.setExposedRoofs(values, { stream });
  }
  const slide = (to: number) => set(to > 0 ? [Math.min(MAX_PERCENT, Math.round(to)) / 100] : [], true);
  const entry = useTypedValue(parseFractions, set);
  function keyed(key: string) {
    const step = KEY_STEPS[key];
    if (step !== undefined) return () => slide(percent + step);
    return key === "Home" || key === "End" ? () => slide(key === "Home" ? 0 : MAX_PERCENT) : undefined;
  }

  return (
    <>
      <div class="rw-size">
        <span class="rw-rate-name">{words.exposedShort}</span>
        <div class="rw-track">
          <Slider
            label={words.exposed}
            min={0}
            max={MAX_PERCENT}
            step={1}
            shown={() => [
              percent,
              fractions.length > 0 ? fractions.map(said).join("; ") : words.noneExposed,
              `${percent} %`,
            ]}
            start={store.rates.dragExposedRoofs}
            slide={slide}
            keyed={keyed}
          />
        </div>
        <TypedBox
          entry={entry}
          label={words.exposedFractions}
          shown={formatFractions(fractions)}
          hint={words.fractionsHint}
          reset={{
            label: words.nothingExposed,
            done: fractions.length === 0,
            act: () => set([]),
          }}
        />
      </div>
      <Fault entry={entry} />
      {!entry.fault.value &&
        fractions.map((share) => (
          <p key={share} class="rw-muted">
            {said(share)}
          </p>
        ))}
    </>
  );
}

const NUMBER = /^(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$/;

/**
 * Reads fractions such as "20, 40, 60 %" and sorts them. If the text contains a "%", all numbers are percentages.
 * Otherwise, numbers below 1 are fractions, and all other numbers are percentages. Returns an error sentence if it
 * cannot read the text.
 */
export function parseFractions(text: string): readonly number[] | string {
  const percent = text.includes("%");
  const fractions: number[] = [];
  for (const part of text.replaceAll("%", " ").split(numerals.apart)) {
    if (part === "") continue;
    const digits = numerals.read(part);
    if (!NUMBER.test(digits)) return words.noFraction(part);
    const number = Number(digits);
    const fraction = percent || number >= 1 ? number / 100 : number;
    if (!(fraction < 1)) return words.notAFraction(part);
    if (fraction > 0) fractions.push(fraction);
  }
  return [...new Set(fractions)].sort((a, b) => a - b);
}

/** Returns a text such as "20, 40, 60 %". The text is empty if there are no fractions. */
export function formatFractions(fractions: readonly number[]): string {
  const percents = fractions.map((fraction) => formatPercent(fraction).replace(" %", ""));
  return percents.length > 0 ? `${numerals.list(percents)} %` : "";
}
