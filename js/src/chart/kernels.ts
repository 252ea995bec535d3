// The kernels on their canvas: circles where memory binds, squares where compute does.

import { MEASURED, type Points } from "../points.ts";
import type { Scales } from "../scales.ts";

export interface KernelsPicture {
  readonly points: Points;
  readonly at: { readonly x: Float32Array; readonly y: Float32Array };
  /** The colour of each point. */
  readonly colour: (index: number) => string;
  /** The focus chip's colour: its points lie on top where roofs coincide. */
  readonly onTop: string | undefined;
  readonly outline: string;
  readonly alert: string;
  readonly scales: Scales;
}

export function paintKernels(canvas: HTMLCanvasElement, picture: KernelsPicture): void {
  const { points, at, scales } = picture;
  const ratio = canvas.ownerDocument.defaultView?.devicePixelRatio ?? 1;
  const [width, height] = [Math.round(scales.width * ratio), Math.round(scales.height * ratio)];
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
  const context = canvas.getContext("2d");
  if (!context) return;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, scales.width, scales.height);
  const radius = radiusOf(points);
  context.strokeStyle = picture.outline;
  context.lineWidth = 1;
  // One path a colour: a fill for each point would cost more than all the rest.
  for (const [colour, indices] of byColour(picture)) {
    context.beginPath();
    for (const index of indices) trace(context, picture, index, radius);
    context.fillStyle = colour;
    context.fill();
    if (points.n <= 5000) context.stroke();
  }
  context.strokeStyle = picture.alert;
  context.lineWidth = 1.5;
  context.beginPath();
  for (let index = 0; index < points.n; index++) {
    if (!points.aboveRoof[index]) continue;
    const [x, y] = [at.x[index] as number, at.y[index] as number];
    context.moveTo(x + radius + 3, y);
    context.arc(x, y, radius + 3, 0, 2 * Math.PI);
    context.moveTo(x - 4, y - radius - 5);
    context.lineTo(x, y - radius - 10);
    context.lineTo(x + 4, y - radius - 5);
  }
  context.stroke();
}

export function radiusOf(points: Points): number {
  return points.n > 20_000 ? 2 : points.n > 2000 ? 2.5 : points.n > 200 ? 3.5 : 5;
}

function byColour({ points, colour, onTop }: KernelsPicture): [colour: string, indices: number[]][] {
  const groups = new Map<string, number[]>();
  for (let index = 0; index < points.n; index++) {
    const key = colour(index);
    const group = groups.get(key);
    if (group) group.push(index);
    else groups.set(key, [index]);
  }
  return [...groups].sort(([a], [b]) => Number(a === onTop) - Number(b === onTop));
}

function trace(context: CanvasRenderingContext2D, { points, at }: KernelsPicture, index: number, radius: number) {
  const [x, y] = [at.x[index] as number, at.y[index] as number];
  if (points.computeBound[index]) {
    const half = radius * 0.88;
    context.rect(x - half, y - half, 2 * half, 2 * half);
  } else {
    context.moveTo(x + radius, y);
    context.arc(x, y, radius, 0, 2 * Math.PI);
  }
}

export const isMeasured = (points: Points, index: number) => points.roof[index] === MEASURED;
