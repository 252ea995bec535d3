// The axes: grid, ticks, titles, and the strip for kernels without FLOPs.

import { formatQuantity, formatTick } from "../format.ts";
import type { Roof } from "../roofline.ts";
import { decades, type Scales } from "../scales.ts";
import { strings } from "../strings.ts";
import type { Theme } from "../theme.ts";

export function Axes({ scales, theme, focus }: { scales: Scales; theme: Theme; focus: Roof | undefined }) {
  const { plot, x, y, strip } = scales;
  const tickX = decades(x, 42);
  const tickY = decades(y, 26);
  return (
    <g class="roofwidget-axes" font-size={12} fill={theme.muted}>
      {tickX.map((value) => (
        <line key={`x${value}`} x1={x(value)} x2={x(value)} y1={plot.top} y2={plot.bottom} stroke={theme.grid} />
      ))}
      {tickY.map((value) => (
        <line key={`y${value}`} x1={plot.left} x2={plot.right} y1={y(value)} y2={y(value)} stroke={theme.grid} />
      ))}
      <path d={`M${plot.left},${plot.top}V${plot.bottom}H${plot.right}`} fill="none" stroke={theme.line} />
      {tickX
        .filter((value) => x(value) > plot.left - 1 && x(value) < plot.right - 10)
        .map((value) => (
          <text key={value} x={x(value)} y={plot.bottom + 17} text-anchor="middle">
            {formatTick(value)}
          </text>
        ))}
      {tickY
        .filter((value) => y(value) > plot.top + 18)
        .map((value) => (
          <text key={value} x={40} y={y(value) + 4} text-anchor="end">
            {formatTick(value)}
          </text>
        ))}
      <text x={2} y={plot.top + 8}>
        {strings.axisY}
      </text>
      <text x={plot.right} y={plot.bottom + 34} text-anchor="end">
        {strings.axisXTitle}
      </text>
      {strip && <Strip strip={strip} theme={theme} focus={focus} />}
    </g>
  );
}

function Strip({
  strip,
  theme,
  focus,
}: {
  strip: NonNullable<Scales["strip"]>;
  theme: Theme;
  focus: Roof | undefined;
}) {
  const { left, right, top, bottom, y } = strip;
  const roof = focus && y(focus.bandwidth);
  return (
    <g class="roofwidget-strip">
      <rect x={left} y={top} width={right - left} height={bottom - top} fill={theme.muted} fill-opacity={0.06} />
      {decades(y, 30).map((value) => (
        <g key={value}>
          <line x1={left} x2={left + 4} y1={y(value)} y2={y(value)} stroke={theme.line} />
          {(roof === undefined || Math.abs(y(value) - roof) > 18) && (
            <text x={left + 6} y={y(value) + 4} font-size={11}>
              {formatTick(value)}
            </text>
          )}
        </g>
      ))}
      {focus && roof !== undefined && (
        <>
          <line x1={left} x2={right} y1={roof} y2={roof} stroke={theme.text} stroke-width={2} />
          <text x={(left + right) / 2} y={roof - 5} text-anchor="middle" font-size={11}>
            {formatQuantity(focus.bandwidth, "B/s", 4)}
          </text>
        </>
      )}
      <text x={(left + right) / 2} y={bottom + 17} text-anchor="middle">
        {strings.zeroFlops}
      </text>
    </g>
  );
}
