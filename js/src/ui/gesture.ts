// A drag. A press of the pointer or of a key starts the drag. The pointer or keys move the drag. The drag is finished
// when it is ended (the change is kept) or cancelled (the change is undone).

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

export interface Drag {
  /** `isFine`: whether the user presses the key for fine moves. */
  move?(x: number, y: number, isFine?: boolean): void;
  /**
   * Ends the drag and keeps the change. `event` is missing if the pointer did not end the drag. For example, the
   * removal of the element may end the drag.
   */
  end(event?: PointerEvent): void;
  /** Ends the drag and undoes the change. */
  cancel(): void;
  /** Whether the drag has moved so far that it is not a click. */
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
     * The active drag. A component that reads this value while it renders is rendered again at the start and at the end
     * of a drag.
     */
    get drag(): D | undefined {
      return active.value;
    },
    /**
     * Starts a drag. If `event` is given, the element of the event captures the pointer. After that, the element also
     * gets pointer events from outside the element.
     */
    start(drag: D, event?: PointerEvent) {
      end();
      if (event) (event.currentTarget as Element).setPointerCapture(event.pointerId);
      active.value = drag;
    },
    move: (x: number, y: number, isFine?: boolean) => active.peek()?.move?.(x, y, isFine),
    end,
    cancel: () => stop(true)?.cancel(),
    /**
     * Returns whether to ignore the current click. Browsers also send a click at the end of a drag, and this click must
     * be ignored.
     */
    takeVoidClick(): boolean {
      const isVoid = isClickVoid.current;
      isClickVoid.current = false;
      return isVoid;
    },
  };
}

export type GestureOf<D extends Drag> = ReturnType<typeof useGesture<D>>;
