// A drag: started by a press or by keys, moved by the pointer, and then ended or cancelled.

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

export interface Drag {
  move?(x: number, y: number): void;
  /** Keep what the drag has done. There is no event where something else ends it: the element goes away, say. */
  end(event?: PointerEvent): void;
  /** Put back what was there before. */
  cancel(): void;
  /** Whether it was more than a click. */
  hasMoved?(): boolean;
}

/** The one drag of an element. */
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
    /** What is being dragged. A component that reads it renders at the start and at the end. */
    get drag(): D | undefined {
      return active.value;
    },
    /** Starts a drag. With an event its element gets all further events of the pointer, also from outside. */
    start(drag: D, event?: PointerEvent) {
      end();
      if (event) (event.currentTarget as Element).setPointerCapture(event.pointerId);
      active.value = drag;
    },
    move: (x: number, y: number) => active.peek()?.move?.(x, y),
    end,
    cancel: () => stop(true)?.cancel(),
    /** Whether the click that comes now is only the end of a drag, for which the browser sends a click, too. */
    takeVoidClick(): boolean {
      const isVoid = isClickVoid.current;
      isClickVoid.current = false;
      return isVoid;
    },
  };
}

export type GestureOf<D extends Drag> = ReturnType<typeof useGesture<D>>;
