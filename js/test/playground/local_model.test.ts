// A model that plays Python's part: a store that follows it behaves as in a notebook.

import { describe, expect, it, vi } from "vitest";
import { localModel, type Values } from "../../src/playground/local_model.ts";
import { graphValues } from "../../src/playground/play_state.ts";
import { wireKernels } from "../../src/playground/records.ts";
import { createStore } from "../../src/state/store.ts";
import { textAt } from "../../src/wire/columns.ts";
import type { WireChip } from "../../src/wire/types.ts";
import { eachWithClock } from "../helpers.ts";
import { EMPTY, GRAPH, STOCK } from "./stock.ts";

const abort = eachWithClock();
const kernels = (...names: string[]) =>
  wireKernels({ names, flops: { "": names.map(() => 1e9) }, bytes: { main: names.map(() => 1e6) } });

function start(values: Values = EMPTY) {
  const changed = vi.fn();
  const local = localModel(values, STOCK.chip, changed);
  const store = createStore(local.model, abort().signal);
  const names = () => {
    const table = store.rows.kernels.value;
    return Array.from({ length: table.n }, (_, row) => textAt(table.name, row));
  };
  return { local, store, changed, names };
}
/** All that the page has collected is sent. */
const settle = () => vi.advanceTimersByTime(1000);

describe("a model without Python", () => {
  it("shows kernels that it gets, without an undo entry, and keeps the entries before", () => {
    const { local, store, names } = start();
    store.rates.addChip("one");
    local.receive({ kernels: kernels("a", "b") });
    expect(names()).toEqual(["a", "b"]);
    store.history.undo();
    expect(store.rates.chips.value).toEqual([]);
    expect(names()).toEqual(["a", "b"]);
    expect(store.history.canUndo.value).toBe(false);
  });
  it("sends the figures of a chip that a person adds, and takes them back", () => {
    const { local, store } = start();
    // A page that knows the catalogue sends all three.
    const values = { added_chips: ["two"], shown: ["two"], focus_chip: "two" };
    local.model.send({ kind: "roofwidget", page: "x", number: 1, values });
    expect(local.values()["chips"]).toMatchObject([{ id: "two", added: true }]);
    expect(store.rates.focusRoof.value?.chip.name).toBe("TWO");
    store.rates.removeChip("two");
    expect(local.values()).toMatchObject({ added_chips: [], chips: [], shown: [] });
  });
  it("shows a chip and a graph that a person chooses elsewhere on the page, without undo entries", () => {
    const { local, store } = start();
    local.receiveQuietly({ added_chips: ["one"], shown: ["one"], focus_chip: "one" });
    local.receive(graphValues(GRAPH));
    expect(store.rates.focusRoof.value?.chip.name).toBe("ONE");
    expect(store.workload.graph.value?.graph.ops).toHaveLength(2);
    expect(store.history.canUndo.value).toBe(false);
  });
  it("answers each message, so that nothing waits", () => {
    const { store, changed } = start({
      ...EMPTY,
      chips: [STOCK.chip("one") as WireChip],
      shown: ["one"],
      focus_chip: "one",
    });
    changed.mockClear();
    store.rates.setRate("bandwidth", 2e12);
    settle();
    expect(store.python.waitingSince.value).toBeUndefined();
    expect(changed).toHaveBeenCalledTimes(1);
  });
  it("merges the what-ifs of two chips", () => {
    const chips = ["one", "two"].map((id) => STOCK.chip(id) as WireChip);
    const { local, store } = start({ ...EMPTY, chips, shown: ["one", "two"], focus_chip: "one" });
    store.rates.setRate("bandwidth", 2e12);
    store.rates.focus("two");
    store.rates.setRate("bandwidth", 3e12);
    settle();
    expect(local.values()["what_if"]).toEqual({ one: { bandwidth: { HBM: 2e12 } }, two: { bandwidth: { HBM: 3e12 } } });
  });
  it("shows a graph and takes its merges, which can be undone", () => {
    const { local, store, names } = start();
    local.receive({ kernels: kernels("own") });
    local.receive(graphValues(GRAPH));
    const before = names();
    expect(before).toHaveLength(GRAPH.ops.length);
    const graph = store.workload.graph.value;
    if (!graph) throw new Error("no graph");
    store.workload.setPartition({
      ...graph.partition,
      groups: [[0, 1], ...GRAPH.ops.slice(2).map((_, at) => [at + 2])],
    } as never);
    settle();
    expect((local.values()["partition"] as unknown[])[0]).toEqual([0, 1]);
    store.history.undo();
    settle();
    expect(names()).toEqual(before);
    local.receive(graphValues(undefined));
    expect(names()).toEqual(["own"]);
  });
  it("forgets what-ifs of kernels that are gone", () => {
    const { local, store } = start({ ...EMPTY, kernels: kernels("a", "b") });
    store.rows.setMove(1, { bytes: 0.5 });
    settle();
    expect(local.values()["moves"]).toEqual({ 1: { bytes: 0.5 } });
    local.receive({ kernels: kernels("c") });
    expect(local.values()["moves"]).toEqual({});
    expect(store.rows.moves.value).toEqual({});
  });
  it("does not let a page change what Python owns", () => {
    const { local } = start();
    local.model.send({ kind: "roofwidget", page: "x", number: 1, values: { kernels: null, title: "x", top: 5 } });
    expect(local.values()).toMatchObject({ title: "", top: 5, kernels: EMPTY["kernels"] });
  });
  it("refuses what only Python can do", async () => {
    const { store } = start();
    await expect(store.python.ask({ ask: "rules", text: "" })).resolves.toMatchObject({
      refused: "there is no Python here",
    });
  });
});
