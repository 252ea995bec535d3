// What is written beside the pointer on the roof: what a drag would change, and during a drag the value.

import { type Signal, useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { placeIn } from "../ui/pointer_position.ts";
import { marksWords as words } from "../words/words.ts";
import type { Bubble, ChartDrag } from "./gestures/chart_drag.ts";
import { isPart, type RoofPart } from "./gestures/roof_drag.tsx";
import { clamp, type Size } from "./scales.ts";

/** How long the pointer rests on the roof before the words appear, ms. */
const HINT_MS = 400;
/** The distance of the words above the pointer, and their distance from the edges of the chart, px. */
const [ABOVE_PX, EDGE_PX] = [16, 64];

interface Hovered {
  readonly part: RoofPart;
  readonly x: number;
  readonly y: number;
}

/** Returns the part of the focus roof under the pointer or the last tap, and whether the pointer has rested on it. */
export function useRoofHover(width: number) {
  const hovered = useSignal<Hovered | undefined>(undefined);
  const isResting = useSignal(false);
  const latest = { width };
  return useMemo(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    return {
      hovered,
      isResting,
      hover(event: PointerEvent, isOver: boolean) {
        clearTimeout(timer);
        isResting.value = false;
        const { part } = (event.target as SVGElement).dataset;
        const chart = (event.target as Element).closest(".rw-chart");
        if (!isOver || !chart || !isPart(part) || event.pointerType === "touch" || event.buttons !== 0) {
          hovered.value = undefined;
          return;
        }
        const [x, y] = placeIn(chart, latest.width, event);
        hovered.value = { part, x, y };
        timer = setTimeout(() => {
          isResting.value = true;
        }, HINT_MS);
      },
      /** A tap shows what a resting mouse shows, until the next press. */
      tap(event: PointerEvent) {
        const { part } = (event.target as SVGElement).dataset;
        const chart = (event.target as Element).closest<HTMLElement>(".rw-chart");
        if (!chart || !isPart(part) || event.pointerType !== "touch") return;
        const [x, y] = placeIn(chart, latest.width, event);
        hovered.value = { part, x, y };
        isResting.value = true;
        const leave = () => {
          hovered.value = undefined;
        };
        chart.ownerDocument.addEventListener("pointerdown", leave, { once: true, capture: true });
      },
    };
  }, [width]);
}

interface RoofHintProps {
  readonly hover: { readonly hovered: Signal<Hovered | undefined>; readonly isResting: Signal<boolean> };
  readonly drag: ChartDrag | undefined;
  readonly size: Size;
  /** What a drag of each part changes. */
  readonly hints?: Readonly<Record<RoofPart, string>>;
}

export function RoofHint({ hover, drag, size, hints = words.dragHint }: RoofHintProps) {
  const { value: hovered } = hover.hovered;
  const bubble: Bubble | undefined =
    drag?.bubble?.value ??
    (drag || !hovered || !hover.isResting.value ? undefined : { ...hovered, text: hints[hovered.part] });
  if (!bubble) return null;
  const left = clamp(bubble.x, EDGE_PX, size.width - EDGE_PX);
  return (
    <div class="rw-bubble" style={{ gridTemplate: `${bubble.y - ABOVE_PX}px / ${left}px 0` }}>
      <span role="note">
        {bubble.text}
        {drag?.isFine?.value && <small>{words.fine}</small>}
      </span>
    </div>
  );
}
