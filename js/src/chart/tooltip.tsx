// The tooltip: a kernel's name and its numbers, beside its point.

import { nameOf, tooltipRows } from "../describe.ts";
import type { Roof } from "../roofline.ts";
import type { Scales } from "../scales.ts";
import type { View } from "../store.ts";
import type { Kernels } from "../wire.ts";
import { textWidth } from "./labels.ts";

interface TooltipProps {
  readonly kernels: Kernels;
  readonly row: number;
  readonly roof: Roof;
  readonly view?: View;
  readonly x: number;
  readonly y: number;
  readonly scales: Scales;
  /** How far below the chart the widget goes on, px: the host cuts off what stands out of it. */
  readonly below: number;
}

const WIDTH = 272;
const GAP = 16;
const LINE = 17;
const PADDING = 24;
const LONGEST = 300;

export function Tooltip({ kernels, row, roof, view = "roofline", x, y, scales, below }: TooltipProps) {
  const rows = tooltipRows(kernels, row, roof, view);
  const whole = nameOf(kernels, row);
  const name = whole.length > LONGEST ? `${whole.slice(0, LONGEST)}…` : whole;
  const width = Math.min(WIDTH, scales.width - 8);
  const lines = Math.ceil(textWidth(name, 12, true) / (width - 18)) + rows.length;
  const { left, top } = placeTooltip({ x, y }, { width, height: lines * LINE + PADDING }, scales, below);
  return (
    <div class="roofwidget-tooltip" role="tooltip" style={{ left: `${left}px`, top: `${top}px`, width: `${width}px` }}>
      <strong>{name}</strong>
      <dl>
        {rows.map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

/** Beside the point where there is room, else below or above it; never out of the widget. */
export function placeTooltip(
  point: { x: number; y: number },
  size: { width: number; height: number },
  chart: { width: number; height: number },
  below: number,
): { left: number; top: number } {
  const lowest = Math.max(4, chart.height + below - size.height - 4);
  const within = (top: number) => Math.max(4, Math.min(top, lowest));
  const beside = point.x + GAP + size.width <= chart.width ? point.x + GAP : point.x - GAP - size.width;
  if (beside >= 0) return { left: beside, top: within(point.y - 30) };
  const left = Math.max(4, Math.min(point.x - size.width / 2, chart.width - size.width - 4));
  const under = point.y + GAP;
  return { left, top: under <= lowest ? under : within(point.y - GAP - size.height) };
}
