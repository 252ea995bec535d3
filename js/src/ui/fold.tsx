// `Fold` is a heading with content that can be folded. `Section` is a panel of the widget. During a presentation, a
// `Section` is a fold.

import { type Signal, useSignal } from "@preact/signals";
import { type ComponentChildren, createContext } from "preact";
import { useContext } from "preact/hooks";
import { useUid } from "./uid.ts";

/**
 * The name of the panel that is unfolded during a presentation. All other panels are folded. If there is no
 * presentation, this is undefined, and each fold is opened and closed separately.
 */
export const InUse = createContext<Signal<string> | undefined>(undefined);

interface FoldProps {
  /** The name of the panel, if the fold is a complete panel. */
  readonly name?: string;
  readonly title: string;
  /** The current state of the content in a few words. Shown even while the content is folded. */
  readonly note: string;
  /**
   * The content. If the content changes in every frame, a function is given. The function is called only while the
   * content is unfolded.
   */
  readonly children: ComponentChildren | (() => ComponentChildren);
  /** Whether the content is unfolded at first. By default it is folded. */
  readonly unfolded?: boolean;
  /** Whether the content is unfolded. If this state must outlive the component, the caller gives this signal. */
  readonly open?: { value: boolean };
}

export function Fold({ name, title, note, children, unfolded = false, open: kept }: FoldProps) {
  const own = useSignal(unfolded);
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
  /** Text shown while the panel is folded. */
  readonly note?: string;
  readonly class: string;
  readonly children: ComponentChildren;
}

/** A panel of the widget. During a presentation, the panel is folded while another panel is unfolded. */
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
