// A small dialog below its button. It closes at Escape and when the focus leaves it.

import type { ComponentChildren, RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { stepOf } from "./keys.ts";

interface PopoverProps {
  /** The id by which the button refers to the popover. */
  readonly id?: string;
  readonly label: string;
  /** The button that opens the popover. */
  readonly opener: RefObject<HTMLElement | null>;
  /** The maximum height, px. */
  readonly room: number;
  /**
   * Closes the popover. If `isDone` is true, the focus returns to the button. If `isDone` is false, another element
   * already has the focus.
   */
  close(isDone: boolean): void;
  /** A further class of the popover. */
  readonly look?: string;
  readonly children: ComponentChildren;
}

export function Popover({ id, label, opener, room, close, look = "", children }: PopoverProps) {
  const dialog = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => dialog.current?.focus({ preventScroll: true }), []);
  return (
    <div
      ref={dialog}
      id={id}
      class={`rw-popover ${look}`}
      style={{ maxHeight: `${room}px` }}
      role="dialog"
      aria-label={label}
      // The arrow keys scroll a dialog that has nothing else to focus.
      // biome-ignore lint/a11y/noNoninteractiveTabindex: see above
      tabIndex={0}
      data-lm-suppress-shortcuts="true"
      onKeyDown={(event) => {
        if (!stepOf(event)) event.stopPropagation();
        if (event.key === "Escape") close(true);
      }}
      onFocusOut={({ relatedTarget }) => {
        const to = relatedTarget as Node | null;
        if (!dialog.current?.contains(to) && !opener.current?.contains(to)) close(false);
      }}
    >
      {children}
    </div>
  );
}
