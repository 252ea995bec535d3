// The slice of the kernels: which are hovered and selected, the what-ifs of single kernels, and the work that is typed for
// kernels without.

import { batch, computed, type ReadonlySignal, signal } from "@preact/signals";
import { moved } from "../roofline/kernel_moves.ts";
import type { MovedKernels } from "../text/moves.ts";
import { isEqual } from "../ui/equal.ts";
import type { Kernels } from "../wire/columns.ts";
import type { Move, Moves, TypedWork, Work } from "../wire/types.ts";
import type { Derived } from "./derived.ts";
import type { Edits, Gesture, Receivers } from "./edits.ts";
import type { Locks } from "./locks.ts";

export function createRows(
  edits: Edits,
  kernels: ReadonlySignal<Kernels>,
  { focusRoof, isHidden, setOnly }: Pick<Derived, "focusRoof" | "isHidden" | "setOnly">,
  { guard }: Pick<Locks, "guard">,
) {
  const { selected, atRoof, hovered, moves, typedWork } = edits.signals;
  /** The hovered total, as a row of `drawn`. Not sent to Python, because Python knows only the rows of kernels. */
  const total = signal<number | null>(null);
  const pointed = computed(() => total.value ?? hovered.value);
  const kernelDrag = signal<MovedKernels["dragged"]>(undefined);
  const isKernel = (row: number) => row < kernels.value.n;
  const movedNow = computed(() => {
    const roof = focusRoof.value;
    return roof && !isEqual(moves.value, {}) ? moved(kernels.value, moves.value, roof) : undefined;
  });

  /** Replaces the what-ifs, because the rows now refer to other kernels. The undo entries of the old ones are dropped. */
  function restart(next: Moves, typed: TypedWork) {
    edits.replace({ moves: next, typedWork: typed });
    for (const name of ["moves", "typedWork"] as const) edits.reviseHistory(name, () => undefined);
  }
  /** Clears everything of single rows, because the page now shows other kernels, for example after a merge. */
  function clear() {
    edits.putNew({ selected: [], hovered: null, atRoof: [] });
    const hadSome = !isEqual(moves.value, {});
    // The kernels of a graph have no typed work.
    restart({}, typedWork.value);
    if (hadSome) edits.put({ moves: {} }, true);
  }
  /**
   * Handles new kernels from Python. If Python has changed the what-ifs too, the what-ifs in the model belong to the
   * new kernels. Otherwise, the what-ifs belong to the old kernels and are dropped.
   */
  function rereadMoves() {
    const [received, typed] = [edits.received("moves"), edits.received("typedWork")];
    restart(
      kernelDrag.value || isEqual(received, moves.value) ? {} : received,
      isEqual(typed, typedWork.value) ? {} : typed,
    );
  }
  /** Reads the hovered and selected rows from the model. Drops queued changes that refer to the old rows. */
  function reread() {
    const row = edits.received("hovered");
    edits.replace({
      selected: edits.received("selected").filter(isKernel),
      atRoof: edits.received("atRoof").filter(isKernel),
      hovered: row !== null && isKernel(row) ? row : null,
    });
    total.value = null;
  }
  function setMove(row: number, { bytes = 1, time = 1 }: Move, stream = true) {
    const move = { ...(bytes === 1 ? {} : { bytes }), ...(time === 1 ? {} : { time }) };
    const next = withRow(moves.value, row, move);
    if (!isEqual(next, moves.value)) edits.set({ moves: next }, { stream, series: "moves" });
  }
  reread();
  return {
    clear,
    rereadMoves,
    /** Applies a change from Python that replaces the kernels. After the change, the same row is another kernel. */
    forgetRows: (change: () => void) =>
      batch(() => {
        change();
        reread();
        rereadMoves();
      }),
    /** Applies a change made in the page that replaces the kernels. After the change, the same row is another kernel. */
    regroup(change: () => void) {
      batch(() => {
        clear();
        change();
      });
      edits.send({ later: true });
    },
    receivers: {
      selected(rows) {
        selected.value = rows.filter(isKernel);
      },
      atRoof(rows) {
        atRoof.value = rows.filter(isKernel);
      },
    } satisfies Receivers,
    slice: {
      pointed,
      described: computed(() => {
        const row = pointed.value ?? selected.value[0];
        return row === undefined || isHidden(row) ? undefined : row;
      }),
      hover(row: number | null) {
        const own = row !== null && isKernel(row) ? row : null;
        total.value = row === own ? null : row;
        if (own !== hovered.value) edits.set({ hovered: own }, { stream: true });
      },
      select: (rows: readonly number[]) => edits.set({ selected: rows.filter(isKernel) }),
      setAtRoof: edits.setter("atRoof"),
      kernelDrag,
      moved: movedNow,
      movedKernels: computed((): MovedKernels | undefined => {
        const focus = focusRoof.value;
        if (!focus) return undefined;
        return { kernels: kernels.value, moves: moves.value, moved: movedNow.value, focus, dragged: kernelDrag.value };
      }),
      ...guard("moves", {
        setMove,
        dragKernel(row: number, byKeys: boolean): Gesture<Move> {
          const start = moves.value[row];
          const gesture = edits.startGesture<"moves", Move>({
            traits: ["moves"],
            move: (move) => setMove(row, move),
            merge: (fromPython) => withRow(fromPython, row, moves.value[row]),
            restore: () => ({ moves: withRow(moves.value, row, start) }),
            // Screen readers speak after each series of steps.
            isQuiet: byKeys,
            onEnd() {
              kernelDrag.value = undefined;
            },
          });
          kernelDrag.value = { row, byKeys };
          return gesture;
        },
        setTypedWork(row: number, work: Work) {
          const next = withRow(typedWork.value, row, work);
          if (!isEqual(next, typedWork.value)) edits.set({ typedWork: next });
        },
        setRules: edits.setter("rules"),
        resetMoves: (row?: number) => (row === undefined ? edits.set({ moves: {} }) : setMove(row, {}, false)),
      }),
      ...guard("filters", { setOnly }),
    },
  };
}

/** Returns what is known of rows with a new value of one row. If the value is empty, removes the row. */
function withRow<T extends object>(values: Readonly<Record<number, T>>, row: number, value?: T) {
  const { [row]: _, ...others } = values;
  return value === undefined || isEqual(value, {}) ? others : { ...others, [row]: value };
}
