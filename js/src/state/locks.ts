// What a lesson locks: the learner cannot change it in the page. Undo, the steps of a story and Python still can.

import type { ReadonlySignal } from "@preact/signals";
import type { Quantity } from "../wire/types.ts";
import { strings } from "../words/words.ts";
import type { Gesture } from "./edits.ts";

/**
 * What can be locked. "phase" also locks the counting convention and the dtype. "view" also locks zoom, axes and the
 * topology. "memory" also locks the link.
 */
export type Lock =
  | "peak_flops"
  | "bandwidth"
  | "chips"
  | "precision"
  | "memory"
  | "partition"
  | "dims"
  | "phase"
  | "moves"
  | "filters"
  | "view";

/** The latency of a link is locked together with bandwidths. */
export const lockOf = (quantity: Quantity): Lock => (quantity === "latency" ? "bandwidth" : quantity);

type Actions = Readonly<Record<string, (...given: never[]) => unknown>>;

export type Locks = ReturnType<typeof createLocks>;

/** The drag of a locked value. */
const IDLE: Gesture<unknown> = { move() {}, end() {}, cancel() {} };

export function createLocks(locks: ReadonlySignal<readonly string[]>) {
  const isLocked = (lock: Lock) => locks.value.includes(lock);
  /** Returns the drag, which stops to move if the value is locked during the drag. */
  const stoppable = (lock: Lock, drag: Gesture<unknown>): Gesture<unknown> => ({
    ...drag,
    move: (value) => isLocked(lock) || drag.move(value),
  });
  function guarded(lock: Lock, act: Actions[string]) {
    return (...given: never[]) => {
      if (isLocked(lock)) return IDLE;
      const result = act(...given) as Gesture<unknown> | undefined;
      return result?.move ? stoppable(lock, result) : result;
    };
  }
  return {
    isLocked,
    lockNote: (lock: Lock) => (isLocked(lock) ? strings.locked : undefined),
    /** Returns the actions, which do nothing while the value that they change is locked. */
    guard: <T extends Actions>(lock: Lock, actions: T): T =>
      Object.fromEntries(Object.entries(actions).map(([name, act]) => [name, guarded(lock, act)])) as unknown as T,
  };
}
