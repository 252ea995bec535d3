// A check box with a label, and with a value at its end.

import { OWN_KEYS } from "./keys.ts";

interface TickProps {
  readonly checked: boolean;
  onChange(): void;
  readonly label: string;
  readonly note?: string;
  readonly value?: string;
  readonly title?: string | undefined;
  readonly disabled?: boolean;
}

export function Tick({ checked, onChange, label, note = "", value = "", title, disabled = false }: TickProps) {
  return (
    <label class="rw-option" title={title}>
      <input type="checkbox" {...OWN_KEYS} {...{ checked, disabled, onChange }} />
      <span>
        {label}
        {note && <small class="rw-muted"> {note}</small>}
      </span>
      {value && <span class="rw-value">{value}</span>}
    </label>
  );
}
