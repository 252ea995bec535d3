// The what-ifs of kernels: other bytes, another time.

import { computed, type ReadonlySignal, signal } from "@preact/signals";
import type { Roof } from "../roofline/roofline.ts";
import { type Move, type Moves, moved } from "../roofline/what_if_arithmetic.ts";
import type { KernelWhatIfs } from "../text/what_if.ts";
import type { Kernels } from "../wire/columns.ts";
import { type Gesture, isEqual, type Sync } from "./sync.ts";

export function createKernelWhatIfs(
  sync: Sync,
  kernels: ReadonlySignal<Kernels>,
  focusRoof: ReadonlySignal<Roof | undefined>,
) {
  const { moves } = sync.signals;
  /** The kernel that is being dragged, by pointer or by keys. */
  const kernelDrag = signal<KernelWhatIfs["dragged"]>(undefined);
  const movedNow = computed(() => {
    const roof = focusRoof.value;
    return roof && !isEqual(moves.value, {}) ? moved(kernels.value, moves.value, roof) : undefined;
  });
  /** Rows are other kernels now: the what-ifs of the former rows, and their undo entries, are void. */
  function restart(next: Moves) {
    sync.replace({ moves: next });
    sync.reviseHistory("moves", () => undefined);
  }
  function setMove(row: number, { bytes = 1, time = 1 }: Move, stream = true) {
    const { [row]: _, ...others } = moves.value;
    const move = { ...(bytes === 1 ? {} : { bytes }), ...(time === 1 ? {} : { time }) };
    const next = isEqual(move, {}) ? others : { ...others, [row]: move };
    if (!isEqual(next, moves.value)) sync.set({ moves: next }, { stream });
  }
  return {
    /** Python has sent other kernels: the model's what-ifs are about them only if they are new. */
    reread() {
      const received = sync.received("moves");
      restart(kernelDrag.value || isEqual(received, moves.value) ? {} : received);
    },
    /** The page shows other kernels. */
    clear() {
      const hadSome = !isEqual(moves.value, {});
      restart({});
      if (hadSome) sync.queue({ moves: {} });
    },
    state: {
      kernelDrag,
      /** The kernels with their what-ifs applied; none without a roof. */
      moved: movedNow,
      /** What texts about what-ifs need; none without a roof. */
      kernelWhatIfs: computed((): KernelWhatIfs | undefined => {
        const focus = focusRoof.value;
        return (
          focus && {
            ...{ kernels: kernels.value, moves: moves.value, moved: movedNow.value },
            ...{ focus, dragged: kernelDrag.value },
          }
        );
      }),
    },
    actions: {
      setMove,
      dragKernel(row: number, byKeys: boolean): Gesture<Move> {
        const gesture = sync.startGesture<"moves", Move>({
          traits: ["moves"],
          move: (move) => setMove(row, move),
          // By keys each step is read aloud.
          isQuiet: byKeys,
          onEnd: () => {
            kernelDrag.value = undefined;
          },
        });
        kernelDrag.value = { row, byKeys };
        return gesture;
      },
      /** Take back the what-if of one kernel, or all of them. */
      resetMoves: (row?: number) => (row === undefined ? sync.set({ moves: {} }) : setMove(row, {}, false)),
    },
  };
}
