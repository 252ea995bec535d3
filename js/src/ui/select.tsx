// A drop-down list with a label.

import { OWN_KEYS } from "./keys.ts";

export type Option = readonly [value: string, text: string];

interface SelectProps {
  readonly label: string;
  readonly value: string;
  /**
   * The options: pairs of value and text. If the value of an option is also its text, the option is a single string.
   */
  readonly options: readonly (string | Option)[];
  /** The value of an option that cannot be chosen. */
  readonly disabled?: string | undefined;
  /** If true, the label and the list fill a complete row, and the list is at the end of this row. */
  readonly row?: boolean;
  /** Says why nothing can be chosen. */
  readonly lock?: string | undefined;
  choose(value: string): void;
}

export function Select({ label, value, options, disabled, row = false, lock, choose }: SelectProps) {
  return (
    <label class={row ? "rw-row" : undefined} title={lock}>
      {/* The list has the label as its name: read as a text, the label would be heard twice. */}
      <span class={row ? undefined : "rw-muted"} aria-hidden="true">
        {label}
      </span>
      <select
        aria-label={label}
        {...OWN_KEYS}
        disabled={lock !== undefined}
        value={value}
        onChange={(event) => choose(event.currentTarget.value)}
      >
        {options.map((option) => {
          const [name, text] = typeof option === "string" ? [option, option] : option;
          return (
            <option key={name} value={name} disabled={name === disabled}>
              {text}
            </option>
          );
        })}
      </select>
    </label>
  );
}
