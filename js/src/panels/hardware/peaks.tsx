// By which rates of the chips kernels are judged: those of the data sheets, or the measured ones.

import type { Peaks as Which } from "../../roofline/measured_rates.ts";
import type { Store } from "../../state/store.ts";
import { Select } from "../../ui/select.tsx";
import { words } from "../../words/words.ts";

/** Nothing if no shown chip has a measured rate. */
export function Peaks({ store }: { readonly store: Store }) {
  const inUse = store.peaksInUse.value;
  if (inUse === undefined) return null;
  const options = [["printed", words.printed] as const, ["achievable", words.achievable] as const];
  return (
    <Select
      row
      label={words.peaks}
      lock={store.lockNote("peak_flops") ?? store.lockNote("bandwidth")}
      value={inUse}
      options={inUse === "changed" ? [["changed", words.changed], ...options] : options}
      disabled="changed"
      choose={(peaks) => store.usePeaks(peaks as Which)}
    />
  );
}
