// Arrows from a kernel's place in the earlier run to its place in the current run, or from series to series. Each text
// is the change of the kernel's time.

import { largestChanges, type RunChange, type Runs } from "../../roofline/compare_runs.ts";
import { type Points, pointsOf } from "../../roofline/points.ts";
import type { Roof } from "../../roofline/roofline.ts";
import { formatChange } from "../../text/numbers.ts";
import type { Kernels } from "../../wire/columns.ts";
import { bendOf, between, type LabelledArrow, lengthOf, px } from "../paths.ts";
import { isMeasured, radiusAt } from "../points/painter.ts";
import { project, spotAt } from "../scales.ts";
import type { Scene } from "../scene.ts";
import type { Theme } from "../theme.ts";

interface Earlier {
  readonly changes: readonly RunChange[];
  /** The rows of the current run in the order of the changes. */
  readonly rows: readonly number[];
  readonly points: Points;
}

interface RunArrow extends LabelledArrow {
  readonly row: number;
  readonly faster: boolean;
  /** Whether the chart has a point at the start of the arrow. Otherwise a circle marks the start. */
  readonly startsAtPoint: boolean;
}

/** Maximum number of arrows from series to series. More arrows would hide the chart. */
const MAX_ARROWS = 16;
const START_RADIUS_PX = 3.5;
/** The length and half the width of an arrow's head, px. */
const [HEAD_PX, HALF_HEAD_PX] = [7, 3.5];

/** Returns the drawn kernels whose times changed most, and the points of these kernels in the earlier run. */
export function earlierPoints(runs: Runs, { home }: Points, roofs: readonly Roof[], focus: Roof | undefined): Earlier {
  const shown = largestChanges(runs, (row) => (home[row] as number) >= 0);
  const earlier = Int32Array.from(shown, ({ earlier }) => earlier);
  const points = pointsOf(runs.before, roofs, focus, earlier);
  return { changes: shown, rows: shown.map(({ row }) => row), points };
}

export function runArrows(scene: Scene, earlier: Earlier | undefined): RunArrow[] {
  if (!earlier) return [];
  const { points, at, scales, marked, selected } = scene;
  const before = project(earlier.points, scales);
  const isFaded = ({ row }: RunChange) => selected.size > 0 && !selected.has(row);
  return earlier.changes
    .filter((change) => !isFaded(change))
    .flatMap(({ earlier: row, row: now, from, to, verdict }): RunArrow[] => {
      const [start, end] = [earlier.points.home[row] ?? -1, points.home[now] ?? -1];
      if (start < 0 || end < 0 || !isMeasured(points, end) || (earlier.points.x[start] === 0 && !scales.strip))
        return [];
      const tail = spotAt(before, start);
      const head = spotAt(at, end);
      return [
        {
          ...{ row: now, key: `run ${now}`, startsAtPoint: false },
          text: formatChange(from, to),
          faster: verdict === "faster",
          from: tail,
          bend: between(tail, head),
          to: head,
          rim: radiusAt(points, end),
          isMarked: marked.includes(now),
        },
      ];
    });
}

/** Returns the rows of a kernel in the order of the series. */
function rowsOf(same: Int32Array, number: number, { codes }: Kernels["category"]): number[] {
  const rows: number[] = [];
  // `indexOf` is much faster than a loop over all rows.
  for (let row = same.indexOf(number); row >= 0; row = same.indexOf(number, row + 1)) rows.push(row);
  return rows.sort((a, b) => (codes[a] as number) - (codes[b] as number));
}

/** Returns the arrows that join the points of each hovered or selected kernel from series to series. */
export function seriesArrows({ kernels, points, at, scales, marked }: Scene): RunArrow[] {
  const { same, count, time } = kernels;
  if (!same) return [];
  const home = (row: number) => points.home[row] ?? -1;
  const hasPlace = (row: number) =>
    home(row) >= 0 && isMeasured(points, home(row)) && (points.x[home(row)] !== 0 || scales.strip !== undefined);
  const spot = (row: number) => spotAt(at, home(row));
  const arrows = [...new Set(marked.map((row) => same[row] ?? -1))].flatMap((number) => {
    const rows = rowsOf(same, number, kernels.category).filter(hasPlace);
    return rows.slice(1).map((row, place): RunArrow => {
      const before = rows[place] as number;
      // The times of one launch are compared if the numbers of launches differ.
      const [was, is] = [before, row].map((one) =>
        count[before] === count[row] ? (time[one] as number) : (time[one] as number) / (count[one] as number),
      ) as [number, number];
      const [from, to] = [spot(before), spot(row)];
      return {
        ...{ row, key: `run ${row}`, text: formatChange(was, is), faster: is < was, startsAtPoint: true },
        ...{ from, bend: bendOf(from, to), to, rim: radiusAt(points, home(row)), isMarked: true },
      };
    });
  });
  return arrows.slice(0, MAX_ARROWS);
}

/** The filled head of an arrow, which ends at the rim of its point. */
function headPath(arrow: RunArrow): string {
  const { bend, to, rim } = arrow;
  const [dx, dy] = [to[0] - bend[0], to[1] - bend[1]];
  const length = Math.hypot(dx, dy);
  if (lengthOf(arrow) < rim + HEAD_PX) return "";
  const [x, y] = [dx / length, dy / length];
  const at = (back: number, aside: number) => `${px(to[0] - x * back - y * aside)},${px(to[1] - y * back + x * aside)}`;
  const foot = rim + 1 + HEAD_PX;
  return `M${at(rim + 1, 0)}L${at(foot, HALF_HEAD_PX)}L${at(foot, -HALF_HEAD_PX)}Z`;
}

/** Draws an arrow from a hollow dot to the point of a kernel. The arrow to a slower kernel is red. */
export function RunArrows({ arrows, theme }: { arrows: readonly RunArrow[]; theme: Theme }) {
  return (
    <g class="rw-runs" fill="none">
      {arrows.map((arrow) => {
        const colour = arrow.faster ? theme.text : theme.alert;
        return (
          <g key={arrow.row} data-row={arrow.row} stroke={colour} stroke-width={arrow.isMarked ? 2 : 1}>
            <path d={`M${arrow.from}Q${arrow.bend} ${arrow.to}`} />
            <path d={headPath(arrow)} fill={colour} />
            {!arrow.startsAtPoint && (
              <circle cx={arrow.from[0]} cy={arrow.from[1]} r={START_RADIUS_PX} fill={theme.background} />
            )}
          </g>
        );
      })}
    </g>
  );
}
