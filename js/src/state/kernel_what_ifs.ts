// The what-ifs of kernels that are carried elsewhere; one that is held is not moved by what Python says.

import { computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import type { Roof } from "../roofline/roofline.ts";
import { type Move, type Moves, moved } from "../roofline/what_if_arithmetic.ts";
import type { KernelWhatIfs } from "../text/what_if.ts";
import type { Kernels } from "../wire/columns.ts";
import { isEqual } from "./entries.ts";
import type { History } from "./history.ts";
import type { Outbox } from "./outbox.ts";

interface Parts {
  /** Whether a control is being dragged. */
  readonly dragging: Signal<boolean>;
  readonly outbox: Outbox;
  readonly history: History;
  readonly kernels: ReadonlySignal<Kernels>;
  focusRoof(): Roof | undefined;
  /** What the model holds. */
  told(): Moves;
}

/** A kernel that is carried, by a hand or by keys, and what was asked of it before. */
interface Carried {
  readonly row: number;
  readonly before: Move | undefined;
  readonly byKeys: boolean;
}

export function createMoves({ dragging, outbox, history, kernels, focusRoof, told }: Parts) {
  const moves = signal<Moves>({});
  const kernelDrag = signal<Carried | undefined>(undefined);
  let isFirst = true;
  /** Whether something was asked since a kernel was taken. */
  let isAsked = false;

  const mine = history.add({
    here: () => moves.value,
    isSame: isEqual,
    restore: (entry: Moves) => {
      moves.value = entry;
      outbox.put("moves", entry);
    },
  });
  function letGo() {
    kernelDrag.value = undefined;
    dragging.value = false;
    history.release();
  }
  /** Rows are others now: what was asked of those before, and could be taken back, means nothing. */
  function begin(next: Moves) {
    outbox.drop("moves");
    if (kernelDrag.value) letGo();
    moves.value = next;
    mine.revise(() => undefined);
  }
  function setMove(row: number, { bytes = 1, time = 1 }: Move, stream = true) {
    const { [row]: _, ...others } = moves.value;
    const move = { ...(bytes === 1 ? {} : { bytes }), ...(time === 1 ? {} : { time }) };
    const next = isEqual(move, {}) ? others : { ...others, [row]: move };
    if (isEqual(next, moves.value)) return;
    isAsked = true;
    history.change(() => {
      moves.value = next;
    });
    outbox.tell("moves", next, { stream });
  }
  function take(wire: Moves) {
    if (kernelDrag.value) return;
    const change = () => {
      moves.value = wire;
    };
    // What a model starts with is no change, and what was told from here comes back.
    if (isFirst) change();
    else if (!isEqual(wire, moves.value)) history.change(change);
    isFirst = false;
  }
  const movedNow = computed(() => {
    const roof = focusRoof();
    return roof && !isEqual(moves.value, {}) ? moved(kernels.value, moves.value, roof) : undefined;
  });
  return {
    take,
    /** Python has other kernels: what the model holds is of these only if it is new. */
    reread() {
      const now = told();
      begin(kernelDrag.value || isEqual(now, moves.value) ? {} : now);
    },
    /** Other kernels are made here. */
    clear() {
      const some = !isEqual(moves.value, {});
      begin({});
      if (some) outbox.put("moves", {});
    },
    state: {
      moves,
      kernelDrag,
      /** The kernels that are moved, as they would be; none without a roof. */
      moved: movedNow,
      /** All that is said of what-ifs is made of; none without a roof. */
      kernelWhatIfs: computed((): KernelWhatIfs | undefined => {
        const focus = focusRoof();
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
      holdMove(row: number, byKeys: boolean) {
        kernelDrag.value = { row, before: moves.value[row], byKeys };
        isAsked = false;
        // What is said of it by keys is spoken with each of them.
        dragging.value = !byKeys;
        history.hold();
      },
      /** `back`: as it was when it was taken. */
      releaseMove(back: boolean) {
        const last = kernelDrag.value;
        if (!last) return;
        if (back) setMove(last.row, last.before ?? {});
        letGo();
        // What Python said meanwhile counts where nothing was asked here.
        if (!isAsked) return take(told());
        if (!isEqual(told(), moves.value)) outbox.put("moves", moves.value);
        outbox.send();
      },
      /** Take back what was asked of one kernel, or of all. */
      resetMoves(row?: number) {
        if (row !== undefined) return setMove(row, {}, false);
        history.change(() => {
          moves.value = {};
        });
        outbox.tell("moves", {});
      },
    },
  };
}
