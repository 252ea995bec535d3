// A heading that unfolds what stands under it.

import { type Signal, useSignal } from "@preact/signals";
import { type ComponentChildren, createContext } from "preact";
import { useContext } from "preact/hooks";
import { useUid } from "./uid.ts";

/** Where one panel at a time is unfolded, as on a projector: which; undefined where each is as it was left. */
export const InUse = createContext<Signal<string> | undefined>(undefined);

interface FoldProps {
  /** Of a whole panel. */
  readonly name?: string;
  readonly title: string;
  /** What holds at present, told while it is folded too. */
  readonly note: string;
  /** Of one that changes with every frame, what makes it: folded, it is not made. */
  readonly children: ComponentChildren | (() => ComponentChildren);
  /** Whether it is unfolded, where that outlives the fold. */
  readonly open?: Signal<boolean>;
}

export function Fold({ name, title, note, children, open: kept }: FoldProps) {
  const own = useSignal(false);
  const inUse = useContext(InUse);
  const open = inUse && name !== undefined ? turnOf(inUse, name) : (kept ?? own);
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
        {note ? <span class="roofwidget-muted">{note}</span> : null}
      </button>
      {open.value && (
        <div id={id} class="roofwidget-folded">
          {typeof children === "function" ? children() : children}
        </div>
      )}
    </div>
  );
}

const turnOf = (inUse: Signal<string>, name: string) => ({
  get value() {
    return inUse.value === name;
  },
  set value(open: boolean) {
    inUse.value = open ? name : "";
  },
});
