// A small dialog below its button. It closes at Escape and when the focus leaves it.

import type { ComponentChildren, RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { Button } from "./button.tsx";
import { useDisclosure } from "./disclosure.ts";
import { OWN_KEYS, stepOf } from "./keys.ts";

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
      {...OWN_KEYS}
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

interface PopoverButtonProps extends Pick<PopoverProps, "label" | "room" | "children"> {
  /** The class of the button. */
  readonly look?: string;
  /** What the button shows, if it differs from `label`. */
  readonly text?: ComponentChildren;
  /** The button's name for screen readers, if it differs from its text. */
  readonly name?: string;
  /** A further class of the popover. */
  readonly place?: string;
}

/** A button with the popover that it opens. */
export function PopoverButton({
  look = "button",
  label,
  text = label,
  name,
  place = "",
  room,
  children,
}: PopoverButtonProps) {
  const { isOpen, opened, button, close } = useDisclosure();
  return (
    <>
      <Button look={look} aria-label={name} {...button}>
        {text}
      </Button>
      {isOpen && <Popover id={opened.id} opener={button.ref} look={place} {...{ label, room, close, children }} />}
    </>
  );
}
