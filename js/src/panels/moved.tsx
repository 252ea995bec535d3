// How many kernels are carried elsewhere, and what takes them all back.

import type { Store } from "../store.ts";
import { moveWords } from "../strings.ts";

export function MovedKernels({ store }: { store: Store }) {
  const count = store.moved.value?.rows.length ?? 0;
  if (count === 0) return null;
  return (
    <p class="roofwidget-row roofwidget-moved">
      {moveWords.moved(count)}
      <button
        type="button"
        class="roofwidget-button"
        data-lm-suppress-shortcuts="true"
        aria-label={moveWords.resetAll(count)}
        onClick={() => store.resetMoves()}
      >
        {moveWords.back}
      </button>
    </p>
  );
}
