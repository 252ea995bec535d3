// Draws gap arrows from measured points up to the focus chip's roof, and the lines between the points of a kernel.

import { isUnlinked, judge } from "../../roofline/bound.ts";
import { roofElsewhere } from "../../roofline/roofline.ts";
import type { Gap, Join } from "../paths.ts";
import { isMeasured, radiusAt } from "../points/painter.ts";
import { isShown } from "../points/visible.ts";
import { clamp, isNarrow, type Scales, spotAt } from "../scales.ts";
import type { Scene } from "../scene.ts";
import type { Theme } from "../theme.ts";

/** If two arrows are closer together than this, px, they look like one arrow, and only the first arrow is drawn. */
const MIN_GAP_DISTANCE_PX = 6;
/** If there are more points than this, arrows of all kernels would hide the chart. */
const MAX_POINTS_WITH_GAPS = 2000;

/**
 * Returns the gap arrows: of marked kernels, then of the kernels with a badge or of all kernels. While kernels are
 * selected or two runs are compared, only marked kernels have arrows. If the kernels ran on another chip, there are no
 * arrows, because no change of a kernel closes the distance to the focus chip's roof.
 */
export function gapsOf(scene: Scene): Gap[] {
  const { kernels, focus, marked, emphasised, ranked, points, gaps: shown } = scene;
  if (!focus || shown === "none" || roofElsewhere(kernels, focus)) return [];
  const boundOf = judge(kernels, focus);
  const isAll = shown === "all" && points.n <= MAX_POINTS_WITH_GAPS;
  const isBrief = emphasised.size > 0 || (isNarrow(scene.scales) && marked.length > 0);
  const rest = isBrief ? [] : isAll ? points.row : ranked;
  const gaps: Gap[] = [];
  for (const row of new Set([...marked, ...rest])) {
    const gap = gapOf(scene, row, boundOf(row).utilization);
    if (!gap) continue;
    if (gap.isMarked || isAll || gaps.every(({ x }) => Math.abs(x - gap.x) >= MIN_GAP_DISTANCE_PX)) gaps.push(gap);
  }
  return gaps;
}

function gapOf(scene: Scene, row: number, utilization: number): Gap | undefined {
  const { points, at, scales, marked } = scene;
  const index = points.home[row] ?? -1;
  if (isUnlinked(scene.kernels, row)) return undefined;
  // A kernel has no arrow if it is above its roof or if its utilization is unknown.
  if (index < 0 || !isMeasured(points, index) || !(utilization <= 1)) return undefined;
  // The rate of the kernel at 100 % utilization. This rate is below the roof if the launch overhead or the link bounds
  // the kernel.
  const possible = (points.y[index] as number) / utilization;
  const roof = points.x[index] === 0 ? scales.strip?.y(possible) : scales.y(possible);
  const [x, y] = spotAt(at, index);
  const rim = radiusAt(points, index) + 2;
  if (roof === undefined || Math.abs(y - roof) < rim + 7 || !isShown(scene, index)) return undefined;
  const { top, bottom } = scales.plot;
  const to = clamp(roof, top, bottom);
  return { row, x, from: y, rim, to, isMarked: marked.includes(row), isCut: to !== roof };
}

export function Gaps({ gaps, theme }: { gaps: readonly Gap[]; theme: Theme }) {
  return (
    <g class="rw-gaps" fill="none">
      {gaps.map(({ row, x, from, rim, to, isMarked, isCut }) => {
        const up = Math.sign(from - to);
        return (
          <g key={row} stroke={isMarked ? theme.text : theme.line} stroke-width={isMarked ? 1.5 : 1}>
            <path d={`M${x},${from - up * rim}V${to + up}`} stroke-dasharray={isMarked ? undefined : "4 3"} />
            {isMarked && !isCut && <circle cx={x} cy={to} r={2.5} fill={theme.text} stroke={theme.background} />}
            {!isMarked && !isCut && <path d={`M${x - 4},${to + up * 7}L${x},${to + up}L${x + 4},${to + up * 7}`} />}
          </g>
        );
      })}
    </g>
  );
}

/** Draws thin vertical lines between the marks of an unmeasured kernel on several roofs. */
export function Ties({ xs, scales, theme }: { xs: readonly number[]; scales: Scales; theme: Theme }) {
  return (
    <g stroke={theme.muted} stroke-opacity={0.4} stroke-dasharray="1 3">
      {xs.map((x) => (
        <line key={x} x1={x} x2={x} y1={scales.plot.top} y2={scales.plot.bottom} />
      ))}
    </g>
  );
}

/**
 * Draws thin lines between the points of kernels. The lines of marked kernels are stronger than the other lines.
 */
export function Joins({ joins, marked, theme }: { joins: readonly Join[]; marked: readonly number[]; theme: Theme }) {
  const path = (some: readonly Join[]) => some.map(({ from, to, y }) => `M${from},${y}H${to}`).join("");
  return (
    <g stroke={theme.text} data-rw="joins">
      <path d={path(joins)} stroke-opacity={0.4} />
      <path d={path(joins.filter(({ row }) => marked.includes(row)))} stroke-opacity={0.9} />
    </g>
  );
}
