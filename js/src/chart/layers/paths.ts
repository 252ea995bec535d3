// The lines of roofs as svg paths.

import { ridgePoint } from "../../roofline/roofline.ts";
import type { Scales } from "../scales.ts";

export interface Rates {
  readonly peak: number;
  readonly bandwidth: number;
}

export const px = (value: number) => Math.round(value * 100) / 100;

/** From the left edge up the slope to the ridge and along the flat; the flat alone for another precision's ceiling. */
export function roofPath(roof: Rates, scales: Scales, flatOnly = false): string {
  const [, high] = scales.x.domain;
  const ridge = ridgePoint(roof);
  const flat = `${px(scales.x(Math.max(high, ridge)))},${px(scales.y(roof.peak))}`;
  if (flatOnly) return `M${px(scales.x(ridge))},${px(scales.y(roof.peak))}L${flat}`;
  return `${slopePath(roof, scales)}L${flat}`;
}

/** From the left edge up the slope to the ridge. */
export function slopePath(roof: Rates, { x, y }: Scales): string {
  const [low] = x.domain;
  return `M${px(x(low))},${px(y(low * roof.bandwidth))}L${px(x(ridgePoint(roof)))},${px(y(roof.peak))}`;
}
