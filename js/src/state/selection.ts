// Which kernels are pointed at and selected.

import { computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import type { Kernels } from "../wire/columns.ts";
import type { Model, Outbox } from "./outbox.ts";

interface Parts {
  readonly model: Model;
  readonly outbox: Outbox;
  readonly kernels: ReadonlySignal<Kernels>;
  /** Rows that reach their roof in the projected time. */
  readonly atRoof: Signal<readonly number[]>;
}

export function createSelection({ model, outbox, kernels, atRoof }: Parts) {
  const selected = signal<readonly number[]>([]);
  const hovered = signal<number | null>(null);
  /** A total that is pointed at, by its row of `drawn`; Python is told of kernels alone. */
  const total = signal<number | null>(null);
  const isKernel = (row: number) => row < kernels.value.n;

  return {
    state: { selected, hovered },
    /** The row of `drawn` that is pointed at: a kernel's, or past them a total's. */
    pointed: computed(() => total.value ?? hovered.value),
    /** Other kernels have come: what was about to be said of the rows before means nothing now. */
    reread() {
      outbox.drop("selected", "hovered", "at_roof");
      selected.value = (model.get("selected") as number[]).filter(isKernel);
      atRoof.value = (model.get("at_roof") as number[]).filter(isKernel);
      total.value = null;
      const row = model.get("hovered") as number | null;
      hovered.value = row !== null && isKernel(row) ? row : null;
    },
    /** Other kernels are made here: a row that Python still had to hear of could be none of them. */
    clear() {
      if (selected.value.length > 0) outbox.put("selected", []);
      if (hovered.value !== null) outbox.put("hovered", null);
      if (atRoof.value.length > 0) outbox.put("at_roof", []);
      atRoof.value = [];
      selected.value = [];
      hovered.value = null;
    },
    actions: {
      hover(row: number | null) {
        const own = row !== null && isKernel(row) ? row : null;
        total.value = row === own ? null : row;
        if (own === hovered.value) return;
        hovered.value = own;
        outbox.tell("hovered", own, { stream: true });
      },
      select(rows: readonly number[]) {
        selected.value = rows.filter(isKernel);
        outbox.tell("selected", selected.value);
      },
    },
  };
}
