// What can be dragged on the chart.

import type { Drag, GestureOf } from "../../ui/gesture.ts";
import type { Scales } from "../scales.ts";

export interface ChartDrag extends Drag {
  readonly kind: "roof" | "kernel" | "marquee" | "plane";
  hasMoved(): boolean;
  /** The axes that stay until the end: if they followed the drag, the roof would run away from the pointer. */
  readonly axes?: Scales;
  /** Whether its kernel is gone. */
  isVoid?(): boolean;
}

export type ChartGesture = GestureOf<ChartDrag>;

/** A pointer that moves less than this, px, has clicked. */
export const CLICK_PX = 4;
