// What can be dragged on the chart.

import type { ReadonlySignal } from "@preact/signals";
import type { Drag, GestureOf } from "../../ui/gesture.ts";
import type { Spot } from "../paths.ts";
import type { Scales } from "../scales.ts";

/** A text beside the pointer. The position is in px. */
export interface Bubble {
  readonly x: number;
  readonly y: number;
  readonly text: string;
}

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
  /** The values of the dragged roof, beside the pointer. Undefined until the roof has moved. */
  readonly bubble?: ReadonlySignal<Bubble | undefined>;
  /** Whether the dragged kernel no longer exists. The drag of a kernel that no longer exists has no effect. */
  isVoid?(): boolean;
}

export type ChartGesture = GestureOf<ChartDrag>;

/** A press that moves less than this distance, px, is a click. */
export const CLICK_PX = 4;
