// The row below the sliders: what was just done, that Python does not answer, or what is said of the hovered kernel or of the roof.

import { captionOf } from "../chart/caption.ts";
import { roofsAbove } from "../chart/layers/rulers.tsx";
import type { Store } from "../state/store.ts";
import { LiveText } from "../ui/live_text.tsx";
import { words } from "../words/words.ts";

interface StatusProps {
  readonly store: Store;
  readonly pointedChip: string | undefined;
}

export function StatusRow({ store, pointedChip }: StatusProps) {
  const connection = store.connection.value;
  const row = store.described.value;
  const { text } = captionOf(store, pointedChip);
  const { text: said, isFault } = store.status.value;
  return (
    <div class="roofwidget-status" data-rw="status" data-said={said !== ""}>
      <p class={isFault ? "roofwidget-fault" : undefined} role="status">
        {said || null}
      </p>
      <p class="roofwidget-connection" role="status">
        {connection === "answering" ? null : words[connection]}
      </p>
      {!store.hiddenPanels.value.includes("sentence") && (
        <LiveText
          class="roofwidget-formula"
          dragging={store.isInDrag()}
          text={text}
          more={row === undefined ? "" : roofsAbove(store, row)}
        />
      )}
    </div>
  );
}
