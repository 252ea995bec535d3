// A range input that is held: from pressing its thumb to letting go, Escape takes it back; keys move it by steps.

import { useEffect, useRef } from "preact/hooks";
import { isModified, used } from "./keys.ts";
import { type Grip, type GripActions, letGo, take, takeBack } from "./range_drag.ts";

interface SliderProps {
  readonly label: string;
  /** Its value in words and units. */
  readonly text: string;
  readonly min: number;
  readonly max: number;
  readonly step: number | "any";
  readonly position: number;
  /** What `actions.set` gets when it is taken back. */
  readonly value: number;
  readonly actions: GripActions;
  slide(position: number, held: boolean): void;
  /** What a key does, or undefined for one that does nothing here. */
  keyed(key: string): (() => void) | undefined;
}

export function Slider({ label, text, min, max, step, position, value, actions, slide, keyed }: SliderProps) {
  const grip = useRef<Grip>({ before: undefined }).current;
  const latest = useRef(actions);
  latest.current = actions;
  const release = () => letGo(grip, latest.current);
  // Something else may take its place while it is held.
  useEffect(() => release, []);
  function key(event: KeyboardEvent & { currentTarget: HTMLInputElement }) {
    if (isModified(event)) return;
    const act = keyed(event.key);
    if (event.key === "Escape" && grip.before !== undefined) takeBack(grip, event.currentTarget, actions);
    else if (act) act();
    else return;
    used(event);
  }
  return (
    <input
      type="range"
      class="roofwidget-slider"
      data-lm-suppress-shortcuts="true"
      aria-label={label}
      aria-valuetext={text}
      min={min}
      max={max}
      step={step}
      value={position}
      onPointerDown={() => take(grip, value, actions)}
      onPointerUp={release}
      onPointerCancel={release}
      onBlur={release}
      onInput={(event) => slide(event.currentTarget.valueAsNumber, grip.before !== undefined)}
      onChange={release}
      onKeyDown={key}
    />
  );
}
