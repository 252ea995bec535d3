// Drags the focus roof. The flat moves up and down. The slopes move sideways. The ridge point moves in both directions.

import { ridgePoint } from "../../roofline/roofline.ts";
import type { RateKey } from "../../state/rates.ts";
import type { Store } from "../../state/store.ts";
import { placeOf } from "../paths.ts";
import { clamp, joined, type Scales } from "../scales.ts";
import type { Scene } from "../scene.ts";
import type { ChartGesture } from "./chart_drag.ts";

type RoofPart = "peak" | "bandwidth" | "ridge";

/** The roof at the start of a drag. */
export interface RoofDragStart {
  readonly part: RoofPart;
  readonly scales: Scales;
  /** The horizontal and vertical distances from the pointer to the roof's line at the start of the drag, px. */
  readonly dx: number;
  readonly dy: number;
  /** FLOP/s and bytes/s. */
  readonly peak: number;
  readonly bandwidth: number;
}

/**
 * The ridge point of a dragged roof keeps a distance of this factor from the ends of an axis. For example, if the
 * horizontal axis goes from 1 to 1000, the ridge point stays between 1.05 and 952. Beyond the ends the roof would be
 * out of sight.
 */
const AXIS_MARGIN = 1.05;

/** Starts a drag if the press is on a part of the roof. Returns whether the drag has started. */
export function startRoofDrag(
  { store, scene, gesture }: { readonly store: Store; readonly scene: Scene; readonly gesture: ChartGesture },
  event: PointerEvent,
  x: number,
  y: number,
): boolean {
  const { focus, scales } = scene;
  const { part, level = "" } = (event.target as SVGElement).dataset;
  if (!focus || event.button !== 0 || !isPart(part)) return false;
  const { peak } = focus;
  const bandwidth = focus.levels.find(({ name }) => name === level)?.bandwidth ?? focus.bandwidth;
  const flat = scales.y(peak);
  const slope = scales.y(scales.x.invert(x) * bandwidth);
  const dx = part === "ridge" ? scales.x(peak / bandwidth) - x : 0;
  const dy = (part === "bandwidth" ? slope : flat) - y;
  const start: RoofDragStart = { part, scales, dx, dy, peak, bandwidth };
  const keys: RateKey[] = [];
  if (part !== "bandwidth") keys.push({ quantity: "peak_flops" });
  if (part !== "peak") keys.push({ quantity: "bandwidth", level });
  const rates = store.dragRates(...keys);
  const move = (x: number, y: number) => {
    const [peak, bandwidth] = ratesAt(start, x, y);
    rates.move(keys.map(({ quantity }) => (quantity === "bandwidth" ? bandwidth : peak)));
  };
  // A press on the roof never clicks what is under the roof, even if the pointer does not move.
  gesture.start({ kind: "roof", axes: scales, hasMoved: () => true, ...rates, move }, event);
  return true;
}

const isPart = (text: string | undefined): text is RoofPart =>
  text === "peak" || text === "bandwidth" || text === "ridge";

/** Returns the rates of a roof that is dragged to (`x`, `y`), limited to the axes. */
export function ratesAt(
  { part, scales, dx, dy, peak, bandwidth }: RoofDragStart,
  x: number,
  y: number,
): [peak: number, bandwidth: number] {
  // Under a zoom, the limits also contain the unzoomed axes. Otherwise a roof that is out of sight would jump into the
  // zoomed part.
  const [[low, high], [least, most]] = [reachOf(scales, "x"), reachOf(scales, "y")];
  const rate = clamp(scales.y.invert(y + dy), least * AXIS_MARGIN, most / AXIS_MARGIN);
  const ridgeOf = (ridge: number) => clamp(ridge, low * AXIS_MARGIN, high / AXIS_MARGIN);
  if (part === "peak") return [asBefore(ridgeOf(rate / bandwidth) * bandwidth, peak), bandwidth];
  if (part === "bandwidth") {
    const slope = scales.y.invert(y + dy) / scales.x.invert(x);
    return [peak, asBefore(peak / ridgeOf(peak / slope), bandwidth)];
  }
  const flat = asBefore(rate, peak);
  return [flat, asBefore(flat / ridgeOf(scales.x.invert(x + dx)), bandwidth)];
}

/** Ignores rounding errors: the logarithm and its inverse do not return exactly the same rate. */
const asBefore = (rate: number, before: number) => (Math.abs(rate / before - 1) < 1e-9 ? before : rate);

const reachOf = ({ whole, ...now }: Scales, axis: "x" | "y") => joined(now[axis].domain, whole?.[axis].domain);

/** The parts of the roof that can be pressed: wide, invisible, and above all other marks. */
export function RoofHandles({ focus, levels, scales }: Scene) {
  if (!focus) return null;
  const slopes = levels.length > 0 ? levels : [{ name: focus.level, bandwidth: focus.bandwidth }];
  const [low, high] = scales.x.domain;
  const ridge = ridgePoint(focus);
  const last = slopes.reduce((far, { bandwidth }) => Math.max(far, focus.peak / bandwidth), ridge);
  return (
    <g class="roofwidget-handles">
      {slopes.map(({ name, bandwidth }) => {
        // The slope starts at the bottom or at the left edge of the plot.
        const start = Math.max(low, scales.y.domain[0] / bandwidth);
        const end = focus.peak / bandwidth;
        const d = `M${placeOf(scales, start, start * bandwidth)}L${placeOf(scales, end, focus.peak)}`;
        return start < end && <path key={name} data-part="bandwidth" data-level={name} d={d} />;
      })}
      {last < high && (
        <path data-part="peak" d={`M${placeOf(scales, last, focus.peak)}L${placeOf(scales, high, focus.peak)}`} />
      )}
      <circle data-part="ridge" data-level={focus.level} cx={scales.x(ridge)} cy={scales.y(focus.peak)} r={12} />
    </g>
  );
}
