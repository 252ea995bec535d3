// The legend of a scale of colours: a bar with its lowest, middle and highest value.

import { type NumberColouring, SCALE_STEPS, valueAt } from "../../roofline/colouring.ts";
import type { Operation } from "../../roofline/operations.ts";
import { colourTitle, formatValue } from "../../text/columns.ts";
import { FONT_PX, textWidth } from "../labels/text_fitting.ts";
import type { Theme } from "../theme.ts";

const [STEP_PX, BAR_PX, TICK_PX] = [5, 10, 3];
/** The least distance between the numbers under the bar, px. */
const GAP_PX = 8;
/** The height of the bar with its numbers, px. */
export const SCALE_HEIGHT_PX = BAR_PX + TICK_PX + FONT_PX + 3;

/** Returns the numbers under the bar. A scale with one value has one number. `operation` is the unit of operations. */
export function ticksOfScale(scale: NumberColouring, operation: Operation): string[] {
  const [, unit] = colourTitle(scale.key);
  const shares = scale.low < scale.high ? [0, 0.5, 1] : scale.low === scale.high ? [1] : [];
  return shares.map((share) => formatValue(valueAt(scale, share), unit, 3, operation));
}

/** Returns the width of the bar, px: with room for the numbers under it. */
export function scaleWidth(ticks: readonly string[]): number {
  const widest = Math.max(0, ...ticks.map((text) => textWidth(text)));
  return Math.max(STEP_PX * SCALE_STEPS, Math.ceil(3 * widest + 2 * GAP_PX));
}

interface ColourScaleProps {
  /** The numbers under the bar. */
  readonly ticks: readonly string[];
  readonly theme: Theme;
  readonly x?: number;
  readonly y?: number;
}

export function ColourScale({ ticks, theme, x = 0, y = 0 }: ColourScaleProps) {
  const width = scaleWidth(ticks);
  const step = width / SCALE_STEPS;
  const foot = y + BAR_PX + TICK_PX;
  return (
    <g>
      {theme.scale.map((colour, at) => (
        <rect key={colour} x={x + at * step} y={y} width={step + 0.5} height={BAR_PX} fill={colour} />
      ))}
      {ticks.map((text, at) => {
        const share = ticks.length > 1 ? at / 2 : 1;
        const place = x + share * width;
        return (
          <>
            <path d={`M${place},${y + BAR_PX}V${foot}`} stroke={theme.muted} />
            <text x={place} y={foot + FONT_PX} fill={theme.text} text-anchor={["start", "middle", "end"][2 * share]}>
              {text}
            </text>
          </>
        );
      })}
    </g>
  );
}
