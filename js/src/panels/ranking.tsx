// Which kernels to fix first, and what that is worth.

import { formatPercent, formatQuantity } from "../format.ts";
import type { Store } from "../store.ts";
import { runWords as words } from "../strings.ts";
import { Fold } from "./fold.tsx";
import { KernelButton } from "./kernelbutton.tsx";

export function Ranking({ store }: { store: Store }) {
  const { rows, gains, share } = store.ranking.value;
  // Of a single kernel the chart says it all.
  if (rows.length < 2) return null;
  const { totalTime } = store.kernels.value;
  return (
    <Fold title={words.fixFirst(rows.length)} note={words.back(formatPercent(share))}>
      <p class="roofwidget-muted">{words.gains(store.focusRoof.value?.chip.name ?? "")}</p>
      <ol class="roofwidget-ranking">
        {rows.map((row, at) => {
          const gain = gains[at] as number;
          const value = `${formatPercent(gain / totalTime)} · ${formatQuantity(gain, "s")}`;
          return (
            <li key={row}>
              <KernelButton store={store} row={row} value={value} />
            </li>
          );
        })}
      </ol>
      <button
        type="button"
        class="roofwidget-button"
        data-lm-suppress-shortcuts="true"
        onClick={() => store.select(rows)}
      >
        {words.selectThem(rows.length)}
      </button>
    </Fold>
  );
}
