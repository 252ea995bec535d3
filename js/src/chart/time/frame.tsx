// What lies under the points of the time view: axes, regions, isochrones, the diagonal, launches and gaps.

import { strings } from "../../words/words.ts";
import { Clip } from "../layers/clip.tsx";
import { px } from "../paths.ts";
import { joined } from "../scales.ts";
import type { Theme } from "../theme.ts";
import { type Tick, ticksOf } from "../ticks.ts";
import { roomOf, type TimeGap, type TimeScales, type TimeScene, tickText } from "./scene.ts";

/** Axes, grid, and the edges where kernels without FLOPs or bytes stand. */
export function TimeAxes({ scales, theme }: { scales: TimeScales; theme: Theme }) {
  const { plot, outer, x, y } = scales;
  const [column, row] = [plot.left - outer.left, outer.bottom - plot.bottom];
  const times = (ticks: readonly Tick[]) => ticks.map(({ value }) => value);
  const [across, down] = [times(ticksOf(x, 52)), times(ticksOf(y, roomOf(y)))];
  const below = (at: number, text: string) => (
    <text key={text} x={at} y={outer.bottom + 17} text-anchor="middle">
      {text}
    </text>
  );
  const beside = (at: number, text: string) => (
    <text key={text} x={outer.left - 6} y={at + 4} text-anchor="end">
      {text}
    </text>
  );
  const lines = [
    ...across.map((seconds) => `M${px(x(seconds))},${plot.top}V${outer.bottom}`),
    ...down.map((seconds) => `M${outer.left},${px(y(seconds))}H${plot.right}`),
  ];
  const frame = `M${outer.left},${plot.top}V${outer.bottom}H${plot.right}`;
  const edges = `M${outer.left},${plot.top}h${column}V${plot.bottom}H${plot.right}v${row}H${outer.left}Z`;
  return (
    <g class="roofwidget-axes" font-size={12} fill={theme.muted}>
      <path d={edges} fill-opacity={0.1} />
      <path d={lines.join("")} stroke={theme.grid} />
      <path d={frame} fill="none" stroke={theme.line} />
      {across
        .filter((seconds) => x(seconds) >= plot.left + (column && 30) && x(seconds) < plot.right - 10)
        .map((seconds) => below(x(seconds), tickText(seconds)))}
      {down
        .filter((seconds) => y(seconds) <= plot.bottom - (row && 8))
        .map((seconds) => beside(y(seconds), tickText(seconds)))}
      {column > 0 && below(outer.left + column / 2, strings.time.zeroFlops)}
      {row > 0 && beside(outer.bottom - row / 2, strings.time.zeroBytes)}
      <text x={2} y={14}>
        {strings.time.axisY}
      </text>
      <text x={plot.right} y={outer.bottom + 34} text-anchor="end">
        {strings.time.axisX}
      </text>
    </g>
  );
}

/** The regions on both sides of the diagonal, the isochrones, and the square of what the launches take. */
export function TimeLines({ scene }: { scene: TimeScene }) {
  const { focus, isochrones, overhead, colours, scales, theme } = scene;
  const { plot, outer, x, y } = scales;
  const [low, high] = joined(x.domain, y.domain);
  const [left, right] = [px(x(low)), px(x(high))];
  const [bottom, top] = [px(y(low)), px(y(high))];
  const [column, row] = [plot.left - outer.left, outer.bottom - plot.bottom];
  const square = `M${outer.left},${px(y(overhead))}H${px(x(overhead))}V${outer.bottom}`;
  return (
    <g fill="none" stroke={theme.line}>
      <g class="roofwidget-washes" stroke="none" fill-opacity={theme.dark ? 0.1 : 0.06}>
        <Clip box={plot}>
          <path d={`M${left},${bottom}V${top}H${right}Z`} fill={theme.memoryWash} />
          <path d={`M${left},${bottom}H${right}V${top}Z`} fill={theme.computeWash} />
        </Clip>
        <path d={`M${outer.left},${plot.top}h${column}V${plot.bottom}H${outer.left}Z`} fill={theme.memoryWash} />
        <path d={`M${plot.left},${outer.bottom}v${-row}H${plot.right}v${row}Z`} fill={theme.computeWash} />
      </g>
      <Clip box={scales.whole || x.isLinear ? outer : { ...outer, top: 0 }}>
        {overhead > 0 && (
          <path
            class="roofwidget-overhead"
            d={`${square}H${outer.left}`}
            fill={theme.muted}
            fill-opacity={0.14}
            stroke-width={2}
          />
        )}
        {isochrones.map((seconds) => (
          <path
            key={seconds}
            class="roofwidget-isochrone"
            data-seconds={seconds}
            stroke-opacity={0.7}
            d={`M${outer.left},${px(y(seconds))}H${px(x(seconds))}V${outer.bottom}`}
          />
        ))}
      </Clip>
      {focus && (
        <Clip box={plot}>
          <path
            class="roofwidget-diagonal"
            d={`M${left},${bottom}L${right},${top}`}
            stroke={colours.get(focus.chip.id)}
            stroke-width={3}
          />
        </Clip>
      )}
    </g>
  );
}

/** From measured points out to the isochrones of their times; those of marked rows are stronger. */
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
    <g class="roofwidget-gaps" fill="none" stroke={theme.text}>
      <path d={gaps.map(gapPath).join("")} stroke-opacity={0.55} stroke-width={1.25} />
      <path d={strong.map(gapPath).join("")} stroke-opacity={0.95} stroke-width={1.75} />
    </g>
  );
}

function gapPath({ from: [x, y], to: [endX, endY] }: TimeGap): string {
  const tick = x === endX ? `m-4,0h8` : `m0,-4v8`;
  return `M${px(x)},${px(y)}L${px(endX)},${px(endY)}${tick}`;
}
