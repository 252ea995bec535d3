// Which kernels are hovered, and which are selected.

import { computed, type ReadonlySignal, signal } from "@preact/signals";
import type { Kernels } from "../wire/columns.ts";
import { isEqual, type Receivers, type Sync, type TraitValues } from "./sync.ts";

const NO_SELECTION: Pick<TraitValues, "selected" | "hovered" | "atRoof"> = { selected: [], hovered: null, atRoof: [] };

export function createSelection(sync: Sync, kernels: ReadonlySignal<Kernels>) {
  const { hovered } = sync.signals;
  /** The hovered total, as a row of `drawn`. Not sent to Python, because Python knows only the rows of kernels. */
  const total = signal<number | null>(null);
  const isKernel = (row: number) => row < kernels.value.n;

  return {
    pointed: computed(() => total.value ?? hovered.value),
    /**
     * Handles new kernels from Python. Reads the hovered and selected rows from the model again. Drops queued changes
     * that refer to the old rows.
     */
    reread() {
      const row = sync.received("hovered");
      sync.replace({
        selected: sync.received("selected").filter(isKernel),
        atRoof: sync.received("atRoof").filter(isKernel),
        hovered: row !== null && isKernel(row) ? row : null,
      });
      total.value = null;
    },
    /** Clears the hovered and selected rows, because the page now shows other kernels, for example after a merge. */
    clear() {
      const isChanged = ([name, none]: [string, unknown]) =>
        !isEqual(sync.signals[name as keyof typeof NO_SELECTION].value, none);
      sync.queue(Object.fromEntries(Object.entries(NO_SELECTION).filter(isChanged)));
    },
    receivers: {
      selected: (rows) => {
        sync.signals.selected.value = rows.filter(isKernel);
      },
      atRoof: (rows) => {
        sync.signals.atRoof.value = rows.filter(isKernel);
      },
    } satisfies Receivers,
    actions: {
      hover(row: number | null) {
        const own = row !== null && isKernel(row) ? row : null;
        total.value = row === own ? null : row;
        if (own !== hovered.value) sync.set({ hovered: own }, { stream: true });
      },
      select: (rows: readonly number[]) => sync.set({ selected: rows.filter(isKernel) }),
    },
  };
}
