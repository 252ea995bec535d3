// Undo and redo: one stack per model for everything that can be undone. A drag is one entry.

import { computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { isEqual } from "../ui/equal.ts";
import { type Changes as MappingChanges, rebased as rebasedMapping } from "./changes.ts";
import { isOfGraph, TRAIT_NAMES, TRAITS, type TraitName, type TraitValues } from "./traits.ts";

/** The values that one step restores. A trait without a value keeps the value that it has. */
export type Entry = Partial<TraitValues>;

export type History = ReturnType<typeof createHistory>;

const OF_GRAPH = TRAIT_NAMES.filter(isOfGraph);

/** Whether two entries have different values of a trait. */
const differ = (one: Entry, other: Entry) => (name: TraitName) =>
  one[name] !== undefined && other[name] !== undefined && !isEqual(one[name], other[name]);
const differences = (one: Entry, other: Entry) =>
  one === other ? [] : (Object.keys(one) as TraitName[]).filter(differ(one, other));
const isSame = (one: Entry, other: Entry) => differences(one, other).length === 0;

/**
 * Applies to an entry a change that the user of this page did not make, such as a change made in another page. The
 * change replaces the values that `entry` and `before` share: of mappings, the single values. The traits of a graph
 * keep their values if the entry is of another phase.
 */
function rebased(entry: Entry, before: Entry, after: Entry): Entry {
  const isOtherGraph =
    before.phase === after.phase ? entry.phase !== before.phase : OF_GRAPH.some(differ(entry, before));
  const valueNow = (name: TraitName) => {
    const [own, old, now] = [entry[name], before[name], after[name]];
    if (TRAITS[name].isMapping)
      return rebasedMapping(own as MappingChanges, old as MappingChanges, now as MappingChanges);
    return isEqual(own, old) ? now : own;
  };
  const names = differences(before, after).filter(
    (name) => entry[name] !== undefined && !(isOtherGraph && isOfGraph(name)),
  );
  return { ...entry, ...Object.fromEntries(names.map((name) => [name, valueNow(name)])) };
}

/** `here`: the present values of all traits that can be undone now. */
export function createHistory(here: ReadonlySignal<Entry>) {
  const past = signal<readonly Entry[]>([]);
  const future = signal<readonly Entry[]>([]);
  let dragStart: Entry | undefined;
  /** The merge key of the last entry. If the next change has the same merge key, the change extends the last entry. */
  let lastKey: string | undefined;
  /** Whether a change is being made. Changes that it makes are part of it. */
  let isChanging = false;

  function inside(act: () => void) {
    isChanging = true;
    try {
      act();
    } finally {
      isChanging = false;
    }
  }
  function remember(before: Entry, mergeKey?: string) {
    if (isSame(before, here.peek())) return;
    past.value = [...past.value, before];
    future.value = [];
    lastKey = mergeKey;
  }
  /** Changes all entries. Removes entries that would change nothing. */
  function revise(revised: (entry: Entry) => Entry) {
    dragStart = dragStart && revised(dragStart);
    const count = past.value.length;
    past.value = tidied(past.value.map(revised));
    future.value = tidied(future.value.map(revised));
    if (past.value.length !== count) lastKey = undefined;
  }
  /** Returns the entries that would change something. */
  function tidied(entries: readonly Entry[]): Entry[] {
    let after = here.peek();
    const steps = [...entries].reverse().filter((entry) => {
      const changes = !isSame(entry, after);
      if (changes) after = entry;
      return changes;
    });
    return steps.reverse();
  }
  /**
   * Makes a change that the user of this page did not make, such as a change made in another page. The change makes no
   * undo entry and keeps the redo entries. The change is applied to all entries, so that undo and redo do not reverse
   * the change.
   */
  function absorb(act: () => void) {
    if (isChanging) return act();
    const before = here.peek();
    inside(act);
    const after = here.peek();
    if (!isSame(before, after)) revise((entry) => rebased(entry, before, after));
  }
  /** Makes a change that can be undone. If successive changes have the same merge key, they make one entry. */
  function change(act: () => void, mergeKey?: string) {
    if (dragStart || isChanging) return act();
    const before = here.peek();
    inside(act);
    if (mergeKey === undefined || mergeKey !== lastKey) return remember(before, mergeKey);
    // If the change restores the state from before the entry, the entry is removed.
    if (!isSame(past.value.at(-1) as Entry, here.peek())) return;
    past.value = past.value.slice(0, -1);
    lastKey = undefined;
  }
  /** Goes one entry back or forward. Returns the values that it has to restore. */
  function step(from: Signal<readonly Entry[]>, to: Signal<readonly Entry[]>): Entry {
    const [next, before] = [from.value.at(-1), here.peek()];
    // During a drag, undo and redo do nothing, because the next move of the drag would overwrite the restored value.
    if (!next || dragStart) return {};
    from.value = from.value.slice(0, -1);
    to.value = [...to.value, before];
    lastKey = undefined;
    return Object.fromEntries(differences(next, before).map((name) => [name, next[name]]));
  }
  return {
    change,
    absorb,
    revise,
    undo: () => step(past, future),
    redo: () => step(future, past),
    /** Returns the entry of the next undo (if `isBack` is true) or redo; undefined if there is none. */
    next: (isBack: boolean): Entry | undefined => (dragStart ? undefined : (isBack ? past : future).value.at(-1)),
    start() {
      dragStart ??= here.peek();
    },
    end() {
      const before = dragStart;
      dragStart = undefined;
      if (before) remember(before);
    },
    canUndo: computed(() => past.value.length > 0),
    canRedo: computed(() => future.value.length > 0),
  };
}
