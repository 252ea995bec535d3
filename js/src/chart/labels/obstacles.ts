// What names keep clear of: points, and with less need the lines of roofs.

import { ridgePoint } from "../../roofline/roofline.ts";
import { memoize } from "../../ui/memoize.ts";
import type { BentLine } from "../paths.ts";
import { radiusAt } from "../points/painter.ts";
import type { Box } from "../scales.ts";
import { isInSight, joinsOf, type Scene } from "../scene.ts";

/** More points than this leave no room beside them. */
export const MOST = 400;
/** A slope or an arrow is as many small boxes, so that names stand beside it and not on it. */
const STEPS = 60;

/** What is drawn of a kernel. */
export type Marking = Box & { readonly row: number };

/** The strip, if there is one. */
export const stripBoxes = ({ scales: { strip } }: Scene): Box[] =>
  strip ? [{ ...strip, right: strip.right + 2 }] : [];

/** All points; none of more than `most`. */
export function markings({ points, at }: Scene, most = MOST): Marking[] {
  const boxes: Marking[] = [];
  for (let index = 0; index < points.n && points.n <= most; index++) {
    const around = radiusAt(points, index) + 1;
    const [px, py] = [at.x[index] as number, at.y[index] as number];
    const row = points.row[index] as number;
    boxes.push({ row, left: px - around, right: px + around, top: py - around, bottom: py + around });
  }
  return boxes;
}

/** A ridge point's circle, or what is `half` as wide about it. */
export const ringAt = (x: number, y: number, half = 4): Box => ({
  ...{ left: x - half, right: x + half, top: y - half, bottom: y + half },
});

/** The circles in sight, of roofs and of levels. */
export function rings({ roofs, focus, levels, scales }: Scene): Box[] {
  const inner = levels.map(({ bandwidth }) => ({ peak: focus?.peak ?? 0, bandwidth }));
  return [...roofs, ...inner].flatMap((roof) => {
    const ai = ridgePoint(roof);
    const [x, y] = [scales.x(ai), scales.y(roof.peak)];
    return isInSight(scales, ai, x, y) ? [ringAt(x, y)] : [];
  });
}

/** Along an arrow that bends, wider about where it comes from and at its head. */
export function arrowBoxes({ from, bend, to }: BentLine): Box[] {
  return Array.from({ length: STEPS + 1 }, (_, step) => {
    const t = step / STEPS;
    const on = (at: 0 | 1) => (1 - t) ** 2 * from[at] + 2 * t * (1 - t) * bend[at] + t ** 2 * to[at];
    return ringAt(on(0), on(1), t === 0 ? 5 : t === 1 ? 4 : 2);
  });
}

// Names keep clear of them, and then every ruler on the same picture.
const known = memoize<readonly Box[]>();

/** Roofs where they run, and what joins the points of a kernel. */
export const lineBoxes = (scene: Scene): readonly Box[] => known(scene, [], () => findLines(scene));

function findLines(scene: Scene): Box[] {
  const { roofs, focus, levels, subRoofs, scales } = scene;
  const { x, y } = scales;
  const boxes: Box[] = joinsOf(scene).map(({ from, to, y: line }) => {
    return { left: from, right: to, top: line - 1, bottom: line + 1 };
  });
  const near = levels.filter(({ name }) => name !== focus?.level);
  const lines = [...roofs, ...near.map(({ bandwidth }) => ({ peak: focus?.peak ?? 0, bandwidth })), ...subRoofs];
  const [low, high] = x.domain;
  for (const roof of lines) {
    const ridge = ridgePoint(roof);
    const flat = y(roof.peak);
    boxes.push({ left: x(ridge), right: x(Math.max(ridge, high)), top: flat - 2, bottom: flat + 2 });
    const end = Math.min(ridge, high);
    for (let step = 0; step < STEPS && end > low; step++) {
      const ai = low * (end / low) ** (step / STEPS);
      const [px, py] = [x(ai), y(ai * roof.bandwidth)];
      boxes.push({ left: px - 2, right: px + 2, top: py - 2, bottom: py + 2 });
    }
  }
  return boxes;
}
