// A heading that unfolds what stands under it.

import { type Signal, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useUid } from "../uid.ts";

interface FoldProps {
  readonly title: string;
  /** What holds at present, told while it is folded too. */
  readonly note: string;
  readonly children: ComponentChildren;
  /** Whether it is unfolded, where that outlives the fold. */
  readonly open?: Signal<boolean>;
}

export function Fold({ title, note, children, open: kept }: FoldProps) {
  const own = useSignal(false);
  const open = kept ?? own;
  const id = useUid();
  return (
    <div class="roofwidget-fold">
      <button
        type="button"
        data-lm-suppress-shortcuts="true"
        aria-expanded={open.value}
        aria-controls={open.value ? id : undefined}
        onClick={() => {
          open.value = !open.value;
        }}
      >
        <span aria-hidden="true">{open.value ? "▾" : "▸"}</span>
        <span>{title}</span>
        {note && <span class="roofwidget-muted">{note}</span>}
      </button>
      {open.value && (
        <div id={id} class="roofwidget-folded">
          {children}
        </div>
      )}
    </div>
  );
}
