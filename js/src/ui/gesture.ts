// A drag: started by a press or by keys, moved by the pointer, and then ended or cancelled.

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

export interface Drag {
  move?(x: number, y: number): void;
  /**
   * Keeps the change. `event` is missing if something other than the pointer ended the drag, such as the removal of the
   * element.
   */
  end(event?: PointerEvent): void;
  /** Undoes the change. */
  cancel(): void;
  /** Whether the drag has moved far enough not to be a click. */
  hasMoved?(): boolean;
}

/** Returns the drag of an element. An element has at most one drag at a time. */
export function useGesture<D extends Drag>() {
  const active = useSignal<D | undefined>(undefined);
  const isClickVoid = useRef(false);
  function stop(isCancelled: boolean): D | undefined {
    const drag = active.peek();
    active.value = undefined;
    if (drag) isClickVoid.current = isCancelled || drag.hasMoved?.() === true;
    return drag;
  }
  const end = (event?: PointerEvent) => stop(false)?.end(event);
  useEffect(() => () => end(), []);
  return {
    /**
     * The active drag. A component that reads this value while rendering is rendered again at the start and at the end
     * of a drag.
     */
    get drag(): D | undefined {
      return active.value;
    },
    /**
     * Starts a drag. With an event, the event's element captures the pointer, so that it also gets pointer events from
     * outside.
     */
    start(drag: D, event?: PointerEvent) {
      end();
      if (event) (event.currentTarget as Element).setPointerCapture(event.pointerId);
      active.value = drag;
    },
    move: (x: number, y: number) => active.peek()?.move?.(x, y),
    end,
    cancel: () => stop(true)?.cancel(),
    /** Returns whether to ignore the current click. Browsers send a click at the end of a drag too. */
    takeVoidClick(): boolean {
      const isVoid = isClickVoid.current;
      isClickVoid.current = false;
      return isVoid;
    },
  };
}

export type GestureOf<D extends Drag> = ReturnType<typeof useGesture<D>>;
