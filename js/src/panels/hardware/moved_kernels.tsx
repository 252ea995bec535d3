// How many kernels are carried elsewhere, and what takes them all back.

import type { Store } from "../../state/store.ts";
import { Button } from "../../ui/button.tsx";
import { handOn } from "../../ui/focus.ts";
import { moveWords } from "../../words/words.ts";

export function MovedKernels({ store }: { store: Store }) {
  const count = store.moved.value?.rows.length ?? 0;
  if (count === 0) return null;
  return (
    <p class="roofwidget-row roofwidget-moved">
      {moveWords.moved(count)}
      <Button
        aria-label={moveWords.resetAll(count)}
        onClick={({ currentTarget }) => {
          handOn(currentTarget);
          store.resetMoves();
        }}
      >
        {moveWords.back}
      </Button>
    </p>
  );
}
