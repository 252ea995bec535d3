// Undo and redo of what is chosen about the chips.

import { describe, expect, it, vi } from "vitest";
import { createStore } from "../../src/state/store.ts";
import { DEFAULTS, eachWithClock, FakeModel, wireChip, wireKernels } from "../helpers.ts";

const LINKS = [
  { name: "NVLink", bandwidth: 4, latency: null },
  { name: "PCIe", bandwidth: 1, latency: null },
];
const CHIPS = [
  wireChip({ id: "a", peaks: { bf16: 100, fp8: 200 }, memories: { HBM: 10, L2: 50 }, link: 4, links: LINKS }),
  wireChip({ id: "b", peaks: { bf16: 60 }, memories: { HBM: 8 } }),
  wireChip({ id: "c", peaks: { fp8: 40 }, memories: { HBM: 4, L2: null } }),
];
const STATE = {
  ...DEFAULTS,
  chips: CHIPS,
  kernels: wireKernels([{ flops: 10, bytes: 1 }]),
  shown: ["a", "b"],
  focus_chip: "a",
};
/** More than the time within which messages of Python are one change, ms. */
const LATER_MS = 1000;

const abort = eachWithClock();

function make() {
  const model = new FakeModel(STATE);
  return { model, store: createStore(model, abort().signal) };
}

describe("undo", () => {
  it("takes back what was changed last, be it a chip or a slider", () => {
    const { model, store } = make();
    store.rates.setRate("bandwidth", 20);
    store.rates.toggle("b");
    expect(store.rates.shown.value).toEqual(["a"]);
    store.history.undo();
    expect(store.rates.shown.value).toEqual(["a", "b"]);
    expect(store.rates.focusRoof.value?.bandwidth).toBe(20);
    store.history.undo();
    expect(store.rates.focusRoof.value?.bandwidth).toBe(10);
    store.history.redo();
    store.history.redo();
    expect([store.rates.shown.value, store.rates.focusRoof.value?.bandwidth]).toEqual([["a"], 20]);
    expect(model.sent.filter((sent) => "shown" in sent).map((sent) => sent["shown"])).toEqual([
      ...[["a"], ["a", "b"], ["a"]],
    ]);
  });
  it("takes back a chip and the focus that went with it in one step and one message", () => {
    const { model, store } = make();
    store.rates.toggle("a");
    expect([store.rates.shown.value, store.rates.focusChip.value]).toEqual([["b"], "b"]);
    store.history.undo();
    expect([store.rates.shown.value, store.rates.focusChip.value]).toEqual([["a", "b"], "a"]);
    expect(model.sent.at(-1)).toEqual({ shown: ["a", "b"], focus_chip: "a" });
    expect(store.history.canUndo.value).toBe(false);
  });
  it("takes back precision, memory, ceilings, drawn roofs and levels", () => {
    const { store } = make();
    const now = () => [
      ...[
        store.rates.precision.value,
        store.rates.memory.value,
        store.rates.ceilings.value,
        store.rates.exposedRoofs.value,
      ],
      ...[store.rates.allLevels.value, store.rates.focusChip.value],
    ];
    const before = now();
    store.rates.choosePrecision("fp8");
    store.rates.chooseMemory("all");
    store.rates.toggleCeiling("bf16");
    store.rates.setExposedRoofs([0.2]);
    store.rates.setAllLevels(true);
    expect(now()).not.toEqual(before);
    for (let step = 0; step < 5; step++) store.history.undo();
    expect([now(), store.history.canUndo.value]).toEqual([before, false]);
  });
  it("takes back the link and the topology of the network plane", () => {
    const { model, store } = make();
    store.rates.setLink("PCIe");
    store.rates.setTopology("in-network");
    expect([store.rates.focusLink.value?.name, model.sent]).toEqual([
      "PCIe",
      [{ link: "PCIe" }, { topology: "in-network" }],
    ]);
    store.history.undo();
    expect([store.rates.topology.value, store.view.status.value.text]).toEqual(["switch", "Undone: topology"]);
    store.history.undo();
    expect([store.rates.focusLink.value?.name, store.view.status.value.text]).toEqual(["NVLink", "Undone: link"]);
    expect(model.sent.at(-1)).toEqual({ link: "" });
    store.rates.setLink("PCIe");
    model.receive("chips", CHIPS.slice(1));
    expect([store.rates.focusLink.value, store.history.canUndo.value]).toEqual([undefined, false]);
  });
  it("names the link whose rates it takes back", () => {
    const { store } = make();
    const told = () => {
      store.history.undo();
      return store.view.status.value.text;
    };
    store.rates.setRate("latency", 1e-6, { level: "network" });
    expect(told()).toBe("Undone: latency of NVLink");
    store.rates.setRate("bandwidth", 2, { level: "network" });
    expect(told()).toBe("Undone: bandwidth of NVLink");
    store.rates.setRate("bandwidth", 20);
    expect(told()).toBe("Undone: bandwidth of a");
    const drag = store.rates.dragRates(
      { quantity: "bandwidth", level: "network" },
      { quantity: "latency", level: "network" },
    );
    drag.move([3, 1e-6]);
    drag.end();
    expect(told()).toBe("Undone: rates");
  });
  it("takes back several steps of one key on the exposed roofs at once", () => {
    const { store } = make();
    for (const share of [0.01, 0.02, 0.03]) store.rates.setExposedRoofs([share], { stream: true });
    store.history.undo();
    expect([store.rates.exposedRoofs.value, store.history.canUndo.value]).toEqual([[], false]);
  });
  it("takes back in one step what Python changes together", () => {
    const { model, store } = make();
    model.receive("focus_chip", "c");
    model.receive("shown", ["a", "b", "c"]);
    vi.advanceTimersByTime(LATER_MS);
    model.receive("memory", "HBM");
    store.history.undo();
    expect([store.rates.memory.value, store.rates.focusChip.value]).toEqual(["main", "c"]);
    store.history.undo();
    expect([store.rates.shown.value, store.rates.focusChip.value, store.history.canUndo.value]).toEqual([
      ["a", "b"],
      "a",
      false,
    ]);
  });
  it("restores nothing of chips that Python has replaced, and Python's new choices make no step", () => {
    const { model, store } = make();
    store.rates.toggle("b");
    store.rates.choosePrecision("fp8");
    model.receive("chips", [wireChip({ id: "d", peaks: { bf16: 1 } })]);
    model.receive("shown", ["d"]);
    model.receive("focus_chip", "d");
    model.receive("precision", "auto");
    expect([store.history.canUndo.value, store.rates.shown.value]).toEqual([false, ["d"]]);
    store.history.undo();
    expect([store.rates.shown.value, store.rates.focusChip.value, store.rates.precision.value]).toEqual([
      ["d"],
      "d",
      "auto",
    ]);
  });
});
