// Paints kernels on a canvas. Only the changed parts of the canvas are repainted.

import { MEASURED, type Points } from "../../roofline/points.ts";
import { MIN_RADIUS_PX } from "../../roofline/positions.ts";
import { memoize } from "../../ui/memoize.ts";
import { DENSE_FROM_POINTS, paintDenseRaster, type Region } from "./dense_raster.ts";
import { hasAlert, type PaintedFrame, type PointsPicture, spriteKeysOf } from "./frame_diff.ts";
import {
  cornersOf,
  FADED_OPACITY,
  outlineWidth,
  patternOf,
  patternWidth,
  RING_GAP_PX,
  SIGN_WIDTH_PX,
  shapeOf,
} from "./shapes.ts";

/** If more points than this have changed, it is faster to repaint everything. */
const MAX_CHANGES = 64;
const MAX_CHANGES_IN_DENSE_RASTER = 3000;
/** How far the ring of a point above its roof extends beyond the point, px. */
const ALERT_PX = RING_GAP_PX + SIGN_WIDTH_PX;
/**
 * The distance from a point's centre to the farthest painted pixel, px. For a point without a sign these pixels are the
 * corners of a star.
 */
const reachOf = (radius: number, hasAlert: boolean) => Math.max(1.3 * radius + 2, hasAlert ? radius + ALERT_PX : 0);

/** Creates a painter for one canvas. The painter remembers the frame that it painted last. */
export function createPainter(): (canvas: HTMLCanvasElement, picture: PointsPicture) => void {
  let frame: PaintedFrame | undefined;
  let zoom = 1;
  let measured: PointsPicture["scales"] | undefined;
  const sprites = new Map<number, HTMLCanvasElement>();
  return (canvas, picture) => {
    const { points, at, scales, faded, inMotion = false } = picture;
    // Reading the zoom forces the browser to compute styles. Another zoom comes with another size, so with other scales.
    if (!frame || !(inMotion || scales === measured)) {
      measured = scales;
      zoom = canvas.currentCSSZoom ?? 1;
    }
    const ratio = (canvas.ownerDocument.defaultView?.devicePixelRatio ?? 1) * zoom;
    const [width, height] = [Math.round(scales.width * ratio), Math.round(scales.height * ratio)];
    const context = canvas.getContext("2d");
    if (!context) return;
    const { outline, alert, opacity, isPatterned, colours, patterns } = picture;
    const key = [width, height, ratio, outline, alert, opacity, isPatterned, ...colours, ...patterns].join();
    const radius = sizes(points.radius, [radiusOf(points)], () => radiiOf(points));
    if (frame?.key !== key) sprites.clear();
    const before = frame?.key === key && frame.n === points.n ? frame : undefined;
    const { changes, ...looks } = spriteKeysOf(picture, radius, before);
    const next: PaintedFrame = { key, n: points.n, ...at, radius, ...looks };
    frame = next;
    if (changes?.indices.length === 0) return;
    if (canvas.width !== width) canvas.width = width;
    if (canvas.height !== height) canvas.height = height;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const draw = (index: number) => drawSprite(context, spriteOf(index), at, index, ratio);
    const drawAll = (isInSight: (index: number) => boolean) => {
      for (const turn of faded.includes(1) ? [1, 0] : [0]) {
        for (let index = 0; index < points.n; index++) if (faded[index] === turn && isInSight(index)) draw(index);
      }
    };
    const spriteOf = (index: number) => {
      const look = next.look[index] as number;
      const known = sprites.get(look);
      if (known) return known;
      const colour = picture.colours[picture.colour[index] as number] ?? picture.outline;
      const sprite = makeSprite(canvas.ownerDocument, picture, index, colour, radius[index] as number, ratio);
      sprites.set(look, sprite);
      return sprite;
    };
    const isDense = points.n > DENSE_FROM_POINTS;
    const most = isDense ? MAX_CHANGES_IN_DENSE_RASTER : MAX_CHANGES;
    const regionOf = ({ x, y, radius: radii }: PaintedFrame, index: number, look: number): Region => {
      const reach = reachOf(radii[index] as number, hasAlert(look)) + 1;
      return [x[index] as number, y[index] as number, reach];
    };
    const reachIn = (index: number) => regionOf(next, index, next.look[index] as number)[2];
    const regions =
      before && changes && changes.indices.length <= most
        ? changes.indices.flatMap((index, of) => [
            regionOf(before, index, changes.looks[of] as number),
            regionOf(next, index, next.look[index] as number),
          ])
        : undefined;
    if (isDense) {
      const isStill = before?.x === next.x && before.y === next.y && before.base === next.base;
      const dense = { ...picture, radius, look: next.look, ratio, spriteOf };
      paintDenseRaster(context, dense, isStill ? regions : undefined);
    } else if (regions) {
      context.save();
      context.beginPath();
      // Returns a position rounded to device pixels, px. A pixel that is only partly cleared would show a trace of the
      // old point.
      const whole = (place: number) => Math.round(place * ratio) / ratio;
      for (const [x, y, reach] of regions) {
        const [left, top] = [whole(x - reach), whole(y - reach)];
        context.rect(left, top, whole(x + reach) - left, whole(y + reach) - top);
      }
      context.clip();
      context.clearRect(0, 0, scales.width, scales.height);
      const flat = regions.flat();
      drawAll((index) => {
        const own = reachIn(index);
        const x = at.x[index] as number;
        const y = at.y[index] as number;
        for (let of = 0; of < flat.length; of += 3) {
          const reach = own + (flat[of + 2] as number);
          if (Math.abs(x - (flat[of] as number)) < reach && Math.abs(y - (flat[of + 1] as number)) < reach) return true;
        }
        return false;
      });
      context.restore();
    } else {
      context.clearRect(0, 0, scales.width, scales.height);
      drawAll(() => true);
    }
  };
}

/**
 * Returns the radius of all points, px, if the size of a point has no meaning. The more points there are, the smaller
 * the radius is.
 */
export function radiusOf(points: Points): number {
  return points.n > 20_000 ? 2 : points.n > 2000 ? 2.5 : points.n > 200 ? 3.5 : 4.5;
}

/** The radius of a point, px. */
export function radiusAt(points: Points, index: number): number {
  const [own, plain] = [points.radius[index] as number, radiusOf(points)];
  return own > MIN_RADIUS_PX ? own : Math.min(plain, own || plain);
}

export const isMeasured = (points: Points, index: number) => points.roof[index] === MEASURED;

// Memoized: while a roof is dragged, the radii of measured points do not change.
const sizes = memoize<Float32Array>();

function radiiOf(points: Points): Float32Array {
  const radii = new Float32Array(points.n);
  for (let index = 0; index < radii.length; index++) radii[index] = radiusAt(points, index);
  return radii;
}

/**
 * Paints a sprite: a small canvas for one look. The sprite is copied for each point, because drawing paths takes ten
 * times as long.
 */
function makeSprite(
  document: Document,
  { points, colour: colourIndex, patterns, isPatterned, opacity, hollow, faded, outline, alert }: PointsPicture,
  index: number,
  colour: string,
  radius: number,
  ratio: number,
): HTMLCanvasElement {
  const isAbove = points.aboveRoof[index] === 1;
  // The sprite is as small as possible, because empty margins would be copied too.
  const half = Math.ceil(reachOf(radius, isAbove) * ratio);
  const sprite = document.createElement("canvas");
  sprite.width = 2 * half;
  sprite.height = 2 * half;
  const context = sprite.getContext("2d");
  if (!context) return sprite;
  context.setTransform(ratio, 0, 0, ratio, half, half);
  context.globalAlpha = faded[index] ? FADED_OPACITY : opacity;
  context.beginPath();
  const corners = cornersOf(shapeOf(points.side[index] as number, isPatterned), radius);
  for (const [x, y] of corners) context.lineTo(x, y);
  if (corners.length > 0) context.closePath();
  else context.arc(0, 0, radius, 0, 2 * Math.PI);
  context.fillStyle = hollow[index] ? outline : colour;
  context.fill();
  context.strokeStyle = hollow[index] ? colour : outline;
  context.lineWidth = outlineWidth(hollow[index] !== 0);
  context.stroke();
  const pattern = patternOf(patterns[colourIndex[index] as number] ?? 0, radius);
  if (pattern.length > 0) {
    context.beginPath();
    for (const [from, to] of pattern) {
      context.moveTo(...from);
      context.lineTo(...to);
    }
    context.lineWidth = patternWidth(radius);
    context.stroke();
  }
  if (isAbove && hollow[index] !== 1) {
    context.beginPath();
    context.arc(0, 0, radius + RING_GAP_PX, 0, 2 * Math.PI);
    context.strokeStyle = alert;
    context.lineWidth = SIGN_WIDTH_PX;
    context.stroke();
  }
  return sprite;
}

function drawSprite(
  context: CanvasRenderingContext2D,
  sprite: HTMLCanvasElement,
  at: PointsPicture["at"],
  index: number,
  ratio: number,
) {
  const half = sprite.width / 2;
  // The position is rounded to device pixels. Otherwise the copy of the sprite would be blurred.
  const left = (Math.round((at.x[index] as number) * ratio) - half) / ratio;
  const top = (Math.round((at.y[index] as number) * ratio) - half) / ratio;
  context.drawImage(sprite, left, top, sprite.width / ratio, sprite.height / ratio);
}
