// Which kernels are pointed at and selected.

import { computed, type ReadonlySignal, signal } from "@preact/signals";
import type { Kernels } from "../wire/columns.ts";
import { isEqual, type Sync, type TraitValues } from "./sync.ts";

const NO_SELECTION: Pick<TraitValues, "selected" | "hovered" | "atRoof"> = { selected: [], hovered: null, atRoof: [] };

export function createSelection(sync: Sync, kernels: ReadonlySignal<Kernels>) {
  const { hovered } = sync.signals;
  /** The total that is pointed at, as a row of `drawn`. Not sent to Python, which knows rows of kernels only. */
  const total = signal<number | null>(null);
  const isKernel = (row: number) => row < kernels.value.n;

  return {
    /** The row of `drawn` that is pointed at: a kernel or, after the kernels, a total. */
    pointed: computed(() => total.value ?? hovered.value),
    /** Python has sent other kernels: read the rows again, and drop queued changes about the former rows. */
    reread() {
      const row = sync.received("hovered");
      sync.replace({
        selected: sync.received("selected").filter(isKernel),
        atRoof: sync.received("atRoof").filter(isKernel),
        hovered: row !== null && isKernel(row) ? row : null,
      });
      total.value = null;
    },
    /** The page shows other kernels, after a merge for example. */
    clear() {
      const isChanged = ([name, none]: [string, unknown]) =>
        !isEqual(sync.signals[name as keyof typeof NO_SELECTION].value, none);
      sync.queue(Object.fromEntries(Object.entries(NO_SELECTION).filter(isChanged)));
    },
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
