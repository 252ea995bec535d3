// A text box for a value. A button beside the box resets the value. If the text is not valid, a message is shown.

import { useSignal } from "@preact/signals";
import { Button } from "./button.tsx";

type TypedValue = ReturnType<typeof useTypedValue>;

/**
 * Returns the state of a text box while a person types. `parse` converts the text to a value. If the text is not valid,
 * `parse` returns a sentence that says why. `accept` gets each valid value.
 */
export function useTypedValue<T>(parse: (typed: string) => T | string, accept: (value: T) => void) {
  const draft = useSignal<string | null>(null);
  const fault = useSignal("");
  function clear() {
    draft.value = null;
    fault.value = "";
  }
  function commit() {
    if (draft.value === null) return;
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
  return { draft, fault, clear, commit, typing };
}

interface BoxProps {
  readonly entry: TypedValue;
  readonly label: string;
  readonly shown: string;
  readonly hint?: string;
  readonly reset: { readonly label: string; readonly title?: string; readonly done: boolean; act(): void };
}

export function TypedBox({ entry: { draft, fault, typing }, label, shown, hint, reset }: BoxProps) {
  return (
    <span class="roofwidget-entry">
      <input
        type="text"
        class="roofwidget-box"
        data-lm-suppress-shortcuts="true"
        aria-label={label}
        aria-invalid={fault.value !== ""}
        placeholder={hint}
        value={draft.value ?? shown}
        {...typing}
      />
      <Button
        look="reset"
        aria-label={reset.label}
        title={reset.title ?? reset.label}
        aria-disabled={reset.done && draft.value === null}
        onClick={reset.act}
      >
        ⟲
      </Button>
    </span>
  );
}

export function Fault({ entry: { fault } }: { entry: TypedValue }) {
  if (!fault.value) return null;
  return (
    <p class="roofwidget-fault" role="alert">
      {fault.value}
    </p>
  );
}
