// The traits that this page shares with Python: one table, and all that follows from it. Only this file writes to the model.

import { batch, computed, type Signal, signal } from "@preact/signals";
import type { Moves } from "../roofline/what_if_arithmetic.ts";
import { decodeBaseline, decodeChips, decodeKernels, decodeSnapshots } from "../wire/decode.ts";
import { encodeSnapshots } from "../wire/encode.ts";
import type { WhatIf } from "../wire/types.ts";
import type { History, HistoryPart } from "./history.ts";

/** What the store needs of anywidget's model. */
export interface Model {
  get(name: string): unknown;
  set(name: string, value: unknown): void;
  save_changes(): void;
  on(event: string, callback: () => void): void;
  off(event: string, callback: () => void): void;
}

/** Rate against intensity, or memory time against compute time. */
export type View = "roofline" | "time";

/** The part of the plane that is shown, in base units. */
export type Zoom = readonly [xLow: number, xHigh: number, yLow: number, yHigh: number];

/** Which points the chart shows: kernels and the program's total, or the totals of the program and its steps. */
export type Scope = "kernels" | "program";

/** The names that pass a filter; null for all. */
type Allowed = readonly string[] | null;
type Rows = readonly number[];
/** The ops of each kernel, by position. */
export type KernelGroups = readonly Rows[];

export type Owner = "python" | "browser" | "shared";

interface Trait<T, O extends Owner> {
  /** Who may write it: a trait that Python owns is never sent from here. */
  readonly owner: O;
  /** Whether its changes are undo entries; the graph's traits are remembered and restored together, by graph.ts. */
  readonly undoable: "alone" | "with graph" | undefined;
  decode(wire: unknown): T;
  encode(value: T): unknown;
}

const kind =
  <O extends Owner>(owner: O, undoable?: "alone" | "with graph") =>
  <T>(decode = (wire: unknown) => wire as T, encode: (value: T) => unknown = (value) => value): Trait<T, O> => ({
    ...{ owner, undoable, decode, encode },
  });
const [python, browser, shared] = [kind("python"), kind("browser"), kind("shared")];
const [undoable, ofGraph] = [kind("shared", "alone"), kind("shared", "with graph")];

/** Each trait under its name in the store; on the wire `focusChip` is `focus_chip`. */
export const TRAITS = {
  title: python<string>(),
  chips: python(decodeChips),
  kernels: python(decodeKernels),
  baseline: python(decodeBaseline),
  launchOverhead: python<number>(),

  graphs: python<readonly (readonly [phase: string, graph: unknown])[]>(),
  phase: ofGraph<string>(),
  partition: ofGraph<KernelGroups | null>(),
  dims: ofGraph<Readonly<Record<string, number>>>(),
  convention: ofGraph<string>(),
  dtype: ofGraph<string | null>(),

  shown: shared<readonly string[]>(),
  focusChip: shared<string>(),
  precision: shared<string>(),
  memory: shared<string>(),
  exposedComm: shared<readonly number[]>(),
  ceilings: shared<readonly string[] | null>(),
  allLevels: shared<boolean>(),
  whatIf: undoable<WhatIf>(),
  moves: undoable<Moves>(),
  snapshots: undoable(decodeSnapshots, encodeSnapshots),

  view: undoable<View>(),
  zoom: undoable<Zoom | null>(),
  timeScale: undoable<"log" | "linear">(),
  rateUnit: shared<"FLOP/s" | "FLOP/cycle">(),
  /** Bytes of a word, or 0 to count bytes. */
  word: shared<number>(),
  xAxis: shared<"intensity" | "balance">(),
  tickBase: shared<10 | 2>(),
  presentation: shared<boolean>(),
  rulers: shared<boolean>(),

  search: shared<string>(),
  categories: shared<Allowed>(),
  bounds: shared<Allowed>(),
  precisions: shared<Allowed>(),
  timeShare: shared<number>(),
  top: shared<number | null>(),
  infeed: shared<boolean>(),
  scope: shared<Scope>(),
  sortBy: shared<string>(),
  columns: shared<readonly string[] | null>(),
  atRoof: shared<Rows>(),
  selected: shared<Rows>(),
  hovered: browser<number | null>(),
};

export type TraitName = keyof typeof TRAITS;
export type TraitValues = { readonly [N in TraitName]: ReturnType<(typeof TRAITS)[N]["decode"]> };
/** The units and ticks of the axes. */
export type Axes = Pick<TraitValues, "rateUnit" | "word" | "xAxis" | "tickBase" | "timeScale">;
export type Signals = { readonly [N in TraitName]: Signal<TraitValues[N]> };
type Writable = { [N in TraitName]: (typeof TRAITS)[N]["owner"] extends "python" ? never : N }[TraitName];
/** New values of traits that may be written from here. */
export type Changes = Partial<Pick<TraitValues, Writable>>;

const TRAIT_NAMES = Object.keys(TRAITS) as TraitName[];
const traitOf = (name: TraitName) => TRAITS[name] as Trait<unknown, Owner>;
export const wireName = (name: TraitName) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** When a change is sent, and which undo entry it belongs to. */
export interface ChangeOptions {
  /** One of a fast series: sent at most once per PERIOD_MS, the last one always. */
  readonly stream?: boolean;
  /** In a task of its own: a long message would delay the next frame. */
  readonly later?: boolean;
  /** Changes that follow one another under the same key make one undo entry. */
  readonly mergeKey?: string | undefined;
}

/** What happens on a value from Python where a trait is not simply replaced by it. */
export type Receivers = {
  readonly [N in TraitName]?: (value: TraitValues[N], accept: (mergeKey?: string) => void) => void;
};

/** A drag of traits: from its start until its end, changes of them make one undo entry. */
export interface Gesture<V = never> {
  move(value: V): void;
  /** Keep the values. */
  end(): void;
  /** Put back the values from the start. */
  cancel(): void;
}

interface GestureOptions<N extends Writable, V> {
  /** The traits that the gesture changes. While it lasts, Python's values of them are deferred. */
  readonly traits: readonly N[];
  move(value: V): void;
  /** Where the gesture changes a part of a value: Python's value is taken at once, with that part overwritten. */
  merge?(fromPython: TraitValues[N]): TraitValues[N];
  /** The values that a cancelled gesture leaves; without it those from its start. */
  restore?(): Changes;
  /** Whether panels and axes behave as if nothing were being dragged. */
  readonly isQuiet?: boolean;
  onEnd?(): void;
}

interface ActiveGesture {
  readonly traits: readonly TraitName[];
  readonly merge: ((fromPython: never) => unknown) | undefined;
  readonly isQuiet: boolean;
  readonly onEnd: (() => void) | undefined;
  /** The traits that Python has sent a value of meanwhile. */
  readonly deferred: Set<TraitName>;
  hasMoved: boolean;
  end(): void;
}

/** What of an undo entry can still be restored. */
type Restorable = { readonly [N in TraitName]?: (entry: TraitValues[N]) => TraitValues[N] };

export type Sync = ReturnType<typeof createSync>;

/** Time between two messages of a stream, ms: with the first and the last one at most ten in any second. */
const PERIOD_MS = 125;

export const isEqual = (one: unknown, other: unknown) => one === other || JSON.stringify(one) === JSON.stringify(other);

export function createSync(model: Model, history: History) {
  const inModel = (name: TraitName) => model.get(wireName(name));
  const received = <N extends TraitName>(name: N) => traitOf(name).decode(inModel(name)) as TraitValues[N];
  const signals = Object.fromEntries(TRAIT_NAMES.map((name) => [name, signal(received(name))])) as unknown as Signals;
  const pending = new Map<TraitName, unknown>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const active = signal<ActiveGesture | undefined>(undefined);
  const parts = new Map<TraitName, HistoryPart<unknown>>();
  let receivers: Receivers = {};

  const isUndoable = (name: TraitName) => traitOf(name).undoable !== undefined;
  const namesOf = (changes: object) => Object.keys(changes) as Writable[];
  function assign(changes: Partial<TraitValues>) {
    batch(() => {
      for (const name of namesOf(changes)) (signals[name] as Signal).value = changes[name];
    });
  }

  function flush(): boolean {
    if (pending.size === 0) return false;
    for (const [name, value] of pending) model.set(wireName(name), traitOf(name).encode(value));
    pending.clear();
    model.save_changes();
    return true;
  }
  function tick() {
    timer = flush() ? setTimeout(tick, PERIOD_MS) : undefined;
  }
  /** Send what is queued. */
  function send({ stream = false, later = false }: ChangeOptions = {}) {
    if (later) timer ??= setTimeout(tick);
    else if (!stream) flush();
    else if (timer === undefined) tick();
  }
  /** Change traits, and tell Python with the next message. Makes no undo entry. */
  function queue(changes: Changes) {
    assign(changes);
    for (const name of namesOf(changes)) {
      pending.set(name, changes[name]);
      const gesture = active.peek();
      if (gesture?.traits.includes(name)) gesture.hasMoved = true;
    }
  }
  /** Change traits now, as one undo entry if they are undoable, and tell Python. */
  function set(changes: Changes, how: ChangeOptions = {}) {
    if (namesOf(changes).some(isUndoable)) history.change(() => queue(changes), how.mergeKey);
    else queue(changes);
    send(how);
  }

  /** The action that sets one trait. */
  const setter =
    <N extends Writable>(name: N) =>
    (value: TraitValues[N], how?: ChangeOptions) =>
      set({ [name]: value }, how);

  function receive(name: TraitName) {
    const gesture = active.peek();
    let value: unknown = received(name);
    if (gesture?.traits.includes(name)) {
      gesture.deferred.add(name);
      if (!gesture.merge) return;
      value = gesture.merge(value as never);
    }
    const accept = (mergeKey?: string) => {
      const change = () => assign({ [name]: value });
      if (!isUndoable(name)) change();
      else if (!isEqual(value, signals[name].peek())) history.change(change, mergeKey);
    };
    const receiver = receivers[name] as ((value: unknown, accept: () => void) => void) | undefined;
    if (receiver) receiver(value, accept);
    else accept();
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
    const { traits, move, merge, isQuiet = false, onEnd } = options;
    const before = Object.fromEntries(traits.map((name) => [name, signals[name].peek()])) as Changes;
    const isActive = () => active.peek() === gesture;
    function end() {
      if (!isActive()) return;
      stop();
      flush();
      for (const name of gesture.deferred) {
        // The user's value of an undoable trait is an undo entry: Python's value would hide it, so send it again.
        const own = signals[name].peek();
        if (!gesture.hasMoved || !isUndoable(name)) receive(name);
        else if (!isEqual(inModel(name), traitOf(name).encode(own))) pending.set(name, own);
      }
      flush();
    }
    function cancel() {
      if (!isActive()) return;
      const changes = options.restore?.() ?? before;
      if (namesOf(changes).some((name) => !isEqual(changes[name], signals[name].peek()))) queue(changes);
      end();
    }
    const gesture: ActiveGesture = { traits, merge, isQuiet, onEnd, end, deferred: new Set(), hasMoved: false };
    if (traits.some(isUndoable)) history.start();
    active.value = gesture;
    return { move: (value) => isActive() && move(value), end, cancel };
  }
  /** Starts a drag of one trait's whole value. */
  const dragOf = <N extends Writable>(name: N, isQuiet = false): Gesture<TraitValues[N]> =>
    startGesture({ traits: [name], isQuiet, move: (value) => set({ [name]: value }, { stream: true }) });
  /** TraitValues that replace what a gesture holds and what Python was about to be told; a gesture of these traits ends. */
  function replace(changes: Changes) {
    for (const name of namesOf(changes)) pending.delete(name);
    assign(changes);
    if (namesOf(changes).some((name) => active.peek()?.traits.includes(name))) stop();
  }

  /** Follow the model until `abort`. The parts of the history that this adds are restored before those that are there. */
  function follow(special: Receivers, restorable: Restorable, abort: AbortSignal) {
    receivers = special;
    for (const name of TRAIT_NAMES) {
      if (traitOf(name).undoable === "alone") {
        const usable = (restorable[name] ?? ((value) => value)) as (value: unknown) => unknown;
        const restore = (entry: unknown) => queue({ [name]: usable(entry) });
        parts.set(name, history.add<unknown>({ here: () => signals[name].peek(), isSame: isEqual, restore }));
      }
      const listener = () => receive(name);
      model.on(`change:${wireName(name)}`, listener);
      abort.addEventListener("abort", () => model.off(`change:${wireName(name)}`, listener));
    }
    abort.addEventListener("abort", () => {
      clearTimeout(timer);
      flush();
    });
  }

  return {
    signals,
    /** Whether something is being dragged: what is slow to update, or to read aloud, waits. */
    dragging: computed(() => active.value?.isQuiet === false),
    isHeld: (name: TraitName) => active.peek()?.traits.includes(name) === true,
    /** The value that the model holds. */
    received,
    set,
    setter,
    queue,
    send,
    replace,
    startGesture,
    dragOf,
    follow,
    /** Change or, by undefined, forget what the history remembers of a trait. */
    reviseHistory: <N extends TraitName>(name: N, revised: (entry: TraitValues[N]) => TraitValues[N] | undefined) =>
      parts.get(name)?.revise(revised as (entry: unknown) => unknown),
  };
}
