// Undo and redo of what is chosen about the chips.

import { describe, expect, it, vi } from "vitest";
import { createStore } from "../../src/state/store.ts";
import { eachWithClock, FakeModel, LESSON, PROFILE, VIEWING, wireChip, wireKernels } from "../helpers.ts";

const CHIPS = [
  wireChip({ id: "a", peaks: { bf16: 100, fp8: 200 }, memories: { HBM: 10, L2: 50 } }),
  wireChip({ id: "b", peaks: { bf16: 60 }, memories: { HBM: 8 } }),
  wireChip({ id: "c", peaks: { fp8: 40 }, memories: { HBM: 4, L2: null } }),
];
const STATE = {
  ...{ title: "", chips: CHIPS, kernels: wireKernels([{ flops: 10, bytes: 1 }]), shown: ["a", "b"], focus_chip: "a" },
  ...{ precision: "auto", memory: "main", what_if: {}, exposed_comm: 0, exposed_roofs: [], ceilings: null },
  ...{ all_levels: false, launch_overhead: 0, graphs: [], phase: "", partition: null, dims: {}, convention: "" },
  ...{ dtype: null, selected: [], hovered: null },
  ...VIEWING,
  ...LESSON,
  ...PROFILE,
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
    store.setRate("bandwidth", 20);
    store.toggle("b");
    expect(store.shown.value).toEqual(["a"]);
    store.undo();
    expect(store.shown.value).toEqual(["a", "b"]);
    expect(store.focusRoof.value?.bandwidth).toBe(20);
    store.undo();
    expect(store.focusRoof.value?.bandwidth).toBe(10);
    store.redo();
    store.redo();
    expect([store.shown.value, store.focusRoof.value?.bandwidth]).toEqual([["a"], 20]);
    expect(model.sent.filter((sent) => "shown" in sent).map((sent) => sent["shown"])).toEqual([
      ...[["a"], ["a", "b"], ["a"]],
    ]);
  });
  it("takes back a chip and the focus that went with it in one step and one message", () => {
    const { model, store } = make();
    store.toggle("a");
    expect([store.shown.value, store.focusChip.value]).toEqual([["b"], "b"]);
    store.undo();
    expect([store.shown.value, store.focusChip.value]).toEqual([["a", "b"], "a"]);
    expect(model.sent.at(-1)).toEqual({ shown: ["a", "b"], focus_chip: "a" });
    expect(store.canUndo.value).toBe(false);
  });
  it("takes back precision, memory, ceilings, drawn roofs and levels", () => {
    const { store } = make();
    const now = () => [
      ...[store.precision.value, store.memory.value, store.ceilings.value, store.exposedRoofs.value],
      ...[store.allLevels.value, store.focusChip.value],
    ];
    const before = now();
    store.choosePrecision("fp8");
    store.chooseMemory("all");
    store.toggleCeiling("bf16");
    store.setExposedRoofs([0.2]);
    store.setAllLevels(true);
    expect(now()).not.toEqual(before);
    for (let step = 0; step < 5; step++) store.undo();
    expect([now(), store.canUndo.value]).toEqual([before, false]);
  });
  it("takes back several steps of one key on the exposed roofs at once", () => {
    const { store } = make();
    for (const share of [0.01, 0.02, 0.03]) store.setExposedRoofs([share], { stream: true });
    store.undo();
    expect([store.exposedRoofs.value, store.canUndo.value]).toEqual([[], false]);
  });
  it("takes back in one step what Python changes together", () => {
    const { model, store } = make();
    model.receive("focus_chip", "c");
    model.receive("shown", ["a", "b", "c"]);
    vi.advanceTimersByTime(LATER_MS);
    model.receive("memory", "HBM");
    store.undo();
    expect([store.memory.value, store.focusChip.value]).toEqual(["main", "c"]);
    store.undo();
    expect([store.shown.value, store.focusChip.value, store.canUndo.value]).toEqual([["a", "b"], "a", false]);
  });
  it("restores nothing of chips that Python has replaced, and Python's new choices make no step", () => {
    const { model, store } = make();
    store.toggle("b");
    store.choosePrecision("fp8");
    model.receive("chips", [wireChip({ id: "d", peaks: { bf16: 1 } })]);
    model.receive("shown", ["d"]);
    model.receive("focus_chip", "d");
    model.receive("precision", "auto");
    expect([store.canUndo.value, store.shown.value]).toEqual([false, ["d"]]);
    store.undo();
    expect([store.shown.value, store.focusChip.value, store.precision.value]).toEqual([["d"], "d", "auto"]);
  });
});
