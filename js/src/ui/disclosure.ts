// A button that opens an element below the button. Escape closes the element and moves the focus back to the button.

import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { isModified } from "./keys.ts";
import { useUid } from "./uid.ts";

export type Disclosed = ReturnType<typeof useDisclosure>["opened"];

export function useDisclosure() {
  const open = useSignal(false);
  const button = useRef<HTMLButtonElement>(null);
  const id = useUid();
  function close() {
    open.value = false;
    button.current?.focus();
  }
  function onKeyDown(event: KeyboardEvent) {
    if (event.key !== "Escape" || !open.value || isModified(event)) return;
    close();
    event.stopPropagation();
  }
  return {
    isOpen: open.value,
    close,
    /** The props for the element that the button opens. */
    opened: { id, onKeyDown },
    button: {
      ref: button,
      "aria-expanded": open.value,
      "aria-controls": open.value ? id : undefined,
      onClick: () => {
        open.value = !open.value;
      },
      onKeyDown,
    },
  };
}
