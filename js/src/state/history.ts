// What was before, and what was undone: one history a model, of all its parts together, in which a drag is one entry.

import { computed, type Signal, signal } from "@preact/signals";

/** One part of the state that can be undone. */
export interface Part<E> {
  /** What there is now; undefined where nothing can be remembered. */
  readonly here: () => E | undefined;
  readonly isSame: (one: E, other: E) => boolean;
  readonly restore: (entry: E) => void;
}

/** What a part has of the history. */
export interface Share<E> {
  /** What the next step leads to; undefined where none is made. */
  readonly next: (isBack: boolean) => E | undefined;
  /** Forget of each entry what means nothing any more: all of it where undefined is left. */
  readonly revise: (left: (entry: E) => E | undefined) => void;
}

type Entry = readonly unknown[];

export type History = ReturnType<typeof createHistory>;

export function createHistory() {
  const parts: Part<unknown>[] = [];
  const past = signal<readonly Entry[]>([]);
  const future = signal<readonly Entry[]>([]);
  let grip: Entry | undefined;
  /** What the steps of a key change that go on with the last entry. */
  let going: string | undefined;

  const here = (): Entry => parts.map((part) => part.here());
  const isKept = (part: Part<unknown>, one: unknown, other: unknown) =>
    one === undefined || other === undefined || part.isSame(one, other);
  const isSame = (one: Entry, other: Entry) => parts.every((part, at) => isKept(part, one[at], other[at]));

  function remember(before: Entry, word?: string) {
    if (isSame(before, here())) return;
    past.value = [...past.value, before];
    future.value = [];
    going = word;
  }
  /** Make a change that can be undone; with a word steps of the same one make one entry. */
  function change(act: () => void, word?: string) {
    const before = here();
    act();
    if (grip) return;
    if (word === undefined || word !== going) return remember(before, word);
    // Steps that have come back to where they began are none.
    if (!isSame(past.value.at(-1) as Entry, here())) return;
    past.value = past.value.slice(0, -1);
    going = undefined;
  }
  function step(from: Signal<readonly Entry[]>, to: Signal<readonly Entry[]>) {
    const [next, before] = [from.value.at(-1), here()];
    // What is held would be pulled from the hand, and would overwrite what has come back.
    if (!next || grip) return;
    from.value = from.value.slice(0, -1);
    to.value = [...to.value, before];
    going = undefined;
    for (const [at, part] of [...parts.entries()].reverse()) {
      if (!isKept(part, next[at], before[at])) part.restore(next[at]);
    }
  }
  /** Without the steps that would change nothing, from what is there now. */
  function tidied(entries: readonly Entry[]): Entry[] {
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
    hold: () => {
      grip ??= here();
    },
    release: () => {
      const before = grip;
      grip = undefined;
      if (before) remember(before);
    },
    /** A part that is remembered from now on; the first is brought back last: its message takes the others' along. */
    add<E>(part: Part<E>): Share<E> {
      const at = parts.push(part as unknown as Part<unknown>) - 1;
      return {
        next: (isBack) => (grip ? undefined : ((isBack ? past : future).value.at(-1)?.[at] as E | undefined)),
        revise: (left) => {
          const revised = (entry: Entry): Entry =>
            entry[at] === undefined ? entry : Object.assign([...entry], { [at]: left(entry[at] as E) });
          grip = grip && revised(grip);
          going = undefined;
          past.value = tidied(past.value.map(revised));
          future.value = tidied(future.value.map(revised));
        },
      };
    },
    canUndo: computed(() => past.value.length > 0),
    canRedo: computed(() => future.value.length > 0),
  };
}
