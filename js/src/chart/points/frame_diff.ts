// What points look like, each as one number: enough to tell which of them are another in the next picture.

import type { Points } from "../../roofline/points.ts";
import { memoize } from "../../ui/memoize.ts";
import type { Scales } from "../scales.ts";

export interface PointsPicture {
  readonly points: Points;
  readonly at: { readonly x: Float32Array; readonly y: Float32Array };
  /** The colours points can have, and which of them each has. */
  readonly colours: readonly string[];
  readonly colour: Uint16Array;
  /** Points that are drawn as outlines: those at memory levels that do not bind. */
  readonly hollow: Uint8Array;
  /** Points that others stand out from: they are faint, and lie under those. */
  readonly faded: Uint8Array;
  readonly outline: string;
  readonly alert: string;
  readonly scales: Scales;
  /** Whether it changedPoints with every frame: of a crowd what changed is laid over what was there, until it rests. */
  readonly inMotion?: boolean;
}

/** What is on the canvas. */
export interface PaintedFrame extends SpriteKeys {
  readonly key: string;
  readonly n: number;
  readonly x: Float32Array;
  readonly y: Float32Array;
  readonly radius: Float32Array;
  /** Whether points were laid over others that they lie under. */
  readonly isOutOfOrder: boolean;
}

interface SpriteKeys {
  /** All that a point looks like, but for its place. */
  readonly look: Uint32Array;
  /** Of what it is made: what no roof changedPoints, and the sides that a roof gives. */
  readonly base: Uint32Array;
  readonly side: Uint8Array;
}

/** When more points than this have changed all of a crowd are drawn anew. */
const MAX_CHANGES_PAINTED_OVER = 3000;
/** Of a look, the sign above a point. */
const ALERT = 128;

// While a roof is dragged measured points keep these.
const constants = memoize<Uint32Array>();

export function spriteKeysOf(
  picture: PointsPicture,
  radius: Float32Array,
  before: PaintedFrame | undefined,
): SpriteKeys {
  const { points, colour, hollow, faded } = picture;
  const { side, aboveRoof } = points;
  const base = constants(radius, [colour, hollow, faded], () => baseKeys(picture, radius));
  const lookAt = (index: number) =>
    (base[index] as number) + ((side[index] as number) * 4 + (aboveRoof[index] as number)) * ALERT;
  const some = before?.base === base ? changedSince(before, points) : undefined;
  const look = before && some ? before.look.slice() : new Uint32Array(base.length);
  if (some) for (const part of some) for (const index of part) look[index] = lookAt(index);
  else for (let index = 0; index < look.length; index++) look[index] = lookAt(index);
  return { look, base, side };
}

/** The points that can look different from what is on the canvas, where they are known. */
const changedSince = ({ side }: SpriteKeys, { since }: Points) => (since?.side === side ? since.points : undefined);

/** What of a look no roof changedPoints. */
function baseKeys({ colour, hollow, faded }: PointsPicture, radius: Float32Array): Uint32Array {
  const look = new Uint32Array(radius.length);
  for (let index = 0; index < look.length; index++) {
    const shape = (colour[index] as number) * 16 + (hollow[index] as number) * 2;
    look[index] = shape * ALERT + 2 * (radius[index] as number) + 64 * (faded[index] as number);
  }
  return look;
}

/** Points that look different, or are elsewhere, in the order of drawing. */
export function changedPoints(before: PaintedFrame, after: PaintedFrame, points: Points): number[] {
  const isStill = before.x === after.x && before.y === after.y;
  const isNew = (index: number) =>
    before.look[index] !== after.look[index] ||
    (!isStill && (before.x[index] !== after.x[index] || before.y[index] !== after.y[index]));
  const found: number[] = [];
  const some = isStill && before.base === after.base ? changedSince(before, points) : undefined;
  if (!some) {
    for (let index = 0; index < after.n; index++) if (isNew(index)) found.push(index);
    return found;
  }
  for (const part of some) for (const index of part) if (isNew(index)) found.push(index);
  return [...new Set(found)].sort((a, b) => a - b);
}

/** Whether it has the sign of one above its roof. */
export const hasAlert = ({ look }: SpriteKeys, index: number) => ((look[index] as number) & ALERT) !== 0;

/** Whether what changed may be laid over what was there: points that stay, none of which loses the sign above it. */
export function canPaintOver(before: PaintedFrame, after: PaintedFrame, changed: readonly number[]): boolean {
  return (
    changed.length <= MAX_CHANGES_PAINTED_OVER &&
    before.x === after.x &&
    before.y === after.y &&
    !changed.some((index) => hasAlert(before, index) && !hasAlert(after, index))
  );
}
