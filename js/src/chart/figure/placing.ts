// Places the texts of a figure: clear of each other, of dots and of lines.

import { distanceTo, isInside, overlap, squareAround, startOf } from "../labels/box_index.ts";
import type { Anchor } from "../labels/candidates.ts";
import type { Spot } from "../paths.ts";
import { type Box, clamp } from "../scales.ts";

export type Segment = readonly [from: Spot, to: Spot];

/** The place of a text: its anchor and its baseline. */
interface Place {
  readonly x: number;
  readonly y: number;
  readonly anchor: Anchor;
}

/** A dot as an obstacle. */
export interface Round {
  readonly x: number;
  readonly y: number;
  readonly radius: number;
}

/** What a text may not cover, in addition to other texts. */
interface Strictness {
  readonly dots: boolean;
  readonly lines: boolean;
}

export interface Placer {
  /** Whether boxes are inside the bounds and clear of texts, and of dots and lines if these count. */
  isClear(boxes: readonly Box[], bounds: Box, strictness: Strictness, own?: Round): boolean;
  isLeaderClear(leader: Segment, strictness: Strictness): boolean;
  take(boxes: readonly Box[], leader?: Segment): void;
}

/** `gap`: the distance of two texts on a line. */
export function createPlacer(dots: readonly Round[], lines: readonly Segment[], gap: number): Placer {
  const taken: Box[] = [];
  const leaders: Segment[] = [];
  const covers = (box: Box, { x, y, radius }: Round) => distanceTo(box, x, y) < radius;
  return {
    isClear: (boxes, bounds, strictness, own) =>
      boxes.every(
        (box) =>
          isInside(box, bounds) &&
          !taken.some((other) => overlap(box, other, gap)) &&
          !leaders.some((leader) => crosses(box, leader)) &&
          !(strictness.lines && lines.some((line) => crosses(box, line))) &&
          !(strictness.dots && dots.some((dot) => dot !== own && covers(box, dot))),
      ),
    isLeaderClear: (leader, strictness) =>
      !taken.some((box) => crosses(box, leader)) &&
      ![...leaders, ...(strictness.lines ? lines : [])].some((other) => areCrossing(leader, other)),
    take(boxes, leader) {
      taken.push(...boxes);
      if (leader) leaders.push(leader);
    },
  };
}

/** The heights of letters above and below their baseline, in font sizes. */
export const [ASCENT_EM, DESCENT_EM] = [0.76, 0.22];

export function textBox({ x, y, anchor }: Place, width: number, font: number): Box {
  const left = startOf(x, anchor, width);
  return { left, right: left + width, top: y - ASCENT_EM * font, bottom: y + DESCENT_EM * font };
}

/** Whether a line has a part in a box. */
export function crosses({ left, right, top, bottom }: Box, [[x0, y0], [x1, y1]]: Segment): boolean {
  let [from, to] = [0, 1];
  for (const [start, step, low, high] of [
    [x0, x1 - x0, left, right],
    [y0, y1 - y0, top, bottom],
  ] as const) {
    if (step === 0) {
      if (start <= low || start >= high) return false;
      continue;
    }
    const [a, b] = [(low - start) / step, (high - start) / step];
    [from, to] = [Math.max(from, Math.min(a, b)), Math.min(to, Math.max(a, b))];
  }
  return from < to;
}

function areCrossing([a, b]: Segment, [c, d]: Segment): boolean {
  const side = ([px, py]: Spot, [qx, qy]: Spot, [x, y]: Spot) => (qx - px) * (y - py) - (qy - py) * (x - px);
  return side(a, b, c) * side(a, b, d) < 0 && side(c, d, a) * side(c, d, b) < 0;
}

/** The distance of a text from its dot, in font sizes. */
const GAP_EM = 0.35;
/** From the middle of the letters to their baseline, in font sizes. */
const HALF_EM = 0.35;
/** The lengths of leaders to try, as shares of the longest, and their directions, degrees clockwise from the right. */
const [LENGTHS, DIRECTIONS] = [
  [0.3, 0.5, 0.75, 1],
  [-30, 30, 0, -60, 60, 150, -150, 180, 90, -90, 120, -120],
];

/** Returns the places of a text beside a dot, best places first. */
export function placesBeside({ x, y, radius }: Round, font: number): Place[] {
  const [near, diagonal] = [radius + GAP_EM * font, 0.7 * radius + 0.25 * font];
  const middle = y + HALF_EM * font;
  return [
    { x: x + near, y: middle, anchor: "start" },
    { x: x - near, y: middle, anchor: "end" },
    { x: x + diagonal, y: y - diagonal, anchor: "start" },
    { x: x + diagonal, y: y + diagonal + ASCENT_EM * font, anchor: "start" },
    { x: x - diagonal, y: y - diagonal, anchor: "end" },
    { x: x - diagonal, y: y + diagonal + ASCENT_EM * font, anchor: "end" },
    { x, y: y + radius + (GAP_EM + ASCENT_EM) * font, anchor: "middle" },
    { x, y: y - near, anchor: "middle" },
  ];
}

/** Returns the places of a text away from its dot, at the end of a leader of at most `longest`. */
export function placesAway({ x, y, radius }: Round, font: number, longest: number): Place[] {
  return LENGTHS.flatMap((share) =>
    DIRECTIONS.map((degrees): Place => {
      const turn = (degrees * Math.PI) / 180;
      const [across, down] = [Math.cos(turn), Math.sin(turn)];
      const away = radius + share * longest;
      const anchor = across > 0.3 ? "start" : across < -0.3 ? "end" : "middle";
      return { x: x + away * across, y: y + away * down + HALF_EM * font * (1 + down), anchor };
    }),
  );
}

/** Returns the line from the rim of a dot to the nearest point of a box. */
export function leaderTo(box: Box, { x, y, radius }: Round): Segment {
  const [toX, toY] = [clamp(x, box.left, box.right), clamp(y, box.top, box.bottom)];
  const rim = radius / Math.hypot(toX - x, toY - y);
  return [
    [x + (toX - x) * rim, y + (toY - y) * rim],
    [toX, toY],
  ];
}

/** The places of a text along a slope, as shares of its length: those in which it is read best first. */
const SHARES = [0.62, 0.55, 0.7, 0.45, 0.3, 0.13, 0.2, 0.38, 0.78, 0.85];

/** A text along a slope: its middle, its rotation, degrees, and the small boxes that it covers. */
interface SlopePlace {
  readonly x: number;
  readonly y: number;
  readonly angle: number;
  readonly boxes: readonly Box[];
}

/** Returns the places above and below a slope for a text of this width. */
export function placesAlong([[x0, y0], [x1, y1]]: Segment, width: number, font: number): SlopePlace[] {
  const length = Math.hypot(x1 - x0, y1 - y0);
  const [cos, sin] = [(x1 - x0) / length, (y1 - y0) / length];
  const half = 0.36 * font;
  const count = Math.ceil(width / half);
  const placeAt = (share: number, off: number): SlopePlace => {
    const [x, y] = [x0 + (x1 - x0) * share + off * sin, y0 + (y1 - y0) * share - off * cos];
    const boxes = Array.from({ length: count + 1 }, (_, at) => {
      const along = -width / 2 + (width * at) / count;
      const [cx, cy] = [x + along * cos + half * sin, y + along * sin - half * cos];
      return squareAround(cx, cy, half);
    });
    return { x, y, angle: (Math.atan2(sin, cos) * 180) / Math.PI, boxes };
  };
  const fits = SHARES.filter((share) => Math.min(share, 1 - share) * length >= width / 2);
  return [0.45 * font, -1.15 * font].flatMap((off) => fits.map((share) => placeAt(share, off)));
}
