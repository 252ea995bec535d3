// The kernels on their canvas: circles where memory binds, squares where compute does, diamonds elsewhere; only what changed is redrawn.

import { MEASURED, type Points, SIDES } from "../points.ts";
import type { Scales } from "../scales.ts";

export interface KernelsPicture {
  readonly points: Points;
  readonly at: { readonly x: Float32Array; readonly y: Float32Array };
  /** The colours points can have, and which of them each has. */
  readonly colours: readonly string[];
  readonly colour: Uint16Array;
  /** Points that are drawn as outlines: those at memory levels that do not bind. */
  readonly hollow: Uint8Array;
  readonly outline: string;
  readonly alert: string;
  readonly scales: Scales;
}

/** What is on the canvas: enough to tell which points look different in the next picture. */
interface Painted {
  readonly key: string;
  readonly n: number;
  readonly x: Float32Array;
  readonly y: Float32Array;
  readonly look: Uint32Array;
}

type Region = readonly [x: number, y: number];

/** When more points than this have changed all are drawn anew: it costs less. */
const MANY = 64;
/** How far the ring and the arrow of a point above its roof reach, px. */
const RING = 11;

/** A painter for one canvas: it remembers what it painted. */
export function createPainter(): (canvas: HTMLCanvasElement, picture: KernelsPicture) => void {
  let painted: Painted | undefined;
  const sprites = new Map<string, HTMLCanvasElement>();
  return (canvas, picture) => {
    const { points, at, scales } = picture;
    const ratio = canvas.ownerDocument.defaultView?.devicePixelRatio ?? 1;
    const [width, height] = [Math.round(scales.width * ratio), Math.round(scales.height * ratio)];
    const context = canvas.getContext("2d");
    if (!context) return;
    const radius = radiusOf(points);
    const key = [width, height, ratio, radius, picture.outline, picture.alert, ...picture.colours].join();
    const next = { key, n: points.n, x: at.x, y: at.y, look: looks(picture) };
    const changed = painted && painted.key === key && painted.n === points.n ? changes(painted, next) : undefined;
    if (changed?.length === 0) return;
    if (canvas.width !== width) canvas.width = width;
    if (canvas.height !== height) canvas.height = height;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const reach = radius + RING;
    const draw = (index: number) => stamp(context, spriteOf(index), at, index, ratio, radius);
    const spriteOf = (index: number) => {
      const colour = picture.colours[picture.colour[index] as number] ?? picture.outline;
      const name = `${next.look[index]} ${key}`;
      const known = sprites.get(name);
      if (known) return known;
      const sprite = makeSprite(canvas.ownerDocument, picture, index, colour, radius, ratio);
      sprites.set(name, sprite);
      return sprite;
    };
    if (painted && changed && changed.length <= MANY) {
      const before = painted;
      const regions = changed.flatMap((index): Region[] => [
        [before.x[index] as number, before.y[index] as number],
        [at.x[index] as number, at.y[index] as number],
      ]);
      context.save();
      context.beginPath();
      for (const [x, y] of regions) context.rect(x - reach, y - reach, 2 * reach, 2 * reach);
      context.clip();
      context.clearRect(0, 0, scales.width, scales.height);
      for (let index = 0; index < points.n; index++) {
        const [x, y] = [at.x[index] as number, at.y[index] as number];
        if (regions.some(([rx, ry]) => Math.abs(x - rx) < 2 * reach && Math.abs(y - ry) < 2 * reach)) draw(index);
      }
      context.restore();
    } else {
      if (painted?.key !== key) sprites.clear();
      context.clearRect(0, 0, scales.width, scales.height);
      for (let index = 0; index < points.n; index++) draw(index);
    }
    painted = next;
  };
}

export function radiusOf(points: Points): number {
  return points.n > 20_000 ? 2 : points.n > 2000 ? 2.5 : points.n > 200 ? 3.5 : 5;
}

export const isMeasured = (points: Points, index: number) => points.roof[index] === MEASURED;

/** One number for all that a point looks like, but for its place. */
function looks({ points, colour, hollow }: KernelsPicture): Uint32Array {
  const look = new Uint32Array(points.n);
  for (let index = 0; index < points.n; index++) {
    const signs = (hollow[index] as number) * 2 + (points.aboveRoof[index] as number);
    look[index] = (colour[index] as number) * 16 + (points.side[index] as number) * 4 + signs;
  }
  return look;
}

function changes(before: Painted, after: Painted): number[] {
  const found: number[] = [];
  for (let index = 0; index < after.n; index++) {
    const moved = before.x[index] !== after.x[index] || before.y[index] !== after.y[index];
    if (moved || before.look[index] !== after.look[index]) found.push(index);
  }
  return found;
}

/** Points of one look are copies of one small picture: drawing a path for each would cost ten times as much. */
function makeSprite(
  document: Document,
  { points, hollow, outline, alert }: KernelsPicture,
  index: number,
  colour: string,
  radius: number,
  ratio: number,
): HTMLCanvasElement {
  const half = Math.ceil((radius + RING) * ratio);
  const sprite = document.createElement("canvas");
  sprite.width = 2 * half;
  sprite.height = 2 * half;
  const context = sprite.getContext("2d");
  if (!context) return sprite;
  context.setTransform(ratio, 0, 0, ratio, half, half);
  context.beginPath();
  const side = radius * 0.88;
  if (points.side[index] === SIDES.compute) context.rect(-side, -side, 2 * side, 2 * side);
  else if (points.side[index] === SIDES.outside) {
    for (const [x, y] of [
      [0, -1.25 * radius],
      [1.25 * radius, 0],
      [0, 1.25 * radius],
      [-1.25 * radius, 0],
    ] as const) {
      context.lineTo(x, y);
    }
    context.closePath();
  } else context.arc(0, 0, radius, 0, 2 * Math.PI);
  context.fillStyle = hollow[index] ? outline : colour;
  context.fill();
  context.strokeStyle = hollow[index] ? colour : outline;
  context.lineWidth = hollow[index] ? 1.75 : 1;
  context.stroke();
  if (points.aboveRoof[index] && !hollow[index]) {
    context.beginPath();
    context.arc(0, 0, radius + 3, 0, 2 * Math.PI);
    context.moveTo(-4, -radius - 5);
    context.lineTo(0, -radius - 10);
    context.lineTo(4, -radius - 5);
    context.strokeStyle = alert;
    context.lineWidth = 1.5;
    context.stroke();
  }
  return sprite;
}

function stamp(
  context: CanvasRenderingContext2D,
  sprite: HTMLCanvasElement,
  at: KernelsPicture["at"],
  index: number,
  ratio: number,
  radius: number,
) {
  const half = Math.ceil((radius + RING) * ratio);
  // Whole device pixels: between two, the copy would be blurred.
  const left = (Math.round((at.x[index] as number) * ratio) - half) / ratio;
  const top = (Math.round((at.y[index] as number) * ratio) - half) / ratio;
  context.drawImage(sprite, left, top, sprite.width / ratio, sprite.height / ratio);
}
