// The axes: grid, ticks, titles, and the strip for kernels without FLOPs.

import type { Roof } from "../../roofline/roofline.ts";
import { formatTick } from "../../text/numbers.ts";
import { axisWords as words } from "../../words/words.ts";
import { namedTicks, type Units } from "../axis_units.ts";
import { textWidth } from "../labels/text_fitting.ts";
import type { Scales } from "../scales.ts";
import type { Theme } from "../theme.ts";

interface AxesProps {
  readonly scales: Scales;
  readonly units: Units;
  readonly theme: Theme;
  readonly focus: Roof | undefined;
}

/** In a chart that is narrower than this the horizontal axis has the short form of its title, px. */
export const NARROW_TITLE = 520;

export const titleOf = ({ xTitle, xShort }: Units, width: number) => (width < NARROW_TITLE ? xShort : xTitle);

export function Axes({ scales, units, theme, focus }: AxesProps) {
  const { plot, x, y, strip } = scales;
  const tickX = namedTicks(x, 42, units.tickBase, units.x);
  const tickY = namedTicks(y, 26, units.tickBase, units.y);
  return (
    <g class="roofwidget-axes" font-size={12} fill={theme.muted}>
      {tickX.map(({ value }) => (
        <line key={`x${value}`} x1={x(value)} x2={x(value)} y1={plot.top} y2={plot.bottom} stroke={theme.grid} />
      ))}
      {tickY.map(({ value }) => (
        <line key={`y${value}`} x1={plot.left} x2={plot.right} y1={y(value)} y2={y(value)} stroke={theme.grid} />
      ))}
      <path d={`M${plot.left},${plot.top}V${plot.bottom}H${plot.right}`} fill="none" stroke={theme.line} />
      {tickX
        .filter(({ value }) => x(value) > plot.left - 1 && x(value) < plot.right - 10)
        .map(({ value, text }) => (
          <text key={value} x={x(value)} y={plot.bottom + 17} text-anchor="middle">
            {text}
          </text>
        ))}
      {tickY
        .filter(({ value }) => y(value) > plot.top + 18)
        .map(({ value, text }) => (
          <text key={value} x={40} y={y(value) + 4} text-anchor="end">
            {text}
          </text>
        ))}
      <text x={2} y={plot.top + 8}>
        {units.yTitle}
      </text>
      <text x={plot.right} y={plot.bottom + 34} text-anchor="end">
        {titleOf(units, scales.width)}
      </text>
      {strip && <Strip strip={strip} units={units} theme={theme} focus={focus} />}
    </g>
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
  const title = words.zeroFlops(units.movedTitle);
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
            {textWidth(limit, false, 11) < right - left + 12 ? limit : formatTick(units.moved.told(focus.bandwidth))}
          </text>
        </>
      )}
      <text x={(left + right) / 2} y={bottom + 17} text-anchor="middle">
        {textWidth(title) < right - left + 12 ? title : words.noFlops}
      </text>
    </g>
  );
}
