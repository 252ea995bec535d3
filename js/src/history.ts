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
  /** What the next step leads to. */
  readonly next: (isBack: boolean) => E | undefined;
  /** Forget the entries of this part that mean nothing any more. */
  readonly keep: (stays: (entry: E) => boolean) => void;
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

  function remember(before: Entry) {
    if (isSame(before, here())) return;
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
  function step(from: Signal<readonly Entry[]>, to: Signal<readonly Entry[]>) {
    const [next, before] = [from.value.at(-1), here()];
    if (!next) return;
    from.value = from.value.slice(0, -1);
    to.value = [...to.value, before];
    going = undefined;
    parts.forEach((part, at) => {
      if (!isKept(part, next[at], before[at])) part.restore(next[at]);
    });
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
    /** A part that is remembered from now on; what stands first is brought back first. */
    add<E>(part: Part<E>): Share<E> {
      const at = parts.push(part as unknown as Part<unknown>) - 1;
      const only = (stays: (entry: E) => boolean) => (entry: Entry) =>
        entry[at] === undefined || stays(entry[at] as E) ? entry : Object.assign([...entry], { [at]: undefined });
      return {
        next: (isBack) => (isBack ? past : future).value.at(-1)?.[at] as E | undefined,
        keep: (stays) => {
          past.value = tidied(past.value.map(only(stays)));
          future.value = tidied(future.value.map(only(stays)));
        },
      };
    },
    canUndo: computed(() => past.value.length > 0),
    canRedo: computed(() => future.value.length > 0),
  };
}
