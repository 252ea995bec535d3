// What is asked of a kernel that is held at a place: sideways other bytes, up and down another time.

import type { Move } from "../../roofline/what_if_arithmetic.ts";
import type { Scale } from "../scales.ts";

/** What a hand changes. */
export type Factor = "bytes" | "time";

/** A kernel in the hand. */
export interface Load {
  readonly row: number;
  /** What is asked of it where it was taken. */
  readonly start: Move;
  /** The least factor on its time: at its roof. */
  readonly least: number;
  readonly can: Readonly<Record<Factor, boolean>>;
  /** Where it stood, px, and the scales of that place. */
  readonly at: readonly [x: number, y: number];
  readonly x: Scale;
  readonly y: Scale;
  /** Where it was pressed, px. */
  readonly from: readonly [x: number, y: number];
  /** Told by the first of the hand's way. */
  readonly changes?: Factor;
}

/** How near to the ends of the axes it may be brought, as a factor. */
const ROOM = 1.05;
/** This near to where its own numbers have it, px, it has them. */
const SNAP = 4;

/** Sideways or up and down, where that can be asked. */
export function changedBy({ from, can }: Load, x: number, y: number): Factor {
  if (!can.bytes || !can.time) return can.bytes ? "bytes" : "time";
  return Math.abs(x - from[0]) >= Math.abs(y - from[1]) ? "bytes" : "time";
}

/** What a hand at this place asks, within the axes. */
export function moveAt({ start, least, at, from, x: across, y: up, changes }: Load, x: number, y: number): Move {
  const { bytes = 1, time = 1 } = start;
  if (changes === "bytes") {
    const ratio = across.invert(at[0]) / across.invert(within(at[0] + x - from[0], across));
    return { bytes: snapped(bytes * ratio, across), time };
  }
  const ratio = up.invert(at[1]) / up.invert(within(at[1] + y - from[1], up));
  return { bytes, time: Math.max(least, snapped(time * ratio, up)) };
}

/** A step by a factor from what is asked of it now, within the axes. */
export function moveBy({ least, at, x, y, start }: Load, now: Move, changes: Factor, by: number): Move {
  const next = (now[changes] ?? 1) * by;
  const factor = Math.abs(next - 1) < 1e-9 ? 1 : next;
  const [scale, place] = changes === "time" ? [y, at[1]] : [x, at[0]];
  const value = (scale.invert(place) * (start[changes] ?? 1)) / factor;
  const isOut = by > 1 ? value < scale.domain[0] * ROOM : value > scale.domain[1] / ROOM;
  if (changes === "time") return isOut && by > 1 ? now : { ...now, time: Math.max(least, factor) };
  return isOut ? now : { ...now, bytes: factor };
}

function within(place: number, scale: Scale): number {
  const [from = 0, to = 0] = [scale(scale.domain[0] * ROOM), scale(scale.domain[1] / ROOM)].sort((a, b) => a - b);
  return Math.max(from, Math.min(place, to));
}

const snapped = (factor: number, scale: Scale) => (Math.abs(scale(factor) - scale(1)) < SNAP ? 1 : factor);
