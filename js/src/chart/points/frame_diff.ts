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
  /** The category of each colour of the palette. Points of this category have its pattern. */
  readonly patterns: readonly number[];
  readonly isPatterned: boolean;
  readonly opacity: number;
  /**
   * 1 for points drawn as outlines: points at memory levels that do not bind, and points of moved kernels. 2 for
   * outlines of points whose colour is unknown.
   */
  readonly hollow: Uint8Array;
  /** 1 for points drawn faintly, behind all other points. */
  readonly faded: Uint8Array;
  readonly outline: string;
  readonly alert: string;
  readonly scales: Scales;
  /** Whether the picture changes in every frame. */
  readonly inMotion?: boolean;
}

/** The frame that is on the canvas. */
export interface PaintedFrame extends SpriteKeys {
  readonly key: string;
  readonly n: number;
  readonly x: Float32Array;
  readonly y: Float32Array;
  readonly radius: Float32Array;
}

interface SpriteKeys {
  /**
   * The sprite key of each point. It encodes the point's look, but not its position. The next frame changes this column
   * instead of copying it.
   */
  readonly look: Uint32Array;
  /** `base`: the part of the sprite key that does not depend on roofs. `side`: the part that depends on roofs. */
  readonly base: Uint32Array;
  readonly side: Uint8Array;
}

/** The points whose look or position changed since the last painted frame, each once. */
export interface Changes {
  readonly indices: readonly number[];
  /** The sprite keys that these points had. */
  readonly looks: readonly number[];
}

/** The bit of a sprite key for the sign of a point above its roof. */
const ALERT = 128;

// Memoized: while a roof is dragged, the `base` of measured points does not change.
const constants = memoize<Uint32Array>();

/**
 * Returns the sprite keys of a picture, and what changed since the frame `before`. While only roofs change, the work
 * depends on the number of points that roofs affect, not on the number of all points.
 */
export function spriteKeysOf(
  picture: PointsPicture,
  radius: Float32Array,
  before: PaintedFrame | undefined,
): SpriteKeys & { readonly changes: Changes | undefined } {
  const { points, at, colour, hollow, faded } = picture;
  const { side, aboveRoof, since } = points;
  const base = constants(radius, [colour, hollow, faded], () => baseKeys(picture, radius));
  const lookAt = (index: number) =>
    (base[index] as number) + ((side[index] as number) * 4 + (aboveRoof[index] as number)) * ALERT;
  const isStill = before?.x === at.x && before.y === at.y;
  const look = before?.look ?? new Uint32Array(base.length);
  const [indices, looks]: [number[], number[]] = [[], []];
  const update = (index: number) => {
    const [was, is] = [look[index] as number, lookAt(index)];
    if (was === is && (isStill || (before?.x[index] === at.x[index] && before?.y[index] === at.y[index]))) return;
    indices.push(index);
    looks.push(was);
    look[index] = is;
  };
  const changes = { indices, looks };
  if (!before) for (let index = 0; index < look.length; index++) look[index] = lookAt(index);
  else if (isStill && before.base === base && since?.side === before.side) {
    for (const part of since.points) for (let of = 0; of < part.length; of++) update(part[of] as number);
  } else for (let index = 0; index < look.length; index++) update(index);
  return { look, base, side, changes: before && changes };
}

/** The part of the sprite keys that does not depend on roofs. */
function baseKeys({ colour, hollow, faded }: PointsPicture, radius: Float32Array): Uint32Array {
  const look = new Uint32Array(radius.length);
  for (let index = 0; index < look.length; index++) {
    const shape = (colour[index] as number) * 16 + (hollow[index] as number) * 2;
    look[index] = shape * ALERT + 2 * (radius[index] as number) + 64 * (faded[index] as number);
  }
  return look;
}

/** Whether a point with this sprite key has the sign for being above its roof. */
export const hasAlert = (look: number) => (look & ALERT) !== 0;
