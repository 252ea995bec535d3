// The marquee: a rectangle dragged over the chart. Usually the marquee selects the points inside the rectangle. With
// the zoom tool, the marquee zooms to the rectangle instead.

import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { isTotal } from "../../roofline/totals.ts";
import type { Store } from "../../state/store.ts";
import { visiblePoints } from "../points/visible.ts";
import { type Box, holds, spotAt } from "../scales.ts";
import type { Scene } from "../scene.ts";
import { zoomToBox } from "../zoom.ts";
import { type ChartGesture, CLICK_PX } from "./chart_drag.ts";

/**
 * Starts and draws the marquee. If `zooms` is true, the marquee zooms to the rectangle. Otherwise, the marquee selects
 * the points inside the rectangle.
 */
export function useMarquee(store: Store, scene: Scene, gesture: ChartGesture, zooms: boolean) {
  const box = useSignal<Box | undefined>(undefined);
  const latest = useRef(scene);
  latest.current = scene;
  return {
    /** The current rectangle of the marquee. */
    box: box.value,
    start(event: PointerEvent, fromX: number, fromY: number) {
      // A touch draws a rectangle only if the tool zooms. With any other tool a touch scrolls the page.
      if (event.button !== 0 || (event.pointerType === "touch" && !zooms)) return;
      const clear = () => {
        const last = box.peek();
        box.value = undefined;
        return last;
      };
      gesture.start(
        {
          kind: "marquee",
          hasMoved: () => box.peek() !== undefined,
          move(x, y) {
            const isClick = Math.abs(x - fromX) + Math.abs(y - fromY) < CLICK_PX;
            const [left, right] = [Math.min(fromX, x), Math.max(fromX, x)];
            box.value = isClick ? undefined : { left, right, top: Math.min(fromY, y), bottom: Math.max(fromY, y) };
          },
          end(up) {
            const drawn = clear();
            if (!drawn || !up) return;
            if (zooms) return store.view.setZoom(zoomToBox(latest.current.scales, drawn));
            const rows = rowsWithin(latest.current, drawn);
            store.rows.select(isAdding(up) ? [...new Set([...store.rows.selected.value, ...rows])] : rows);
          },
          cancel: clear,
        },
        event,
      );
    },
  };
}

/** Whether a click or a drag adds to the selection. */
export const isAdding = (event: MouseEvent) => event.shiftKey || event.ctrlKey || event.metaKey;

/** The rows of the kernels with a point in the box, in table order. */
export function rowsWithin(scene: Scene, box: Box): number[] {
  const { points, kernels } = scene;
  const { at } = visiblePoints(scene);
  const rows = new Set<number>();
  for (let index = 0; index < points.n; index++) {
    const row = points.row[index] as number;
    if (holds(box, ...spotAt(at, index)) && !isTotal(kernels, row)) rows.add(row);
  }
  return [...rows].sort((a, b) => a - b);
}
