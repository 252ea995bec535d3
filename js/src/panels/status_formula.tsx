// What bounds the hovered or selected kernel, or on which sides of the ridge point memory and compute bind.

import { captionOf } from "../chart/caption.ts";
import { roofsAbove } from "../chart/layers/rulers.tsx";
import type { Store } from "../state/store.ts";
import { colourRow } from "../text/describe.ts";
import { tellingRows } from "../text/why.ts";
import { LiveText } from "../ui/live_text.tsx";

interface StatusFormulaProps {
  readonly store: Store;
  readonly pointedChip: string | undefined;
}

/** Shows the formula of the roof. A screen reader gets the whole sentence about the kernel or the roof. */
export function StatusFormula({ store, pointedChip }: StatusFormulaProps) {
  // In the network plane messages are described.
  const row = store.view.plane.value === "network" ? undefined : store.rows.described.value;
  const { text, formula, note } = captionOf(store, pointedChip);
  const kernels = store.rows.drawn.value;
  const colour =
    row === undefined
      ? undefined
      : colourRow(kernels, row, store.view.colourBy.value, store.rates.askedPrecision.value);
  const rows = [...(colour ? [colour] : []), ...(row === undefined ? [] : tellingRows(kernels, row))];
  return (
    <LiveText
      class="rw-formula"
      dragging={store.view.isInDrag()}
      shown={formula}
      text={text}
      more={
        row === undefined ? note : [...rows.map((one) => `${one.join(": ")}.`), roofsAbove(store, row)].join(" ").trim()
      }
    />
  );
}
