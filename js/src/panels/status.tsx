// The line that says what was just done.

import type { Store } from "../state/store.ts";

export const StatusRow = ({ store }: { readonly store: Store }) => (
  <p
    class={`roofwidget-status${store.status.value.isFault ? " roofwidget-fault" : ""}`}
    data-rw="status"
    role="status"
  >
    {store.status.value.text}
  </p>
);
