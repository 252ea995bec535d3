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
const LONGEST = 300;

export function Tooltip({ kernels, row, roof, x, y, scales }: TooltipProps) {
  const width = Math.min(WIDTH, scales.width - 8);
  const onRight = x + 16 + width <= scales.width;
  const left = onRight ? x + 16 : Math.max(4, x - 16 - width);
  const fromTop = y < scales.height / 2;
  const vertical = fromTop ? { top: `${Math.max(4, y - 30)}px` } : { bottom: `${scales.height - y - 30}px` };
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
