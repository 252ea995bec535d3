// The row below the sliders: what was just done, that Python does not answer, or what is said of the hovered kernel or of
// the roof.

import type { Store } from "../state/store.ts";
import { words } from "../words/words.ts";
import { StatusFormula } from "./status_formula.tsx";

interface StatusProps {
  readonly store: Store;
  readonly pointedChip: string | undefined;
}

export function StatusRow({ store, pointedChip }: StatusProps) {
  const connection = store.python.connection.value;
  const { text: said, isFault } = store.view.status.value;
  return (
    <div class="rw-status" data-rw="status" data-said={said !== ""}>
      <p class={isFault ? "rw-fault" : undefined} role="status">
        {said || null}
      </p>
      <p class="rw-connection" role="status">
        {connection === "answering" ? null : words[connection]}
      </p>
      {!store.view.hiddenPanels.value.includes("sentence") && !store.lesson.hidesHint("sentence") && (
        <StatusFormula store={store} pointedChip={pointedChip} />
      )}
    </div>
  );
}
