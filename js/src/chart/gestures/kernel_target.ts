// The what-if of a kernel that is dragged to a place: sideways changes its bytes, up and down its time.

import type { Move } from "../../roofline/what_if_arithmetic.ts";
import type { Scale } from "../scales.ts";

/** What a drag changes. */
export type Factor = "bytes" | "time";

/** A kernel as it is when a drag of it starts. */
export interface KernelTarget {
  readonly row: number;
  /** Its what-if at the start. */
  readonly start: Move;
  /** The smallest factor for its time: at this factor it reaches its roof. */
  readonly leastTime: number;
  readonly can: Readonly<Record<Factor, boolean>>;
  /** Its place at the start, px, and the scales there. */
  readonly at: readonly [x: number, y: number];
  readonly x: Scale;
  readonly y: Scale;
  /** Where it was pressed, px. */
  readonly from: readonly [x: number, y: number];
}

/** The kernel stays this factor inside the ends of the axes. */
const AXIS_MARGIN = 1.05;
/** Within this distance of its own place, px, the kernel snaps to it. */
const SNAP_PX = 4;

/** The factor that the direction of a drag changes; if only one can be changed, that factor. */
export function changedBy({ from, can }: KernelTarget, x: number, y: number): Factor {
  if (!can.bytes || !can.time) return can.bytes ? "bytes" : "time";
  return Math.abs(x - from[0]) >= Math.abs(y - from[1]) ? "bytes" : "time";
}

/** The what-if after a drag to this place, limited to the axes. */
export function moveAt(
  { start, leastTime, at, from, x: across, y: up }: KernelTarget,
  changes: Factor,
  x: number,
  y: number,
): Move {
  const { bytes = 1, time = 1 } = start;
  if (changes === "bytes") {
    const ratio = across.invert(at[0]) / across.invert(within(at[0] + x - from[0], across));
    return { bytes: snapped(bytes * ratio, across), time };
  }
  const ratio = up.invert(at[1]) / up.invert(within(at[1] + y - from[1], up));
  return { bytes, time: Math.max(leastTime, snapped(time * ratio, up)) };
}

/** The what-if after one step by a factor, limited to the axes. */
export function moveBy({ leastTime, at, x, y, start }: KernelTarget, now: Move, changes: Factor, by: number): Move {
  const next = (now[changes] ?? 1) * by;
  const factor = Math.abs(next - 1) < 1e-9 ? 1 : next;
  const [scale, place] = changes === "time" ? [y, at[1]] : [x, at[0]];
  const value = (scale.invert(place) * (start[changes] ?? 1)) / factor;
  const isOut = by > 1 ? value < scale.domain[0] * AXIS_MARGIN : value > scale.domain[1] / AXIS_MARGIN;
  if (changes === "time") return isOut && by > 1 ? now : { ...now, time: Math.max(leastTime, factor) };
  return isOut ? now : { ...now, bytes: factor };
}

function within(place: number, scale: Scale): number {
  const [from = 0, to = 0] = [scale(scale.domain[0] * AXIS_MARGIN), scale(scale.domain[1] / AXIS_MARGIN)].sort(
    (a, b) => a - b,
  );
  return Math.max(from, Math.min(place, to));
}

const snapped = (factor: number, scale: Scale) => (Math.abs(scale(factor) - scale(1)) < SNAP_PX ? 1 : factor);
