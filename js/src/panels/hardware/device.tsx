// The figures of the focus chip at a glance: the peak of each precision, and the bandwidth and the ridge point of each
// memory level, with what-ifs. It is open at first if a profile is shown.

import { useSignal } from "@preact/signals";
import { operationIn } from "../../roofline/operations.ts";
import type { Roof } from "../../roofline/roofline.ts";
import type { Store } from "../../state/store.ts";
import { formatIntensity, formatQuantity } from "../../text/numbers.ts";
import { Fold } from "../../ui/fold.tsx";
import type { Terms } from "../../wire/types.ts";
import { strings, words } from "../../words/words.ts";

export function Device({ store, roof }: { readonly store: Store; readonly roof: Roof }) {
  const chosen = useSignal<boolean | undefined>(undefined);
  const open = {
    get value() {
      return chosen.value ?? store.kernels.value.totalTime > 0;
    },
    set value(isOpen: boolean) {
      chosen.value = isOpen;
    },
  };
  return (
    <Fold title={words.device} note="" open={open}>
      {() => <Figures roof={roof} terms={store.terms.value} />}
    </Fold>
  );
}

function Figures({ roof, terms }: { readonly roof: Roof; readonly terms: Terms }) {
  const levels = [...roof.bandwidths].flatMap(([name, bandwidth]) => (bandwidth === null ? [] : [{ name, bandwidth }]));
  return (
    <>
      <dl class="roofwidget-device">
        {[...roof.peaks].map(([precision, peak]) => (
          <div key={precision} class="roofwidget-figure">
            <dt>
              {precision === roof.precision ? <strong>{strings.peak(precision)}</strong> : strings.peak(precision)}
            </dt>
            <dd>{formatQuantity(peak, `${operationIn(precision)}/s`, 4)}</dd>
          </div>
        ))}
      </dl>
      <table class="roofwidget-device">
        <thead>
          <tr>
            <th scope="col" class="roofwidget-start roofwidget-muted">
              {words.level}
            </th>
            <th scope="col" class="roofwidget-muted">
              {words.bandwidth}
            </th>
            <th scope="col" class="roofwidget-muted">
              {words.ridgeAt(roof.precision, terms)}
            </th>
          </tr>
        </thead>
        <tbody>
          {levels.map(({ name, bandwidth }) => (
            <tr key={name} data-level={name}>
              <th scope="row" class="roofwidget-start">
                {name}
              </th>
              <td>{formatQuantity(bandwidth, "B/s", 4)}</td>
              <td>{formatIntensity(roof.peak / bandwidth, 4, `${operationIn(roof.precision)}/B`)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}
