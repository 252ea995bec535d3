// Chips that a person adds from the catalogue: shown at once, sent to Python by id, taken away and undone.

import { describe, expect, it } from "vitest";
import { createStore, type Store } from "../../src/state/store.ts";
import { stateOf } from "../chains.ts";
import { eachWithClock, FakeModel, wireChip } from "../helpers.ts";

const current = eachWithClock();
const CATALOGUE = [wireChip({ id: "own" }), wireChip({ id: "far", peaks: { bf16: 4e14 } })];

async function packed(value: unknown): Promise<string> {
  const stream = new Blob([JSON.stringify(value)]).stream().pipeThrough(new CompressionStream("gzip"));
  return btoa(String.fromCharCode(...new Uint8Array(await new Response(stream).arrayBuffer())));
}

async function make() {
  const model = new FakeModel({
    ...{ ...stateOf([]), graphs: [], partition: null, phase: "", chips: [wireChip({ id: "own" })] },
    ...{ shown: ["own"], focus_chip: "own", catalogue: await packed(CATALOGUE) },
  });
  const store = createStore(model, current().signal);
  await store.rates.loadCatalogue();
  return { model, store };
}
const ids = ({ rates }: Pick<Store, "rates">) => rates.chips.value.map(({ id }) => id);

describe("a chip of the catalogue", () => {
  it("is shown at once, and Python gets its id", async () => {
    const { model, store } = await make();
    store.rates.addChip("far");
    expect([ids(store), store.rates.shown.value]).toEqual([
      ["own", "far"],
      ["own", "far"],
    ]);
    expect(store.rates.roofs.value.get("far")).toMatchObject({ peak: 4e14 });
    expect(model.sent.at(-1)).toEqual({ added_chips: ["far"], shown: ["own", "far"] });
  });
  it("has the figures of Python as soon as Python has sent them", async () => {
    const { model, store } = await make();
    store.rates.addChip("far");
    model.receive("chips", [
      wireChip({ id: "own" }),
      { ...(wireChip({ id: "far", name: "Far" }) as object), added: true },
    ]);
    expect(store.rates.chips.value.map(({ name }) => name)).toEqual(["own", "Far"]);
    store.rates.removeChip("far");
    expect([ids(store), store.rates.shown.value]).toEqual([["own"], ["own"]]);
  });
  it("is taken away by undo and comes back by redo", async () => {
    const { store } = await make();
    store.rates.addChip("far");
    store.history.undo();
    expect([ids(store), store.rates.shown.value]).toEqual([["own"], ["own"]]);
    store.history.redo();
    expect([ids(store), store.rates.shown.value]).toEqual([
      ["own", "far"],
      ["own", "far"],
    ]);
  });
  it("that is removed comes back by one undo, which leaves no step that does nothing", async () => {
    const { store } = await make();
    store.rates.addChip("far");
    store.rates.removeChip("far");
    store.history.undo();
    expect(ids(store)).toEqual(["own", "far"]);
    store.history.undo();
    expect([ids(store), store.history.canUndo.value]).toEqual([["own"], false]);
  });
  it("gets the focus if no chip has it", async () => {
    const { store } = await make();
    store.rates.toggle("own");
    store.rates.addChip("far");
    expect(store.rates.focusRoof.value?.chip.id).toBe("far");
  });
});
