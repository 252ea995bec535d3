// Obstacles of the roofline plane as boxes: points, ridge points and the lines of roofs.

import { ridgePoint } from "../../roofline/roofline.ts";
import { memoize } from "../../ui/memoize.ts";
import type { BentLine, Gap } from "../paths.ts";
import { radiusAt } from "../points/painter.ts";
import { type Box, spotAt } from "../scales.ts";
import { ceilingsIn, isInSight, joinsOf, type Scene } from "../scene.ts";
import { squareAround } from "./box_index.ts";

/** If there are more points than this, there is no room beside the points. Labels then ignore the points. */
export const MAX_POINTS_TO_AVOID = 400;
/**
 * The number of small boxes that approximate a slope or an arrow. One large box would leave no room for labels beside
 * the line.
 */
const BOXES_ALONG_LINE = 60;

/** The box of a mark that belongs to a kernel. */
export type KernelBox = Box & { readonly row: number };

/** The box of the strip for kernels without FLOPs. The box includes the strip's axis numbers. */
export const stripBoxes = ({ scales: { strip } }: Scene): Box[] =>
  strip ? [{ ...strip, left: 0, right: strip.right + 2 }] : [];

/** The boxes of all points. Empty if there are more points than `max`. */
export const pointBoxes = (scene: Scene, max = MAX_POINTS_TO_AVOID): readonly KernelBox[] =>
  scene.points.n > max ? [] : knownPoints(scene.at, [scene.points], () => findPoints(scene));

function findPoints({ points, at }: Scene): KernelBox[] {
  return Array.from({ length: points.n }, (_, index) => ({
    row: points.row[index] as number,
    ...squareAround(...spotAt(at, index), radiusAt(points, index) + 1),
  }));
}

/** The box of a gap arrow. */
export const gapBox = ({ row, x, from, to }: Gap): KernelBox => ({
  ...{ row, left: x - 2, right: x + 2, top: Math.min(from, to), bottom: Math.max(from, to) },
});

/** Half the side of a ridge point's box, px. */
export const RIDGE_PX = 4;

/** The boxes of the ridge points in sight: of the roofs and of the memory levels. */
export function ridgeBoxes({ roofs, focus, levels, scales }: Scene): Box[] {
  const inner = levels.map(({ bandwidth }) => ({ peak: focus?.peak ?? 0, bandwidth }));
  return [...roofs, ...inner].flatMap((roof) => {
    const ai = ridgePoint(roof);
    const [x, y] = [scales.x(ai), scales.y(roof.peak)];
    return isInSight(scales, ai, x, y) ? [squareAround(x, y, RIDGE_PX)] : [];
  });
}

/** Returns boxes along a bent arrow. The boxes are larger at the arrow's start and at its head. */
export function bentLineBoxes({ from, bend, to }: BentLine): Box[] {
  return Array.from({ length: BOXES_ALONG_LINE + 1 }, (_, step) => {
    const t = step / BOXES_ALONG_LINE;
    const on = (at: 0 | 1) => (1 - t) ** 2 * from[at] + 2 * t * (1 - t) * bend[at] + t ** 2 * to[at];
    return squareAround(on(0), on(1), t === 0 ? 5 : t === 1 ? 4 : 2);
  });
}

// Memoized: the labels of names, gaps and rulers use the same boxes, until a point or a line moves.
const [knownLines, knownPoints] = [memoize<readonly Box[]>(), memoize<readonly KernelBox[]>()];

/** The boxes of all roof lines, and the boxes of the lines that join the points of a kernel. */
export function lineBoxes(scene: Scene): readonly Box[] {
  const { roofs, focus, levels, subRoofs, scales, isRoofHovered } = scene;
  // Only in hierarchical mode do lines join points.
  const of = [roofs, focus, subRoofs, isRoofHovered, levels.length > 0 && scene];
  return knownLines(scales, of, () => findLines(scene));
}

function findLines(scene: Scene): Box[] {
  const { roofs, focus, levels, scales } = scene;
  const { x, y } = scales;
  const boxes = joinsOf(scene).map(
    ({ from, to, y: line }): Box => ({ left: from, right: to, top: line - 1, bottom: line + 1 }),
  );
  const near = levels.filter(({ name }) => name !== focus?.level);
  const lines = [
    ...roofs,
    ...near.map(({ bandwidth }) => ({ peak: focus?.peak ?? 0, bandwidth })),
    ...ceilingsIn(scene),
  ];
  const [low, high] = x.domain;
  for (const roof of lines) {
    const ridge = ridgePoint(roof);
    const flat = y(roof.peak);
    boxes.push({ left: x(ridge), right: x(Math.max(ridge, high)), top: flat - 2, bottom: flat + 2 });
    const end = Math.min(ridge, high);
    for (let step = 0; step < BOXES_ALONG_LINE && end > low; step++) {
      const ai = low * (end / low) ** (step / BOXES_ALONG_LINE);
      boxes.push(squareAround(x(ai), y(ai * roof.bandwidth), 2));
    }
  }
  return boxes;
}
