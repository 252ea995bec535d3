// The what-if of a dragged kernel. A move sideways changes the kernel's bytes. A move up or down changes the kernel's
// time.

import type { Move } from "../../wire/types.ts";
import type { Spot } from "../paths.ts";
import { clamp, type Scale } from "../scales.ts";

/** The factor of a what-if that a drag changes. */
export type Factor = "bytes" | "time";

/** A kernel at the start of its drag. */
export interface KernelTarget {
  readonly row: number;
  /** The kernel's what-if at the start of the drag. */
  readonly start: Move;
  /** The smallest factor for the kernel's time. At this factor the kernel reaches its roof. */
  readonly leastTime: number;
  readonly can: Readonly<Record<Factor, boolean>>;
  /** The kernel's place at the start of the drag, px, and the scales at that place. */
  readonly at: Spot;
  readonly x: Scale;
  readonly y: Scale;
  /** The place of the press, px. */
  readonly from: Spot;
}

/**
 * A dragged kernel keeps a distance of this factor from the ends of the two axes. For example, if an axis goes from 1
 * to 1000, the kernel stays between 1.05 and 952.
 */
const AXIS_MARGIN = 1.05;
/** If a dragged kernel is closer than this to its original place, px, the kernel snaps to that place. */
const SNAP_PX = 4;

/**
 * Returns the factor that a drag to (`x`, `y`) changes. If the kernel allows only one factor to change, returns this
 * factor.
 */
export function changedBy({ from, can }: KernelTarget, x: number, y: number): Factor {
  if (!can.bytes || !can.time) return can.bytes ? "bytes" : "time";
  return Math.abs(x - from[0]) >= Math.abs(y - from[1]) ? "bytes" : "time";
}

/** Returns the what-if after a drag to (`x`, `y`), px, limited to the axes. */
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

/**
 * Returns the what-if after one key press, limited to the axes. The key press multiplies the factor `changes` by `by`.
 */
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
  return clamp(place, from, to);
}

const snapped = (factor: number, scale: Scale) => (Math.abs(scale(factor) - scale(1)) < SNAP_PX ? 1 : factor);
