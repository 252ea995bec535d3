// The tooltip: a kernel's name and its numbers, beside its point.

import { nameOf, type Row, tooltipRows } from "../describe.ts";
import type { Roof } from "../roofline.ts";
import type { Box, Scales } from "../scales.ts";
import type { View } from "../store.ts";
import type { Kernels } from "../wire.ts";
import { textWidth } from "./labels.ts";

interface TooltipProps {
  readonly kernels: Kernels;
  readonly row: number;
  readonly roof: Roof;
  readonly view?: View;
  /** What else is told. */
  readonly more?: readonly Row[];
  readonly x: number;
  readonly y: number;
  readonly scales: Scales;
  /** How far below the chart the widget goes on, px: the host cuts off what stands out of it. */
  readonly below: number;
  /** Where it stands; without one, where it usually does. */
  readonly box?: Box | undefined;
}

const WIDTH = 272;
const GAP = 16;
const LINE = 17;
const PADDING = 24;
const LONGEST = 300;

export function Tooltip({ kernels, row, roof, view = "roofline", more = [], box, ...at }: TooltipProps) {
  const rows = [...tooltipRows(kernels, row, roof, view), ...more];
  const name = headOf(kernels, row);
  const { left, top, right } = box ?? (boxesFor(name, rows.length, at)[0] as Box);
  const place = { left: `${left}px`, top: `${top}px`, width: `${right - left}px` };
  return (
    <div class="roofwidget-tooltip" role="tooltip" style={place}>
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

function headOf(kernels: Kernels, row: number): string {
  const whole = nameOf(kernels, row);
  return whole.length > LONGEST ? `${whole.slice(0, LONGEST)}…` : whole;
}

/** Where it may stand, the usual place first. */
export function tooltipBoxes({ kernels, row, roof, view = "roofline", more = [], ...at }: TooltipProps): Box[] {
  return boxesFor(headOf(kernels, row), tooltipRows(kernels, row, roof, view).length + more.length, at);
}

function boxesFor(
  name: string,
  rows: number,
  { x, y, scales, below }: Pick<TooltipProps, "x" | "y" | "scales" | "below">,
) {
  const width = Math.min(WIDTH, scales.width - 8);
  const lines = Math.ceil(textWidth(name, 12, true) / (width - 18)) + rows;
  const height = lines * LINE + PADDING;
  return [false, true].map((isLeft): Box => {
    const { left, top } = placeTooltip({ x, y }, { width, height }, scales, below, isLeft);
    return { left, top, right: left + width, bottom: top + height };
  });
}

/** Beside the point where there is room, below a chart of which it would hide half, else below or above the point; never out of the widget. */
export function placeTooltip(
  point: { x: number; y: number },
  size: { width: number; height: number },
  chart: { width: number; height: number },
  below: number,
  isLeft = false,
): { left: number; top: number } {
  const lowest = Math.max(4, chart.height + below - size.height - 4);
  const within = (top: number) => Math.max(4, Math.min(top, lowest));
  const [right, left] = [point.x + GAP, point.x - GAP - size.width];
  const middle = Math.max(4, Math.min(point.x - size.width / 2, chart.width - size.width - 4));
  const foot = chart.height + 4;
  if (chart.width < 2 * size.width && foot <= lowest) return { left: middle, top: foot };
  const hasRight = right + size.width <= chart.width && !(isLeft && left >= 0);
  const beside = hasRight ? right : left;
  if (beside >= 0) return { left: beside, top: within(point.y - 30) };
  const under = point.y + GAP;
  return { left: middle, top: under <= lowest ? under : within(point.y - GAP - size.height) };
}
