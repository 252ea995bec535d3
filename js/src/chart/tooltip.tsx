// The tooltip: a kernel's name and its numbers, beside its point.

import { nameOf, tooltipRows } from "../describe.ts";
import type { Roof } from "../roofline.ts";
import type { Scales } from "../scales.ts";
import type { Kernels } from "../wire.ts";

interface TooltipProps {
  readonly kernels: Kernels;
  readonly row: number;
  readonly roof: Roof;
  readonly x: number;
  readonly y: number;
  readonly scales: Scales;
}

const WIDTH = 250;
const GAP = 16;
const LONGEST = 300;

export function Tooltip({ kernels, row, roof, x, y, scales }: TooltipProps) {
  const width = Math.min(WIDTH, scales.width - 8);
  const beside = x + GAP + width <= scales.width ? x + GAP : x - GAP - width;
  // Where neither side has room it goes below or above its point, over what stands next to the chart.
  const fits = beside >= 0;
  const left = fits ? beside : Math.max(4, Math.min(x - width / 2, scales.width - width - 4));
  const shift = fits ? -30 : GAP;
  const vertical = y < scales.height / 2 ? { top: `${y + shift}px` } : { bottom: `${scales.height - y + shift}px` };
  const name = nameOf(kernels, row);
  return (
    <div class="roofwidget-tooltip" role="tooltip" style={{ left: `${left}px`, width: `${width}px`, ...vertical }}>
      <strong>{name.length > LONGEST ? `${name.slice(0, LONGEST)}…` : name}</strong>
      <dl>
        {tooltipRows(kernels, row, roof).map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}
