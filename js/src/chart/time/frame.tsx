// Draws what is below the points of the time view: axes, regions, isochrones, the diagonal, launch overhead and gaps.

import { strings } from "../../words/words.ts";
import { AxesFrame, type TickText } from "../layers/axes.tsx";
import { Clip } from "../layers/clip.tsx";
import { px } from "../paths.ts";
import { joined, type Scale } from "../scales.ts";
import type { Theme } from "../theme.ts";
import { ticksOf } from "../ticks.ts";
import { roomOf, type TimeGap, type TimeScales, type TimeScene, tickText } from "./scene.ts";

/**
 * Draws the axes of the time view. One edge of the plot is for kernels without FLOPs, and one edge is for kernels
 * without bytes.
 */
export function TimeAxes({ scales, theme }: { scales: TimeScales; theme: Theme }) {
  const { plot, outer, x, y } = scales;
  const [column, row] = [plot.left - outer.left, outer.bottom - plot.bottom];
  const textsOf = (scale: Scale, room: number) =>
    ticksOf(scale, room).map(({ value }): TickText => [scale(value), tickText(value)]);
  const [across, up] = [textsOf(x, 52), textsOf(y, roomOf(y))];
  const zeros = (size: number, at: number, text: string): TickText[] => (size > 0 ? [[at, text]] : []);
  const edges = `M${outer.left},${plot.top}h${column}V${plot.bottom}H${plot.right}v${row}H${outer.left}Z`;
  return (
    <AxesFrame
      box={outer}
      grid={[across.map(([at]) => at), up.map(([at]) => at)]}
      ticks={[
        [
          ...across.filter(([at]) => at >= plot.left + (column && 30) && at < plot.right - 10),
          ...zeros(column, outer.left + column / 2, strings.time.zeroFlops),
        ],
        [
          ...up.filter(([at]) => at <= plot.bottom - (row && 8)),
          ...zeros(row, outer.bottom - row / 2, strings.time.zeroBytes),
        ],
      ]}
      titles={[strings.time.axisX, strings.time.axisY]}
      isInside={false}
      theme={theme}
    >
      <path d={edges} fill-opacity={0.1} />
    </AxesFrame>
  );
}

/** Draws the isochrones, the diagonal, and the square of launch overhead. */
export function TimeLines({ scene }: { scene: TimeScene }) {
  const { focus, isochrones, overhead, colours, scales, theme } = scene;
  const { plot, outer, x, y } = scales;
  const [low, high] = joined(x.domain, y.domain);
  const [left, right] = [px(x(low)), px(x(high))];
  const [bottom, top] = [px(y(low)), px(y(high))];
  const square = `M${outer.left},${px(y(overhead))}H${px(x(overhead))}V${outer.bottom}`;
  return (
    <g fill="none" stroke={theme.line}>
      <Clip box={scales.whole || x.isLinear ? outer : { ...outer, top: 0 }}>
        {overhead > 0 && (
          <path
            class="rw-overhead"
            d={`${square}H${outer.left}`}
            fill={theme.muted}
            fill-opacity={0.14}
            stroke-width={2}
          />
        )}
        {isochrones.map((seconds) => (
          <path
            key={seconds}
            class="rw-isochrone"
            data-seconds={seconds}
            stroke-opacity={0.7}
            d={`M${outer.left},${px(y(seconds))}H${px(x(seconds))}V${outer.bottom}`}
          />
        ))}
      </Clip>
      {focus && (
        <Clip box={plot}>
          <path
            class="rw-diagonal"
            d={`M${left},${bottom}L${right},${top}`}
            stroke={colours.get(focus.chip.id)}
            stroke-width={2.5}
          />
        </Clip>
      )}
    </g>
  );
}

/**
 * Draws lines from measured points to the isochrones of the points' measured times. The lines of marked kernels are
 * stronger than the other lines.
 */
export function TimeGaps({
  gaps,
  marked,
  theme,
}: {
  gaps: readonly TimeGap[];
  marked: readonly number[];
  theme: Theme;
}) {
  const strong = gaps.filter(({ row }) => marked.includes(row));
  return (
    <g class="rw-gaps" fill="none" stroke={theme.text}>
      <path d={gaps.map(gapPath).join("")} stroke-opacity={0.55} stroke-width={1.25} />
      <path d={strong.map(gapPath).join("")} stroke-opacity={0.95} stroke-width={1.75} />
    </g>
  );
}

function gapPath({ from: [x, y], to: [endX, endY] }: TimeGap): string {
  const tick = x === endX ? `m-4,0h8` : `m0,-4v8`;
  return `M${px(x)},${px(y)}L${px(endX)},${px(endY)}${tick}`;
}
