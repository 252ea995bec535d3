// What lies under the points of the time view: axes, regions, isochrones, the diagonal, launches and gaps.

import { formatQuantity } from "../format.ts";
import { strings } from "../strings.ts";
import type { Theme } from "../theme.ts";
import { px } from "./paths.ts";
import { type TimeGap, type TimeScales, type TimeScene, ticksOf } from "./timescene.ts";

/** Axes, grid, and the edges where kernels without FLOPs or bytes stand. */
export function TimeAxes({ scales, theme }: { scales: TimeScales; theme: Theme }) {
  const { plot, outer, x, y } = scales;
  const [column, row] = [plot.left > outer.left, plot.bottom < outer.bottom];
  const ticks = ticksOf(scales);
  const shade = { fill: theme.muted, "fill-opacity": 0.07 };
  return (
    <g class="roofwidget-axes" font-size={12} fill={theme.muted}>
      {column && (
        <rect x={outer.left} y={plot.top} width={plot.left - outer.left} height={plot.bottom - plot.top} {...shade} />
      )}
      {row && (
        <rect
          x={plot.left}
          y={plot.bottom}
          width={plot.right - plot.left}
          height={outer.bottom - plot.bottom}
          {...shade}
        />
      )}
      <path
        d={ticks
          .map((value) => `M${px(x(value))},${plot.top}V${plot.bottom}M${plot.left},${px(y(value))}H${plot.right}`)
          .join("")}
        fill="none"
        stroke={theme.grid}
      />
      <path d={`M${outer.left},${plot.top}V${outer.bottom}H${plot.right}`} fill="none" stroke={theme.line} />
      {ticks
        .filter((value) => x(value) > plot.left + (column ? 24 : -1) && x(value) < plot.right - 10)
        .map((value) => (
          <text key={`x${value}`} x={x(value)} y={outer.bottom + 17} text-anchor="middle">
            {formatQuantity(value, "s")}
          </text>
        ))}
      {ticks
        .filter((value) => y(value) < plot.bottom - (row ? 8 : -1))
        .map((value) => (
          <text key={`y${value}`} x={outer.left - 6} y={y(value) + 4} text-anchor="end">
            {formatQuantity(value, "s")}
          </text>
        ))}
      {column && (
        <text x={(outer.left + plot.left) / 2} y={outer.bottom + 17} text-anchor="middle">
          {strings.time.zeroFlops}
        </text>
      )}
      {row && (
        <text x={outer.left - 6} y={(outer.bottom + plot.bottom) / 2 + 4} text-anchor="end">
          {strings.time.zeroBytes}
        </text>
      )}
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
  const from = `${plot.left},${plot.bottom}`;
  const to = `${plot.right},${plot.top}`;
  return (
    <g fill="none">
      <g class="roofwidget-washes" fill-opacity={theme.dark ? 0.1 : 0.06}>
        <path d={`M${from}L${to}H${outer.left}V${plot.bottom}Z`} fill={theme.memoryWash} />
        <path d={`M${from}L${to}V${outer.bottom}H${plot.left}Z`} fill={theme.computeWash} />
      </g>
      {overhead > 0 && (
        <rect
          class="roofwidget-overhead"
          x={outer.left}
          y={px(y(overhead))}
          width={px(x(overhead) - outer.left)}
          height={px(outer.bottom - y(overhead))}
          fill={theme.muted}
          fill-opacity={0.16}
          stroke={theme.muted}
          stroke-width={1.5}
        />
      )}
      {isochrones.map((seconds) => (
        <path
          key={seconds}
          class="roofwidget-isochrone"
          data-seconds={seconds}
          d={`M${outer.left},${px(y(seconds))}H${px(x(seconds))}V${outer.bottom}`}
          stroke={theme.line}
          stroke-opacity={0.75}
        />
      ))}
      {focus && (
        <path
          class="roofwidget-diagonal"
          data-chip={focus.chip.id}
          d={`M${from}L${to}`}
          stroke={colours.get(focus.chip.id) ?? theme.text}
          stroke-width={3}
        />
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
