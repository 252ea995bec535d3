// Grabbing the focus roof: its flat goes up and down, its slopes sideways, its ridge point both ways.

import { type Signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { ridgePoint } from "../../roofline/roofline.ts";
import type { RateKey } from "../../state/rates.ts";
import type { Store } from "../../state/store.ts";
import { px } from "../paths.ts";
import { joined, type Scales } from "../scales.ts";
import type { Scene } from "../scene.ts";

type Part = "peak" | "bandwidth" | "ridge";

export interface Grip {
  readonly part: Part;
  readonly level: string;
  /** The axes when it was taken: a hand that they follow would run away from itself. */
  readonly scales: Scales;
  /** From the pointer to the line, px. */
  readonly dx: number;
  readonly dy: number;
  /** FLOP/s and bytes/s when it was taken. */
  readonly peak: number;
  readonly bandwidth: number;
}

/** How near to the ends of the axes the roof may be brought, as a factor: beyond them it would be out of sight. */
const ROOM = 1.05;

export type Grab = ReturnType<typeof useGrab>;

/** What is held; its axes stay until it is let go. */
export const useGrip = () => useSignal<Grip | undefined>(undefined);

export function useGrab(store: Store, scene: Scene, grip: Signal<Grip | undefined>) {
  const { focus, scales } = scene;

  function set({ part, level }: Grip, peak: number, bandwidth: number) {
    store.setRates([
      ...(part === "bandwidth" ? [] : [{ quantity: "peak_flops", rate: peak } as const]),
      ...(part === "peak" ? [] : [{ quantity: "bandwidth", rate: bandwidth, level } as const]),
    ]);
  }
  function letGo() {
    if (!grip.value) return;
    grip.value = undefined;
    store.release();
  }
  // A chart that goes, as with another view, lets go.
  useEffect(() => letGo, []);
  return {
    isHeld: grip.value !== undefined,
    /** Whether what is pressed is a part of the roof, which the pointer then holds. */
    take(event: PointerEvent, x: number, y: number): boolean {
      const { part, level = "" } = (event.target as SVGElement).dataset;
      if (!focus || event.button !== 0 || !isPart(part)) return false;
      const { peak } = focus;
      const bandwidth = focus.levels.find(({ name }) => name === level)?.bandwidth ?? focus.bandwidth;
      const flat = scales.y(peak);
      const slope = scales.y(scales.x.invert(x) * bandwidth);
      const dx = part === "ridge" ? scales.x(peak / bandwidth) - x : 0;
      const dy = (part === "bandwidth" ? slope : flat) - y;
      grip.value = { part, level, scales, dx, dy, peak, bandwidth };
      (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
      const held: RateKey[] = [];
      if (part !== "bandwidth") held.push({ quantity: "peak_flops" });
      if (part !== "peak") held.push({ quantity: "bandwidth", level });
      store.holdRates(held);
      return true;
    },
    move(x: number, y: number) {
      const held = grip.value;
      if (held) set(held, ...ratesAt(held, x, y));
    },
    letGo,
    takeBack() {
      const held = grip.value;
      if (held) set(held, held.peak, held.bandwidth);
      letGo();
    },
  };
}

const isPart = (word: string | undefined): word is Part => word === "peak" || word === "bandwidth" || word === "ridge";

/** The rates of a roof that is held at a place, within the axes. */
export function ratesAt(
  { part, scales, dx, dy, peak, bandwidth }: Grip,
  x: number,
  y: number,
): [peak: number, bandwidth: number] {
  // Under a zoom a roof that is out of sight stays where it is.
  const [[low, high], [least, most]] = [reachOf(scales, "x"), reachOf(scales, "y")];
  const within = (value: number, least: number, most: number) => Math.max(least, Math.min(value, most));
  const rate = within(scales.y.invert(y + dy), least * ROOM, most / ROOM);
  const ridgeOf = (ridge: number) => within(ridge, low * ROOM, high / ROOM);
  if (part === "peak") return [asBefore(ridgeOf(rate / bandwidth) * bandwidth, peak), bandwidth];
  if (part === "bandwidth") {
    const slope = scales.y.invert(y + dy) / scales.x.invert(x);
    return [peak, asBefore(peak / ridgeOf(peak / slope), bandwidth)];
  }
  const flat = asBefore(rate, peak);
  return [flat, asBefore(flat / ridgeOf(scales.x.invert(x + dx)), bandwidth)];
}

/** What has not moved is not changed by what logarithms round off. */
const asBefore = (rate: number, before: number) => (Math.abs(rate / before - 1) < 1e-9 ? before : rate);

const reachOf = ({ whole, ...now }: Scales, axis: "x" | "y") => joined(now[axis].domain, whole?.[axis].domain);

/** What the pointer can take hold of: wide and clear, over all else. */
export function Grips({ focus, levels, scales }: Scene) {
  if (!focus) return null;
  const slopes = levels.length > 0 ? levels : [{ name: focus.level, bandwidth: focus.bandwidth }];
  const [low, high] = scales.x.domain;
  const ridge = ridgePoint(focus);
  const place = (ai: number, rate: number) => `${px(scales.x(ai))},${px(scales.y(rate))}`;
  const last = slopes.reduce((far, { bandwidth }) => Math.max(far, focus.peak / bandwidth), ridge);
  return (
    <g class="roofwidget-grips">
      {slopes.map(({ name, bandwidth }) => {
        // It begins where it enters the plot, from below or from the left.
        const start = Math.max(low, scales.y.domain[0] / bandwidth);
        const end = focus.peak / bandwidth;
        const d = `M${place(start, start * bandwidth)}L${place(end, focus.peak)}`;
        return start < end && <path key={name} data-part="bandwidth" data-level={name} d={d} />;
      })}
      {last < high && <path data-part="peak" d={`M${place(last, focus.peak)}L${place(high, focus.peak)}`} />}
      <circle data-part="ridge" data-level={focus.level} cx={scales.x(ridge)} cy={scales.y(focus.peak)} r={12} />
    </g>
  );
}
