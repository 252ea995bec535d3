// The layers that planes share which are drawn as SVG alone: axes, outlined texts, the text along a slope, and the ring.

import type { ComponentChildren } from "preact";
import { FONT_PX, textWidth } from "../labels/text_fitting.ts";
import { AxesFrame, TICK_FONT_PX, type TickText } from "../layers/axes.tsx";
import type { Spot } from "../paths.ts";
import { isNarrow, type Scales } from "../scales.ts";
import type { Theme } from "../theme.ts";
import { ticksOf } from "../ticks.ts";
import { alongSlope } from "./scene.ts";

/** The distance of tick texts from the number of the roof's corner, px. */
const TICK_GAP_PX = 8;
/** Ticks of an axis are at least this far apart, px. */
const [ACROSS_PX, UP_PX] = [44, 26];

interface AxesProps {
  readonly scales: Scales;
  readonly theme: Theme;
  /** How the ticks of the axes are written. */
  readonly format: readonly [across: (value: number) => string, up: (value: number) => string];
  readonly titles: readonly [across: string, up: string];
  /** A number among the ticks, such as that of the roof's corner. */
  readonly corner?: { readonly value: number; readonly text: string; readonly name: string } | undefined;
}

export function PlaneAxes({ scales, theme, format, titles, corner }: AxesProps) {
  const { plot, x, y } = scales;
  const narrow = isNarrow(scales);
  const room = corner ? textWidth(corner.text, true, TICK_FONT_PX) / 2 : 0;
  const at = corner ? x(corner.value) : Number.NaN;
  const isSeen = at >= plot.left && at <= plot.right;
  const middle = Math.min(Math.max(at, plot.left + room), plot.right - room);
  const across = ticksOf(x, ACROSS_PX).map(({ value }): TickText => [x(value), format[0](value)]);
  const up = ticksOf(y, UP_PX).map(({ value }): TickText => [y(value), format[1](value)]);
  const isClear = ([tick, text]: TickText) => {
    const own = textWidth(text, false, TICK_FONT_PX) / 2;
    const isInside = tick - own >= 0 && tick + own <= scales.width;
    return isInside && !(isSeen && Math.abs(tick - middle) < own + room + TICK_GAP_PX);
  };
  return (
    <AxesFrame
      box={plot}
      grid={[across.map(([tick]) => tick), up.map(([tick]) => tick)]}
      ticks={[
        across.filter(isClear),
        up.filter(([tick]) => tick > plot.top + (narrow ? 20 : 4) && tick < plot.bottom - 4),
      ]}
      titles={[`${titles[0]} →`, narrow ? "" : titles[1]]}
      isInside={narrow}
      theme={theme}
    >
      {narrow && (
        <text x={0} y={plot.top - 10}>
          {titles[1]}
        </text>
      )}
      {corner && isSeen && (
        <text
          x={middle}
          y={plot.bottom + 15}
          text-anchor="middle"
          font-weight={700}
          fill={theme.text}
          data-rw={corner.name}
        >
          {corner.text}
        </text>
      )}
    </AxesFrame>
  );
}

interface TextProps {
  readonly theme: Theme;
  readonly x: number;
  readonly y: number;
  readonly "text-anchor"?: "start" | "middle" | "end";
  readonly bold?: string | undefined;
  readonly colour?: string;
  readonly transform?: string;
  readonly children: ComponentChildren;
}

/** A text with an outline in the colour of the background. */
export function Text({ theme, bold, colour = theme.text, children, ...place }: TextProps) {
  return (
    <text
      {...place}
      font-size={FONT_PX}
      fill={colour}
      stroke={theme.background}
      stroke-width={3}
      stroke-linejoin="round"
      paint-order="stroke"
    >
      {bold && <tspan font-weight={700}>{`${bold} `}</tspan>}
      {children}
    </text>
  );
}

interface SlopeProps {
  readonly scales: Scales;
  readonly theme: Theme;
  readonly start: Spot;
  readonly corner: Spot;
  /** Where the text is along the visible slope, from 0 to 1. */
  readonly share?: number;
  readonly bold?: string;
  readonly text: string;
  /** Returns the path of a sign before the text, whose centre is at a place, px. */
  sign?(place: Spot): string;
}

/** The width of a sign before a text, px. */
const SIGN_PX = 18;

/** A text along a slope, if the slope is long enough. */
export function SlopeText({ scales: { plot }, theme, start, corner, share = 0.55, bold, text, sign }: SlopeProps) {
  const {
    spot: [x, y],
    angle,
    length,
  } = alongSlope(plot, start, corner, share);
  const width = textWidth(bold ? `${bold} ${text}` : text);
  if (length < width + 40) return null;
  return (
    <g transform={`translate(${x} ${y}) rotate(${angle})`}>
      {sign && <path d={sign([-width / 2, -12])} fill={theme.text} stroke={theme.background} />}
      <Text
        theme={theme}
        x={sign ? SIGN_PX - width / 2 - 6 : 0}
        y={-7}
        bold={bold}
        text-anchor={sign ? "start" : "middle"}
      >
        {text}
      </Text>
    </g>
  );
}

/** The ring around a point that is hovered or selected. */
export const Ring = ({
  x,
  y,
  radius,
  theme,
}: {
  readonly x: number;
  readonly y: number;
  readonly radius: number;
  readonly theme: Theme;
}) => <circle class="rw-ring" cx={x} cy={y} r={radius + 4} fill="none" stroke={theme.text} stroke-width={2} />;
