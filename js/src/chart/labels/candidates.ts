// Where labels may stand: for each kind of mark the candidate positions of its label, the best first.

import type { SubRoof } from "../../roofline/ceilings.ts";
import { ridgePoint } from "../../roofline/roofline.ts";
import { type BentLine, type Gap, type Join, middleOf, type Rates, type Spot } from "../paths.ts";
import type { Scales } from "../scales.ts";

export type Anchor = "start" | "middle" | "end";

export interface Position {
  readonly x: number;
  readonly y: number;
  readonly anchor: Anchor;
  /** Degrees clockwise that the text is turned about its position; 0 when left out. */
  readonly angle?: number;
  /** Whether the label stands away from its mark. */
  readonly isFar?: boolean;
  /** Whether the label stands by a line of its mark, and so needs no leader. */
  readonly isByLine?: boolean;
  /** What the label needs beyond its first line, px: right of the text, and below for further lines. */
  readonly extra?: readonly [right: number, down: number];
}

/** What a label names, px. */
export interface Mark {
  readonly x: number;
  readonly y: number;
  readonly radius: number;
}

const at = (x: number, y: number, anchor: Anchor): Position => ({ x, y, anchor });

/** Right or left of `x`, `gap` px away. */
const beside = (x: number, y: number, gap: number): Position[] => [at(x + gap, y, "start"), at(x - gap, y, "end")];

/** Around a point: below right first, where its gap arrow is not. */
function aroundPoint({ x, y, radius }: Mark): Position[] {
  const [right, left] = [x + radius + 6, x - radius - 6];
  return [
    at(right, y + 12, "start"),
    at(right, y + 4, "start"),
    at(x, y + radius + 16, "middle"),
    at(left, y + 4, "end"),
    at(left, y - 6, "end"),
    at(x, y - radius - 7, "middle"),
    at(right, y - 6, "start"),
    at(left, y + 15, "end"),
    at(x, y - radius - 21, "middle"),
    // From the point to the right: where the left edge is near.
    at(x - radius - 4, y - radius - 8, "start"),
  ];
}

/** Around the middle of an arrow. */
export const aroundMiddle = ([x, y]: Spot): Position[] => [
  ...aroundPoint({ x, y, radius: 0 }),
  at(x, y + 32, "middle"),
];

/** In rows on both sides of a point: each row lower than the last, and then, if `above`, each row higher. */
const farFromPoint = ({ x, y, radius }: Mark, above: boolean): Position[] =>
  Array.from({ length: above ? 16 : 8 }, (_, row) => y + 4 + 15 * (row < 8 ? row : 7 - row)).flatMap((line) =>
    beside(x, line, radius + 22).map((position) => ({ ...position, isFar: true })),
  );

/** Around a kernel's point and along its own lines, then far from it. `tie`: where its marks are tied together, px. */
export function besideKernel(
  mark: Mark,
  join: Join | undefined,
  tie: number | undefined,
  far: "none" | "below" | "all",
  scales: Scales,
): Position[] {
  return [
    ...aroundPoint(mark),
    ...(join ? alongJoin(join) : []),
    ...(tie === undefined ? [] : alongTie(tie, scales)),
    ...(join || far === "none" ? [] : farFromPoint(mark, far === "all")),
  ];
}

/** Along the dotted line that ties the marks of an unmeasured kernel, from below. */
const alongTie = (x: number, { plot }: Scales): Position[] =>
  [26, 42, 58, 74, 90].flatMap((up) =>
    beside(x, plot.bottom - up, 5).map((position) => ({ ...position, isByLine: true })),
  );

/** Above or below the line that joins a kernel's points at several memory levels. */
const alongJoin = ({ from, to, y }: Join): Position[] =>
  [0.5, 0.25, 0.75].flatMap((share) => aboveAndBelow(from + (to - from) * share, y, "middle"));

const aboveAndBelow = (x: number, line: number, anchor: Anchor): Position[] => [
  at(x, line - 6, anchor),
  at(x, line + 15, anchor),
];

/** How far up a slope its name may stand, as a share of its length: where it reads well, then anywhere. */
const SLOPE_SHARES = [0.35, 0.5, 0.2, 0.65, 0.8, ...Array.from({ length: 33 }, (_, step) => 0.02 + 0.03 * step)];

/** Turned to run along a slope, above or below it. */
export function alongSlope(roof: Rates, { x, y, whole }: Scales): Position[] {
  const from = Math.max(x.domain[0], whole ? y.domain[0] / roof.bandwidth : 0);
  const to = Math.min(ridgePoint(roof), x.domain[1], whole ? y.domain[1] / roof.bandwidth : Number.POSITIVE_INFINITY);
  if (whole && from >= to) return [];
  const line: [Spot, Spot] = [
    [x(from), y(from * roof.bandwidth)],
    [x(to), y(to * roof.bandwidth)],
  ];
  const turn = Math.atan2(y(10) - y(1), x(10) - x(1));
  // Beyond a neighbouring line only where there is no room between the two.
  return [alongLine(line, turn, SLOPE_SHARES, [-6, 12]), alongLine(line, turn, SLOPE_SHARES, [-19, 26])].flat();
}

/** Turned by an angle, in radians, at these shares of a line and these distances from it, px. */
function alongLine(
  [[left, low], [right, high]]: readonly [Spot, Spot],
  turn: number,
  shares: readonly number[],
  off: readonly number[],
) {
  const angle = Math.round((turn * 1800) / Math.PI) / 10;
  return shares.flatMap((share) =>
    off.map(
      (px): Position => ({
        x: left + (right - left) * share - px * Math.sin(turn),
        y: low + (high - low) * share + px * Math.cos(turn),
        anchor: "middle",
        angle,
      }),
    ),
  );
}

/** Whether some of a roof's flat is in sight. */
export const hasFlatInSight = (roof: Rates, scales: Scales) =>
  isInPlot(scales, Math.max(scales.plot.left, scales.x(ridgePoint(roof))), scales.y(roof.peak));

export const isInPlot = ({ plot }: Scales, x: number, y: number) =>
  x >= plot.left && x <= plot.right && y >= plot.top && y <= plot.bottom;

/** At the right end of a flat, then along it. */
function alongFlat(roof: Rates, scales: Scales): Position[] {
  if (!hasFlatInSight(roof, scales)) return [];
  const { plot, x, y } = scales;
  const ridge = Math.max(plot.left, x(ridgePoint(roof)));
  const flat = y(roof.peak);
  return [
    ...aboveAndBelow(plot.right - 4, flat, "end"),
    ...[0.5, 0.3, 0.7].flatMap((share) => aboveAndBelow(ridge + (plot.right - ridge) * share, flat, "middle")),
    ...aboveAndBelow(ridge + 10, flat, "start"),
  ];
}

/** Along the flat of a roof, then along its slope. */
export const alongRoof = (roof: Rates, scales: Scales): Position[] => [
  ...alongFlat(roof, scales),
  ...alongSlope(roof, scales),
];

/** Along the slope of a bandwidth ceiling, along the flat of any other. */
export const alongCeiling = (ceiling: SubRoof, scales: Scales): Position[] =>
  ceiling.kind === "bandwidth" ? alongSlope(ceiling, scales) : alongFlat(ceiling, scales);

/** Beside a ridge point's circle; a little farther only for the number that must be there: any other would seem to belong to a neighbour. */
export const besideRidge = ([x, y]: Spot, isFocus: boolean): Position[] => [
  at(x - 8, y - 6, "end"),
  at(x + 4, y - 8, "start"),
  at(x + 8, y + 15, "start"),
  at(x - 8, y + 15, "end"),
  ...(isFocus ? [at(x + 24, y + 16, "start"), at(x, y - 18, "middle"), at(x + 8, y + 30, "start")] : []),
];

/** Beside the middle of a gap arrow; then under its head, beside its point and below it. `text`: the width of the text, px. */
function besideGapArrow({ x, from, rim, to }: Gap, { plot }: Scales, text: number): Position[] {
  const middle = (from + to) / 2 + 4;
  // Left of the arrow only where the text would not lie across the strip.
  const sides = x - 7 - text > plot.left ? 2 : 1;
  const rows = (lines: readonly number[], gap: number, isFar: boolean) =>
    lines.flatMap((y) => beside(x, y, gap).slice(0, sides)).map((position) => ({ ...position, isFar }));
  return [
    ...rows([middle, middle - 14, middle + 14], 7, false),
    ...rows([to + 20], 7, true),
    ...rows([from + 4], rim + 4, true),
    { ...at(x, from + rim + 14, "middle"), isFar: true },
  ];
}

/** Right of the strip, in which there is no room beside its numbers. */
const besideStripArrow = ({ from, to }: Gap, { plot }: Scales): Position[] =>
  [0, -16, 16, -32, 32, -48, 48]
    .filter((shift) => Math.abs(shift) <= Math.abs(from - to) / 2)
    .map((shift) => at(plot.left + 6, (from + to) / 2 + 4 + shift, "start"));

/** Beside a gap arrow. `text`: the width of the text, px. */
export const besideGap = (gap: Gap, scales: Scales, text: number): Position[] =>
  gap.x < scales.plot.left ? besideStripArrow(gap, scales) : besideGapArrow(gap, scales, text);

/** At the foot of the plot between two px; none where less than 24 px of the region are in sight. */
export function atFoot(left: number, right: number, { plot }: Scales): Position[] {
  const y = plot.bottom - 8;
  if (right - left < 24) return [];
  const middle = (left + right) / 2;
  return [at(middle, y, "middle"), at(left + 8, y, "start"), at(right - 8, y, "end"), at(middle, y - 16, "middle")];
}

/** In the upper left or the lower right corner of the plot, then inwards. */
export function inCorner(corner: "upper left" | "lower right", { plot }: Scales): Position[] {
  const [x, y, step, anchor] =
    corner === "upper left"
      ? ([plot.left + 8, plot.top + 16, 20, "start"] as const)
      : ([plot.right - 8, plot.bottom - 8, -20, "end"] as const);
  return [0, 1, 2, 3].flatMap((row) => [0, 1, 2, 3, 4, 5].map((k) => at(x + k * step, y + row * step, anchor)));
}

/** By the corner of an isochrone: over its level arm or beside its upright arm. */
export const besideIsochrone = (x: number, y: number): Position[] => [
  at(x - 8, y - 5, "end"),
  at(x + 5, y + 24, "start"),
  at(x - 48, y - 5, "end"),
  at(x + 5, y + 48, "start"),
  at(x - 48, y + 16, "end"),
  at(x - 5, y + 24, "end"),
];

/** Along the diagonal between two points of it, from the upper end downwards. Nearer above, the letters would lie on the line. */
export const alongDiagonal = (from: Spot, to: Spot): Position[] =>
  alongLine([from, to], Math.atan2(to[1] - from[1], to[0] - from[0]), [0.82, 0.7, 0.6, 0.5, 0.4, 0.3, 0.25], [-8, 17]);

/** In or beside the square of launch overhead, whose corner is at `right` and `top`, px. */
export const besideLaunches = (right: number, top: number, left: number, bottom: number): Position[] => [
  at(right - 6, bottom - 8, "end"),
  at(left + 6, top - 6, "start"),
  at(left + 6, top + 16, "start"),
  at(right + 6, bottom - 8, "start"),
];

/** In the middle of an empty plot. */
export const inMiddle = ({ plot: { left, right, top, bottom } }: Scales): Position[] =>
  [0.4, 0.34, 0.28, 0.22, 0.16, 0.1].flatMap((share) => {
    const y = top + share * (bottom - top);
    return [at((left + right) / 2, y, "middle"), at(left + 8, y, "start")];
  });

/** Around the middle of a kernel's arrow; of a roof's, which is upright: beyond its head, then beside its middle. */
export function besideArrow(line: BentLine): Position[] {
  const { from, bend, to } = line;
  if (from !== bend) return aroundMiddle(middleOf(line));
  return [
    at(to[0], to[1] + (to[1] < from[1] ? -8 : 17), "middle"),
    ...[4, -10, 18].flatMap((shift) => beside(to[0], (from[1] + to[1]) / 2 + shift, 7)),
  ];
}

const leftFirst = (x: number, y: number) => beside(x, y, 7).reverse();

/** Lines above and below a ruler's crossing, px. */
const RULER_SHIFTS = [-6, 14, -21, 29, -36, 44, -51];

/** Beside a ruler where it crosses a roof; of a crossing in the strip, right of `stripEnd`. */
export const besideRuler = (x: number, y: number, stripEnd?: number): Position[] =>
  RULER_SHIFTS.flatMap((shift) =>
    stripEnd === undefined ? leftFirst(x, y + shift) : [at(stripEnd + 6, y + shift, "start")],
  );

export const besideRulerFoot = (x: number, { plot }: Scales): Position[] =>
  [-6, -22, -38].flatMap((up) => leftFirst(x, plot.bottom + up));

/** From the note of a moved kernel to the edges of the plot, px. */
export const NOTE_EDGE_PX = 4;

/** Around a moved kernel, ever farther: right and left, below and above; always inside the plot. `size`: that of the note with its button, px. */
export function aroundMovedKernel(
  { x, y, radius }: Mark,
  size: { width: number; down: number; button: number },
  { plot }: Scales,
): Position[] {
  const { width, down, button } = size;
  const extra = [button, down] as const;
  const gap = radius + 8;
  const start = (left: number, top: number): Position => ({ ...at(left, top, "start"), extra });
  const within = (left: number) =>
    Math.max(plot.left + NOTE_EDGE_PX, Math.min(left, plot.right - width - NOTE_EDGE_PX));
  return [0, 18, 36, 54, 72, 90].flatMap((ring) => [
    ...[-ring, ring].flatMap((shift) =>
      [x + gap, x - gap - width].map((left) => start(left, y + 4 - down / 2 + shift)),
    ),
    start(within(x - width / 2), y + gap + 12 + ring),
    start(within(x - width / 2), y - gap - down - 4 - ring),
  ]);
}
