// Text that is also spoken when it changes: once the control that changes it is let go, not all along the way.

import { useRef } from "preact/hooks";

interface LiveTextProps {
  readonly class: string;
  readonly text: string;
  readonly note?: string;
  /** At least this high. */
  readonly lines?: number;
  /** What is spoken alone: the picture shows it. */
  readonly more?: string;
  /** Whether a control is being dragged. */
  readonly dragging: boolean;
}

export function LiveText({ class: look, text, note = "", lines, more = "", dragging }: LiveTextProps) {
  const spoken = useRef("");
  if (!dragging) spoken.current = `${text} ${note} ${more}`.trim();
  return (
    <>
      <p class={look} style={lines === undefined ? undefined : { minHeight: `${lines}lh` }} aria-hidden="true">
        {text}
        {note ? <span class="roofwidget-muted roofwidget-note">{note}</span> : null}
      </p>
      <p class="roofwidget-spoken" role="status">
        {spoken.current || null}
      </p>
    </>
  );
}
