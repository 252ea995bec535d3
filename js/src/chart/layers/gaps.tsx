// The gap arrows: from a measured point up to the focus chip's roof.

import type { Scales } from "../scales.ts";
import type { Join } from "../scene.ts";
import type { Theme } from "../theme.ts";

export interface Gap {
  readonly row: number;
  readonly x: number;
  readonly from: number;
  /** How far from there the point goes, px. */
  readonly rim: number;
  readonly to: number;
  readonly strong: boolean;
  /** Whether the roof is out of sight: it points there. */
  readonly isCut?: boolean;
}

export function Gaps({ gaps, theme }: { gaps: readonly Gap[]; theme: Theme }) {
  return (
    <g class="roofwidget-gaps" fill="none" stroke={theme.text}>
      {gaps.map(({ row, x, from, rim, to, strong, isCut }) => {
        const up = Math.sign(from - to);
        const head = isCut ? "" : `M${x - 4},${to + up * 7}L${x},${to + up}L${x + 4},${to + up * 7}`;
        return (
          <path
            key={row}
            d={`M${x},${from - up * rim}V${to + up}${head}`}
            stroke-width={strong ? 1.75 : 1.25}
            stroke-opacity={strong ? 0.95 : 0.55}
          />
        );
      })}
    </g>
  );
}

/** Thin vertical lines that tie an unmeasured kernel's marks on several roofs. */
export function Ties({ xs, scales, theme }: { xs: readonly number[]; scales: Scales; theme: Theme }) {
  return (
    <g class="roofwidget-ties" stroke={theme.muted} stroke-opacity={0.4} stroke-dasharray="1 3">
      {xs.map((x) => (
        <line key={x} x1={x} x2={x} y1={scales.plot.top} y2={scales.plot.bottom} />
      ))}
    </g>
  );
}

/** Thin lines that join what is one kernel; those of marked rows are stronger. */
export function Joins({ joins, marked, theme }: { joins: readonly Join[]; marked: readonly number[]; theme: Theme }) {
  const path = (some: readonly Join[]) => some.map(({ from, to, y }) => `M${from},${y}H${to}`).join("");
  return (
    <g class="roofwidget-joins" stroke={theme.text}>
      <path d={path(joins)} stroke-opacity={0.4} />
      <path d={path(joins.filter(({ row }) => marked.includes(row)))} stroke-opacity={0.9} />
    </g>
  );
}
