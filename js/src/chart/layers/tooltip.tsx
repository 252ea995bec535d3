// The tooltip: the name and the numbers of a kernel beside its point.

import type { Roof } from "../../roofline/roofline.ts";
import { briefRows, colourRow, type TooltipRow, tooltipRows } from "../../text/describe.ts";
import { nameOf } from "../../text/kernel_names.ts";
import type { Kernels } from "../../wire/columns.ts";
import type { Terms } from "../../wire/types.ts";
import { strings } from "../../words/words.ts";
import { overlap, squareAround } from "../labels/box_index.ts";
import { boxOf, type PlacedLabel } from "../labels/engine.ts";
import { linesOf, textWidth } from "../labels/text_fitting.ts";
import { type Box, clamp, type Size } from "../scales.ts";

interface TooltipContent {
  readonly kernels: Kernels;
  readonly row: number;
  readonly roof: Roof;
  /** Whether the kernel is selected. Its tooltip then has all rows. */
  readonly isSelected?: boolean;
  /** The roofs on the chart. */
  readonly roofs?: readonly Roof[];
  readonly view?: "roofline" | "time";
  /** Additional rows of the tooltip, above the standard rows. */
  readonly more?: readonly TooltipRow[];
  readonly terms?: Terms | undefined;
  /** Whether the tooltip has only the name. */
  readonly isBare?: boolean;
  readonly colourBy?: string;
  readonly x: number;
  readonly y: number;
  readonly scales: Size;
  /** How far the widget extends below the chart, px. The host page hides what is outside the widget. */
  readonly below: number;
  /** The labels on the chart. */
  readonly names: readonly PlacedLabel[];
  /** The box from the point to its roof. The tooltip does not cover it. */
  readonly toRoof?: Box | undefined;
}

export interface Card {
  readonly name: string;
  readonly rows: readonly TooltipRow[];
  /** The possible positions, best first. */
  readonly boxes: readonly Box[];
}

const [WIDTH_PX, MAX_WIDTH_PX] = [280, 320];
/** The width of a tooltip that is not shortened to the available room, px. */
const CARD_PX = 272;
const LINE_PX = 20;
const PADDING_PX = 24;
const MAX_NAME_LETTERS = 300;
/** Distance from the edges of the chart and from labels, px. */
const GAP_PX = 4;
/** Half the side of a square around the point, px. The tooltip does not cover this square. */
const POINT_PX = 12;
/**
 * Lengths in px. TOOLS_PX: the height of the tools below the plot. FOOT_PX: the height of the tools and the axis
 * numbers above the tools. AXIS_PX: the width of the axis numbers.
 */
const [TOOLS_PX, FOOT_PX, AXIS_PX] = [22, 30, 50];

export function Tooltip({ name, rows, boxes, box = boxes[0] }: Card & { readonly box?: Box | undefined }) {
  const { left = 0, top = 0, right = 0 } = box ?? {};
  const place = { left: `${left}px`, top: `${top}px`, width: `${right - left}px` };
  return (
    <div class="rw-tooltip" role="tooltip" style={place}>
      <strong>{name}</strong>
      <dl>
        {rows.map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd class={value === strings.tooltip.above ? "rw-fault" : undefined}>{value}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

/**
 * Returns the content of the tooltip, limited to the available room. Also returns the possible boxes of the tooltip.
 * The boxes do not cover the kernel's name.
 */
export function cardOf({
  kernels,
  row,
  roof,
  roofs,
  isSelected = false,
  isBare = false,
  view,
  more = [],
  terms,
  colourBy,
  names,
  toRoof,
  x,
  y,
  scales,
  below,
}: TooltipContent): Card {
  const isUnder = isHalfHidden(scales) && below > scales.height / 2;
  const width = Math.min(isUnder ? MAX_WIDTH_PX : WIDTH_PX, scales.width - 2 * GAP_PX);
  const whole = nameOf(kernels, row);
  const name = whole.length > MAX_NAME_LETTERS ? `${whole.slice(0, MAX_NAME_LETTERS)}…` : whole;
  const room = (isUnder ? below : scales.height) - 2 * GAP_PX - PADDING_PX;
  let height = Math.ceil(textWidth(name, true) / (width - 18)) * LINE_PX;
  // The rows of the time view are about its axes.
  const isFull = isSelected || view === "time";
  const colour = colourBy && !isFull ? colourRow(kernels, row, colourBy, roof.precision) : undefined;
  const own = isFull
    ? tooltipRows(kernels, row, roof, view, roofs, terms, colourBy)
    : [...briefRows(kernels, row, roof, roofs), ...(colour ? [colour] : [])];
  const all = isBare ? [] : [...more, ...own];
  const rows = all.filter(([label, value]) => {
    if (value === "" || value === strings.unknown) return false;
    height += linesOf(value, width - 26 - textWidth(label)).length * LINE_PX;
    return height <= room;
  });
  const labels = ["kernel", "move", "gap"].flatMap((kind) => names.filter(({ key }) => key === `${kind} ${row}`));
  const taken = [...labels.map(boxOf), ...(toRoof ? [toRoof] : [])];
  const size = { width, height: Math.min(height, room) + PADDING_PX };
  return { name, rows, boxes: placesFor({ x, y }, size, scales, below, taken) };
}

/** Returns the size of a tooltip that has all of these rows, px. */
export function sizeOfCard(name: string, rows: readonly TooltipRow[], chart: Size): Size {
  const width = Math.min(CARD_PX, chart.width - 2 * GAP_PX);
  const lines = rows.reduce((sum, [label, value]) => sum + linesOf(value, width - 34 - textWidth(label)).length, 0);
  return { width, height: (lines + Math.ceil(textWidth(name, true) / (width - 26))) * LINE_PX + 30 };
}

/** Whether a tooltip beside a point would hide half of the chart. */
const isHalfHidden = ({ width }: Size) => width < 2 * WIDTH_PX;

/**
 * Returns the possible boxes of the tooltip, best first. The boxes are beside the point or beside the point's `own`
 * labels. A box over the chart is better than a box over the content below the chart. If a tooltip beside the point
 * would hide half of the chart, the box is below the chart. If there is no room below the chart, the box is below or
 * above the point. All boxes are inside the widget.
 */
export function placesFor(
  { x, y }: { x: number; y: number },
  { width, height }: Size,
  chart: Size,
  below: number,
  own: readonly Box[] = [],
): Box[] {
  const bottom = chart.height + below;
  const at = (left: number, wanted: number, end = bottom): Box => {
    const top = clamp(wanted, GAP_PX, end - height - GAP_PX);
    return { left, top, right: left + width, bottom: top + height };
  };
  const middle = clamp(x - width / 2, GAP_PX, chart.width - width - GAP_PX);
  const under = chart.height + GAP_PX;
  if (isHalfHidden(chart) && under + height + GAP_PX <= bottom) return [at(middle, under)];
  const seen = [squareAround(x, y, POINT_PX), ...own];
  const sides = seen
    .flatMap(({ left, right }) => [right + GAP_PX, left - GAP_PX - width])
    .filter((left) => left >= 0 && left + width <= chart.width);
  const tops = seen.flatMap(({ top, bottom: foot }) => [foot + GAP_PX, top - GAP_PX - height]);
  for (const end of [chart.height - FOOT_PX, chart.height - TOOLS_PX, chart.height, bottom]) {
    const boxes = [...sides.map((left) => at(left, y - 30, end)), ...tops.map((top) => at(middle, top, end))].filter(
      (box) => box.bottom <= end,
    );
    // If there is not enough room, the tooltip first covers the axis numbers. If there is still not enough room, it
    // covers labels, but not the kernel's name.
    for (const clear of end < chart.height - TOOLS_PX ? [seen] : [seen, seen.slice(0, 2)]) {
      const free = boxes.filter((box) => !clear.some((other) => overlap(box, other)));
      const isOver = ({ left }: Box) => Number(left < AXIS_PX);
      if (free.length > 0) return free.sort((a, b) => isOver(a) - isOver(b)).slice(0, 2);
    }
  }
  return [at(sides[0] ?? middle, y - 30)];
}
