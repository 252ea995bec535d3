// A hint beside the roof: how the roof is dragged, when the pointer is on a roof for the first time, and that a drag is
// fine.

import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import type { Store } from "../state/store.ts";
import { marksWords as words } from "../words/words.ts";
import { RoofGestures } from "./marks_legend.tsx";

/** The pages that have shown the hint about dragging. Each page shows this hint once. */
const pages = new WeakSet<Document>();

export function useRoofHint() {
  const isShown = useSignal(false);
  return useMemo(
    () => ({
      isShown,
      hover({ currentTarget, buttons, pointerType }: PointerEvent, isOver: boolean) {
        if (!isOver) isShown.value = false;
        else if (buttons === 0 || pointerType === "touch") {
          const page = (currentTarget as Element).ownerDocument;
          isShown.value = !pages.has(page);
          pages.add(page);
        }
      },
    }),
    [isShown],
  );
}

interface RoofHintProps {
  readonly store: Store;
  readonly isFine: boolean;
  readonly isHovered: boolean;
}

export function RoofHint({ store, isFine, isHovered }: RoofHintProps) {
  if (!isFine && !isHovered) return null;
  return (
    <div class="roofwidget-roofhint" role="note">
      {isFine ? words.fine : <RoofGestures store={store} />}
      {isHovered && !isFine && <small class="roofwidget-muted">{words.whereMore}</small>}
    </div>
  );
}
