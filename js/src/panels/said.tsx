// Text that is also spoken when it changes: once the control that changes it is let go, not all along the way.

import { useRef } from "preact/hooks";

interface SaidProps {
  readonly class: string;
  readonly text: string;
  readonly note?: string;
  /** What is spoken alone: the picture shows it. */
  readonly more?: string;
  /** Whether a control is held. */
  readonly held: boolean;
}

export function Said({ class: look, text, note = "", more = "", held }: SaidProps) {
  const spoken = useRef("");
  if (!held) spoken.current = `${text} ${note} ${more}`.trim();
  return (
    <>
      <p class={look} aria-hidden="true">
        {text}
        {note && <span class="roofwidget-muted roofwidget-note">{note}</span>}
      </p>
      <p class="roofwidget-spoken" role="status">
        {spoken.current}
      </p>
    </>
  );
}
