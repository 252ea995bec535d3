// Text that screen readers speak each time it changes. They speak only the parts that changed. During a drag, screen
// readers stay silent. At the end of the drag, they speak the last text.

import { useRef } from "preact/hooks";

interface LiveTextProps {
  readonly class: string;
  readonly text: string;
  /** The text that is seen, if it differs from `text`, which is then its title. */
  readonly shown?: string;
  /** Text that is spoken after `text`, but not shown, because the picture already shows the same content. */
  readonly more?: string;
  /** Whether a control is being dragged. */
  readonly dragging: boolean;
}

export function LiveText({ class: look, text, shown = text, more = "", dragging }: LiveTextProps) {
  const spoken = useRef("");
  const last = useRef<readonly string[]>([]);
  const parts = [text, more];
  if (!dragging && parts.some((part, at) => part !== last.current[at])) {
    const changed = parts.filter((part, at) => part && part !== last.current[at]);
    spoken.current = changed.join(/[.!?…]$/.test(changed[0] ?? "") ? " " : ". ").replace(/\s·\s/g, ", ");
    last.current = parts;
  }
  return (
    <>
      <p class={look} title={shown === text ? undefined : text} aria-hidden="true">
        {shown}
      </p>
      <p class="rw-spoken" role="status">
        {spoken.current || null}
      </p>
    </>
  );
}
