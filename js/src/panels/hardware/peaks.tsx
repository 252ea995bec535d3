// By which rates of the chips kernels are judged: those of the data sheets, or the measured ones.

import type { Peaks as Which } from "../../roofline/measured_rates.ts";
import type { Store } from "../../state/store.ts";
import { Select } from "../../ui/select.tsx";
import { words } from "../../words/words.ts";

/** Returns the choice; undefined if no shown chip has a measured rate. */
function choiceOf(store: Store) {
  const inUse = store.rates.peaksInUse.value;
  if (inUse === undefined) return undefined;
  const options = [["printed", words.printed] as const, ["achievable", words.achievable] as const];
  return {
    label: words.peaks,
    lock: store.lesson.lockNote("peak_flops") ?? store.lesson.lockNote("bandwidth"),
    value: inUse,
    options: inUse === "changed" ? [["changed", words.changed] as const, ...options] : options,
    disabled: "changed",
    choose: (peaks: string) => store.rates.usePeaks(peaks as Which),
  };
}

export function Peaks({ store }: { readonly store: Store }) {
  const choice = choiceOf(store);
  return choice ? <Select row {...choice} /> : null;
}

/** The same choice as a menu at the end of the box of a rate. */
export function PeaksMenu({ store }: { readonly store: Store }) {
  const choice = choiceOf(store);
  return choice ? (
    <span class="rw-peaks">
      <Select {...choice} />
    </span>
  ) : null;
}
