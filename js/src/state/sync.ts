// What is done with the synced traits: reading, sending, undo entries and gestures. wire/traits.ts declares them.
// messages.ts sends the messages.

import { batch, computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { decodeBaseline, decodeChips, decodeKernels, decodeSnapshots } from "../wire/decode.ts";
import { encodeSnapshots } from "../wire/encode.ts";
import { TRAITS as DECLARED, type TraitTypes } from "../wire/traits.ts";
import { difference, isSameMapping, type Changes as MappingChanges, rebased } from "./changes.ts";
import type { History, HistoryPart } from "./history.ts";
import { createMessages, type Origin, type SendOptions } from "./messages.ts";
import type { Model } from "./model.ts";

/**
 * The plane of the chart. In "roofline", x is the intensity and y is the rate. In "time", x is the compute time and y
 * is the memory time.
 */
export type View = TraitTypes["view"];
/**
 * Which points the chart shows. "kernels" means the kernels and the total of the program. "program" means the total of
 * the program and the totals of its steps.
 */
export type Scope = TraitTypes["scope"];
/** By kernel: the numbers of its ops. */
export type KernelGroups = NonNullable<TraitTypes["partition"]>;
export type Owner = "python" | "browser" | "shared";

interface Trait {
  /** Who may change the trait. The page never sends a trait that Python owns. */
  readonly owner: Owner;
  /** Whether changes of the trait can be undone. The traits of the graph are undone together, in graph.ts. */
  readonly undoable: "alone" | "with graph" | undefined;
  /**
   * Whether the trait is a mapping. The page sends only the changed keys of a mapping, so that two pages can change
   * different keys at the same time.
   */
  readonly isMapping: boolean;
  decode(wire: unknown): unknown;
  encode(value: unknown): unknown;
}

/** The traits whose values have another form in the page than on the wire. */
const CODECS = {
  chips: [decodeChips],
  kernels: [decodeKernels],
  baseline: [decodeBaseline],
  snapshots: [decodeSnapshots, encodeSnapshots],
  // A page that was saved before it could open files opens none.
  openFiles: [(wire: unknown) => wire ?? "nothing"],
  // Version 0.1.0 saved an array under the name `exposed_comm`: the value of today's trait `exposedRoofs`. If
  // `exposed_comm` is not a number, 0 is used here.
  exposedComm: [(wire: unknown) => (typeof wire === "number" ? wire : 0)],
} as unknown as Partial<Record<TraitName, [decode: Trait["decode"], encode?: Trait["encode"]]>>;

const same = (value: unknown) => value;

function traitFrom(name: TraitName): Trait {
  const [kind, fallback] = DECLARED[name];
  const [decode = (wire: unknown) => (wire === undefined ? fallback : wire), encode = same] = CODECS[name] ?? [];
  return {
    owner: kind === "python" || kind === "browser" ? kind : "shared",
    undoable: kind.endsWith("alone") ? "alone" : kind.endsWith("with graph") ? "with graph" : undefined,
    isMapping: kind.startsWith("mapping"),
    decode,
    encode,
  };
}

export type TraitName = keyof TraitTypes;
export type TraitValues = Readonly<TraitTypes>;
/**
 * All synced traits, by their names in the store. On the wire, `focusChip` is `focus_chip`. Python and the page share
 * all `undoable` traits.
 */
export const TRAITS = Object.fromEntries(
  (Object.keys(DECLARED) as TraitName[]).map((name) => [name, traitFrom(name)]),
) as Record<TraitName, Trait>;
/** The units and ticks of the axes. */
export type Axes = Pick<TraitValues, "rateUnit" | "word" | "xAxis" | "tickBase" | "timeScale" | "frame">;
export type Signals = {
  readonly [N in TraitName]: N extends "chips" ? ReadonlySignal<TraitValues[N]> : Signal<TraitValues[N]>;
};
type Writable = { [N in TraitName]: (typeof DECLARED)[N][0] extends "python" ? never : N }[TraitName];
/** New values of traits that the page may change. */
export type Changes = Partial<Pick<TraitValues, Writable>>;

export const TRAIT_NAMES = Object.keys(TRAITS) as TraitName[];
const SHARED_NAMES = TRAIT_NAMES.filter((name) => TRAITS[name].owner === "shared");
const OF_GRAPH = TRAIT_NAMES.filter((name) => TRAITS[name].undoable === "with graph" && name !== "phase");
const OF_ROWS: readonly TraitName[] = ["selected", "atRoof", "moves", "typedWork"];
const traitOf = (name: TraitName) => TRAITS[name];
export const wireName = (name: TraitName) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

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
 * By trait: a function that removes from an undo entry all values that can no longer be restored. If nothing is left,
 * the function returns undefined.
 */
export type Restorable = { readonly [N in TraitName]?: (entry: TraitValues[N]) => TraitValues[N] | undefined };

export type Sync = ReturnType<typeof createSync>;

const isMapping = (name: TraitName) => traitOf(name).isMapping;
const changesOf = (before: unknown, after: unknown) => difference(before as MappingChanges, after as MappingChanges);
const rebasedMapping = (entry: unknown, before: unknown, after: unknown): unknown =>
  rebased(entry as MappingChanges, before as MappingChanges, after as MappingChanges);

export const isEqual = (one: unknown, other: unknown) => one === other || JSON.stringify(one) === JSON.stringify(other);

/**
 * Returns the value of `exposedRoofs`. Notebooks that version 0.1.0 saved have this value under the name
 * `exposed_comm`.
 */
function drawnRoofs(model: Model): unknown {
  const saved = model.get("exposed_comm");
  return model.get("exposed_roofs") ?? (Array.isArray(saved) ? saved : []);
}

/** Returns the function that compares two values of a trait. For mappings, the order of the keys does not matter. */
const sameOf = (name: TraitName) =>
  isMapping(name)
    ? (one: unknown, other: unknown) => one === other || isSameMapping(one as MappingChanges, other as MappingChanges)
    : isEqual;
const isSame = (name: TraitName, one: unknown, other: unknown) => sameOf(name)(one, other);

export function createSync(model: Model, history: History) {
  const inModel = (name: TraitName) => (name === "exposedRoofs" ? drawnRoofs(model) : model.get(wireName(name)));
  const received = <N extends TraitName>(name: N) => traitOf(name).decode(inModel(name)) as TraitValues[N];
  const signals = Object.fromEntries(TRAIT_NAMES.map((name) => [name, signal(received(name))])) as unknown as Signals;
  const active = signal<ActiveGesture | undefined>(undefined);
  const isHeld = computed(() => active.value?.isQuiet === false);
  const stepping = signal(false);
  const dragging = computed(() => stepping.value || isHeld.value);
  let rest: ReturnType<typeof setTimeout> | undefined;
  const parts = new Map<TraitName, HistoryPart<unknown>>();
  let receivers: Receivers = {};

  const messages = createMessages(model, SHARED_NAMES.map(wireName), (names) => {
    for (const name of SHARED_NAMES) if (names.has(wireName(name))) settle(name);
  });
  const isUnanswered = (name: TraitName) => messages.isUnanswered(wireName(name));
  const encoded = (name: TraitName) => traitOf(name).encode(signals[name].peek());
  const isUndoable = (name: TraitName) => traitOf(name).undoable !== undefined;
  const isDragged = (name: TraitName) => active.peek()?.traits.includes(name) === true;
  const namesOf = (changes: object) => Object.keys(changes) as Writable[];
  function assign(changes: Partial<TraitValues>) {
    batch(() => {
      for (const name of namesOf(changes)) (signals[name] as Signal).value = changes[name];
    });
  }

  /**
   * Changes traits without an undo entry, and collects the changes for the next message. Python merges the changed keys
   * of a mapping into its own mapping. If `isWhole`, Python replaces the whole mapping.
   */
  function queue(changes: Changes, isWhole = false) {
    const before = namesOf(changes).map((name) => encoded(name));
    assign(changes);
    for (const [at, name] of namesOf(changes).entries()) {
      if (isMapping(name) && !isWhole) messages.change(wireName(name), changesOf(before[at], encoded(name)));
      else messages.put(wireName(name), encoded(name), traitOf(name).owner === "browser");
      if (isDragged(name)) (active.peek() as ActiveGesture).hasMoved = true;
    }
  }
  function endSteps() {
    clearTimeout(rest);
    stepping.value = false;
  }
  /** Changes traits and sends them. Makes an undo entry if the traits are undoable. */
  function set(changes: Changes, how: ChangeOptions = {}) {
    const series = how.stream ? how.series : undefined;
    if (series && !isHeld.peek()) {
      clearTimeout(rest);
      rest = setTimeout(endSteps, REST_MS);
      stepping.value = true;
    } else endSteps();
    if (namesOf(changes).some(isUndoable)) history.change(() => queue(changes), how.mergeKey ?? series);
    else queue(changes);
    messages.send(how);
  }

  /** Returns an action that sets one trait. */
  const setter =
    <N extends Writable>(name: N) =>
    (value: TraitValues[N], how?: ChangeOptions) =>
      set({ [name]: value }, how);

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
    let value: unknown = traitOf(name).decode(messages.overlaid(wireName(name), inModel(name)));
    const gesture = isDragged(name) ? active.peek() : undefined;
    if (gesture) {
      if (origin !== "this page") gesture.deferred.set(name, origin);
      if (!gesture.merge) return;
      value = gesture.merge(value as never);
    }
    // An equal value is not set again, because results that were memoized for the old object would be lost.
    if (traitOf(name).owner !== "python" && isSame(name, value, signals[name].peek())) return;
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
      else if (!isSame(name, value, signals[name].peek())) history.change(change, mergeKey);
    };
    const receiver = receivers[name] as ((value: unknown, accept: () => void) => void) | undefined;
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
    if (isSame(name, value, signals[name].peek())) return;
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
      if (namesOf(changes).some((name) => !isEqual(changes[name], signals[name].peek()))) queue(changes);
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

  /**
   * Listens to the model until `abort`. Adds the undoable traits to the history after all parts that are already in the
   * history.
   */
  function follow(special: Receivers, restorable: Restorable, abort: AbortSignal) {
    receivers = special;
    // The traits are in the order in which they take effect, and the history restores its first part last.
    for (const name of [...TRAIT_NAMES].reverse()) {
      if (traitOf(name).undoable === "alone") {
        const usable = (restorable[name] ?? ((entry: unknown) => entry)) as (entry: unknown) => unknown;
        const restore = (entry: unknown) => {
          const left = usable(entry);
          if (left !== undefined) queue({ [name]: left });
        };
        // If Python replaces the chips, Python also replaces choices that need an old chip. The replaced choices make
        // no undo entry.
        const part = { name, here: () => usable(signals[name].peek()), isSame: sameOf(name), restore };
        parts.set(name, history.add<unknown>(isMapping(name) ? { ...part, rebase: rebasedMapping } : part));
      }
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
          traitOf(name).decode(wire[wireName(name)]),
        ]),
      ),
    set,
    setter,
    queue,
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
    /**
     * Changes the values of a trait in all undo entries. If a value becomes undefined, the entry does not restore the
     * trait.
     */
    reviseHistory: <N extends TraitName>(name: N, revised: (entry: TraitValues[N]) => TraitValues[N] | undefined) =>
      parts.get(name)?.revise(revised as (entry: unknown) => unknown),
  };
}
