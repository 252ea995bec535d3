// The geometry of the chart's lines as SVG paths: roofs and bent arrows.

import { type Rates, ridgePoint } from "../roofline/roofline.ts";
import type { Scales } from "./scales.ts";

export type Spot = readonly [x: number, y: number];

/** A line with one bend. All positions are in px. */
export interface BentLine {
  readonly from: Spot;
  readonly bend: Spot;
  readonly to: Spot;
}

/** An arrow with a text at its middle. */
export interface LabelledArrow extends BentLine {
  readonly key: string;
  readonly text: string;
  /** The radius of the point at the arrow's head, px. The arrow ends at the rim of this point. */
  readonly rim: number;
  /**
   * Whether the arrow is drawn stronger than other arrows. True for marked kernels, for changes of the roof itself, and
   * for the trails of merged kernels.
   */
  readonly isMarked: boolean;
}

/** The line between a kernel's points at several memory levels, px. */
export interface Join {
  readonly row: number;
  readonly from: number;
  readonly to: number;
  readonly y: number;
}

/**
 * A gap arrow, px. It is vertical. It goes from the point of a measured kernel up to the roof that bounds this kernel.
 */
export interface Gap {
  readonly row: number;
  readonly x: number;
  readonly from: number;
  /** The radius of the kernel's point, px. */
  readonly rim: number;
  readonly to: number;
  readonly isMarked: boolean;
  /** Whether the roof is out of sight. The arrow then ends at the edge of the plot, without a head. */
  readonly isCut?: boolean;
}

/**
 * How far a line bends to the side. Without the bend, a line between two points of a roof would lie on the roof's line.
 * BEND_SHARE: share of the line's length. MAX_BEND_PX: maximum, px.
 */
const [BEND_SHARE, MAX_BEND_PX] = [0.25, 36];
/** If the part of an arrow outside the rim of its point is shorter than this, px, the arrow is not drawn. */
const MIN_ARROW_PX = 7;

export const px = (value: number) => Math.round(value * 100) / 100;

/** Returns the path of straight lines through places, px. */
export const pathThrough = (spots: readonly Spot[]) =>
  spots.map(([x, y], at) => `${at === 0 ? "M" : "L"}${px(x)},${px(y)}`).join("");

/** Returns the position of an intensity and a rate as the text "x,y" for an SVG path, px. */
export const placeOf = ({ x, y }: Scales, ai: number, rate: number) => `${px(x(ai))},${px(y(rate))}`;

/**
 * Returns the path of a roof, from the left edge up the slope to the ridge and along the flat. If `flatOnly`, returns
 * only the path of the flat.
 */
export function roofPath(roof: Rates, scales: Scales, flatOnly = false): string {
  const [, high] = scales.x.domain;
  const ridge = ridgePoint(roof);
  const flat = placeOf(scales, Math.max(high, ridge), roof.peak);
  if (flatOnly) return `M${placeOf(scales, ridge, roof.peak)}L${flat}`;
  return `${slopePath(roof, scales)}L${flat}`;
}

/** The path of a slope, from the left edge up to the ridge. */
export function slopePath(roof: Rates, scales: Scales): string {
  const [low] = scales.x.domain;
  return `M${placeOf(scales, low, low * roof.bandwidth)}L${placeOf(scales, ridgePoint(roof), roof.peak)}`;
}

export function circlePath([x, y]: Spot, radius: number): string {
  const arc = `a${radius},${radius} 0 1 0 `;
  return `M${px(x - radius)},${px(y)}${arc}${2 * radius},0${arc}${-2 * radius},0`;
}

/**
 * Returns the control point of a bent line. The control point is beside the middle of the line, on the line's lower
 * side.
 */
export function bendOf([x0, y0]: Spot, [x1, y1]: Spot): Spot {
  const [dx, dy] = [x1 - x0, y1 - y0];
  const length = Math.hypot(dx, dy) || 1;
  const by = (Math.min(length * BEND_SHARE, MAX_BEND_PX) / length) * (dx < 0 ? -1 : 1);
  return [(x0 + x1) / 2 - dy * by, (y0 + y1) / 2 + dx * by];
}

export const lengthOf = ({ from, to }: Pick<BentLine, "from" | "to">) => Math.hypot(to[0] - from[0], to[1] - from[1]);

/** The middle between two places. */
export const between = (from: Spot, to: Spot): Spot => [(from[0] + to[0]) / 2, (from[1] + to[1]) / 2];

/** The middle of the bent line. */
export const middleOf = ({ from, bend, to }: BentLine): Spot => [
  (from[0] + 2 * bend[0] + to[0]) / 4,
  (from[1] + 2 * bend[1] + to[1]) / 4,
];

/** The path of a bent line up to the rim of the point at its end, with an arrow head. */
export function arrowPath(line: BentLine, radius: number): string {
  if (lengthOf(line) < radius + MIN_ARROW_PX) return "";
  const { from, bend, to } = line;
  const angle = Math.atan2(to[1] - bend[1], to[0] - bend[0]);
  const back = (by: number, turn: number) =>
    `${to[0] - by * Math.cos(angle + turn)},${to[1] - by * Math.sin(angle + turn)}`;
  const tip = back(radius + 2, 0);
  return `M${from}Q${bend} ${tip}M${back(radius + 9, 0.4)}L${tip}L${back(radius + 9, -0.4)}`;
}
