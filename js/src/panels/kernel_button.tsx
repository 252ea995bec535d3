// A button for a kernel in a panel. Hovering over the button hovers the kernel's point. A click selects the kernel's
// point.

import type { Store } from "../state/store.ts";
import { nameOf, shortNameOf } from "../text/kernel_names.ts";
import { Button } from "../ui/button.tsx";
import { pick } from "./table/picking.ts";

interface KernelButtonProps {
  readonly store: Store;
  readonly row: number;
  /** Text at the end of the button. */
  readonly value?: string;
}

export function KernelButton({ store, row, value = "" }: KernelButtonProps) {
  const kernels = store.kernels.value;
  const selected = store.selected.value;
  const point = () => store.hover(row);
  const leave = () => store.hover(null);
  return (
    <Button
      look="kernel"
      data-row={row}
      title={nameOf(kernels, row)}
      aria-pressed={selected.includes(row)}
      onClick={({ ctrlKey, metaKey }) => {
        const how = { add: ctrlKey || metaKey, range: false };
        store.select(pick({ selected, anchor: null }, new Int32Array(), row, how).selected);
      }}
      onPointerEnter={point}
      onPointerLeave={leave}
      onFocus={point}
      onBlur={leave}
    >
      <span>{shortNameOf(kernels, row)}</span>
      {value && <span class="roofwidget-value">{value}</span>}
    </Button>
  );
}
