// What was before, and what was undone: one history a model, of all its parts together, in which a drag is one entry.

import { computed, type Signal, signal } from "@preact/signals";

/** One part of the state that can be undone. */
export interface Undoable<E> {
  /** What there is now; undefined where nothing can be remembered. */
  readonly here: () => E | undefined;
  readonly isSame: (one: E, other: E) => boolean;
  readonly restore: (entry: E) => void;
}

/** What a part has of the history. */
export interface HistoryPart<E> {
  /** What the next step leads to; undefined where none is made. */
  readonly next: (isBack: boolean) => E | undefined;
  /** Forget of each entry what means nothing any more: all of it where undefined is left. */
  readonly revise: (left: (entry: E) => E | undefined) => void;
}

type HistoryEntry = readonly unknown[];

export type History = ReturnType<typeof createHistory>;

export function createHistory() {
  const parts: Undoable<unknown>[] = [];
  const past = signal<readonly HistoryEntry[]>([]);
  const future = signal<readonly HistoryEntry[]>([]);
  let dragStart: HistoryEntry | undefined;
  /** What the steps of a key change that go on with the last entry. */
  let lastKey: string | undefined;

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
  /** Make a change that can be undone; with a word steps of the same one make one entry. */
  function change(act: () => void, mergeKey?: string) {
    const before = here();
    act();
    if (dragStart) return;
    if (mergeKey === undefined || mergeKey !== lastKey) return remember(before, mergeKey);
    // Steps that have come back to where they began are none.
    if (!isSame(past.value.at(-1) as HistoryEntry, here())) return;
    past.value = past.value.slice(0, -1);
    lastKey = undefined;
  }
  function step(from: Signal<readonly HistoryEntry[]>, to: Signal<readonly HistoryEntry[]>) {
    const [next, before] = [from.value.at(-1), here()];
    // What is held would be pulled from the hand, and would overwrite what has come back.
    if (!next || dragStart) return;
    from.value = from.value.slice(0, -1);
    to.value = [...to.value, before];
    lastKey = undefined;
    for (const [at, part] of [...parts.entries()].reverse()) {
      if (!isKept(part, next[at], before[at])) part.restore(next[at]);
    }
  }
  /** Without the steps that would change nothing, from what is there now. */
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
    /** A part that is remembered from now on; the first is brought back last: its message takes the others' along. */
    add<E>(part: Undoable<E>): HistoryPart<E> {
      const at = parts.push(part as unknown as Undoable<unknown>) - 1;
      return {
        next: (isBack) => (dragStart ? undefined : ((isBack ? past : future).value.at(-1)?.[at] as E | undefined)),
        revise: (left) => {
          const revised = (entry: HistoryEntry): HistoryEntry =>
            entry[at] === undefined ? entry : Object.assign([...entry], { [at]: left(entry[at] as E) });
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
