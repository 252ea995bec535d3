// A panel of the widget. In presentation it is folded while another panel is in use.

import type { ComponentChildren } from "preact";
import { useContext } from "preact/hooks";
import { Fold, InUse } from "./fold.tsx";

interface SectionProps {
  /** The name that identifies the panel. */
  readonly name: string;
  readonly title: string;
  /** Shown while the panel is folded. */
  readonly note?: string;
  readonly class: string;
  readonly children: ComponentChildren;
}

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
