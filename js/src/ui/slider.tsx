// A range input. Escape cancels a drag of its thumb.

import { useLayoutEffect, useRef } from "preact/hooks";
import { type Drag, useGesture } from "./gesture.ts";
import { isModified, keyShortcuts, OWN_KEYS, used } from "./keys.ts";

/** The steps of the keys that move a slider. */
export const KEY_STEPS: Readonly<Record<string, number>> = {
  ArrowLeft: -1,
  ArrowRight: 1,
  ArrowUp: 1,
  ArrowDown: -1,
  PageUp: 10,
  PageDown: -10,
};

/** The keys of every slider. They move the slider by a step, by a larger step, or to an end. */
export const SLIDER_KEYS: readonly string[] = [...Object.keys(KEY_STEPS), "Home", "End"];

const SHORTCUTS = keyShortcuts(SLIDER_KEYS);

interface SliderProps {
  readonly label: string;
  readonly min: number;
  readonly max: number;
  readonly step: number | "any";
  /** Says why the slider cannot be moved. */
  readonly lock?: string | undefined;
  /** Whether the thumb stays at the positions that `shown` returns while it is dragged. */
  readonly isStepped?: boolean;
  /**
   * Returns the position, the value with its unit for screen readers, and the value for the bubble above a dragged thumb
   * if it is another text. The slider itself follows the signals that this function reads: its panel need not be drawn
   * again for each step.
   */
  shown(): readonly [position: number, spoken: string, text?: string];
  /** Starts a drag that changes the value in the store. */
  start(): Omit<Drag, "move">;
  slide(position: number, isDragged: boolean): void;
  /** Returns the action of a key of SLIDER_KEYS. Returns undefined if the browser should move the slider itself. */
  keyed?(key: string): (() => void) | undefined;
}

export function Slider({ label, min, max, step, lock, isStepped, shown, start, slide, keyed }: SliderProps) {
  const gesture = useGesture();
  const input = useRef<HTMLInputElement>(null);
  const bubble = useRef<HTMLSpanElement>(null);
  const [position, spoken, text = spoken] = shown();
  const end = () => gesture.end();
  /** Draws the track up to the thumb, and moves the bubble with the thumb. A drag need not render for that. */
  function follow(text: string) {
    const { current: thumb } = input;
    const share = max > min ? ((thumb?.valueAsNumber ?? min) - min) / (max - min) : 0;
    thumb?.parentElement?.style.setProperty("--rw-share", String(share));
    if (bubble.current) bubble.current.textContent = text;
  }
  useLayoutEffect(() => follow(text));
  function onKeyDown(event: KeyboardEvent) {
    if (isModified(event)) return;
    const act = SLIDER_KEYS.includes(event.key) ? keyed?.(event.key) : undefined;
    if (event.key === "Escape" && gesture.drag) cancel(event.currentTarget as HTMLInputElement);
    else if (act) act();
    else return;
    used(event);
  }
  function cancel(input: HTMLInputElement) {
    gesture.cancel();
    // Disabling the input ends the drag in the browser. Otherwise, the thumb would follow the pointer until the user
    // releases the button.
    input.disabled = true;
    input.disabled = lock !== undefined;
    input.focus();
  }
  function onInput({ currentTarget }: { readonly currentTarget: HTMLInputElement }) {
    slide(currentTarget.valueAsNumber, gesture.drag !== undefined);
    const [at, spoken, text = spoken] = shown();
    if (isStepped) currentTarget.value = String(at);
    follow(text);
  }
  return (
    <span class="rw-sliding">
      <input
        ref={input}
        type="range"
        class="rw-slider"
        {...OWN_KEYS}
        aria-label={label}
        aria-valuetext={spoken}
        aria-keyshortcuts={SHORTCUTS}
        min={min}
        max={max}
        step={step}
        title={lock}
        disabled={lock !== undefined}
        value={position}
        onPointerDown={() => gesture.drag ?? gesture.start(start())}
        onPointerUp={end}
        onPointerCancel={end}
        onBlur={end}
        onInput={onInput}
        onChange={end}
        onKeyDown={onKeyDown}
      />
      {gesture.drag && (
        <span class="rw-bubble" aria-hidden="true">
          <span ref={bubble} />
        </span>
      )}
    </span>
  );
}
