// Drawing a rectangle over the chart: it selects the kernels whose points are inside, or zooms to it.

import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { isTotal } from "../../roofline/totals.ts";
import type { Store } from "../../state/store.ts";
import { sightOf } from "../points/visible.ts";
import type { Box } from "../scales.ts";
import type { Scene } from "../scene.ts";
import { within } from "../zoom.ts";

interface Drag {
  readonly from: readonly [x: number, y: number];
  readonly to: readonly [x: number, y: number];
}

/** A hand that shakes this much, px, has clicked. */
const STILL = 4;

/** `zooms`: it shows what is inside, rather than selecting it. */
export function useRubber(store: Store, scene: Scene, zooms: boolean) {
  const drag = useSignal<Drag | undefined>(undefined);
  // The browser calls the end of a drag a click, too.
  const drawn = useRef(false);
  return {
    /** Where the rectangle is at present. */
    get box() {
      return drag.value && boxOf(drag.value);
    },
    get isHeld() {
      return drag.value !== undefined;
    },
    take(event: PointerEvent, x: number, y: number) {
      // A finger scrolls the page.
      if (event.button !== 0 || (event.pointerType === "touch" && !zooms)) return;
      (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
      drag.value = { from: [x, y], to: [x, y] };
    },
    move(x: number, y: number) {
      if (drag.value) drag.value = { ...drag.value, to: [x, y] };
    },
    /** `add`: beside what is selected. */
    letGo(add: boolean) {
      const box = drag.value && boxOf(drag.value);
      drag.value = undefined;
      if (!box) return;
      drawn.current = true;
      if (zooms) return store.setZoom(within(scene.scales, box));
      const rows = rowsWithin(scene, box);
      store.select(add ? [...new Set([...store.selected.value, ...rows])] : rows);
    },
    takeBack() {
      drawn.current ||= drag.value !== undefined;
      drag.value = undefined;
    },
    /** Whether the click that comes now is the end of a drag. */
    hasDrawn(): boolean {
      const was = drawn.current;
      drawn.current = false;
      return was;
    },
  };
}

function boxOf({ from: [x, y], to: [toX, toY] }: Drag): Box | undefined {
  if (Math.abs(toX - x) + Math.abs(toY - y) < STILL) return undefined;
  return { left: Math.min(x, toX), right: Math.max(x, toX), top: Math.min(y, toY), bottom: Math.max(y, toY) };
}

/** The kernels that have a point in a box, in the order of the table. */
export function rowsWithin(scene: Scene, { left, right, top, bottom }: Box): number[] {
  const { points, kernels } = scene;
  const { at } = sightOf(scene);
  const rows = new Set<number>();
  for (let index = 0; index < points.n; index++) {
    const [x, y, row] = [at.x[index] as number, at.y[index] as number, points.row[index] as number];
    if (x >= left && x <= right && y >= top && y <= bottom && !isTotal(kernels, row)) rows.add(row);
  }
  return [...rows].sort((a, b) => a - b);
}
