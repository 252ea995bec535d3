// Which measured kernels have an arrow to the roof that binds them, and what is said of it.

import { judge } from "../../roofline/bound.ts";
import { roofElsewhere } from "../../roofline/roofline.ts";
import { gapText, upToText } from "../../text/describe.ts";
import type { Gap } from "../layers/gaps.tsx";
import { isMeasured, radiusAt } from "../points/painter.ts";
import { isShown } from "../points/visible.ts";
import { isNarrow, type Scales } from "../scales.ts";
import type { Scene } from "../scene.ts";
import { type Marking, markings } from "./obstacles.ts";
import { type Label, type Place, textWidth } from "./place.ts";

const SIZE = 12;
/** More measured kernels than this: arrows only for those that are hovered, selected or to be fixed first. */
const FEW = 12;
/** And so many in a narrow chart, while none is marked. */
const LEAST = 3;
/** Among more points than this no call-out is near to its own alone. */
const CROWD = 2000;
/** Of its places so many are beside the arrow itself. */
const BESIDE = 6;
/** Arrows nearer to one another than this would be a hedge, px: the one worth most stands for all. */
const APART = 12;

/**
 * The `first` are worth most, and so come first. None on another chip than the one that kernels ran on: no change of
 * theirs closes the distance to its roof.
 */
export function gapsOf(scene: Scene, first: readonly number[] = []): Gap[] {
  const { kernels, points, focus, marked, selected, named } = scene;
  if (!focus || roofElsewhere(kernels, focus)) return [];
  const boundOf = judge(kernels, focus);
  const few = points.measured <= FEW ? named : [];
  const narrow = isNarrow(scene.scales);
  const rest = selected.size > 0 || (narrow && marked.length > 0) ? [] : [...first, ...few];
  const gaps: Gap[] = [];
  for (const row of new Set([...marked, ...rest])) {
    const gap = gapOf(scene, row, boundOf(row).utilization);
    const isAlone = () => gaps.every(({ x }) => Math.abs(x - (gap?.x ?? 0)) >= APART);
    if (gap && (gap.strong || (isAlone() && !(narrow && gaps.length >= LEAST)))) gaps.push(gap);
  }
  return gaps;
}

function gapOf(scene: Scene, row: number, utilization: number): Gap | undefined {
  const { points, at, scales, marked } = scene;
  const index = points.home[row] ?? -1;
  // Above its roof, or its utilization is unknown: no arrow.
  if (index < 0 || !isMeasured(points, index) || !(utilization <= 1)) return undefined;
  // What is possible is not the roof's where launches or the link take longer.
  const possible = (points.y[index] as number) / utilization;
  const roof = points.x[index] === 0 ? scales.strip?.y(possible) : scales.y(possible);
  const [x, y] = [at.x[index] as number, at.y[index] as number];
  const rim = radiusAt(points, index) + 2;
  if (roof === undefined || Math.abs(y - roof) < rim + 7 || !isShown(scene, index)) return undefined;
  const { top, bottom } = scales.plot;
  const to = Math.max(top, Math.min(roof, bottom));
  return { row, x, from: y, rim, to, strong: marked.includes(row), isCut: to !== roof };
}

/**
 * None where it would be read as another's; what a roof allows is told in full beside a point all the same. Of one `inMotion`
 * that is asked of arrows alone: points are too many to look at in each frame.
 */
export function gapLabels(scene: Scene, gaps: readonly Gap[], strong: boolean, inMotion = false): Label[] {
  const { kernels, points, focus, scales, theme } = scene;
  const some = gaps.filter((gap) => gap.strong === strong);
  if (!focus || some.length === 0 || (!strong && points.n > CROWD)) return [];
  const drawn = [...gaps.map(arrowBox), ...(inMotion ? [] : markings(scene, CROWD))];
  const boundOf = judge(kernels, focus);
  const told: Gap[] = [];
  const narrow = isNarrow(scales);
  return some.flatMap((gap) => {
    // Kernels that stand on one another have about the same gap: it is told once.
    if (told.some(({ x, from }) => Math.abs(x - gap.x) < SIZE / 2 && Math.abs(from - gap.from) < SIZE)) return [];
    told.push(gap);
    const brief = upToText(boundOf(gap.row));
    const text = narrow ? brief : gapText(boundOf(gap.row));
    const beside = narrow && !strong && `kernel ${gap.row}`;
    const isOwn = ({ row }: Marking) => row === gap.row;
    return {
      ...{ key: `gap ${gap.row}`, text, brief: [brief], size: SIZE, bold: strong, colour: theme.text },
      must: strong || ("lines" as const),
      // In a narrow chart few kernels are named: a number alone would be a neighbour's.
      beside,
      ...(gap.x < scales.plot.left
        ? besideStrip(gap, scales)
        : {
            best: BESIDE,
            places: besideArrow(gap, scales, textWidth(text, SIZE, strong)),
            near: [drawn.filter(isOwn), drawn.filter((one) => !isOwn(one))],
          }),
    };
  });
}

/** What an arrow covers. */
export const arrowBox = ({ row, x, from, to }: Gap): Marking => ({
  ...{ row, left: x - 2, right: x + 2, top: Math.min(from, to), bottom: Math.max(from, to) },
});

/** In the strip there is no room beside its numbers: right of it, with a line to the arrow. */
function besideStrip({ x, from, to }: Gap, { plot }: Scales): Pick<Label, "places" | "mark"> {
  const middle = (from + to) / 2;
  const shifts = [0, -16, 16, -32, 32, -48, 48].filter((shift) => Math.abs(shift) <= Math.abs(from - to) / 2);
  return {
    mark: { x, y: middle, radius: 1 },
    places: shifts.map((shift) => ({ x: plot.left + 6, y: middle + 4 + shift, anchor: "start" })),
  };
}

/** Right of its middle, or left where that is not across the strip; under its head; then by its point and under it. */
function besideArrow({ x, from, rim, to }: Gap, { plot }: Scales, width: number): Place[] {
  const middle = (from + to) / 2 + 4;
  const hasRoom = x - 7 - width > plot.left;
  const beside = (y: number, off: number): Place[] => [
    { x: x + off, y, anchor: "start" },
    ...(hasRoom ? [{ x: x - off, y, anchor: "end" } as const] : []),
  ];
  return [
    ...[middle, middle - 14, middle + 14, to + 20].flatMap((y) => beside(y, 7)),
    ...beside(from + 4, rim + 4),
    { x, y: from + rim + 14, anchor: "middle" },
  ];
}
