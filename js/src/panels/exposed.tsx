// How much of the communication is exposed: one share on a slider, or several typed; each is a roof of its own.

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { type Grip, letGo, take, takeBack } from "../drag.ts";
import { formatPercent, formatQuantity } from "../format.ts";
import { isModified } from "../keys.ts";
import type { Store } from "../store.ts";
import { words } from "../strings.ts";
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
  const draft = useSignal<string | null>(null);
  const fault = useSignal("");
  const grip = useRef<Grip>({ before: undefined }).current;
  /** All the shares when the slider was taken: sliding leaves one, Escape brings them back. */
  const before = useRef<readonly number[]>([]);
  const fractions = store.exposedComm.value;
  const percent = Math.min(MOST, Math.round((fractions[0] ?? 0) * 100));
  const peak = store.focusRoof.value?.peak ?? Number.NaN;
  const said = (share: number) => words.flat(formatPercent(share), formatQuantity(peak * (1 - share), "FLOP/s", 4));

  function set(values: readonly number[], stream = false) {
    draft.value = null;
    fault.value = "";
    store.setExposedComm(values, { stream });
  }
  const slide = (to: number) => set(to > 0 ? [Math.min(MOST, Math.round(to)) / 100] : [], true);
  const actions = {
    hold: () => {
      before.current = store.exposedComm.value;
      store.holdExposedComm();
    },
    release: store.releaseExposedComm,
    set: () => set(before.current, true),
  };
  // The panel may be folded while the slider is held.
  useEffect(() => () => letGo(grip, actions), []);

  function key(event: KeyboardEvent & { currentTarget: HTMLInputElement }) {
    if (isModified(event)) return;
    const step = STEPS[event.key];
    if (event.key === "Escape" && grip.before !== undefined) takeBack(grip, event.currentTarget, actions);
    else if (step !== undefined) slide(percent + step);
    else if (event.key === "Home" || event.key === "End") slide(event.key === "Home" ? 0 : MOST);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
  function commit() {
    if (draft.value === null) return;
    const values = parseFractions(draft.value);
    if (typeof values === "string") fault.value = values;
    else set(values);
  }
  function typeKey(event: KeyboardEvent) {
    if (event.key === "Enter") commit();
    else if (event.key === "Escape") {
      draft.value = null;
      fault.value = "";
    } else return;
    event.stopPropagation();
  }

  return (
    <>
      <div class="roofwidget-row">
        <span>{words.exposedShort}</span>
        <span class="roofwidget-entry">
          <input
            type="text"
            class="roofwidget-box"
            data-lm-suppress-shortcuts="true"
            aria-label={words.exposedFractions}
            aria-invalid={fault.value !== ""}
            placeholder={words.fractionsHint}
            value={draft.value ?? formatFractions(fractions)}
            onInput={(event) => {
              draft.value = event.currentTarget.value;
            }}
            onBlur={commit}
            onKeyDown={typeKey}
          />
          <button
            type="button"
            class="roofwidget-reset"
            data-lm-suppress-shortcuts="true"
            aria-label={words.nothingExposed}
            title={words.nothingExposed}
            aria-disabled={fractions.length === 0 && draft.value === null}
            onClick={() => set([])}
          >
            ⟲
          </button>
        </span>
      </div>
      <input
        type="range"
        class="roofwidget-slider"
        data-lm-suppress-shortcuts="true"
        aria-label={words.exposed}
        aria-valuetext={fractions.length > 0 ? fractions.map(said).join("; ") : words.noneExposed}
        min={0}
        max={MOST}
        step={1}
        value={percent}
        onPointerDown={() => take(grip, percent, actions)}
        onPointerUp={() => letGo(grip, actions)}
        onPointerCancel={() => letGo(grip, actions)}
        onBlur={() => letGo(grip, actions)}
        onInput={(event) => slide(event.currentTarget.valueAsNumber)}
        onChange={() => letGo(grip, actions)}
        onKeyDown={key}
      />
      {fault.value ? (
        <p class="roofwidget-fault" role="alert">
          {fault.value}
        </p>
      ) : (
        fractions.map((share) => (
          <p key={share} class="roofwidget-muted">
            {said(share)}
          </p>
        ))
      )}
    </>
  );
}
