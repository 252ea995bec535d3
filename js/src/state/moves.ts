// What-ifs of single kernels, and the work that is typed for kernels without. A what-if can change the number of bytes
// and the time of a kernel.

import { computed, type ReadonlySignal, signal } from "@preact/signals";
import { moved } from "../roofline/kernel_moves.ts";
import type { Roof } from "../roofline/roofline.ts";
import type { MovedKernels } from "../text/moves.ts";
import type { Kernels } from "../wire/columns.ts";
import type { Move, Moves, TypedWork, Work } from "../wire/types.ts";
import { type Gesture, isEqual, type Sync } from "./sync.ts";

export function createMoves(sync: Sync, kernels: ReadonlySignal<Kernels>, focusRoof: ReadonlySignal<Roof | undefined>) {
  const { moves, typedWork } = sync.signals;
  const kernelDrag = signal<MovedKernels["dragged"]>(undefined);
  const movedNow = computed(() => {
    const roof = focusRoof.value;
    return roof && !isEqual(moves.value, {}) ? moved(kernels.value, moves.value, roof) : undefined;
  });
  /**
   * Replaces the what-ifs, because the rows now refer to other kernels. Drops the what-ifs of the old kernels, and the
   * undo entries of these what-ifs.
   */
  function restart(next: Moves, typed: TypedWork) {
    sync.replace({ moves: next, typedWork: typed });
    for (const name of ["moves", "typedWork"] as const) sync.reviseHistory(name, () => undefined);
  }
  function setMove(row: number, { bytes = 1, time = 1 }: Move, stream = true) {
    const move = { ...(bytes === 1 ? {} : { bytes }), ...(time === 1 ? {} : { time }) };
    const next = withMove(moves.value, row, move);
    if (!isEqual(next, moves.value)) sync.set({ moves: next }, { stream, series: "moves" });
  }
  return {
    /**
     * Handles new kernels from Python. If Python has changed the what-ifs too, the what-ifs in the model belong to the
     * new kernels. Otherwise, the what-ifs belong to the old kernels and are dropped.
     */
    reread() {
      const [received, typed] = [sync.received("moves"), sync.received("typedWork")];
      restart(
        kernelDrag.value || isEqual(received, moves.value) ? {} : received,
        isEqual(typed, typedWork.value) ? {} : typed,
      );
    },
    /** Drops the what-ifs, because the page now shows other kernels, for example after a merge. */
    clear() {
      const hadSome = !isEqual(moves.value, {});
      // The kernels of a graph have no typed work.
      restart({}, typedWork.value);
      if (hadSome) sync.queue({ moves: {} }, true);
    },
    state: {
      kernelDrag,
      moved: movedNow,
      movedKernels: computed((): MovedKernels | undefined => {
        const focus = focusRoof.value;
        if (!focus) return undefined;
        return { kernels: kernels.value, moves: moves.value, moved: movedNow.value, focus, dragged: kernelDrag.value };
      }),
    },
    actions: {
      setMove,
      dragKernel(row: number, byKeys: boolean): Gesture<Move> {
        const start = moves.value[row];
        const gesture = sync.startGesture<"moves", Move>({
          traits: ["moves"],
          move: (move) => setMove(row, move),
          merge: (fromPython) => withMove(fromPython, row, moves.value[row]),
          restore: () => ({ moves: withMove(moves.value, row, start) }),
          // Screen readers speak after each series of steps.
          isQuiet: byKeys,
          onEnd: () => {
            kernelDrag.value = undefined;
          },
        });
        kernelDrag.value = { row, byKeys };
        return gesture;
      },
      setTypedWork(row: number, work: Work) {
        const next = withWork(typedWork.value, row, work);
        if (!isEqual(next, typedWork.value)) sync.set({ typedWork: next });
      },
      resetMoves: (row?: number) => (row === undefined ? sync.set({ moves: {} }) : setMove(row, {}, false)),
    },
  };
}

function withWork(typed: TypedWork, row: number, work: Work): TypedWork {
  const { [row]: _, ...others } = typed;
  return isEqual(work, {}) ? others : { ...others, [row]: work };
}

/** Returns the what-ifs with a new what-if of one kernel. If `move` is empty, removes the what-if of this kernel. */
function withMove(moves: Moves, row: number, move: Move = {}): Moves {
  const { [row]: _, ...others } = moves;
  return isEqual(move, {}) ? others : { ...others, [row]: move };
}
