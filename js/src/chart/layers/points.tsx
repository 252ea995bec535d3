// Draws the points as SVG shapes, for saved pictures. On the screen the points are on a canvas.

import type { VNode } from "preact";
import { SIDES } from "../../roofline/points.ts";
import { circlePath, type Spot } from "../paths.ts";
import { DENSE_FROM_POINTS, visibleFrontToBack } from "../points/dense_raster.ts";
import { radiusAt } from "../points/painter.ts";
import {
  FADED_OPACITY,
  outlineWidth,
  patternPath,
  patternWidth,
  RING_GAP_PX,
  SIGN_WIDTH_PX,
  shapeOf,
  shapePath,
} from "../points/shapes.ts";
import { visiblePoints } from "../points/visible.ts";
import type { Size } from "../scales.ts";
import type { pointColours, Scene } from "../scene.ts";

interface PointShapesProps {
  readonly scene: Scene;
  readonly looks: ReturnType<typeof pointColours>;
}

/** Hidden points are found on a raster with this many cells in 1 px. */
const RATIO = 2;
/**
 * How far a shape covers what is behind it, and how far it reaches, as multiples of its radius. A square covers least,
 * and a star reaches farthest.
 */
const [COVERS, REACHES] = [0.85, 1.35];
/** The largest distance from the centre of a point to its drawn parts, px. Points farther left are out of sight. */
const MAX_REACH_PX = 40;

/**
 * Draws the points from back to front, in the same order as the painter. Neighbours in this order that look the same
 * are in one group, which makes the text shorter.
 */
export function PointShapes({ scene, looks }: PointShapesProps) {
  const { points, scales, theme } = scene;
  const { at } = visiblePoints(scene);
  const { colours, colour, patterns, isPatterned, opacity, hollow, faded } = looks;
  const radius = Float32Array.from({ length: points.n }, (_, index) => radiusAt(points, index));
  const order =
    points.n > DENSE_FROM_POINTS
      ? withoutHidden({ ...looks, points, at, radius, ratio: RATIO }, scales)
      : backToFront(faded);
  const groups: { readonly look: string; readonly first: number; readonly shapes: VNode[] }[] = [];
  for (const index of order) {
    const spot: Spot = [tenths(at.x[index] as number), tenths(at.y[index] as number)];
    if (!(spot[0] > -MAX_REACH_PX)) continue;
    const look = `${colour[index]} ${hollow[index]} ${faded[index]}`;
    if (groups.at(-1)?.look !== look) groups.push({ look, first: index, shapes: [] });
    const shapes = groups.at(-1)?.shapes as VNode[];
    const shape = shapeOf(points.side[index] as number, isPatterned);
    shapes.push(<path d={shapePath(spot, radius[index] as number, shape)} />);
    const pattern = patternPath(spot, radius[index] as number, patterns[colour[index] as number] ?? 0);
    if (pattern) shapes.push(<path d={pattern} fill="none" stroke-width={patternWidth(radius[index] as number)} />);
    if (points.aboveRoof[index] && hollow[index] !== 1) {
      const ring = circlePath(spot, (radius[index] as number) + RING_GAP_PX);
      shapes.push(<path d={ring} fill="none" stroke={theme.alert} stroke-width={SIGN_WIDTH_PX} />);
    }
  }
  return (
    <>
      {groups.map(({ first, shapes }) => {
        const isHollow = hollow[first] !== 0;
        const own = colours[colour[first] as number];
        const shade = faded[first] ? FADED_OPACITY : opacity;
        return (
          <g
            key={first}
            fill={isHollow ? theme.background : own}
            stroke={isHollow ? own : theme.background}
            stroke-width={outlineWidth(isHollow)}
            fill-opacity={shade}
            stroke-opacity={shade}
          >
            {shapes}
          </g>
        );
      })}
    </>
  );
}

/** The radius of a category's dot, px. */
const DOT_RADIUS_PX = 5;

interface CategoryDotProps {
  readonly colour: string;
  readonly category: number;
  readonly x: number;
  readonly y: number;
  readonly outline: string;
  readonly isPatterned?: boolean;
}

/**
 * The dot of a category in a legend: the colour and the pattern of its points. The dot of a category below 0 is an
 * outline, as the points of unknown values are.
 */
export const CategoryDot = ({ colour, category, x, y, outline, isPatterned }: CategoryDotProps) =>
  category < 0 ? (
    <circle cx={x} cy={y} r={DOT_RADIUS_PX - 1} fill="none" stroke={colour} stroke-width={outlineWidth(true)} />
  ) : (
    <>
      <circle cx={x} cy={y} r={DOT_RADIUS_PX} fill={colour} />
      {isPatterned && (
        <path
          d={patternPath([x, y], DOT_RADIUS_PX, category)}
          fill="none"
          stroke={outline}
          stroke-width={patternWidth(DOT_RADIUS_PX)}
        />
      )}
    </>
  );

/** Returns the indices of all points. Faded points are behind all other points. */
function backToFront(faded: Uint8Array): number[] {
  const indices = [...faded.keys()];
  return [...indices.filter((index) => faded[index]), ...indices.filter((index) => !faded[index])];
}

/**
 * Returns the indices from back to front, without points that other points cover completely. Otherwise a picture of very
 * many points would be very large. Stars cover nothing, because they are smaller than circles of the same radius.
 */
function withoutHidden(placed: Parameters<typeof visibleFrontToBack>[0], { width, height }: Size): Uint32Array {
  const { points, at, hollow, faded, radius } = placed;
  const [across, down] = [Math.ceil(width * RATIO), Math.ceil(height * RATIO)];
  const covered = new Uint8Array(across * down);
  const isSeen = (index: number) => {
    const [x, y, size] = [at.x[index], at.y[index], radius[index]].map((px) => (px as number) * RATIO) as [
      number,
      number,
      number,
    ];
    const reach = size * REACHES;
    const own = hollow[index] || faded[index] || points.side[index] === SIDES.program ? 0 : size * COVERS;
    let seen = points.aboveRoof[index] === 1;
    const [left, right] = [Math.max(0, Math.floor(x - reach)), Math.min(across, x + reach)];
    const [top, bottom] = [Math.max(0, Math.floor(y - reach)), Math.min(down, y + reach)];
    for (let row = top; row < bottom; row++) {
      for (let column = left; column < right; column++) {
        // Not Math.hypot, which is several times slower.
        const distance = (column + 0.5 - x) ** 2 + (row + 0.5 - y) ** 2;
        const cell = row * across + column;
        seen ||= distance < reach ** 2 && !covered[cell];
        if (distance < own ** 2) covered[cell] = 1;
      }
    }
    return seen;
  };
  return visibleFrontToBack(placed, across, down, new Float32Array(across * down))
    .filter(isSeen)
    .reverse();
}

const tenths = (value: number) => Math.round(value * 10) / 10;
