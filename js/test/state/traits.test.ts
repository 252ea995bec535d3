// The table of synced traits: the same traits and owners as in Python, and none of Python's own traits is sent.

import { describe, expect, it } from "vitest";
import { createStore } from "../../src/state/store.ts";
import { type Owner, TRAITS, type TraitName, wireName } from "../../src/state/traits.ts";
import { stateOf } from "../chains.ts";
import { eachWithClock, FakeModel } from "../helpers.ts";

interface Row {
  readonly owner: Owner;
  readonly undoable?: string;
}

const rows = Object.entries(TRAITS) as [TraitName, Row][];
const abort = eachWithClock();

describe("the table of traits", () => {
  it("names exactly what the store listens to", () => {
    const model = new FakeModel(stateOf([]));
    createStore(model, abort().signal);
    // Two more: for what an update says about itself, and for a lost kernel.
    expect(model.listening).toBe(rows.length + 2);
  });
  it("lets Python's own traits be read, and none of them is ever sent", () => {
    const model = new FakeModel(stateOf([]));
    const store = createStore(model, abort().signal);
    const own = rows.flatMap(([name, { owner }]) => (owner === "python" ? [wireName(name)] : []));
    store.rates.focus("c");
    store.rates.toggle("c");
    store.rates.setRate("peak_flops", 70);
    store.view.setZoom([1, 10, 1, 10]);
    store.view.freeze();
    for (const step of [store.history.undo, store.history.undo, store.history.redo]) step();
    expect(model.sent.length).toBeGreaterThan(4);
    for (const message of model.sent) expect(Object.keys(message).filter((name) => own.includes(name))).toEqual([]);
  });
});
