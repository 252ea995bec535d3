// Of a measured program: what to fix first, and how long it would take elsewhere.

import type { Store } from "../../state/store.ts";
import { Projected } from "./projected.tsx";
import { Ranking } from "./ranking.tsx";

export function Outlook({ store }: { store: Store }) {
  if (!store.focusRoof.value || !(store.kernels.value.totalTime > 0)) return null;
  return (
    <div class="roofwidget-outlook">
      <Ranking store={store} />
      <Projected store={store} />
    </div>
  );
}
