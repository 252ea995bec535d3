// Draws the points as SVG shapes, for saved pictures. On the screen the points are on a canvas.

import type { VNode } from "preact";
import type { Spot } from "../paths.ts";
import { DENSE_FROM_POINTS, visibleFrontToBack } from "../points/dense_raster.ts";
import { radiusAt } from "../points/painter.ts";
import { FADED_OPACITY, outlineWidth, SIGN_WIDTH_PX, shapePath, signPath } from "../points/shapes.ts";
import { visiblePoints } from "../points/visible.ts";
import type { Size } from "../scales.ts";
import type { pointColours, Scene } from "../scene.ts";

interface PointShapesProps {
  readonly scene: Scene;
  readonly looks: ReturnType<typeof pointColours>;
}

/** Of very many points, a point within 1 / RATIO px of a larger point is left out: the larger point covers it. */
const RATIO = 2;
/** The largest distance from the centre of a point to its drawn parts, px. */
const MAX_REACH_PX = 40;

/**
 * Draws the points from back to front, in the same order as the painter. Neighbours in this order that look the same
 * are in one group, which makes the text shorter.
 */
export function PointShapes({ scene, looks }: PointShapesProps) {
  const { points, scales, theme } = scene;
  const { width } = scales;
  const { at } = visiblePoints(scene);
  const { colours, colour, hollow, faded } = looks;
  const radius = Float32Array.from({ length: points.n }, (_, index) => radiusAt(points, index));
  const order =
    points.n > DENSE_FROM_POINTS ? visibleIn({ ...looks, points, at, radius, ratio: RATIO }, scales) : all(faded);
  const groups: { readonly look: string; readonly first: number; readonly shapes: VNode[] }[] = [];
  for (const index of order) {
    const spot: Spot = [tenths(at.x[index] as number), tenths(at.y[index] as number)];
    if (!(Math.abs(spot[0] - width / 2) < width / 2 + MAX_REACH_PX)) continue;
    const look = `${colour[index]} ${hollow[index]} ${faded[index]}`;
    if (groups.at(-1)?.look !== look) groups.push({ look, first: index, shapes: [] });
    const shapes = groups.at(-1)?.shapes as VNode[];
    shapes.push(<path d={shapePath(spot, radius[index] as number, points.side[index] as number)} />);
    if (points.aboveRoof[index] && !hollow[index]) {
      const sign = signPath(spot, radius[index] as number);
      shapes.push(<path d={sign} fill="none" stroke={theme.alert} stroke-width={SIGN_WIDTH_PX} />);
    }
  }
  return (
    <>
      {groups.map(({ first, shapes }) => {
        const isHollow = hollow[first] === 1;
        const own = colours[colour[first] as number];
        const opacity = faded[first] ? FADED_OPACITY : undefined;
        return (
          <g
            key={first}
            fill={isHollow ? theme.background : own}
            stroke={isHollow ? own : theme.background}
            stroke-width={outlineWidth(isHollow)}
            fill-opacity={opacity}
            stroke-opacity={opacity}
          >
            {shapes}
          </g>
        );
      })}
    </>
  );
}

/** Returns the indices of all points. Faded points are behind all other points. */
function all(faded: Uint8Array): number[] {
  const indices = [...faded.keys()];
  return [...indices.filter((index) => faded[index]), ...indices.filter((index) => !faded[index])];
}

/** Returns the indices of very many points, without the points that others cover. */
function visibleIn(placed: Parameters<typeof visibleFrontToBack>[0], { width, height }: Size): Uint32Array {
  const [across, down] = [RATIO * Math.ceil(width), RATIO * Math.ceil(height)];
  return visibleFrontToBack(placed, across, down, new Float32Array(across * down)).reverse();
}

const tenths = (value: number) => Math.round(value * 10) / 10;
