// The grid of a view: where its chart and its inspector stand, and how large they are.

import type { Size } from "./chart/scales.ts";

/** If a view is at least this wide, px, the inspector is beside the chart, and a question beside its step. */
export const WIDE_PX = 960;
/** If a view is narrower than this, px, each part has the whole width, and the table is a list of cards. */
const NARROW_PX = 600;
/** The height of the rows above and below the chart that the window also shows, px. */
const ROWS_PX = 320;
/** The least height of a chart below a story, px. */
const MIN_TOLD_PX = 300;
/** The space between the chart and the inspector, px. */
const GAP_PX = 24;
/** The height of the sliders and of the space above them, px. */
export const SLIDERS_PX = 48;
/** The heights of the other rows above and below the chart, with the space around them, px. */
export const ROW_PX = { toolbar: 40, source: 32, title: 40, verdict: 64, status: 28 } as const;
/** The height of an inspector that is not beside the chart: its heads, twelve rows and its footer, px. */
const BELOW_PX = 480;
const STEP_PX = 4;

const clamp = (low: number, value: number, high: number) => Math.max(low, Math.min(value, high));
const stepped = (px: number) => STEP_PX * Math.round(px / STEP_PX);

export interface Layout {
  readonly kind: "wide" | "medium" | "narrow";
  readonly chart: Size;
  /** Undefined if no tab of the inspector is open. */
  readonly inspector: Size | undefined;
}

interface Space {
  /** The width of the view, px. */
  readonly width: number;
  /** The height of the window, px. */
  readonly visible: number;
  /** Whether a tab of the inspector is open. */
  readonly isOpen: boolean;
  /** The height for the chart, px, if the view has the whole screen. */
  readonly room?: number | undefined;
  /** The height of the story and of the rows above and below the chart, px, if there is a story. */
  readonly told?: number | undefined;
  /** Whether there are sliders below the chart: the inspector reaches as far down. */
  readonly hasSliders?: boolean;
}

/** Returns the grid. It depends on the space alone, never on the data, so that no file moves a control. */
export function layoutOf({ width, visible, isOpen, room, told, hasSliders = true }: Space): Layout {
  const kind = width >= WIDE_PX ? "wide" : width >= NARROW_PX ? "medium" : "narrow";
  const isBeside = kind === "wide" && isOpen;
  const side = isBeside ? clamp(360, 8 * Math.round(width / 24), 440) : width;
  const chartWidth = isBeside ? width - side - GAP_PX : width;
  const below = (rows: number, least: number, shape = 0.72) =>
    stepped(clamp(least, Math.min(shape * chartWidth, visible - rows), 640));
  const height =
    room !== undefined
      ? Math.max(220, Math.min(room, 0.75 * chartWidth))
      : kind === "narrow"
        ? stepped(0.69 * width)
        : told !== undefined && isBeside
          ? below(told, MIN_TOLD_PX, 0.8)
          : below(ROWS_PX, 360);
  return {
    kind,
    chart: { width: chartWidth, height: Math.round(height) },
    inspector: isOpen
      ? { width: side, height: isBeside ? Math.round(height) + (hasSliders ? SLIDERS_PX : 0) : BELOW_PX }
      : undefined,
  };
}
