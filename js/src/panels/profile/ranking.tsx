// The ranking of kernels to fix first, with the time that fixing them would save.

import { useSignal } from "@preact/signals";
import { roofElsewhere } from "../../roofline/roofline.ts";
import type { Store } from "../../state/store.ts";
import { ofChip } from "../../text/names.ts";
import { formatPercent, formatQuantity } from "../../text/numbers.ts";
import { Button } from "../../ui/button.tsx";
import { Fold } from "../../ui/fold.tsx";
import { runWords as words } from "../../words/words.ts";
import { KernelButton } from "../kernel_button.tsx";

export function Ranking({ store }: { store: Store }) {
  // Whether the ranking is unfolded. The signal is not in the fold component, because this component is removed while
  // the filters leave only one kernel.
  const open = useSignal(false);
  const { rows, share } = store.ranking.value;
  const roof = store.focusRoof.value;
  // For a single kernel, the chart already shows what the ranking would show.
  if (rows.length < 2 || !roof) return null;
  const ran = (roofElsewhere(store.kernels.value, roof) ?? roof).chip;
  return (
    <Fold
      name="ranking"
      open={open}
      title={words.fixFirst(rows.length)}
      note={ofChip(words.back(formatPercent(share), ran.id !== roof.chip.id), ran, roof)}
    >
      {() => <Gains store={store} chip={ran.name} />}
    </Fold>
  );
}

function Gains({ store, chip }: { store: Store; chip: string }) {
  const { rows, gains, leftOut } = store.ranking.value;
  const kernels = store.kernels.value;
  return (
    <>
      <p class="roofwidget-muted">{words.gains(chip)}</p>
      <ol class="roofwidget-ranking">
        {rows.map((row, at) => {
          const gain = gains[at] as number;
          const value = `${formatPercent(gain / kernels.totalTime)} · ${formatQuantity(gain, "s")}`;
          return (
            <li key={row} value={at + 1}>
              <KernelButton store={store} row={row} value={value} />
            </li>
          );
        })}
      </ol>
      {leftOut.count > 0 && (
        <p class="roofwidget-muted">{words.leftOut(leftOut.count, formatQuantity(leftOut.seconds, "s"))}</p>
      )}
      <Button onClick={() => store.select(rows)}>{words.selectThem(rows.length)}</Button>
    </>
  );
}
