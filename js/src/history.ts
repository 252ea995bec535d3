// What was before, and what was undone: one history a model, in which a drag is one entry.

import { computed, type Signal, signal } from "@preact/signals";

interface Held<E> {
  /** What there is now; undefined where nothing can be remembered. */
  readonly here: () => E | undefined;
  readonly isSame: (one: E, other: E) => boolean;
  readonly restore: (entry: E) => void;
}

export function createHistory<E>({ here, isSame, restore }: Held<E>) {
  const past = signal<readonly E[]>([]);
  const future = signal<readonly E[]>([]);
  let grip: E | undefined;
  /** What the steps of a key change that go on with the last entry. */
  let going: string | undefined;

  function remember(before: E | undefined) {
    const now = here();
    if (!before || !now || isSame(before, now)) return;
    past.value = [...past.value, before];
    future.value = [];
    going = undefined;
  }
  /** Make a change that can be undone; with a word steps of the same one make one entry. */
  function change(act: () => void, word?: string) {
    const before = here();
    const goesOn = grip !== undefined || (word !== undefined && word === going);
    act();
    if (goesOn) return;
    remember(before);
    going = word;
  }
  function step(from: Signal<readonly E[]>, to: Signal<readonly E[]>) {
    const [next, before] = [from.value.at(-1), here()];
    if (!next || !before) return;
    from.value = from.value.slice(0, -1);
    to.value = [...to.value, before];
    going = undefined;
    restore(next);
  }
  return {
    change,
    undo: () => step(past, future),
    redo: () => step(future, past),
    hold: () => {
      grip ??= here();
    },
    release: () => {
      const before = grip;
      grip = undefined;
      remember(before);
    },
    keep: (stays: (entry: E) => boolean) => {
      past.value = past.value.filter(stays);
      future.value = future.value.filter(stays);
    },
    canUndo: computed(() => past.value.length > 0),
    canRedo: computed(() => future.value.length > 0),
    /** What the next step leads to. */
    next: (isBack: boolean) => (isBack ? past : future).value.at(-1),
  };
}
