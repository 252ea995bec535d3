// A text box for a value. A button beside the box resets the value. If the text is not valid, a message is shown.

import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { Button } from "./button.tsx";
import { OWN_KEYS } from "./keys.ts";
import { useUid } from "./uid.ts";

type TypedValue = ReturnType<typeof useTypedValue>;

/**
 * Returns the state of a text box while a person types. `parse` converts the text to a value. If the text is not valid,
 * `parse` returns a sentence that says why. `accept` gets each valid value. If `empty` is given, it is called when the box
 * is left empty.
 */
export function useTypedValue<T>(parse: (typed: string) => T | string, accept: (value: T) => void, empty?: () => void) {
  const faultId = useUid();
  const draft = useSignal<string | null>(null);
  const fault = useSignal("");
  function clear() {
    draft.value = null;
    fault.value = "";
  }
  function commit() {
    if (draft.value === null) return;
    if (empty && draft.value.trim() === "") return empty();
    const value = parse(draft.value);
    if (typeof value === "string") fault.value = value;
    else accept(value);
  }
  const typing = {
    onInput: (event: { readonly currentTarget: HTMLInputElement }) => {
      draft.value = event.currentTarget.value;
    },
    onBlur: commit,
    onKeyDown: (event: KeyboardEvent) => {
      if (event.key === "Enter") commit();
      else if (event.key === "Escape") clear();
      else return;
      event.stopPropagation();
    },
  };
  /** Props of the input. They tie the message to the input. */
  const invalid = () => ({
    "aria-invalid": fault.value !== "",
    "aria-describedby": fault.value === "" ? undefined : faultId,
  });
  return { draft, fault, faultId, clear, commit, typing, invalid };
}

interface BoxProps {
  readonly entry: TypedValue;
  readonly label: string;
  readonly shown: string;
  readonly hint?: string;
  readonly title?: string | undefined;
  /** Says why nothing can be typed. */
  readonly lock?: string | undefined;
  readonly reset: { readonly label: string; readonly title?: string; readonly done: boolean; act(): void };
  /** What else the box has, at its end. */
  readonly children?: ComponentChildren;
}

/** The button that resets the value is inside the box, while there is something to reset. */
export function TypedBox({
  entry: { draft, typing, invalid },
  label,
  shown,
  hint,
  title,
  lock,
  reset,
  children,
}: BoxProps) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <span class="rw-typed">
      <input
        ref={input}
        type="text"
        class="rw-box"
        {...OWN_KEYS}
        aria-label={label}
        title={lock ?? title}
        disabled={lock !== undefined}
        {...invalid()}
        placeholder={hint}
        value={draft.value ?? shown}
        {...typing}
      />
      <Button
        look="reset"
        aria-label={reset.label}
        title={reset.title ?? reset.label}
        aria-disabled={lock !== undefined || (reset.done && draft.value === null)}
        onClick={() => {
          // The button goes.
          input.current?.focus({ preventScroll: true });
          reset.act();
        }}
      >
        ⟲
      </Button>
      {children}
    </span>
  );
}

export function Fault({ entry: { fault, faultId } }: { entry: TypedValue }) {
  if (!fault.value) return null;
  return (
    <p id={faultId} class="rw-fault" role="alert">
      {fault.value}
    </p>
  );
}
