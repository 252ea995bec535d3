// Text that screen readers speak each time it changes. They speak only the parts that changed. During a drag, screen
// readers stay silent. At the end of the drag, they speak the last text.

import { useRef } from "preact/hooks";

interface LiveTextProps {
  readonly class: string;
  readonly text: string;
  readonly note?: string;
  /** The minimum height, in lines. */
  readonly lines?: number;
  /** Text that is spoken after `text` and `note`, but not shown, because the picture already shows the same content. */
  readonly more?: string;
  /** Whether a control is being dragged. */
  readonly dragging: boolean;
}

export function LiveText({ class: look, text, note = "", lines, more = "", dragging }: LiveTextProps) {
  const spoken = useRef("");
  const last = useRef<readonly string[]>([]);
  const parts = [text, note, more];
  if (!dragging && parts.some((part, at) => part !== last.current[at])) {
    spoken.current = parts.filter((part, at) => part && part !== last.current[at]).join(" ");
    last.current = parts;
  }
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
