// Carrying a kernel: by a hand that pulls it, a finger that rests on it first, or keys.

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { judge } from "../../roofline/bound.ts";
import { isTotal } from "../../roofline/totals.ts";
import { judgeOf } from "../../roofline/what_if_arithmetic.ts";
import type { Store } from "../../state/store.ts";
import { askable } from "../../text/what_if.ts";
import type { Shadow } from "../layers/moved_kernels.tsx";
import type { Scene } from "../scene.ts";
import { changedBy, type Factor, type Load, moveAt, moveBy } from "./kernel_target.ts";

/** px: a hand that shakes less has clicked, and one that has gone so far has told its direction. */
const [STILL, TOLD] = [4, 8];
/** A finger that rests this long picks up, ms; one that goes farther before, px, scrolls. */
const [LONG, SCROLLS] = [350, 10];
/** Factors of a key. */
const [STEP, LEAP] = [1.05, 1.25];

export type Carry = ReturnType<typeof useCarry>;

export function useCarry(store: Store, scene: Scene, shadows: readonly Shadow[]) {
  const load = useSignal<Load | undefined>(undefined);
  /** Runs while a finger rests. */
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  // The browser calls the end of a drag a click, too.
  const wasCarried = useRef(false);
  // A chart that goes lets go.
  useEffect(() => () => load.value && end(false), []);

  /** As it stands, or where it was carried to. */
  function take(index: number, from: readonly [x: number, y: number], shadow?: Shadow) {
    const { points, kernels, focus, scales } = scene;
    const row = points.row[index] as number;
    if (!focus || index < 0 || isTotal(kernels, row)) return;
    const { utilization } = judge(kernels, judgeOf(kernels, focus))(row);
    load.value = {
      ...{ row, from, start: (shadow && store.moves.value[row]) ?? {} },
      ...{ least: Math.min(utilization || 0, 1), can: askable(kernels, row, focus) },
      at: shadow?.to ?? [scene.at.x[index] as number, scene.at.y[index] as number],
      ...{ x: scales.x, y: (points.x[index] === 0 && scales.strip?.y) || scales.y },
    };
  }
  function rested() {
    clearTimeout(timer.current);
    timer.current = undefined;
  }
  function lift(byKeys: boolean) {
    rested();
    const held = load.value;
    if (!held?.can.bytes && !held?.can.time) {
      // What no key picks up is not in the hand that moves next.
      if (byKeys) load.value = undefined;
      return;
    }
    wasCarried.current = !byKeys;
    store.holdMove(held.row, byKeys);
  }
  function end(back: boolean) {
    rested();
    load.value = undefined;
    store.releaseMove(back);
  }
  const step = (changes: Factor, by: number) => () => {
    const held = load.value;
    if (held?.can[changes]) store.setMove(held.row, moveBy(held, store.moves.value[held.row] ?? {}, changes, by));
  };
  const right = scene.scales.x(2) > scene.scales.x(1) ? 1 / STEP : STEP;
  const steps: Record<string, () => void> = {
    ArrowRight: step("bytes", right),
    ArrowLeft: step("bytes", 1 / right),
    ArrowUp: step("time", 1 / STEP),
    ArrowDown: step("time", STEP),
    PageUp: step("time", 1 / LEAP),
    PageDown: step("time", LEAP),
    Enter: () => end(false),
    m: () => end(false),
    Escape: () => end(true),
  };
  /** The point whose what-if is pressed or pointed at, or -1. */
  function indexAt({ target }: Event): number {
    const { shadow } = (target as SVGElement).dataset;
    return shadow === undefined ? -1 : Number(shadow);
  }
  const shadowOf = (index: number) => shadows.find((one) => one.index === index);
  return {
    /** What keys do while one is carried, or to the point that is pointed at. */
    keys(index: number): { readonly only: boolean; readonly act: Readonly<Record<string, () => void>> } {
      const carried = store.kernelDrag.value;
      if (carried) return { only: true, act: carried.byKeys ? steps : { Escape: () => end(true) } };
      const row = scene.points.row[index];
      const reset = () => row !== undefined && store.moves.value[row] && store.resetMoves(row);
      const pick = () => {
        take(index, [0, 0], shadowOf(index));
        lift(true);
      };
      return { only: false, act: { m: pick, Delete: reset, Backspace: reset } };
    },
    indexAt,
    sign: (index: number) => (store.kernelDrag.value ? "held" : index >= 0 ? "can" : undefined),
    /** A point is pressed: the hand picks it up when it moves, a finger when it rests. */
    press(event: PointerEvent, index: number, x: number, y: number) {
      if (event.button !== 0) return;
      const handle = indexAt(event) >= 0 ? shadowOf(index) : undefined;
      take(index, [x, y], handle);
      if (event.pointerType === "touch" && !handle) timer.current = setTimeout(() => lift(false), LONG);
      else (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
    },
    /** Whether the pointer's way is that of what is carried. */
    follow(event: PointerEvent, x: number, y: number): boolean {
      if (event.type === "pointerdown") {
        end(false);
        wasCarried.current = false;
        return false;
      }
      const [held, carried] = [load.value, store.kernelDrag.value];
      if (!held || carried?.byKeys) return carried !== undefined;
      const far = Math.hypot(x - held.from[0], y - held.from[1]);
      if (!carried && timer.current !== undefined) {
        if (far > SCROLLS) end(false);
        return far <= SCROLLS;
      }
      if (!carried) {
        if (far > STILL) lift(false);
        return true;
      }
      const changes = held.changes ?? (far < TOLD ? undefined : changedBy(held, x, y));
      if (!changes) return true;
      load.value = { ...held, changes };
      store.setMove(held.row, moveAt({ ...held, changes }, x, y));
      return true;
    },
    letGo: () => end(false),
    takeBack: () => end(true),
    /** Whether the click that comes now is the end of a drag. */
    hasCarried(): boolean {
      const was = wasCarried.current;
      wasCarried.current = false;
      return was;
    },
    /** A finger that carries neither scrolls nor asks for a menu. */
    calm(event: Event) {
      if (store.kernelDrag.value && event.cancelable) event.preventDefault();
    },
  };
}
