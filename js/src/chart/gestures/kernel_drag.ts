// Drags a kernel to another place: by mouse, by touch after a long press, or by keys. The drag creates a what-if of the
// kernel.

import { useRef } from "preact/hooks";
import { judge } from "../../roofline/bound.ts";
import { judgeOf } from "../../roofline/kernel_moves.ts";
import { isTotal } from "../../roofline/totals.ts";
import type { Gesture } from "../../state/edits.ts";
import type { Store } from "../../state/store.ts";
import { possibleWhatIfs } from "../../text/moves.ts";
import { lookUp } from "../../ui/keys.ts";
import type { Move } from "../../wire/types.ts";
import type { Ghost } from "../layers/moved_kernels.tsx";
import type { Spot } from "../paths.ts";
import { spotAt } from "../scales.ts";
import type { Scene } from "../scene.ts";
import { type ChartDrag, type ChartGesture, CLICK_PX } from "./chart_drag.ts";
import { changedBy, type Factor, type KernelTarget, moveAt, moveBy } from "./kernel_target.ts";

/**
 * When a drag is this long, px, its direction is fixed. From then on the drag changes only the kernel's bytes
 * (sideways) or only the kernel's time (up or down).
 */
const DIRECTION_PX = 8;
/**
 * A touch that rests this long, ms, picks up the kernel. A touch that first moves farther than SCROLL_PX scrolls the
 * page.
 */
const [LONG_PRESS_MS, SCROLL_PX] = [350, 10];
/** The factors by which one key press changes the what-if. */
const [STEP, LARGE_STEP] = [1.05, 1.25];

/** The keys that act on the kernel under the pointer. */
export const KERNEL_KEYS = { m: "pickUp", Delete: "reset", Backspace: "reset" } as const;
/** The keys that act on a kernel while it is picked up. */
export const KERNEL_DRAG_KEYS = {
  ArrowRight: "right",
  ArrowLeft: "left",
  ArrowUp: "up",
  ArrowDown: "down",
  PageUp: "pageUp",
  PageDown: "pageDown",
  Enter: "end",
  m: "end",
  Escape: "cancel",
} as const;

export type KernelDrag = ReturnType<typeof useKernelDrag>;

export function useKernelDrag(store: Store, scene: Scene, ghosts: readonly Ghost[], gesture: ChartGesture) {
  const pickedUp = useRef<{ readonly target: KernelTarget; readonly moves: Gesture<Move> }>(undefined);

  /**
   * Returns the target of a drag that starts at `from`. If `ghost` is given, the drag starts at the mark of the
   * kernel's what-if. Otherwise, the drag starts at the kernel's own point.
   */
  function targetOf(index: number, from: Spot, ghost?: Ghost): KernelTarget | undefined {
    const { points, kernels, focus, scales } = scene;
    const row = points.row[index] as number;
    if (!focus || index < 0 || isTotal(kernels, row) || store.lesson.isLocked("moves")) return undefined;
    const { utilization } = judge(kernels, judgeOf(kernels, focus))(row);
    return {
      row,
      from,
      start: (ghost && store.rows.moves.value[row]) ?? {},
      leastTime: Math.min(utilization || 0, 1),
      can: possibleWhatIfs(kernels, row, focus),
      at: ghost?.to ?? spotAt(scene.at, index),
      x: scales.x,
      y: (points.x[index] === 0 && scales.strip?.y) || scales.y,
    };
  }
  const canMove = ({ can }: KernelTarget) => can.bytes || can.time;
  const isVoid = () => store.rows.kernelDrag.value === undefined;

  function pointerDrag(target: KernelTarget, isLongPress: boolean): ChartDrag {
    let moves: Gesture<Move> | undefined;
    let changes: Factor | undefined;
    let timer = isLongPress ? setTimeout(pickUp, LONG_PRESS_MS) : undefined;
    function pickUp() {
      timer = undefined;
      if (canMove(target)) moves = store.rows.dragKernel(target.row, false);
    }
    return {
      kind: "kernel",
      hasMoved: () => moves !== undefined,
      isVoid: () => moves !== undefined && isVoid(),
      move(x, y) {
        const distance = Math.hypot(x - target.from[0], y - target.from[1]);
        if (timer !== undefined) {
          if (distance > SCROLL_PX) gesture.end();
        } else if (!moves) {
          if (distance > CLICK_PX) pickUp();
        } else {
          changes ??= distance < DIRECTION_PX ? undefined : changedBy(target, x, y);
          if (changes) moves.move(moveAt(target, changes, x, y));
        }
      },
      end() {
        clearTimeout(timer);
        moves?.end();
      },
      cancel() {
        clearTimeout(timer);
        moves?.cancel();
      },
    };
  }
  function pickUpByKeys(index: number) {
    const target = targetOf(index, [0, 0], ghostOf(index));
    if (!target || !canMove(target)) return;
    const moves = store.rows.dragKernel(target.row, true);
    pickedUp.current = { target, moves };
    gesture.start({ kind: "kernel", hasMoved: () => false, isVoid, end: moves.end, cancel: moves.cancel });
  }
  const step = (changes: Factor, by: number) => () => {
    const { target, moves } = pickedUp.current ?? {};
    if (target?.can[changes]) moves?.move(moveBy(target, store.rows.moves.value[target.row] ?? {}, changes, by));
  };
  const right = scene.scales.x(2) > scene.scales.x(1) ? 1 / STEP : STEP;
  const dragActs = {
    right: step("bytes", right),
    left: step("bytes", 1 / right),
    up: step("time", 1 / STEP),
    down: step("time", STEP),
    pageUp: step("time", 1 / LARGE_STEP),
    pageDown: step("time", LARGE_STEP),
    end: () => gesture.end(),
    cancel: gesture.cancel,
  };
  /** Returns the index of the point whose what-if mark is under the pointer, or -1. */
  function indexAt({ target }: Event): number {
    const { ghost } = (target as SVGElement).dataset;
    return ghost === undefined ? -1 : Number(ghost);
  }
  const ghostOf = (index: number) => ghosts.find((one) => one.index === index);
  return {
    indexAt,
    /** Returns the actions of KERNEL_KEYS for the kernel under the pointer. `index` is the kernel's point. */
    acts(index: number) {
      const row = scene.points.row[index];
      return {
        pickUp: () => pickUpByKeys(index),
        reset: () => row !== undefined && store.rows.moves.value[row] && store.rows.resetMoves(row),
      };
    },
    /** Returns the action of a key while a kernel is dragged. During a drag by pointer only Escape has an action. */
    dragAct(key: string): (() => void) | undefined {
      if (!store.rows.kernelDrag.value?.byKeys) return key === "Escape" ? gesture.cancel : undefined;
      const name = lookUp(KERNEL_DRAG_KEYS, key);
      return name && dragActs[name];
    },
    cursor: (index: number) =>
      store.rows.kernelDrag.value ? "dragged" : index >= 0 && !store.lesson.isLocked("moves") ? "draggable" : undefined,
    /**
     * Handles a press on a point. A mouse picks up the kernel when the mouse moves. A touch picks up the kernel when
     * the finger rests.
     */
    press(event: PointerEvent, index: number, x: number, y: number) {
      if (event.button !== 0) return;
      const ghost = indexAt(event) >= 0 ? ghostOf(index) : undefined;
      const target = targetOf(index, [x, y], ghost);
      const isLongPress = event.pointerType === "touch" && !ghost;
      if (target) gesture.start(pointerDrag(target, isLongPress), isLongPress ? undefined : event);
    },
    /** While a touch drags a kernel, the touch must not scroll the page or open a menu. */
    preventScroll(event: Event) {
      if (store.rows.kernelDrag.value && event.cancelable) event.preventDefault();
    },
  };
}
