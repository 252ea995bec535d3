// The work of the store for each move of a drag: the signals that are computed, and what is sent to Python.

import { effect } from "@preact/signals";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createStore, type Store } from "../../src/state/store.ts";
import { DEFAULTS, eachWithClock, FakeModel, several, wireChip, wireKernels } from "../helpers.ts";

/** How often each signal was computed. The key is the place in the source that made it, and the caller of that place. */
const computations = vi.hoisted(() => new Map<string, number>());

vi.mock("@preact/signals", async (load) => {
  const signals = await load<typeof import("@preact/signals")>();
  function computed<T>(compute: () => T) {
    const places = [...(new Error().stack ?? "").matchAll(/js\/src\/(\S+:\d+):\d+/g)].map(([, place]) => place);
    const name = places.slice(0, 2).join(" < ");
    return signals.computed(() => {
      computations.set(name, (computations.get(name) ?? 0) + 1);
      return compute();
    });
  }
  return { ...signals, computed };
});

/** Records each message that the page sends, as JSON. */
class RecordingModel extends FakeModel {
  readonly messages: string[] = [];

  override send(content: unknown) {
    this.messages.push(JSON.stringify(content));
    super.send(content);
  }
}

const abort = eachWithClock();
beforeEach(() => {
  vi.stubGlobal("requestIdleCallback", (act: () => void) => setTimeout(act, IDLE_MS));
});
afterEach(() => vi.unstubAllGlobals());

// Moves of 16 ms. Before the first counted move, the numbers of the panels have been updated once. The page is idle two
// frames after a callback has asked for that.
const [MOVES_BEFORE, MOVES, MOVE_MS, IDLE_MS] = [16, 125, 16, 32];

// Per drag of 2 s: the signals that are computed if every signal of the store is read, and the messages to Python and
// their size as JSON, bytes. Lower a budget when its count has become lower: a failed test prints the counts.
const BUDGETS = [
  { drag: "rate", count: 1000, computed: 2734, messages: 8, bytes: 1008 },
  { drag: "rate", count: 10_000, computed: 2656, messages: 8, bytes: 1008 },
  { drag: "kernel", count: 1000, computed: 250, messages: 8, bytes: 800 },
  { drag: "kernel", count: 10_000, computed: 250, messages: 8, bytes: 800 },
] as const;

const drags = {
  rate(store: Store) {
    const { move } = store.rates.dragRates({ quantity: "peak_flops" });
    return (number: number) => move([1e14 + 1e12 * number]);
  },
  kernel(store: Store) {
    const { move } = store.rows.dragKernel(5, false);
    return (number: number) => move({ bytes: 1 + number / 256 });
  },
};

/** Reads every signal of a store whenever the signal changes. */
function readAll(store: Store) {
  for (const slice of Object.values(store)) {
    for (const part of Object.values(slice as Readonly<Record<string, unknown>>)) {
      if (part !== null && typeof part === "object" && "subscribe" in part && "value" in part) {
        effect(() => void part.value);
      }
    }
  }
}

it.each(BUDGETS)(
  "a drag of a $drag among $count kernels does no more than its budget",
  ({ drag, count, ...budget }) => {
    const chips = several(4, (at) => wireChip({ id: `chip ${at}`, peaks: { bf16: 1e14 * 2 ** at } }));
    const kernels = several(count, (at) => ({
      flops: 1e9 * (1 + (at % 97)),
      bytes: 1e7 * (1 + (at % 89)),
      time: 1e-3,
    }));
    const shown = several(4, (at) => `chip ${at}`);
    const model = new RecordingModel({
      ...DEFAULTS,
      chips,
      kernels: wireKernels(kernels),
      shown,
      focus_chip: "chip 0",
    });
    const store = createStore(model, abort().signal);
    readAll(store);
    const move = drags[drag](store);
    for (let number = 1; number <= MOVES_BEFORE + MOVES; number++) {
      if (number === MOVES_BEFORE + 1) {
        computations.clear();
        model.messages.length = 0;
      }
      move(number);
      vi.advanceTimersByTime(MOVE_MS);
    }
    const most = [...computations].sort(([, one], [, other]) => other - one);
    // The name of the page is random, and not always as long.
    const sent = model.messages.map((text) => text.replace(/"page":"[^"]*"/, `"page":"${"-".repeat(11)}"`)).join("");
    const did = {
      computed: most.reduce((sum, [, times]) => sum + times, 0),
      messages: model.messages.length,
      bytes: new TextEncoder().encode(sent).length,
    };
    const isOver = did.computed > budget.computed || did.messages > budget.messages || did.bytes > budget.bytes;
    const names = most.slice(0, 12).map(([name, times]) => `${times} ${name}`);
    expect(isOver, [`${JSON.stringify(did)}, budget ${JSON.stringify(budget)}`, ...names].join("\n")).toBe(false);
  },
);
