// A panel of the widget: on a projector it is folded while another one is in use.

import type { ComponentChildren } from "preact";
import { useContext } from "preact/hooks";
import { Fold, InUse } from "./fold.tsx";

interface SectionProps {
  /** By which it is told from the others. */
  readonly name: string;
  readonly title: string;
  /** What it tells while it is folded. */
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
