// The axes of the roofline plane and of the time view: the grid, the ticks, the titles, and the strip for kernels
// without FLOPs.

import type { ComponentChildren } from "preact";
import { formatTick } from "../../text/numbers.ts";
import { axisWords as words } from "../../words/words.ts";
import { namedTicks, type Units } from "../axis_units.ts";
import { FONT_PX, textWidth } from "../labels/text_fitting.ts";
import { px } from "../paths.ts";
import type { Box, Scale, Scales } from "../scales.ts";
import type { Scene } from "../scene.ts";
import type { Theme } from "../theme.ts";
import type { Counting } from "../ticks.ts";

type AxesProps = Pick<Scene, "scales" | "units" | "theme" | "focus">;

/** In a chart narrower than this, px, the horizontal axis has a short title. */
const SHORT_TITLE_BELOW_PX = 520;
/** The height of a line of the vertical axis' title, px. */
const TITLE_LINE_PX = 14;

export const titleOf = ({ xTitle, xShort }: Units, width: number) => (width < SHORT_TITLE_BELOW_PX ? xShort : xTitle);

/** The position of a tick along the axis, px, and its text. */
export type TickText = readonly [at: number, text: string];

/** The parts of both axes. In each pair `across` belongs to the horizontal axis and `up` to the vertical axis. */
interface FrameProps {
  readonly box: Box;
  /** Positions of the grid lines, px. */
  readonly grid: readonly [across: readonly number[], up: readonly number[]];
  readonly ticks: readonly [across: readonly TickText[], up: readonly TickText[]];
  /** The title of the horizontal axis, and the lines of the title of the vertical axis. */
  readonly titles: readonly [across: string, ...up: string[]];
  /**
   * `titleTop`: the y of the vertical axis' title, px. `tickEnd`: the right end of the vertical axis' tick texts, px.
   */
  readonly titleTop: number;
  readonly tickEnd: number;
  readonly theme: Theme;
  readonly children: ComponentChildren;
}

/** Draws the grid, the frame, the ticks and the titles of the roofline plane or the time view. */
export function AxesFrame({ box, grid, ticks, titles, titleTop, tickEnd, theme, children }: FrameProps) {
  const { left, top, right, bottom } = box;
  const [across, ...up] = titles;
  const lines = [
    ...grid[0].map((x) => `M${px(x)},${top}V${bottom}`),
    ...grid[1].map((y) => `M${left},${px(y)}H${right}`),
  ];
  return (
    <g class="roofwidget-axes" font-size={FONT_PX} fill={theme.muted}>
      <path d={lines.join("")} stroke={theme.grid} />
      <path d={`M${left},${top}V${bottom}H${right}`} fill="none" stroke={theme.line} />
      {ticks[0].map(([x, text]) => (
        <text key={text} x={x} y={bottom + 17} text-anchor="middle">
          {text}
        </text>
      ))}
      {ticks[1].map(([y, text]) => (
        <text key={text} x={tickEnd} y={y + 4} text-anchor="end">
          {text}
        </text>
      ))}
      {up.map((line, at) => (
        <text key={line} x={2} y={titleTop + at * TITLE_LINE_PX}>
          {line}
        </text>
      ))}
      <text x={right} y={bottom + 34} text-anchor="end">
        {across}
      </text>
      {children}
    </g>
  );
}

export function Axes({ scales, units, theme, focus }: AxesProps) {
  const { plot, x, y, strip } = scales;
  const textsOf = (scale: Scale, room: number, counting: Counting) =>
    namedTicks(scale, room, units.tickBase, counting).map(({ value, text }): TickText => [scale(value), text]);
  const [across, up] = [textsOf(x, 42, units.x), textsOf(y, 26, units.y)];
  return (
    <AxesFrame
      box={plot}
      grid={[across.map(([at]) => at), up.map(([at]) => at)]}
      ticks={[
        across.filter(([at]) => at > plot.left - 1 && at < plot.right - 10),
        up.filter(([at]) => at > plot.top + 4 + units.yTitle.length * TITLE_LINE_PX),
      ]}
      titles={[titleOf(units, scales.width), ...units.yTitle]}
      titleTop={plot.top + 8}
      tickEnd={40}
      theme={theme}
    >
      {strip && <Strip strip={strip} units={units} theme={theme} focus={focus} />}
    </AxesFrame>
  );
}

function Strip({
  strip,
  units,
  theme,
  focus,
}: Omit<AxesProps, "scales"> & { readonly strip: NonNullable<Scales["strip"]> }) {
  const { left, right, top, bottom, y } = strip;
  const limit = focus ? units.bandwidth(focus.bandwidth, 4) : "";
  const title = words.zeroFlops(units.operation, units.movedTitle);
  const at = focus && y(focus.bandwidth);
  const roof = at !== undefined && at >= top && at <= bottom ? at : undefined;
  return (
    <g class="roofwidget-strip">
      <rect x={left} y={top} width={right - left} height={bottom - top} fill={theme.muted} fill-opacity={0.06} />
      {namedTicks(y, 30, units.tickBase, units.moved).map(({ value, text }) => (
        <g key={value}>
          <line x1={left} x2={left + 4} y1={y(value)} y2={y(value)} stroke={theme.line} />
          {(roof === undefined || Math.abs(y(value) - roof) > 18) && (
            <text x={left + 6} y={y(value) + 4} font-size={11}>
              {text}
            </text>
          )}
        </g>
      ))}
      {focus && roof !== undefined && (
        <>
          <line x1={left} x2={right} y1={roof} y2={roof} stroke={theme.text} stroke-width={2} />
          <text x={(left + right) / 2} y={roof - 5} text-anchor="middle" font-size={11}>
            {textWidth(limit, false, 11) < right - left + 12
              ? limit
              : formatTick(units.moved.fromBase(focus.bandwidth))}
          </text>
        </>
      )}
      <text x={(left + right) / 2} y={bottom + 17} text-anchor="middle">
        {textWidth(title) < right - left + 12 ? title : words.zeroFlops(units.operation)}
      </text>
    </g>
  );
}
