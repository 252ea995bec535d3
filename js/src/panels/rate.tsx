// One rate of the focus chip: a slider on a log track with marks at the shown chips' values, and a box to type it in.

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { type Grip, letGo, take, takeBack } from "../drag.ts";
import { formatQuantity, formatRatio, parseRate } from "../format.ts";
import { isModified } from "../keys.ts";
import type { Store } from "../store.ts";
import { strings } from "../strings.ts";
import type { Quantity } from "../wire.ts";

/** A dragged value this near a mark, as a share of the track, takes the mark's. */
const SNAP = 0.012;
/** Decades of an arrow key and of PageUp. */
const STEPS: Record<string, number> = {
  ArrowRight: 0.01,
  ArrowUp: 0.01,
  ArrowLeft: -0.01,
  ArrowDown: -0.01,
  PageUp: 0.1,
  PageDown: -0.1,
};

interface RateProps {
  readonly store: Store;
  readonly quantity: Quantity;
  /** The level whose bandwidth it is, where there is a slider for each of several. */
  readonly level?: string | undefined;
  readonly unit: "FLOP/s" | "B/s";
  readonly label: string;
  readonly spoken: string;
  readonly value: number;
  readonly sheet: number;
  /** The shown chips' values, with their names. */
  readonly marks: readonly (readonly [chip: string, rate: number])[];
  /** All chips' values: the track reaches a decade beyond them, whichever are shown. */
  readonly reach: readonly number[];
}

export function Rate({ store, quantity, level, unit, label, spoken, value, sheet, marks, reach }: RateProps) {
  const draft = useSignal<string | null>(null);
  const fault = useSignal("");
  const grip = useRef<Grip>({ before: undefined }).current;
  const all = [...new Set([...marks.map(([, rate]) => rate), sheet])];
  const known = [...all, ...reach.filter((rate) => rate > 0)];
  const low = Math.floor(Math.log10(Math.min(...known))) - 1;
  const high = Math.ceil(Math.log10(Math.max(...known))) + 1;
  const chipsAt = (rate: number) => marks.filter(([, other]) => other === rate).map(([chip]) => chip);
  const shown = formatQuantity(value, unit, 4);

  const set = (rate: number, stream = false) => {
    draft.value = null;
    fault.value = "";
    store.setRate(quantity, rate, level === undefined ? { stream } : { stream, level });
  };
  const clamp = (exponent: number) => Math.max(low, Math.min(high, exponent));
  const actions = { hold: () => store.hold(quantity, level), release: store.release, set };
  // Another chip may take the sliders while this one is held.
  useEffect(() => () => letGo(grip, actions), []);

  function slide(position: number) {
    if (grip.before === undefined) return set(10 ** position);
    const mark = all.find((rate) => Math.abs(Math.log10(rate) - position) < SNAP * (high - low));
    set(mark ?? 10 ** position, true);
  }
  function key(event: KeyboardEvent & { currentTarget: HTMLInputElement }) {
    if (isModified(event)) return;
    const step = STEPS[event.key];
    if (event.key === "Escape" && grip.before !== undefined) takeBack(grip, event.currentTarget, actions);
    else if (step !== undefined) set(10 ** clamp(Math.log10(value) + step), true);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
  function commit() {
    if (draft.value === null) return;
    const rate = parseRate(draft.value, unit, value);
    if (typeof rate === "string") {
      fault.value = rate;
      return;
    }
    set(rate);
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
    <div class="roofwidget-rate" data-quantity={quantity}>
      <div class="roofwidget-row">
        <span>
          {label.replaceAll("/", "/\u200b")}
          {value !== sheet && <span class="roofwidget-muted"> {strings.factor(formatRatio(value / sheet))}</span>}
        </span>
        <span class="roofwidget-entry">
          <input
            type="text"
            class="roofwidget-box"
            data-lm-suppress-shortcuts="true"
            aria-label={strings.typed(spoken)}
            aria-invalid={fault.value !== ""}
            value={draft.value ?? shown}
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
            aria-label={`${strings.reset}: ${spoken}`}
            title={`${strings.reset}: ${formatQuantity(sheet, unit, 4)}`}
            aria-disabled={value === sheet && draft.value === null}
            onClick={() => set(sheet)}
          >
            ⟲
          </button>
        </span>
      </div>
      <div class="roofwidget-track">
        <div class="roofwidget-marks">
          {all.map((rate) => (
            <i
              key={rate}
              title={strings.mark(chipsAt(rate).join(", "), formatQuantity(rate, unit, 4))}
              class={rate === sheet ? "roofwidget-mark roofwidget-sheet" : "roofwidget-mark"}
              style={{ left: `${((Math.log10(rate) - low) / (high - low)) * 100}%` }}
            />
          ))}
        </div>
        <input
          type="range"
          class="roofwidget-slider"
          data-lm-suppress-shortcuts="true"
          aria-label={spoken}
          aria-valuetext={shown}
          min={low}
          max={high}
          step={0.001}
          value={clamp(Math.log10(value))}
          onPointerDown={() => take(grip, value, actions)}
          onPointerUp={() => letGo(grip, actions)}
          onPointerCancel={() => letGo(grip, actions)}
          onBlur={() => letGo(grip, actions)}
          onInput={(event) => slide(event.currentTarget.valueAsNumber)}
          onChange={() => letGo(grip, actions)}
          onKeyDown={key}
        />
      </div>
      {fault.value && (
        <p class="roofwidget-fault" role="alert">
          {fault.value}
        </p>
      )}
    </div>
  );
}
