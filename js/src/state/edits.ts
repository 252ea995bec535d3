// Edits: what changes, how it is undone, and when it is sent to Python. Every change of a synced trait goes through this
// file: those of a person, which make undo entries (history.ts) and messages (messages.ts), and those of Python.

import { batch, computed, type Signal, signal } from "@preact/signals";
import { isEqual } from "../ui/equal.ts";
import { changed, difference, type Changes as MappingChanges } from "./changes.ts";
import { createHistory, type Entry } from "./history.ts";
import { createMessages, type Origin, type SendOptions } from "./messages.ts";
import type { Model } from "./model.ts";
import {
  type Changes,
  isOfGraph,
  namesOf,
  type Signals,
  TRAIT_NAMES,
  TRAITS,
  type TraitName,
  type TraitValues,
  type Writable,
  wireName,
} from "./traits.ts";

const SHARED_NAMES = TRAIT_NAMES.filter((name) => TRAITS[name].owner === "shared");
const OF_GRAPH = TRAIT_NAMES.filter((name) => isOfGraph(name) && name !== "phase");
const OF_ROWS: readonly TraitName[] = ["selected", "atRoof", "moves", "typedWork"];
const isMapping = (name: TraitName) => TRAITS[name].isMapping;
const isUndoable = (name: TraitName) => TRAITS[name].undoable !== undefined;
const changesOf = (before: unknown, after: unknown) => difference(before as MappingChanges, after as MappingChanges);

/** A series of steps by keys ends if no step has followed for this time, ms. */
const REST_MS = 150;

/** Options of a change. */
export interface ChangeOptions extends SendOptions {
  /**
   * The name of a series of steps by keys. Used only if `stream` is true. A series is like a drag: slow updates wait
   * until the last step, and successive steps of the same series make one undo entry.
   */
  readonly series?: string;
  /** If successive changes have the same key, they make one undo entry. */
  readonly mergeKey?: string | undefined;
}

/**
 * Handlers of values from Python. If the page only has to store a new value of a trait, the trait has no handler.
 * `accept` sets the trait to the value from Python.
 */
export type Receivers = {
  readonly [N in TraitName]?: (value: TraitValues[N], accept: (mergeKey?: string) => void) => void;
};

/** A drag that changes traits. The changes of one drag make one undo entry. */
export interface Gesture<V = never> {
  move(value: V): void;
  /** Ends the drag and keeps the changes. */
  end(): void;
  /** Ends the drag and restores the values from the start of the drag. */
  cancel(): void;
}

interface GestureOptions<N extends Writable, V> {
  /**
   * The traits that the gesture changes. If Python sends values of these traits during the gesture, the page does not
   * take these values before the end of the gesture.
   */
  readonly traits: readonly N[];
  move(value: V): void;
  /**
   * Returns the value from Python, but with the gesture's value for the part that the gesture changes. Given if the
   * gesture changes only a part of the value. If this function is given, the page takes values from Python during the
   * gesture too.
   */
  merge?(fromPython: TraitValues[N]): TraitValues[N];
  /**
   * Returns the values that `cancel` restores. If this function is missing, `cancel` restores the values from the start
   * of the gesture.
   */
  restore?(): Changes;
  /** If true, `dragging` stays false during the gesture, except during a series of steps by keys. */
  readonly isQuiet?: boolean;
  onEnd?(): void;
}

interface ActiveGesture {
  readonly traits: readonly TraitName[];
  readonly merge: ((fromPython: never) => unknown) | undefined;
  readonly isQuiet: boolean;
  readonly onEnd: (() => void) | undefined;
  /** For each trait that got a value from Python during the gesture: who caused the value. */
  readonly deferred: Map<TraitName, Origin>;
  hasMoved: boolean;
  end(): void;
}

/**
 * By trait: a function that removes from an old value what can no longer be restored. If nothing is left, the function
 * returns undefined.
 */
export type Restorable = { readonly [N in TraitName]?: (entry: TraitValues[N]) => TraitValues[N] | undefined };

/** What the slices know of single traits. */
interface Rules {
  readonly receivers: Receivers;
  readonly restorable: Restorable;
  /** Returns the traits of the graph as undo remembers them; nothing while there is no graph. */
  graphNow(): Entry;
  /** Restores the traits of a graph: those of `entry`, and the others as they are. */
  restoreGraph(entry: Entry): void;
}

export type Edits = ReturnType<typeof createEdits>;

/**
 * Returns the value of `exposedRoofs`. Notebooks that version 0.1.0 saved have this value under the name
 * `exposed_comm`.
 */
function drawnRoofs(model: Model): unknown {
  const saved = model.get("exposed_comm");
  return model.get("exposed_roofs") ?? (Array.isArray(saved) ? saved : []);
}

export function createEdits(model: Model) {
  const inModel = (name: TraitName) => (name === "exposedRoofs" ? drawnRoofs(model) : model.get(wireName(name)));
  const received = <N extends TraitName>(name: N) => TRAITS[name].decode(inModel(name)) as TraitValues[N];
  const signals = Object.fromEntries(TRAIT_NAMES.map((name) => [name, signal(received(name))])) as unknown as Signals;
  const active = signal<ActiveGesture | undefined>(undefined);
  const isHeld = computed(() => active.value?.isQuiet === false);
  const stepping = signal(false);
  const dragging = computed(() => stepping.value || isHeld.value);
  let rest: ReturnType<typeof setTimeout> | undefined;
  const rules = signal<Rules>({ receivers: {}, restorable: {}, graphNow: () => ({}), restoreGraph() {} });

  const messages = createMessages(model, SHARED_NAMES.map(wireName), (names) => {
    for (const name of SHARED_NAMES) if (names.has(wireName(name))) settle(name);
  });
  const isUnanswered = (name: TraitName) => messages.isUnanswered(wireName(name));
  const encoded = (name: TraitName) => TRAITS[name].encode(signals[name].peek());
  const isDragged = (name: TraitName) => active.peek()?.traits.includes(name) === true;

  /** Returns what can be restored of a value; undefined if there is nothing. */
  const restorable = (name: TraitName, value: unknown) => {
    const usable = rules.value.restorable[name] as ((value: unknown) => unknown) | undefined;
    return usable ? usable(value) : value;
  };
  // If Python replaces the chips, Python also replaces choices that need an old chip. The replaced choices make no undo
  // entry, because they cannot be restored. The names are in the order in which an undone step is named.
  const alone = TRAIT_NAMES.filter((name) => TRAITS[name].undoable === "alone").reverse();
  const history = createHistory(
    computed<Entry>(() => {
      const values = alone.map((name) => [name, restorable(name, signals[name].value)]);
      return { ...rules.value.graphNow(), ...Object.fromEntries(values) };
    }),
  );

  function assign(changes: Partial<TraitValues>) {
    batch(() => {
      for (const name of namesOf(changes)) (signals[name] as Signal).value = changes[name];
    });
  }
  /**
   * Changes traits without an undo entry, and collects the changes for the next message. Python merges the changed keys
   * of a mapping into its own mapping. If `isWhole`, Python replaces the whole mapping.
   */
  function put(changes: Changes, isWhole = false) {
    const before = namesOf(changes).map((name) => encoded(name));
    assign(changes);
    for (const [at, name] of namesOf(changes).entries()) {
      if (isMapping(name) && !isWhole) messages.change(wireName(name), changesOf(before[at], encoded(name)));
      else messages.put(wireName(name), encoded(name), TRAITS[name].owner === "browser");
      if (isDragged(name)) (active.peek() as ActiveGesture).hasMoved = true;
    }
  }
  /** Changes those of the traits whose values are new. */
  const putNew = (changes: Changes) =>
    put(changed(changes, Object.fromEntries(namesOf(changes).map((name) => [name, signals[name].peek()]))));
  function endSteps() {
    clearTimeout(rest);
    stepping.value = false;
  }
  /** Makes a change, which is one undo entry and one message. */
  function edit(change: () => void, how: ChangeOptions = {}) {
    const series = how.stream ? how.series : undefined;
    if (series && !isHeld.peek()) {
      clearTimeout(rest);
      rest = setTimeout(endSteps, REST_MS);
      stepping.value = true;
    } else endSteps();
    batch(() => history.change(change, how.mergeKey ?? series));
    messages.send(how);
  }
  const set = (changes: Changes, how?: ChangeOptions) => edit(() => put(changes), how);
  /** Returns an action that sets one trait. */
  const setter =
    <N extends Writable>(name: N) =>
    (value: TraitValues[N], how?: ChangeOptions) =>
      set({ [name]: value }, how);
  /** Goes one step back or forward. Returns the names of the traits that it changes. */
  function step(isBack: boolean): readonly TraitName[] {
    const entry = isBack ? history.undo() : history.redo();
    const names = namesOf(entry);
    // In the order in which the traits take effect: a shown chip is there only after it was added again.
    for (const name of [...names].reverse()) {
      const left = isOfGraph(name) ? undefined : restorable(name, entry[name]);
      if (left !== undefined) put({ [name]: left });
    }
    if (names.some(isOfGraph)) rules.peek().restoreGraph(entry);
    return names;
  }

  function receive(name: TraitName) {
    const origin = messages.origin();
    if (origin === "outdated") return messages.ask([wireName(name)], { later: true });
    take(name, origin);
  }
  /**
   * Takes a value from Python. If the user drags the trait, the page keeps its own value, unless the gesture has
   * `merge`. If a change of the trait is unanswered, the page keeps its own value too. But for a mapping, the page
   * applies the unanswered changes to Python's value.
   */
  function take(name: TraitName, origin: Origin) {
    if (isUnanswered(name) && !isMapping(name)) return;
    let value: unknown = TRAITS[name].decode(messages.overlaid(wireName(name), inModel(name)));
    const gesture = isDragged(name) ? active.peek() : undefined;
    if (gesture) {
      if (origin !== "this page") gesture.deferred.set(name, origin);
      if (!gesture.merge) return;
      value = gesture.merge(value as never);
    }
    // An equal value is not set again, because results that were memoized for the old object would be lost.
    if (TRAITS[name].owner !== "python" && isEqual(value, signals[name].peek())) return;
    if (origin === "another page") absorb(name, value);
    else adopt(name, value);
  }
  /** Takes a value without an undo entry. */
  function absorb(name: TraitName, value: unknown) {
    history.absorb(() => {
      adopt(name, value);
      // If the phase is new, this page also changes its settings and groups. If the groups are new, this page also
      // changes the traits that contain rows, such as the selected rows. Python may have other values of these traits,
      // so the page takes Python's values.
      if (name === "phase") for (const other of OF_GRAPH) settle(other);
      if (name === "phase" || name === "partition") for (const other of OF_ROWS) settle(other);
    });
  }
  function adopt(name: TraitName, value: unknown) {
    const accept = (mergeKey?: string) => {
      const change = () => assign({ [name]: value });
      if (!isUndoable(name)) change();
      else if (!isEqual(value, signals[name].peek())) history.change(change, mergeKey);
    };
    const receiver = rules.peek().receivers[name] as ((value: unknown, accept: () => void) => void) | undefined;
    if (receiver) receiver(value, accept);
    else accept();
  }
  /**
   * Takes Python's value of the trait, if no change of the trait is unanswered. Called, for example, after Python has
   * answered a message with this trait.
   */
  function settle(name: TraitName) {
    if (isUnanswered(name)) return;
    const value = received(name);
    if (isEqual(value, signals[name].peek())) return;
    if (isDragged(name)) (active.peek() as ActiveGesture).deferred.set(name, "another page");
    else absorb(name, value);
  }

  function stop() {
    const gesture = active.peek();
    if (!gesture) return;
    active.value = undefined;
    gesture.onEnd?.();
    history.end();
  }
  function startGesture<N extends Writable, V>(options: GestureOptions<N, V>): Gesture<V> {
    active.peek()?.end();
    endSteps();
    const { traits, move, merge, isQuiet = false, onEnd } = options;
    const before = Object.fromEntries(traits.map((name) => [name, signals[name].peek()])) as Changes;
    const isActive = () => active.peek() === gesture;
    function end() {
      if (!isActive()) return;
      stop();
      for (const [name, origin] of gesture.deferred) {
        // The last move is still unanswered. After the answer, the page takes Python's value.
        if (gesture.hasMoved && isUnanswered(name)) continue;
        // A drag of an undoable trait has made an undo entry, so the dragged value replaces the value from Python. The
        // page sends the dragged value again, so that Python stores the same value.
        if (!gesture.hasMoved || !isUndoable(name)) take(name, origin);
        else if (isMapping(name)) messages.change(wireName(name), changesOf(inModel(name), encoded(name)));
        else if (!isEqual(inModel(name), encoded(name))) messages.put(wireName(name), encoded(name));
      }
      messages.send();
    }
    function cancel() {
      if (!isActive()) return;
      const changes = options.restore?.() ?? before;
      if (namesOf(changes).some((name) => !isEqual(changes[name], signals[name].peek()))) put(changes);
      end();
    }
    const gesture: ActiveGesture = { traits, merge, isQuiet, onEnd, end, deferred: new Map(), hasMoved: false };
    if (traits.some(isUndoable)) history.start();
    active.value = gesture;
    return { move: (value) => isActive() && move(value), end, cancel };
  }
  /** Starts a drag that changes the full value of one trait. */
  const dragOf = <N extends Writable>(name: N, isQuiet = false): Gesture<TraitValues[N]> =>
    startGesture({ traits: [name], isQuiet, move: (value) => set({ [name]: value }, { stream: true }) });
  /**
   * Overwrites traits. Drops their queued changes, and ends a gesture of these traits without restoring their values.
   */
  function replace(changes: Changes) {
    for (const name of namesOf(changes)) messages.drop(wireName(name));
    assign(changes);
    if (namesOf(changes).some(isDragged)) stop();
  }

  /** Listens to the model until `abort`. */
  function follow(own: Rules, abort: AbortSignal) {
    rules.value = own;
    for (const name of TRAIT_NAMES) {
      const event = `change:${wireName(name)}`;
      const listener = () => receive(name);
      model.on(event, listener);
      abort.addEventListener("abort", () => model.off(event, listener));
    }
    messages.follow(abort);
    abort.addEventListener("abort", () => {
      endSteps();
      // End the gesture now: if the host removes the view later, the closed model has no values left.
      stop();
    });
  }

  return {
    signals,
    waitingSince: messages.waitingSince,
    disconnect: messages.disconnect,
    dragging,
    isInDrag: () => dragging.peek() && dragging.value,
    isHeld,
    isDragged,
    /** Returns the value of a trait in the model. */
    received,
    /** Returns values on the wire, by their names on the wire, as changes of the traits that the page may set. */
    decoded: (wire: Readonly<Record<string, unknown>>): Changes =>
      Object.fromEntries(
        TRAIT_NAMES.filter((name) => wireName(name) in wire && TRAITS[name].owner !== "python").map((name) => [
          name,
          TRAITS[name].decode(wire[wireName(name)]),
        ]),
      ),
    edit,
    set,
    setter,
    put,
    putNew,
    send: messages.send,
    separate: messages.separate,
    /** Drops the unsent changes of traits. */
    drop(...names: readonly TraitName[]) {
      for (const name of names) messages.drop(wireName(name));
    },
    replace,
    startGesture,
    dragOf,
    follow,
    step,
    /** The history of what a person can undo. */
    history,
    /**
     * Changes the values of a trait in all undo entries. If a value becomes undefined, the entry does not restore the
     * trait.
     */
    reviseHistory: <N extends TraitName>(name: N, revised: (entry: TraitValues[N]) => TraitValues[N] | undefined) =>
      history.revise(({ [name]: value, ...others }) => {
        const left = value === undefined ? undefined : revised(value as TraitValues[N]);
        return (left === undefined ? others : { ...others, [name]: left }) as Entry;
      }),
  };
}
