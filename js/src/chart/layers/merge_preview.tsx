// What a merge or a split would do, before it is made: rings where the new kernels would be, and arcs from the kernels
// that would go.

import { operationIn } from "../../roofline/operations.ts";
import { pointsOf } from "../../roofline/points.ts";
import type { MergePreview } from "../../state/merge_preview.ts";
import { formatIntensity, formatQuantity } from "../../text/numbers.ts";
import type { PlacedLabel } from "../labels/engine.ts";
import { textWidth } from "../labels/text_fitting.ts";
import { arrowPath, bendOf, type Spot } from "../paths.ts";
import { isShown } from "../points/visible.ts";
import { project, spotAt } from "../scales.ts";
import { isInSight, type Scene } from "../scene.ts";

/** The radius of a ring, px. */
const RING_PX = 6;
/** The distance from a ring to its text, and the height of a line of text, px. */
const [TEXT_PX, LINE_PX] = [14, 16];

/** Returns the labels without those of the kernels that would go, and of the last merge. */
export const withoutParts = (labels: PlacedLabel[], preview: MergePreview | undefined): PlacedLabel[] =>
  preview
    ? labels.filter(({ key }) => !(key.startsWith("trail ") || preview.rows.some((row) => key === `kernel ${row}`)))
    : labels;

/** A ring: where some of the new kernels would be. */
interface Ring {
  readonly at: Spot;
  readonly names: string[];
  readonly figures: string;
}

/** Returns the rings. Kernels at one place share a ring. */
function ringsOf({ scales, roofs, focus }: Scene, { kernels, names }: MergePreview): Ring[] {
  const points = pointsOf(kernels, roofs, focus);
  const places = project(points, scales);
  const operation = operationIn(focus?.precision ?? "");
  const rings = new Map<string, Ring>();
  names.forEach((name, row) => {
    const index = points.home[row] ?? -1;
    const at = spotAt(places, index);
    const [ai, rate] = spotAt(points, index);
    if (index < 0 || !isInSight(scales, ai, ...at)) return;
    const figures = `${formatIntensity(ai, 3, `${operation}/B`)}, ${formatQuantity(rate, `${operation}/s`)}`;
    const key = at.map(Math.round).join();
    const ring = rings.get(key);
    if (ring) ring.names.push(name);
    else rings.set(key, { at, names: [name], figures });
  });
  return [...rings.values()];
}

export function MergePreviewMarks({ scene, preview }: { scene: Scene; preview: MergePreview | undefined }) {
  if (!preview) return null;
  const { points, at, theme } = scene;
  const starts = preview.rows.flatMap((row): Spot[] => {
    const index = points.home[row] ?? -1;
    return index >= 0 && isShown(scene, index) ? [spotAt(at, index)] : [];
  });
  return (
    <g data-rw="merge-preview" fill="none" stroke={theme.text} stroke-width={1.5}>
      {ringsOf(scene, preview).map(({ at: to, names, figures }) => (
        <g key={to.join()}>
          {starts.map((from) => (
            <path
              key={from.join()}
              d={arrowPath({ from, bend: above(from, to), to }, RING_PX)}
              stroke-dasharray="3 3"
            />
          ))}
          <circle cx={to[0]} cy={to[1]} r={RING_PX} fill={theme.background} stroke-dasharray="3 2" />
          <Words at={to} scene={scene} name={names.join(", ")} figures={figures} />
        </g>
      ))}
    </g>
  );
}

/** The control point of an arc above the line between two places: the words are below it. */
function above(from: Spot, to: Spot): Spot {
  const below = bendOf(from, to);
  return [from[0] + to[0] - below[0], from[1] + to[1] - below[1]];
}

interface WordsProps {
  readonly at: Spot;
  readonly scene: Scene;
  readonly name: string;
  readonly figures: string;
}

/** The name and the figures, right below the ring, or left below it at the right end of the plot. */
function Words({ at: [x, y], scene: { scales, theme }, name, figures }: WordsProps) {
  const width = Math.max(textWidth(name, true), textWidth(figures));
  const isLeft = x + TEXT_PX + width > scales.plot.right;
  const isAbove = y + 2 * LINE_PX > scales.plot.bottom;
  const place = {
    x: x + (isLeft ? -TEXT_PX : TEXT_PX),
    "text-anchor": isLeft ? "end" : "start",
    stroke: theme.background,
    "stroke-width": 3,
    "paint-order": "stroke",
  } as const;
  const first = isAbove ? y - 1.5 * LINE_PX : y + LINE_PX;
  return (
    <>
      <text {...place} y={first} fill={theme.text} font-weight="600">
        {name}
      </text>
      <text {...place} y={first + LINE_PX} fill={theme.muted}>
        {figures}
      </text>
    </>
  );
}
