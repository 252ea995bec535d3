// The axes of the roofline plane and of the time view: the grid, the ticks, the titles, and the strip for kernels
// without FLOPs.

import type { ComponentChildren } from "preact";
import { type Roof, ridgePoint } from "../../roofline/roofline.ts";
import { sizes } from "../../tokens.json";
import { memoize } from "../../ui/memoize.ts";
import { axisWords as words } from "../../words/words.ts";
import { namedTicks, type Units } from "../axis_units.ts";
import { ridgeNumber } from "../labels/roof_labels.ts";
import { textWidth } from "../labels/text_fitting.ts";
import { px } from "../paths.ts";
import { type Box, clamp, isNarrow, rectOf, type Scale, type Scales } from "../scales.ts";
import type { Scene } from "../scene.ts";
import type { Theme } from "../theme.ts";
import type { Counting } from "../ticks.ts";

type AxesProps = Pick<Scene, "scales" | "units" | "theme">;

/** The font size of tick texts, px. */
export const TICK_FONT_PX = sizes.ticks;
/** The distance of the tick texts and of the title below an axis, to their baselines, px. */
const [TICK_DROP_PX, TITLE_DROP_PX] = [15, 31];
/** The distance of the rates from the plot, px: beside it, or above their grid line in a narrow chart. */
const [RATE_GAP_PX, RATE_RISE_PX] = [6, 4];
/** Tick texts nearer to the number of the ridge point than this are left out, px. */
const RIDGE_GAP_PX = 8;
/** A tick of the strip nearer to its roof than this has no text, px. */
const STRIP_GAP_PX = 15;
/** The highest tick of the strip, as a multiple of its roof. */
const MAX_TICK_FACTOR = 10;
/** The strip has a link to the slope if no rate is nearer to the link than this, px. */
const LINK_GAP_PX = 9;

/** Returns the title of the horizontal axis. A narrow chart has a short title. */
export const titleOf = ({ xTitle, xShort }: Units, width: number) =>
  `${(isNarrow({ width }) ? xShort : words.inWords(xTitle)).replace(/ \((.*)\)$/, ", $1")} →`;

/** The position of a tick along the axis, px, and its text. */
export type TickText = readonly [at: number, text: string];

/** The parts of both axes. In each pair `across` belongs to the horizontal axis and `up` to the vertical axis. */
interface FrameProps {
  readonly box: Box;
  /** Positions of the grid lines, px. */
  readonly grid: readonly [across: readonly number[], up: readonly number[]];
  readonly ticks: readonly [across: readonly TickText[], up: readonly TickText[]];
  /** The titles of the horizontal and the vertical axis. */
  readonly titles: readonly [across: string, up: string];
  /** Whether the rates stand inside the plot, above their grid lines. */
  readonly isInside: boolean;
  readonly theme: Theme;
  readonly children?: ComponentChildren;
}

/** Draws the grid, the frame, the ticks and the titles of the roofline plane or the time view. */
export function AxesFrame({ box, grid, ticks, titles, isInside, theme, children }: FrameProps) {
  const { left, top, right, bottom } = box;
  const lines = [
    ...grid[0].map((x) => `M${px(x)},${top}V${bottom}`),
    ...grid[1].map((y) => `M${left},${px(y)}H${right}`),
  ];
  const rates = isInside
    ? { x: left + RATE_GAP_PX, "text-anchor": "start" as const }
    : { x: left - RATE_GAP_PX, "text-anchor": "end" as const };
  const isWide = !isInside && textWidth(titles[1], false, TICK_FONT_PX) > left - RATE_GAP_PX;
  const title = isWide ? ({ x: 0, "text-anchor": "start" } as const) : rates;
  return (
    <g class="rw-axes" font-size={TICK_FONT_PX} fill={theme.muted}>
      <path d={lines.join("")} stroke={theme.grid} />
      <rect
        data-rw="plot"
        x={left}
        y={top}
        width={Math.max(0, right - left)}
        height={Math.max(0, bottom - top)}
        fill="none"
      />
      <path d={`M${left},${isInside ? bottom : top}V${bottom}H${right}`} fill="none" stroke={theme.line} />
      <TickTexts ticks={ticks[0]} bottom={bottom} />
      {ticks[1].map(([y, text]) => (
        <text key={text} y={isInside ? y - RATE_RISE_PX : y + 4} {...rates}>
          {text}
        </text>
      ))}
      <text y={isInside ? top + TICK_FONT_PX : top - 9} {...title}>
        {titles[1]}
      </text>
      <text x={right} y={bottom + TITLE_DROP_PX} text-anchor="end">
        {titles[0]}
      </text>
      {children}
    </g>
  );
}

/** The tick texts below the horizontal axis. */
const TickTexts = ({ ticks, bottom }: { readonly ticks: readonly TickText[]; readonly bottom: number }) => (
  <>
    {ticks.map(([x, text]) => (
      <text key={text} x={x} y={bottom + TICK_DROP_PX} text-anchor="middle">
        {text}
      </text>
    ))}
  </>
);

// Memoized: while a roof is dragged, the axes do not change.
const knownTexts = memoize<readonly TickText[]>();

const textsOf = (scale: Scale, room: number, units: Units, counting: Counting) =>
  knownTexts(scale, [room, units, counting], () =>
    namedTicks(scale, room, units.tickBase, counting).map(({ value, text }): TickText => [scale(value), text]),
  );

/** Draws what no roof changes: the grid, the titles and the rates. */
export function Axes({ scales, units, theme }: AxesProps) {
  const { plot, x, y } = scales;
  const up = textsOf(y, 26, units, units.y);
  const narrow = isNarrow(scales);
  return (
    <AxesFrame
      box={plot}
      grid={[textsOf(x, 42, units, units.x).map(([at]) => at), up.map(([at]) => at)]}
      // In a narrow chart the title stands inside the plot.
      ticks={[[], up.filter(([at]) => at > plot.top + (narrow ? 32 : 4))]}
      titles={[titleOf(units, scales.width), units.yTitle.join(" · ")]}
      isInside={narrow}
      theme={theme}
    />
  );
}

const knownRates = memoize<readonly Box[]>();

/** The boxes of the rates, which no label and no leader covers. */
export const rateBoxes = (scales: Scales, units: Units): readonly Box[] =>
  knownRates(scales, [units], () =>
    textsOf(scales.y, 26, units, units.y).map(([at, text]) => {
      const width = textWidth(text, false, TICK_FONT_PX);
      const { left } = scales.plot;
      return isNarrow(scales)
        ? { left: left + RATE_GAP_PX, right: left + RATE_GAP_PX + width, top: at - 15, bottom: at - 1 }
        : {
            left: left - RATE_GAP_PX - width,
            right: left - RATE_GAP_PX,
            top: at - LINK_GAP_PX,
            bottom: at + LINK_GAP_PX,
          };
    }),
  );

/**
 * Draws what a roof changes below the plot and beside it: the tick texts, the number of the ridge point among them, and
 * the strip.
 */
export function RidgeTicks({ scales, units, theme, focus, colours }: Scene) {
  const { plot, x, strip } = scales;
  const at = focus && x(ridgePoint(focus));
  const isSeen = units.hasRidges && at !== undefined && at >= plot.left && at <= plot.right;
  const number = focus && isSeen ? ridgeNumber(focus, units, isNarrow(scales)) : "";
  const half = textWidth(number, true, TICK_FONT_PX) / 2;
  const middle = Math.min(at ?? 0, plot.right - half);
  // In a narrow chart the text below the strip is wider than the strip.
  const start =
    strip && isNarrow(scales) ? textWidth(words.zeroFlops(units.operation), false, TICK_FONT_PX) + RIDGE_GAP_PX : 0;
  const isClear = ([tick, text]: TickText) => {
    const own = textWidth(text, false, TICK_FONT_PX) / 2;
    return (
      tick - own >= start &&
      tick + own < scales.width &&
      (!number || Math.abs(tick - middle) > half + own + RIDGE_GAP_PX)
    );
  };
  const ticks = textsOf(x, 42, units, units.x).filter((tick) => isClear(tick) && tick[0] > plot.left - 1);
  return (
    <g class="rw-axes" font-size={TICK_FONT_PX} fill={theme.muted}>
      <TickTexts ticks={ticks} bottom={plot.bottom} />
      {number && (
        <text
          class="rw-ridge-number"
          data-label={`ridge ${focus?.chip.id}`}
          x={middle}
          y={plot.bottom + TICK_DROP_PX}
          text-anchor="middle"
          font-weight={700}
          fill={colours.get(focus?.chip.id ?? "") ?? theme.text}
        >
          {number}
        </text>
      )}
      {strip && <Strip scales={scales} strip={strip} units={units} theme={theme} focus={focus} />}
    </g>
  );
}

/** Returns the width of the widest tick text beside the strip, px. */
export const stripTicksWidth =
  (units: Units, focus: Roof | undefined) =>
  (y: Scale): number => {
    const texts = stripTicks(y, units, focus).map(([, text]) => textWidth(text, false, TICK_FONT_PX));
    const own = focus ? textWidth(units.bandwidth(focus.sheetBandwidth, 4), true, TICK_FONT_PX) : 0;
    return Math.ceil(Math.max(own, ...texts)) + RATE_GAP_PX;
  };

/** Returns the ticks of the strip. No memory is much faster than the roof, so that there are none far above it. */
const stripTicks = (y: Scale, units: Units, focus: Roof | undefined): TickText[] =>
  namedTicks(y, 30, units.tickBase, units.moved)
    .filter(({ value }) => !focus || value <= MAX_TICK_FACTOR * focus.bandwidth)
    .map(({ value }) => [y(value), units.bandwidth(value)]);

interface StripProps extends AxesProps {
  readonly strip: NonNullable<Scales["strip"]>;
  readonly focus: Roof | undefined;
}

function Strip({ scales, strip, units, theme, focus }: StripProps) {
  const { plot } = scales;
  const { left, right, top, bottom, y } = strip;
  const narrow = isNarrow(scales);
  const at = focus && y(focus.bandwidth);
  const isSeen = at !== undefined && at >= top && at <= bottom;
  const limit = focus ? units.bandwidth(focus.bandwidth, 4) : "";
  // An arrow and the value at the edge say where a roof out of view is.
  const edge = at === undefined ? 0 : clamp(at, top + 9, bottom - 9);
  const sign = isSeen || at === undefined ? "" : at < top ? "↑ " : "↓ ";
  const ticks = narrow
    ? []
    : stripTicks(y, units, focus).filter(([tick]) => !focus || Math.abs(tick - edge) >= STRIP_GAP_PX);
  const rates = textsOf(scales.y, 26, units, units.y);
  const isLinked = isSeen && !narrow && rates.every(([rate]) => Math.abs(rate - at) >= LINK_GAP_PX);
  const middle = (left + right) / 2;
  return (
    <g class="rw-strip">
      <rect {...rectOf(strip)} fill={theme.wash} />
      {ticks.map(([tick, text]) => (
        <g key={text}>
          <line x1={left - 3} x2={left} y1={tick} y2={tick} stroke={theme.line} />
          <text data-rw="strip-tick" x={left - 5} y={tick + 4} text-anchor="end">
            {text}
          </text>
        </g>
      ))}
      {isSeen && (
        <line class="rw-strip-roof" x1={left} x2={right} y1={at} y2={at} stroke={theme.text} stroke-width={2.5} />
      )}
      {isLinked && <path d={`M${right},${at}H${plot.left}`} stroke={theme.text} stroke-dasharray="1 3" />}
      {focus && !narrow && (
        <text x={left - 5} y={edge + 4} text-anchor="end" font-weight={700} fill={theme.text}>
          {sign + limit}
        </text>
      )}
      <text x={narrow ? left : middle} y={bottom + TICK_DROP_PX} text-anchor={narrow ? "start" : "middle"}>
        {words.zeroFlops(units.operation)}
      </text>
      {!narrow && (
        <text x={middle} y={bottom + TITLE_DROP_PX} text-anchor="middle">
          {words.byBandwidth(units.movedTitle)}
        </text>
      )}
    </g>
  );
}
