// The shapes of points, as numbers and as SVG paths. The painter and the saved pictures draw the same shapes. With patterns, the
// shape says what bounds the kernel: memory (a circle), compute (a square) or something else (a diamond). The point of a
// program is a star.

import { SIDES } from "../../roofline/points.ts";
import { circlePath, px, type Spot } from "../paths.ts";

/** The opacity of faded points. */
export const FADED_OPACITY = 0.25;
/** The opacity of other points. From more points than `MANY_POINTS` on, points can be seen through. */
export const [MANY_POINTS, OPACITY, OPACITY_OF_MANY] = [100, 0.9, 0.72];
/** The line width of the sign of a point above its roof, px. */
export const SIGN_WIDTH_PX = 1.5;

/** Returns the line width of a point's outline, px. */
export const outlineWidth = (isHollow: boolean) => (isHollow ? 1.75 : 1);

/**
 * Returns which shape a point has. Without patterns, all kernels are circles. The total of a program is always a star.
 */
export const shapeOf = (side: number, isPatterned: boolean) =>
  isPatterned || side === SIDES.program ? side : SIDES.memory;

/** Returns the corners of a shape around its centre, px. A circle has no corners. */
export function cornersOf(side: number, radius: number): Spot[] {
  const half = 0.88 * radius;
  if (side === SIDES.compute)
    return [
      [-half, -half],
      [half, -half],
      [half, half],
      [-half, half],
    ];
  if (side === SIDES.outside) return polygon(4, 1.25 * radius, 1.25 * radius);
  if (side === SIDES.program) return polygon(10, 1.3 * radius, 0.55 * radius);
  return [];
}

/** Returns the corners of a star or a polygon: outer and inner corners in turn, clockwise from the top. */
const polygon = (corners: number, outer: number, inner: number): Spot[] =>
  Array.from({ length: corners }, (_, corner) => {
    const angle = (2 * Math.PI * corner) / corners;
    const away = corner % 2 === 0 ? outer : inner;
    return [away * Math.sin(angle), -away * Math.cos(angle)];
  });

/** The distance of the red ring of a point above its roof from the point, px. */
export const RING_GAP_PX = 3;

/** Returns the path of a shape. */
export function shapePath([x, y]: Spot, radius: number, side: number): string {
  const corners = cornersOf(side, radius);
  return corners.length > 0
    ? `M${corners.map(([dx, dy]) => `${px(x + dx)},${px(y + dy)}`).join("L")}z`
    : circlePath([x, y], radius);
}

/** Returns the line width of a category's pattern, px. On a small point a wide line would hide the colour. */
export const patternWidth = (radius: number) => px(Math.min(1.25, 0.3 * radius));
/** A point with a smaller radius than this, px, has no room for a pattern. */
const MIN_PATTERN_RADIUS_PX = 3;
/** Half the length of a pattern's lines, as a share of the radius. */
const PATTERN_REACH = 0.6;

/**
 * The lines inside the points of each category, from -1 to 1 around the centre. They tell categories apart without
 * colour.
 */
const PATTERNS: readonly (readonly (readonly [x: number, y: number, toX: number, toY: number])[])[] = [
  [],
  [[-1, 0, 1, 0]],
  [[0, -1, 0, 1]],
  [
    [-1, 0, 1, 0],
    [0, -1, 0, 1],
  ],
  [[-0.8, 0.8, 0.8, -0.8]],
  [
    [-0.8, -0.8, 0.8, 0.8],
    [-0.8, 0.8, 0.8, -0.8],
  ],
  [[-0.8, -0.8, 0.8, 0.8]],
  [
    [-1, -0.6, 1, -0.6],
    [-1, 0.6, 1, 0.6],
  ],
  [
    [-0.6, -1, -0.6, 1],
    [0.6, -1, 0.6, 1],
  ],
  [
    [-1, -0.6, 1, -0.6],
    [0, -0.6, 0, 1],
  ],
  [
    [-1, 0.6, 1, 0.6],
    [0, -1, 0, 0.6],
  ],
  [
    [-0.8, -0.6, 0, 0.8],
    [0, 0.8, 0.8, -0.6],
  ],
  [
    [-0.8, 0.6, 0, -0.8],
    [0, -0.8, 0.8, 0.6],
  ],
  [
    [-0.6, -0.8, 0.8, 0],
    [0.8, 0, -0.6, 0.8],
  ],
  [
    [0.6, -0.8, -0.8, 0],
    [-0.8, 0, 0.6, 0.8],
  ],
  [
    [-0.7, -0.8, -0.7, 0.7],
    [-0.7, 0.7, 0.8, 0.7],
  ],
];
/** The number of patterns. There are more patterns than colours: categories with the same colour differ by pattern. */
export const PATTERN_COUNT = PATTERNS.length;

/**
 * Returns the lines of a category's pattern around the centre of a point, px, as pairs of ends. A point with a smaller
 * radius than `least` has none.
 */
export function patternOf(
  category: number,
  radius: number,
  least = MIN_PATTERN_RADIUS_PX,
): (readonly [from: Spot, to: Spot])[] {
  if (radius < least) return [];
  const reach = PATTERN_REACH * radius;
  return (PATTERNS[category] ?? []).map(([x, y, toX, toY]) => [
    [x * reach, y * reach],
    [toX * reach, toY * reach],
  ]);
}

/** Returns the path of a category's pattern, or "" if the category has no pattern. */
export const patternPath = ([x, y]: Spot, radius: number, category: number, least = MIN_PATTERN_RADIUS_PX): string =>
  patternOf(category, radius, least)
    .map(([from, to]) => `M${px(x + from[0])},${px(y + from[1])}L${px(x + to[0])},${px(y + to[1])}`)
    .join("");
