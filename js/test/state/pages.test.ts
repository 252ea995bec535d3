// Several pages of one model and a simulated Python, whose messages are delayed, lost, repeated and cross each other.
// Whatever happens, all end on the same values. The protocol is described in roofwidget/state/messages.py.

import { describe, expect, it, vi } from "vitest";
import { fuse } from "../../src/fusion/partition.ts";
import { applied, type Changes } from "../../src/state/changes.ts";
import { STAMP } from "../../src/state/messages.ts";
import type { Model } from "../../src/state/model.ts";
import { createStore, type Store } from "../../src/state/store.ts";
import { TRAITS, type TraitName, wireName } from "../../src/state/traits.ts";
import { isEqual } from "../../src/ui/equal.ts";
import { chain, stateOf } from "../chains.ts";
import { eachWithClock, type PageMessage, seeded, wireChip } from "../helpers.ts";

type State = Record<string, unknown>;
const ROWS = ["selected", "moves", "at_roof"] as const;
const NO_ROWS: State = { selected: [], moves: {}, at_roof: [] };
const SHARED = (Object.keys(TRAITS) as TraitName[]).filter((name) => TRAITS[name].owner === "shared");
const copyOf = <T>(value: T): T => structuredClone(value);
/** Keys in alphabetical order, so that mappings can be compared as text. */
const sorted = (value: unknown): unknown =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(
        Object.entries(value)
          .map(([key, own]) => [key, sorted(own)] as const)
          .sort(),
      )
    : value;

/** The model in one page: like the real one, it reports only what differs from the value before. */
class PageModel implements Model {
  readonly #state: State;
  readonly #listeners = new Map<string, Set<() => void>>();
  readonly send: (content: unknown) => void;
  constructor(state: State, send: (content: unknown) => void) {
    this.#state = state;
    this.send = send;
  }
  get(name: string): unknown {
    return this.#state[name];
  }
  on(event: string, callback: () => void): void {
    const callbacks = this.#listeners.get(event) ?? new Set();
    this.#listeners.set(event, callbacks.add(callback));
  }
  off(event: string, callback: () => void): void {
    this.#listeners.get(event)?.delete(callback);
  }
  update(values: State): void {
    const changed = Object.keys(values).filter((name) => !isEqual(values[name], this.#state[name]));
    Object.assign(this.#state, copyOf(values));
    for (const name of changed) for (const callback of this.#listeners.get(`change:${name}`) ?? []) callback();
  }
}

/** Python, and the network between Python and the pages. */
class World {
  readonly state: State;
  readonly random: () => number;
  readonly stores: Store[] = [];
  readonly #models: PageModel[] = [];
  /** The messages that are on their way to Python. */
  #toPython: { from: number; content: PageMessage }[] = [];
  /** By page: the updates that are on their way to the page, in order. */
  readonly #toPages: State[][] = [];
  readonly #isCut: boolean[] = [];
  readonly #latest = new Map<string, number>();
  #clock = 0;
  #handled: readonly [page: string, number: number] = ["", 0];

  constructor(state: State, random: () => number) {
    this.state = state;
    this.random = random;
  }
  /** Opens a page. */
  open(abort: AbortSignal): Store {
    const at = this.stores.length;
    const model = new PageModel(copyOf(this.#whole()), (content) => {
      // A message that is sent into a cut connection is lost, or it waits until the page is connected again.
      if (!this.#isCut[at] || this.random() < 0.5)
        this.#toPython.push({ from: at, content: copyOf(content) as PageMessage });
    });
    this.#models.push(model);
    this.#toPages.push([]);
    this.#isCut.push(false);
    const store = createStore(model, abort);
    this.stores.push(store);
    return store;
  }
  cut(at: number): void {
    this.#isCut[at] = true;
    this.#toPages[at] = [];
    this.#toPython = this.#toPython.filter(({ from }) => from !== at || this.random() < 0.5);
  }
  /** Connects a page again. As JupyterLab does, it fetches the whole state, which may arrive after newer updates. */
  reconnect(at: number): void {
    if (!this.#isCut[at]) return;
    this.#isCut[at] = false;
    const whole = copyOf(this.#whole());
    const deliver = () => this.#models[at]?.update(whole);
    if (this.random() < 0.5) deliver();
    else setTimeout(deliver, 400 * this.random());
  }
  isCut = (at: number): boolean => this.#isCut[at] === true;

  /** Changes values as Python code does. */
  change(values: State): void {
    if (!this.#set(values)) return;
    this.#send(values, 0);
    this.#forgetRows(values);
  }
  /** Delivers one message to Python or one update to a page. Returns whether there was one. */
  deliver(): boolean {
    const ready = this.#toPages.flatMap((queue, at) => (queue.length > 0 ? [at] : []));
    const waiting = this.#toPython.filter(({ from }) => !this.#isCut[from]);
    const pick = Math.floor(this.random() * (ready.length + waiting.length));
    const [at, message] = [ready[pick], waiting[pick - ready.length]];
    if (at !== undefined) this.#models[at]?.update(this.#toPages[at]?.shift() as State);
    else if (message) {
      this.#toPython.splice(this.#toPython.indexOf(message), 1);
      this.#handle(message.content);
    }
    return at !== undefined || message !== undefined;
  }

  #whole(): State {
    return { ...this.state, [STAMP]: [this.#clock, "", -1] };
  }
  #handle({ page, number, values = {}, changes = {}, ask }: PageMessage): void {
    const names = ask ?? [...Object.keys(values), ...Object.keys(changes)];
    this.#handled = [page, number];
    if (!ask && number > (this.#latest.get(page) ?? 0)) {
      this.#latest.set(page, number);
      const merged = Object.entries(changes).map(([name, own]) => [name, applied(this.state[name] as Changes, own)]);
      const next = { ...values, ...Object.fromEntries(merged) };
      if (this.#set(next)) this.#forgetRows(next);
    }
    // The phase and the partition come first, as in Python.
    const named = names.filter((name) => name in this.state && name !== "hovered");
    const first = ["partition", "phase"];
    named.sort((one, other) => first.indexOf(other) - first.indexOf(one));
    this.#send(Object.fromEntries(named.map((name) => [name, this.state[name]])), number);
    this.#handled = ["", 0];
  }
  /** Takes all values or none. */
  #set(values: State): boolean {
    if (isRefused({ ...this.state, ...values })) return false;
    Object.assign(this.state, copyOf(values));
    return true;
  }
  /** Other groups reset the rows, unless the same message names rows. */
  #forgetRows(values: State): void {
    if (!("partition" in values)) return;
    for (const name of ROWS) {
      if (name in values || isEqual(this.state[name], NO_ROWS[name])) continue;
      this.state[name] = copyOf(NO_ROWS[name]);
      this.#send({ [name]: this.state[name] }, 0);
    }
  }
  #send(values: State, number: number): void {
    this.#clock += 1;
    const update = copyOf({ ...values, [STAMP]: [this.#clock, this.#handled[0], number] });
    for (const [at, queue] of this.#toPages.entries()) if (!this.#isCut[at]) queue.push(update);
  }
}

const DIMS = [
  ["n", 1, 1024, 100],
  ["m", 1, 64, 8],
] as const;
const GRAPHS = [
  ["prefill", chain("prefill", { ops: 4, dims: DIMS })],
  ["decode", chain("decode", { ops: 4, dims: DIMS })],
] as const;
const CHIPS = ["c", "d"];
const STATE: State = {
  ...stateOf(GRAPHS),
  chips: CHIPS.map((id) => wireChip({ id, peaks: { bf16: 100, fp8: 200 }, memories: { HBM: 10, L2: 50 } })),
  shown: CHIPS,
};

/** Some values are refused: a bandwidth above 90, the search "no", and rows that the partition does not have. */
function isRefused(state: State): boolean {
  const rates = Object.values(state["what_if"] as Record<string, { bandwidth?: Record<string, number> }>);
  const groups = state["partition"] as unknown[];
  const rows = [...(state["selected"] as number[]), ...Object.keys(state["moves"] as State).map(Number)];
  return (
    rates.some(({ bandwidth = {} }) => Object.values(bandwidth).some((rate) => rate > 90)) ||
    state["search"] === "no" ||
    rows.some((row) => row >= groups.length)
  );
}

const abort = eachWithClock();

/** Does `steps` random things, then lets everything arrive. */
function play(seed: number, steps: number): World {
  const random = seeded(seed);
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
  const world = new World(copyOf(STATE), random);
  const pages = Array.from({ length: 2 + Math.floor(random() * 2) }, () => world.open(abort().signal));
  const drags = new Map<Store, { move(): void; end(): void; cancel(): void }>();

  function drag(page: Store) {
    const kind = pick(["rate", "dim", "kernel", "zoom", "time share"]);
    const rate = () => 5 + 100 * random();
    if (kind === "rate") {
      const quantity = pick(["peak_flops", "bandwidth"] as const);
      const gesture = page.rates.dragRates({ quantity });
      return { ...gesture, move: () => gesture.move([rate()]) };
    }
    if (kind === "dim") {
      const gesture = page.workload.dragDim(pick(["n", "m"]));
      return { ...gesture, move: () => gesture.move(1 + Math.floor(60 * random())) };
    }
    if (kind === "kernel") {
      const gesture = page.rows.dragKernel(0, random() < 0.3);
      return { ...gesture, move: () => gesture.move({ bytes: 0.1 + random() }) };
    }
    const gesture = kind === "zoom" ? page.view.dragZoom() : page.view.dragTimeShare();
    const move = () =>
      kind === "zoom"
        ? page.view.setZoom([1, 10 + 90 * random(), 1, 10], { stream: true })
        : page.view.setTimeShare(0.1 + 0.8 * random(), { stream: true });
    return { ...gesture, move };
  }
  const acts: ((page: Store) => void)[] = [
    (page) => drags.set(page, drag(page)),
    (page) => drags.get(page)?.move(),
    (page) => drags.get(page)?.move(),
    (page) => drags.get(page)?.end(),
    (page) => drags.get(page)?.cancel(),
    (page) => page.rates.setRate(pick(["peak_flops", "bandwidth"]), 5 + 100 * random(), { stream: random() < 0.5 }),
    (page) => page.rates.focus(pick(CHIPS)),
    (page) => page.rates.toggle(pick(CHIPS)),
    (page) => page.rows.select(random() < 0.5 ? [0] : [0, page.rows.kernels.value.n - 1]),
    (page) => page.rows.hover(random() < 0.5 ? 0 : null),
    (page) => page.view.setSearch(pick(["", "a", "no"])),
    (page) => page.view.setPlane(pick(["roofline", "time"])),
    (page) => page.history.undo(),
    (page) => page.history.redo(),
    (page) => page.workload.setPhase(pick(["prefill", "decode"])),
    (page) => page.workload.setDtype(pick([null, "fp8"])),
    (page) => page.rows.setMove(0, { bytes: 0.5 + random() }),
    (page) => {
      const { graph, partition } = page.workload.graph.value as NonNullable<typeof page.workload.graph.value>;
      if (partition.groups.length > 1) page.workload.setPartition(fuse(graph, partition, 0, 1));
    },
  ];
  const byPython: (() => State)[] = [
    () => ({ what_if: random() < 0.5 ? {} : { c: { peak_flops: { bf16: 5 + 100 * random() } } } }),
    () => ({ search: pick(["", "from Python"]) }),
    () => ({ zoom: random() < 0.5 ? null : [1, 2, 3, 4 + random()] }),
    () => ({ selected: [] }),
    () => ({ dims: random() < 0.5 ? {} : { m: 1 + Math.floor(60 * random()) } }),
    () => ({
      partition: pick([
        [[0], [1], [2], [3]],
        [[0, 1], [2], [3]],
      ]),
    }),
  ];
  for (let step = 0; step < steps; step++) {
    const [chance, at] = [random(), Math.floor(random() * pages.length)];
    if (chance < 0.45) pick(acts)(pages[at] as Store);
    else if (chance < 0.5) world.change(pick(byPython)());
    else if (chance < 0.54) world.cut(at);
    else if (chance < 0.6) world.reconnect(at);
    else if (chance < 0.75) vi.advanceTimersByTime(Math.floor(300 * random()));
    else world.deliver();
  }
  for (const gesture of drags.values()) gesture.end();
  for (const at of pages.keys()) world.reconnect(at);
  // Until nothing is under way: an unanswered message is sent again after 10 s at the latest.
  for (let quiet = 0; quiet < 8; ) {
    vi.advanceTimersByTime(10_000);
    let count = 0;
    while (world.deliver()) count += 1;
    quiet = count > 0 ? 0 : quiet + 1;
  }
  return world;
}

function shownIn({ rates, workload, rows, view, lesson }: Store) {
  const traits = { ...rates, ...workload, ...rows, ...view, ...lesson, view: view.plane };
  return sorted(
    Object.fromEntries(
      SHARED.map((name) => [wireName(name), (traits[name as keyof typeof traits] as { value: unknown }).value]),
    ),
  );
}

describe("random pages and Python", () => {
  /** Change the seed to draw other cases. */
  const first = 1;
  it.each([12, 40, 160])(`end on the same values after %i steps, from seed ${first}`, (steps) => {
    for (let seed = first; seed < first + 50; seed++) {
      const world = play(seed, steps);
      const python = sorted(Object.fromEntries(SHARED.map((name) => [wireName(name), world.state[wireName(name)]])));
      for (const store of world.stores) {
        expect(shownIn(store), `seed ${seed}`).toEqual(python);
        expect(store.python.waitingSince.value, `seed ${seed}`).toBeUndefined();
      }
    }
  });
});
