// What can be dragged on the chart.

import type { ReadonlySignal } from "@preact/signals";
import type { Drag, GestureOf } from "../../ui/gesture.ts";
import type { Spot } from "../paths.ts";
import type { Scales } from "../scales.ts";

export interface ChartDrag extends Drag {
  readonly kind: "roof" | "kernel" | "marquee" | "plane";
  hasMoved(): boolean;
  /**
   * The axes at the start of the drag of a roof. They do not change during the drag. Otherwise the roof would move away
   * from the pointer.
   */
  readonly axes?: Scales;
  /**
   * Continues the drag with two fingers. `middle`: the point between the fingers, px. `spread`: the distance between
   * the fingers, px.
   */
  pinch?(middle: Spot, spread: number): void;
  /** Whether the roof moves only a small share of the pointer's way. */
  readonly isFine?: ReadonlySignal<boolean>;
  /** Whether the dragged kernel no longer exists. The drag of a kernel that no longer exists has no effect. */
  isVoid?(): boolean;
}

export type ChartGesture = GestureOf<ChartDrag>;

/** A press that moves less than this distance, px, is a click. */
export const CLICK_PX = 4;
