// Finds the points that changed since the last painted frame. Each point has a number, its sprite key, that encodes the
// point's look. A point has changed if its sprite keys or positions in the two frames differ.

import type { Points } from "../../roofline/points.ts";
import { memoize } from "../../ui/memoize.ts";
import type { Scales, Spots } from "../scales.ts";

export interface PointsPicture {
  readonly points: Points;
  readonly at: Spots;
  /** The palette of the points. `colour` contains each point's index in the palette. */
  readonly colours: readonly string[];
  readonly colour: Uint16Array;
  /** 1 for points drawn as outlines: points at memory levels that do not bind, and points of moved kernels. */
  readonly hollow: Uint8Array;
  /** 1 for points drawn faintly, behind all other points. */
  readonly faded: Uint8Array;
  readonly outline: string;
  readonly alert: string;
  readonly scales: Scales;
  /**
   * Whether the picture changes in every frame. If so, changed points of a dense raster are painted on top of the old
   * frame until the motion ends.
   */
  readonly inMotion?: boolean;
}

/** The frame that is on the canvas. */
export interface PaintedFrame extends SpriteKeys {
  readonly key: string;
  readonly n: number;
  readonly x: Float32Array;
  readonly y: Float32Array;
  readonly radius: Float32Array;
  /** Whether some points were painted on top of points that should cover them. */
  readonly isOutOfOrder: boolean;
}

interface SpriteKeys {
  /** The sprite key of each point. It encodes the point's look, but not its position. */
  readonly look: Uint32Array;
  /** `base`: the part of the sprite key that does not depend on roofs. `side`: the part that depends on roofs. */
  readonly base: Uint32Array;
  readonly side: Uint8Array;
}

/** If more points than this have changed, the dense raster is repainted in full. */
const MAX_CHANGES_PAINTED_OVER = 3000;
/** The bit of a sprite key for the sign of a point above its roof. */
const ALERT = 128;

// Memoized: while a roof is dragged, the `base` of measured points does not change.
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

/**
 * Returns lists of the points whose look may have changed since the painted frame. Returns undefined if no such lists
 * exist for this frame.
 */
const changedSince = ({ side }: SpriteKeys, { since }: Points) => (since?.side === side ? since.points : undefined);

/** The part of the sprite keys that does not depend on roofs. */
function baseKeys({ colour, hollow, faded }: PointsPicture, radius: Float32Array): Uint32Array {
  const look = new Uint32Array(radius.length);
  for (let index = 0; index < look.length; index++) {
    const shape = (colour[index] as number) * 16 + (hollow[index] as number) * 2;
    look[index] = shape * ALERT + 2 * (radius[index] as number) + 64 * (faded[index] as number);
  }
  return look;
}

/** The indices of points whose look or position changed, in drawing order. */
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

/** Whether the point has the sign for being above its roof. */
export const hasAlert = ({ look }: SpriteKeys, index: number) => ((look[index] as number) & ALERT) !== 0;

/**
 * Whether changed points may be painted on top of the old frame. The conditions: few points have changed, no position
 * has changed, and no point loses its sign.
 */
export function canPaintOver(before: PaintedFrame, after: PaintedFrame, changed: readonly number[]): boolean {
  return (
    changed.length <= MAX_CHANGES_PAINTED_OVER &&
    before.x === after.x &&
    before.y === after.y &&
    !changed.some((index) => hasAlert(before, index) && !hasAlert(after, index))
  );
}
