// A drag: started by a press or by keys, moved by the pointer, and then ended or cancelled.

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

export interface Drag {
  move?(x: number, y: number): void;
  /** Keep the change. `event` is missing if the pointer did not end the drag: if the element was removed, for example. */
  end(event?: PointerEvent): void;
  /** Undo the change. */
  cancel(): void;
  /** Whether it was more than a click. */
  hasMoved?(): boolean;
}

/** The drag of an element: at most one at a time. */
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
    /** The active drag. A component that reads it while rendering is rendered at the start and at the end. */
    get drag(): D | undefined {
      return active.value;
    },
    /** Starts a drag. With an event, its element captures the pointer: it gets the events from outside, too. */
    start(drag: D, event?: PointerEvent) {
      end();
      if (event) (event.currentTarget as Element).setPointerCapture(event.pointerId);
      active.value = drag;
    },
    move: (x: number, y: number) => active.peek()?.move?.(x, y),
    end,
    cancel: () => stop(true)?.cancel(),
    /** Whether to ignore the present click. Browsers send a click at the end of a drag, too. */
    takeVoidClick(): boolean {
      const isVoid = isClickVoid.current;
      isClickVoid.current = false;
      return isVoid;
    },
  };
}

export type GestureOf<D extends Drag> = ReturnType<typeof useGesture<D>>;
