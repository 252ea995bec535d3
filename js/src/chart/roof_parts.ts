// The visible parts of the focus roof, and the places of their grips. A grip shows that a part can be dragged.

import { ridgePoint } from "../roofline/roofline.ts";
import type { Spot } from "./paths.ts";
import type { Scene } from "./scene.ts";

/** The distance of a grip's arrow heads from the roof, px. */
export const GRIP_PX = 9;
/** A part of the roof that is shorter than this, px, has no grip. */
const MIN_PART_PX = 64;

interface Part {
  readonly part: "peak" | "bandwidth";
  readonly level: string | undefined;
  readonly from: Spot;
  readonly to: Spot;
}

/** Returns the visible slopes and the visible flat of the focus roof. */
export function partsOf({ focus, levels, scales }: Pick<Scene, "focus" | "levels" | "scales">): Part[] {
  if (!focus) return [];
  const { x, y } = scales;
  const slopes = levels.length > 0 ? levels : [{ name: focus.level, bandwidth: focus.bandwidth }];
  const [low, high] = x.domain;
  const last = slopes.reduce((far, { bandwidth }) => Math.max(far, focus.peak / bandwidth), ridgePoint(focus));
  const parts = slopes.flatMap(({ name, bandwidth }): Part[] => {
    // The slope starts at the bottom or at the left edge of the plot.
    const start = Math.max(low, y.domain[0] / bandwidth);
    const end = focus.peak / bandwidth;
    const from: Spot = [x(start), y(start * bandwidth)];
    return start < end ? [{ part: "bandwidth", level: name, from, to: [x(end), y(focus.peak)] }] : [];
  });
  if (last >= high) return parts;
  return [...parts, { part: "peak", level: undefined, from: [x(last), y(focus.peak)], to: [x(high), y(focus.peak)] }];
}

interface Grip {
  readonly part: Part["part"];
  readonly level: string | undefined;
  readonly x: number;
  readonly y: number;
}

/** Returns the middles of the grips: one on each part of the focus roof that is long enough. */
export function gripsOf(scene: Pick<Scene, "focus" | "levels" | "scales">): Grip[] {
  const { left, right, top, bottom } = scene.scales.plot;
  return partsOf(scene).flatMap(({ part, level, from, to }): Grip[] => {
    // Limited to the plot, in case the ridge point is outside the plot.
    const [start, end] = [Math.max(from[0], left), Math.min(to[0], right)];
    if (end - start < MIN_PART_PX / 2 || Math.hypot(to[0] - from[0], to[1] - from[1]) < MIN_PART_PX) return [];
    // The name of the roof is at the end of the flat.
    const x = start + (end - start) * (part === "peak" ? 0.25 : 0.5);
    const y = from[1] + ((to[1] - from[1]) * (x - from[0])) / (to[0] - from[0]);
    return y < top || y > bottom ? [] : [{ part, level, x, y }];
  });
}
