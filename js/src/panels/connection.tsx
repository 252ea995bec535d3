// The note that Python does not answer. It is under the chart, so that the chart stays in place during a drag.

import type { Store } from "../state/store.ts";
import { words } from "../words/words.ts";

export function ConnectionNote({ store }: { store: Store }) {
  const connection = store.python.connection.value;
  return (
    <p class="roofwidget-connection" role="status">
      {connection === "answering" ? null : words[connection]}
    </p>
  );
}
