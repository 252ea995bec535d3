// A heading with content that can be folded, and a panel of the widget, which folds in presentation.

import { type Signal, useSignal } from "@preact/signals";
import { type ComponentChildren, createContext } from "preact";
import { useContext } from "preact/hooks";
import { useUid } from "./uid.ts";

/** In presentation one panel at a time is unfolded: its name. Undefined elsewhere: each panel keeps its own state. */
export const InUse = createContext<Signal<string> | undefined>(undefined);

interface FoldProps {
  /** The name of the panel, if the fold is a whole panel. */
  readonly name?: string;
  readonly title: string;
  /** The present state in a few words, shown while folded too. */
  readonly note: string;
  /** A function for content that changes with every frame: it is not called while folded. */
  readonly children: ComponentChildren | (() => ComponentChildren);
  /** Whether it is unfolded, if that must outlive the component. */
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

interface SectionProps {
  /** The name that identifies the panel. */
  readonly name: string;
  readonly title: string;
  /** Shown while the panel is folded. */
  readonly note?: string;
  readonly class: string;
  readonly children: ComponentChildren;
}

/** A panel of the widget. In presentation it is folded while another panel is in use. */
export function Section({ name, title, note = "", class: look, children }: SectionProps) {
  return (
    <section class={look} aria-label={title}>
      {useContext(InUse) ? (
        <Fold name={name} title={title} note={note}>
          {children}
        </Fold>
      ) : (
        children
      )}
    </section>
  );
}
