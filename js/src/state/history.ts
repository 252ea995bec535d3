// Undo and redo: one stack per model, shared by all parts of the state. A drag is one entry.

import { computed, type Signal, signal } from "@preact/signals";

/** One part of the state that can be undone. */
interface Undoable<E> {
  readonly name: string;
  /** Returns the present value; undefined if there is no value to remember. */
  readonly here: () => E | undefined;
  readonly isSame: (one: E, other: E) => boolean;
  readonly restore: (entry: E) => void;
  /**
   * Applies to an entry a change that the user of this page did not make, such as a change made in another page. By
   * default, an entry equal to `before` becomes `after`.
   */
  readonly rebase?: (entry: E, before: E, after: E) => E;
}

/** The functions of the history for one part of the state. */
export interface HistoryPart<E> {
  /**
   * Returns the value after the next undo (if `isBack` is true) or redo. Returns undefined if there is no next undo or
   * redo.
   */
  readonly next: (isBack: boolean) => E | undefined;
  /**
   * Changes the value of the part in every entry. If the value becomes undefined, the entry does not restore the part.
   * Entries that would change nothing are removed.
   */
  readonly revise: (revised: (entry: E) => E | undefined) => void;
}

type HistoryEntry = readonly unknown[];

export type History = ReturnType<typeof createHistory>;

export function createHistory() {
  const parts: Undoable<unknown>[] = [];
  const past = signal<readonly HistoryEntry[]>([]);
  const future = signal<readonly HistoryEntry[]>([]);
  let dragStart: HistoryEntry | undefined;
  /** The merge key of the last entry. If the next change has the same merge key, the change extends the last entry. */
  let lastKey: string | undefined;
  let isAbsorbing = false;

  const here = (): HistoryEntry => parts.map((part) => part.here());
  const isKept = (part: Undoable<unknown>, one: unknown, other: unknown) =>
    one === undefined || other === undefined || part.isSame(one, other);
  const isSame = (one: HistoryEntry, other: HistoryEntry) =>
    parts.every((part, at) => isKept(part, one[at], other[at]));

  function remember(before: HistoryEntry, mergeKey?: string) {
    if (isSame(before, here())) return;
    past.value = [...past.value, before];
    future.value = [];
    lastKey = mergeKey;
  }
  /**
   * Makes a change that the user of this page did not make, such as a change made in another page. The change makes no
   * undo entry and keeps the redo entries. The change is applied to all entries, so that undo and redo do not reverse
   * the change.
   */
  function absorb(act: () => void) {
    if (isAbsorbing) return act();
    const before = here();
    isAbsorbing = true;
    try {
      act();
    } finally {
      isAbsorbing = false;
    }
    const after = here();
    if (isSame(before, after)) return;
    const rebased = (entry: HistoryEntry): HistoryEntry =>
      parts.map((part, at) => {
        const [own, old, now] = [entry[at], before[at], after[at]];
        if (own === undefined || isKept(part, old, now)) return own;
        return part.rebase ? part.rebase(own, old, now) : part.isSame(own, old) ? now : own;
      });
    dragStart = dragStart && rebased(dragStart);
    const count = past.value.length;
    past.value = tidied(past.value.map(rebased));
    future.value = tidied(future.value.map(rebased));
    if (past.value.length !== count) lastKey = undefined;
  }
  /** Makes a change that can be undone. If successive changes have the same merge key, they make one entry. */
  function change(act: () => void, mergeKey?: string) {
    if (dragStart || isAbsorbing) return act();
    const before = here();
    act();
    if (mergeKey === undefined || mergeKey !== lastKey) return remember(before, mergeKey);
    // If the change restores the state from before the entry, the entry is removed.
    if (!isSame(past.value.at(-1) as HistoryEntry, here())) return;
    past.value = past.value.slice(0, -1);
    lastKey = undefined;
  }
  /** Goes one entry back or forward. Returns the names of the parts that it changes. */
  function step(from: Signal<readonly HistoryEntry[]>, to: Signal<readonly HistoryEntry[]>): readonly string[] {
    const [next, before] = [from.value.at(-1), here()];
    // During a drag, undo and redo do nothing, because the next move of the drag would overwrite the restored value.
    if (!next || dragStart) return [];
    from.value = from.value.slice(0, -1);
    to.value = [...to.value, before];
    lastKey = undefined;
    const changed = [...parts.entries()].filter(([at, part]) => !isKept(part, next[at], before[at]));
    for (const [at, part] of [...changed].reverse()) part.restore(next[at]);
    return changed.map(([, { name }]) => name);
  }
  /** Returns the entries that would change something. */
  function tidied(entries: readonly HistoryEntry[]): HistoryEntry[] {
    let after = here();
    const steps = [...entries].reverse().filter((entry) => {
      const changes = !isSame(entry, after);
      if (changes) after = entry;
      return changes;
    });
    return steps.reverse();
  }
  return {
    change,
    absorb,
    undo: () => step(past, future),
    redo: () => step(future, past),
    start: () => {
      dragStart ??= here();
    },
    end: () => {
      const before = dragStart;
      dragStart = undefined;
      if (before) remember(before);
    },
    /**
     * Adds a part of the state. The parts are restored in reverse order, so the first part is restored last. Therefore
     * the message of the first part can contain the changes of all parts.
     */
    add<E>(part: Undoable<E>): HistoryPart<E> {
      const at = parts.push(part as unknown as Undoable<unknown>) - 1;
      return {
        next: (isBack) => (dragStart ? undefined : ((isBack ? past : future).value.at(-1)?.[at] as E | undefined)),
        revise: (change) => {
          const revised = (entry: HistoryEntry): HistoryEntry =>
            entry[at] === undefined ? entry : Object.assign([...entry], { [at]: change(entry[at] as E) });
          dragStart = dragStart && revised(dragStart);
          lastKey = undefined;
          past.value = tidied(past.value.map(revised));
          future.value = tidied(future.value.map(revised));
        },
      };
    },
    canUndo: computed(() => past.value.length > 0),
    canRedo: computed(() => future.value.length > 0),
  };
}
