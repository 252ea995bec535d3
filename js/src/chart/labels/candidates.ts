// The candidate positions of labels: a list for each kind of mark, best positions first.

import type { SubRoof } from "../../roofline/ceilings.ts";
import { type Rates, ridgePoint } from "../../roofline/roofline.ts";
import { memoize } from "../../ui/memoize.ts";
import { type BentLine, type Gap, type Join, middleOf, type Spot } from "../paths.ts";
import { clamp, holds, type Scales } from "../scales.ts";

export type Anchor = "start" | "middle" | "end";

export interface Position {
  readonly x: number;
  readonly y: number;
  readonly anchor: Anchor;
  /** The clockwise rotation of the text about its position, degrees. Default 0. */
  readonly angle?: number;
  /** Whether the label is far from its mark. */
  readonly isFar?: boolean;
  /** Whether a badge without a name is best at this position. */
  readonly isForBadge?: boolean;
  /**
   * Space needed in addition to the first line, px. `right`: to the right of the text. `down`: below the first line,
   * for further lines.
   */
  readonly extra?: readonly [right: number, down: number];
  /** The mark beside which the position is. Default: the mark of the label. */
  readonly mark?: Mark;
}

/** The mark that a label names, px. */
export interface Mark {
  readonly x: number;
  readonly y: number;
  readonly radius: number;
}

const at = (x: number, y: number, anchor: Anchor): Position => ({ x, y, anchor });

/** Two positions, `gap` px from `x`: the text to the right of `x`, then the text to the left of `x`. */
const beside = (x: number, y: number, gap: number): Position[] => [at(x + gap, y, "start"), at(x - gap, y, "end")];

/** Positions around a point. The position below right is first, because the gap arrow goes up. */
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
    // The text is above the point and starts at the point's left rim. Used for points near the left edge.
    at(x - radius - 4, y - radius - 8, "start"),
  ];
}

/** Positions around the middle of an arrow. */
export const aroundMiddle = ([x, y]: Spot): Position[] => [
  ...aroundPoint({ x, y, radius: 0 }),
  at(x, y + 32, "middle"),
];

/** The distance from a point's rim to its name, px, and the distances of names with a leader. */
const [NAME_GAP_PX, LEADER_GAPS_PX] = [5, [18, 28, 40]];

/** The eight positions at a distance from the rim of a point. The text then lies beside, below or above the point. */
function eightAround({ x, y, radius }: Mark, gap: number): Position[] {
  const far = radius + gap;
  const slant = far * Math.SQRT1_2;
  // The letters of a text reach from 10.3 px above its baseline to 3.1 px below the baseline.
  const [under, over] = [10.3, -3.1];
  return [
    at(x + far, y + 4, "start"),
    at(x - far, y + 4, "end"),
    at(x + slant, y + slant + under, "start"),
    at(x - slant, y + slant + under, "end"),
    { ...at(x + slant, y - slant + over, "start"), isForBadge: gap === NAME_GAP_PX },
    at(x - slant, y - slant + over, "end"),
    at(x, y + far + under, "middle"),
    at(x, y - far + over, "middle"),
  ];
}

/** Positions at the left edge of the plot, for the names of kernels in the strip. */
const besideStrip = ({ y }: Mark, left: number): Position[] =>
  Array.from({ length: 17 }, (_, step) => 14 * Math.ceil(step / 2) * (step % 2 === 0 ? -1 : 1)).map((down) => ({
    ...at(left + 6, y + 4 + down, "start"),
    isFar: true,
  }));

/**
 * Positions for a kernel's name: around the kernel's point, then along the line of its levels, or with a leader, then
 * around its points on the `others` of the roofs.
 */
export function besideKernel(
  mark: Mark,
  join: Join | undefined,
  scales: Scales,
  others: readonly Mark[] = [],
): Position[] {
  const strip = scales.strip && mark.x < scales.plot.left ? besideStrip(mark, scales.plot.left) : [];
  const withLeader = LEADER_GAPS_PX.flatMap((gap) => eightAround(mark, gap)).map((each) => ({ ...each, isFar: true }));
  const elsewhere = others.flatMap((other) =>
    eightAround(other, NAME_GAP_PX).map((each) => ({ ...each, isFar: true, mark: other })),
  );
  return [...strip, ...eightAround(mark, NAME_GAP_PX), ...(join ? alongJoin(join) : [...withLeader, ...elsewhere])];
}

/** Positions above or below the line that joins a kernel's points at several memory levels. */
const alongJoin = ({ from, to, y }: Join): Position[] =>
  [0.5, 0.25, 0.75].flatMap((share) => aboveAndBelow(from + (to - from) * share, y, "middle"));

const aboveAndBelow = (x: number, line: number, anchor: Anchor): Position[] => [
  at(x, line - 6, anchor),
  at(x, line + 15, anchor),
];

/**
 * Where to try labels along a slope, as shares of the slope's length. The places where a name is easiest to read are
 * first.
 */
const SLOPE_SHARES = [0.35, 0.5, 0.2, 0.65, 0.8, ...Array.from({ length: 33 }, (_, step) => 0.02 + 0.03 * step)];

/** Where to try the name of the focus roof's slope, as shares of its length. */
const NAME_SHARES = [0.13, 0.3, 0.45, 0.55, 0.62, 0.7];

/** Positions of the name of a slope, above the slope. */
export const nameOnSlope = (roof: Rates, scales: Scales): Position[] => onSlope(roof, scales, NAME_SHARES, [-6]);

/** Positions along a slope, above the slope or below it. The text has the same angle as the slope. */
export function alongSlope(roof: Rates, scales: Scales): Position[] {
  // The distances in the second list are larger. They put the text beyond a neighbouring line if there is no room
  // between the slope and this line.
  return [onSlope(roof, scales, SLOPE_SHARES, [-6, 12]), onSlope(roof, scales, SLOPE_SHARES, [-19, 26])].flat();
}

function onSlope(roof: Rates, { x, y, whole }: Scales, shares: readonly number[], off: readonly number[]): Position[] {
  const from = Math.max(x.domain[0], whole ? y.domain[0] / roof.bandwidth : 0);
  const to = Math.min(ridgePoint(roof), x.domain[1], whole ? y.domain[1] / roof.bandwidth : Number.POSITIVE_INFINITY);
  if (whole && from >= to) return [];
  const line: [Spot, Spot] = [
    [x(from), y(from * roof.bandwidth)],
    [x(to), y(to * roof.bandwidth)],
  ];
  const turn = Math.atan2(y(10) - y(1), x(10) - x(1));
  return alongLine(line, turn, shares, off);
}

/**
 * Positions along a line, at the given shares of its length and at the given distances from it, px. The text is turned
 * by `turn`, radians.
 */
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

/** Whether any part of the roof's flat is in sight. */
export const hasFlatInSight = (roof: Rates, scales: Scales) =>
  holds(scales.plot, Math.max(scales.plot.left, scales.x(ridgePoint(roof))), scales.y(roof.peak));

/** Positions along a flat. The position at the flat's right end is first. */
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

/** The distance of a name above its flat and from the right edge of the plot, px. */
const [RISE_PX, EDGE_PX] = [9, 2];

/** Positions at the right edge of the plot: above the highest of some flats, then below the lowest. */
export const aboveFlat = (highest: number, lowest: number, { plot, y }: Scales): Position[] => [
  at(plot.right - EDGE_PX, y(highest) - RISE_PX, "end"),
  at(plot.right - EDGE_PX, y(lowest) + 15, "end"),
];

// Memoized: while a roof is dragged, the positions along the other roofs do not change.
const knownAlong = memoize<readonly Position[]>();

/** Positions along the flat of a roof, then along its slope. */
export const alongRoof = (roof: Rates, scales: Scales): readonly Position[] =>
  knownAlong(roof, [scales], () => [...alongFlat(roof, scales), ...alongSlope(roof, scales)]);

/** Positions along a ceiling: along the slope of a bandwidth ceiling, and along the flat of any other ceiling. */
export const alongCeiling = (ceiling: SubRoof, scales: Scales): Position[] =>
  ceiling.kind === "bandwidth" ? alongSlope(ceiling, scales) : alongFlat(ceiling, scales);

/**
 * Positions beside the circle of a ridge point. The focus roof's number may also be farther away. A far number of
 * another roof would seem to belong to a neighbouring roof.
 */
export const besideRidge = ([x, y]: Spot, isFocus: boolean): Position[] => [
  at(x - 8, y - 6, "end"),
  at(x + 4, y - 8, "start"),
  at(x + 8, y + 15, "start"),
  at(x - 8, y + 15, "end"),
  ...(isFocus ? [at(x + 24, y + 16, "start"), at(x, y - 18, "middle"), at(x + 8, y + 30, "start")] : []),
];

/**
 * Positions beside the middle of a gap arrow, then below the arrow's head, then beside and below the kernel's point.
 * `text`: width of the text, px.
 */
function besideGapArrow({ x, from, rim, to }: Gap, { plot }: Scales, text: number): Position[] {
  const middle = (from + to) / 2 + 4;
  // A text left of the arrow must not cover the strip.
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

/** Positions to the right of the strip, because inside the strip the axis numbers leave no room. */
const besideStripArrow = ({ from, to }: Gap, { plot }: Scales): Position[] =>
  [0, -16, 16, -32, 32, -48, 48]
    .filter((shift) => Math.abs(shift) <= Math.abs(from - to) / 2)
    .map((shift) => at(plot.left + 6, (from + to) / 2 + 4 + shift, "start"));

/** Positions beside a gap arrow. `text`: width of the text, px. */
export const besideGap = (gap: Gap, scales: Scales, text: number): Position[] =>
  gap.x < scales.plot.left ? besideStripArrow(gap, scales) : besideGapArrow(gap, scales, text);

/** The position of the word for a region of the plot: beside the ridge line, above the axis. */
export const besideRidgeLine = (x: number, side: "left" | "right", { plot }: Scales): Position[] => [
  side === "left" ? at(x - 8, plot.bottom - 8, "end") : at(x + 8, plot.bottom - 8, "start"),
];

/** Positions in the given corner of the plot, then further inside the plot. */
export function inCorner(corner: "upper left" | "lower right", { plot }: Scales): Position[] {
  const [x, y, step, anchor] =
    corner === "upper left"
      ? ([plot.left + 8, plot.top + 16, 20, "start"] as const)
      : ([plot.right - 8, plot.bottom - 8, -20, "end"] as const);
  return [0, 1, 2, 3].flatMap((row) => [0, 1, 2, 3, 4, 5].map((k) => at(x + k * step, y + row * step, anchor)));
}

/**
 * Positions near the corner of an isochrone. The text is above or below the horizontal arm, or left or right of the
 * vertical arm.
 */
export const besideIsochrone = (x: number, y: number): Position[] => [
  at(x - 8, y - 5, "end"),
  at(x + 5, y + 24, "start"),
  at(x - 48, y - 5, "end"),
  at(x + 5, y + 48, "start"),
  at(x - 48, y + 16, "end"),
  at(x - 5, y + 24, "end"),
];

/**
 * Positions along the diagonal from `to` down to `from`. The distance from the diagonal keeps the letters clear of the
 * line.
 */
export const alongDiagonal = (from: Spot, to: Spot): Position[] =>
  alongLine([from, to], Math.atan2(to[1] - from[1], to[0] - from[0]), [0.82, 0.7, 0.6, 0.5, 0.4, 0.3, 0.25], [-8, 17]);

/**
 * Positions inside the square of launch overhead, or beside it. The upper right corner of the square is at (`right`,
 * `top`), px.
 */
export const besideLaunches = (right: number, top: number, left: number, bottom: number): Position[] => [
  at(right - 6, bottom - 8, "end"),
  at(left + 6, top - 6, "start"),
  at(left + 6, top + 16, "start"),
  at(right + 6, bottom - 8, "start"),
];

/** Positions around the middle of an empty plot. */
export const inMiddle = ({ plot: { left, right, top, bottom } }: Scales): Position[] =>
  [0.4, 0.34, 0.28, 0.22, 0.16, 0.1].flatMap((share) => {
    const y = top + share * (bottom - top);
    return [at((left + right) / 2, y, "middle"), at(left + 8, y, "start")];
  });

/**
 * Returns positions beside an arrow. If the arrow is bent (a kernel's arrow), the positions are around its middle. If
 * the arrow is straight and vertical (a roof's arrow), the positions are beyond its head, then beside its middle.
 */
export function besideArrow(line: BentLine): Position[] {
  const { from, bend, to } = line;
  if (from !== bend) return aroundMiddle(middleOf(line));
  return [
    at(to[0], to[1] + (to[1] < from[1] ? -8 : 17), "middle"),
    ...[4, -10, 18].flatMap((shift) => beside(to[0], (from[1] + to[1]) / 2 + shift, 7)),
  ];
}

const leftFirst = (x: number, y: number) => beside(x, y, 7).reverse();

/** Vertical distances from the crossing of a ruler and a roof to the text there, px. */
const RULER_SHIFTS = [-6, 14, -21, 29, -36, 44, -51];

/**
 * Positions beside a ruler, where the ruler crosses a roof. For a crossing in the strip, the positions are to the right
 * of the strip. `stripEnd` is the right edge of the strip, px.
 */
export const besideRuler = (x: number, y: number, stripEnd?: number): Position[] =>
  RULER_SHIFTS.flatMap((shift) =>
    stripEnd === undefined ? leftFirst(x, y + shift) : [at(stripEnd + 6, y + shift, "start")],
  );

export const besideRulerFoot = (x: number, { plot }: Scales): Position[] =>
  [-6, -22, -38].flatMap((up) => leftFirst(x, plot.bottom + up));

/** Distance of a note from the edges of the plot, px. */
export const NOTE_EDGE_PX = 4;

/**
 * Positions around a moved kernel, inside the plot, in rings from near to far. `size`: the size of the note with its
 * button, px.
 */
export function aroundMovedKernel(
  { x, y, radius }: Mark,
  size: { width: number; down: number; button: number },
  { plot }: Scales,
): Position[] {
  const { width, down, button } = size;
  const extra = [button, down] as const;
  const gap = radius + 8;
  const start = (left: number, top: number): Position => ({ ...at(left, top, "start"), extra });
  const within = (left: number) => clamp(left, plot.left + NOTE_EDGE_PX, plot.right - width - NOTE_EDGE_PX);
  return [0, 18, 36, 54, 72, 90].flatMap((ring) => [
    ...[-ring, ring].flatMap((shift) =>
      [x + gap, x - gap - width].map((left) => start(left, y + 4 - down / 2 + shift)),
    ),
    start(within(x - width / 2), y + gap + 12 + ring),
    start(within(x - width / 2), y - gap - down - 4 - ring),
  ]);
}
