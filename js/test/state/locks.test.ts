// What a lesson locks and limits: the learner's actions do nothing or stay within limits, everything else goes on.

import { describe, expect, it, vi } from "vitest";
import { unfused } from "../../src/fusion/partition.ts";
import { createStore, type Store } from "../../src/state/store.ts";
import { chain, stateOf } from "../chains.ts";
import { eachWithClock, FakeModel, wireChip } from "../helpers.ts";

const abort = eachWithClock();
const CHIPS = [
  wireChip({ id: "a", peaks: { bf16: 100, fp8: 200 }, memories: { HBM: 10, L2: 50 } }),
  wireChip({ id: "b", peaks: { bf16: 60 }, memories: { HBM: 8 } }),
];
const PHASES: readonly (readonly [string, unknown])[] = [
  ["one", chain("one")],
  ["two", chain("two")],
];

function make(changes: Readonly<Record<string, unknown>> = {}) {
  const state = { chips: CHIPS, shown: ["a", "b"], focus_chip: "a", ...changes };
  const model = new FakeModel({ ...stateOf(PHASES), ...state });
  const store = createStore(model, abort().signal);
  return { model, store };
}

const merged = (store: Store) => {
  const now = store.workload.graph.value;
  if (!now) throw new Error("no graph");
  const one = unfused(now.graph);
  return { ...one, groups: [one.groups.flat()], groupOf: one.groupOf.map(() => 0) };
};

/** By lock: what a learner could do. Each of these changes something as long as it is not locked. */
const ACTIONS: Readonly<Record<string, readonly ((store: Store) => unknown)[]>> = {
  peak_flops: [
    (store) => store.rates.setRate("peak_flops", 150),
    (store) => store.rates.dragRates({ quantity: "peak_flops" }).move([150]),
  ],
  bandwidth: [
    (store) => store.rates.setRate("bandwidth", 15),
    (store) => store.rates.setRate("bandwidth", 60, { level: "L2" }),
    (store) => store.rates.dragRates({ quantity: "bandwidth" }).move([15]),
  ],
  chips: [
    (store) => store.rates.focus("b"),
    (store) => store.rates.toggle("b"),
    (store) => store.rates.addChip("c"),
    (store) => store.rates.removeChip("b"),
  ],
  precision: [(store) => store.rates.choosePrecision("fp8")],
  memory: [(store) => store.rates.chooseMemory("all"), (store) => store.rates.setLink("PCIe")],
  partition: [(store) => store.workload.setPartition(merged(store))],
  dims: [(store) => store.workload.setDim("n", 10), (store) => store.workload.dragDim("n").move(10)],
  phase: [
    (store) => store.workload.setPhase("two"),
    (store) => store.workload.setConvention("mac"),
    (store) => store.workload.setDtype("fp8"),
  ],
  moves: [
    (store) => store.rows.setMove(0, { bytes: 0.5 }),
    (store) => store.rows.dragKernel(0, false).move({ bytes: 0.5 }),
  ],
  filters: [
    (store) => store.view.setSearch("a"),
    (store) => store.view.setCategories(["a"]),
    (store) => store.view.setBounds(["compute"]),
    (store) => store.view.setPrecisions(["bf16"]),
    (store) => store.view.setPhases(["decode"]),
    (store) => store.view.setTimeShare(0.5),
    (store) => store.view.dragTimeShare().move(0.5),
    (store) => store.view.setTop(5),
    (store) => store.view.setInfeed(true),
    (store) => store.view.setScope("program"),
    (store) => store.view.setSortBy("name"),
  ],
  view: [
    (store) => store.view.setPlane("time"),
    (store) => store.view.setZoom([1, 10, 1, 10]),
    (store) => store.view.dragZoom().move([1, 10, 1, 10]),
    (store) => store.view.setAxis("word", 4),
    (store) => store.rates.setTopology("ring"),
  ],
};
const CASES = Object.entries(ACTIONS).flatMap(([lock, acts]) => acts.map((act) => [lock, String(act), act] as const));

describe("what is locked", () => {
  it.each(CASES)("%s: %s does nothing, makes no undo entry and sends nothing", (lock, _, act) => {
    const { model, store } = make({ locks: [lock], infeed: false });
    const before = model.sent.length;
    act(store);
    vi.advanceTimersByTime(1000);
    expect(model.sent.slice(before)).toEqual([]);
    expect(store.history.canUndo.value).toBe(false);
    expect([store.rates.whatIf.value, store.rows.moves.value, store.view.zoom.value]).toEqual([{}, {}, null]);
    expect(store.lesson.lockNote(lock as "dims")).toBe("Locked in this lesson");
  });
  it.each(CASES)("%s: %s has an effect if only other things are locked", (lock, _, act) => {
    const { model, store } = make({ locks: Object.keys(ACTIONS).filter((other) => other !== lock), infeed: false });
    act(store);
    vi.advanceTimersByTime(1000);
    expect(model.sent.length).toBeGreaterThan(0);
  });
  it("is changed by undo, redo, Python and a step of a story", () => {
    const base = { what_if: {}, focus_chip: "a", dims: {}, phase: "one", partition: null, convention: "", dtype: null };
    const step = { caption: [], changes: {}, question: null, hides: false };
    const other = { ...step, changes: { focus_chip: "b", what_if: { b: { peak_flops: { bf16: 70 } } } } };
    const { model, store } = make({ story: { base, steps: [step, other] } });
    store.rates.setRate("peak_flops", 150);
    store.rates.focus("b");
    model.receive("locks", Object.keys(ACTIONS));
    store.history.undo();
    store.history.undo();
    expect([store.rates.focusChip.value, store.rates.whatIf.value]).toEqual(["a", {}]);
    store.history.redo();
    expect(store.rates.whatIf.value).toEqual({ a: { peak_flops: { bf16: 150 } } });
    store.lesson.showStep(1);
    expect([store.rates.focusChip.value, store.rates.whatIf.value]).toEqual(["b", { b: { peak_flops: { bf16: 70 } } }]);
    model.receive("view", "time");
    expect(store.view.plane.value).toBe("time");
  });
  it("stops a drag that has begun", () => {
    const { model, store } = make();
    const [rate, size] = [store.rates.dragRates({ quantity: "bandwidth" }), "n"];
    rate.move([15]);
    model.receive("locks", ["bandwidth", "dims"]);
    rate.move([20]);
    rate.end();
    expect(store.rates.rateNow({ quantity: "bandwidth" })).toBe(15);
    model.receive("locks", []);
    const drag = store.workload.dragDim(size);
    drag.move(10);
    model.receive("locks", ["dims"]);
    drag.move(20);
    drag.end();
    expect(store.workload.dims.value).toEqual({ n: 10 });
  });
  it("leaves the other rate of a drag of the ridge point", () => {
    const { store } = make({ locks: ["peak_flops"] });
    const drag = store.rates.dragRates({ quantity: "peak_flops" }, { quantity: "bandwidth" });
    drag.move([150, 15]);
    drag.end();
    expect(store.rates.focusRoof.value).toMatchObject({ peak: 100, bandwidth: 15 });
    store.history.undo();
    expect(store.rates.whatIf.value).toEqual({});
  });
  it("keeps the focus chip if a chosen precision is missing there", () => {
    const { store } = make({ locks: ["chips"], focus_chip: "b" });
    store.rates.choosePrecision("fp8");
    expect([store.rates.focusChip.value, store.rates.focusRoof.value]).toEqual(["b", undefined]);
  });
});

describe("the rates of a learner", () => {
  const bandwidth = { quantity: "bandwidth" } as const;
  it("stay within the range, whether dragged, typed or set by a key", () => {
    const { store } = make({ ranges: { bandwidth: [5, 20] } });
    store.rates.setRate("bandwidth", 100);
    expect(store.rates.rateNow(bandwidth)).toBe(20);
    store.rates.setRate("bandwidth", 1, { stream: true });
    expect(store.rates.rateNow(bandwidth)).toBe(5);
    const drag = store.rates.dragRates({ quantity: "peak_flops" }, { ...bandwidth, level: "HBM" });
    drag.move([1e6, 1e6]);
    drag.end();
    expect(store.rates.focusRoof.value).toMatchObject({ peak: 1e6, bandwidth: 20 });
    expect(store.rates.rateLimits(bandwidth)).toEqual({ low: 5, high: 20, stops: [] });
  });
  it("snap to the nearest rate on a logarithmic scale", () => {
    const { store } = make({ snap: { bandwidth: [1, 10, 100] } });
    // The middle between 10 and 100 is 31.6, not 55.
    store.rates.setRate("bandwidth", 31);
    expect([store.rates.rateNow(bandwidth), store.rates.whatIf.value]).toEqual([10, {}]);
    store.rates.setRate("bandwidth", 32);
    expect(store.rates.rateNow(bandwidth)).toBe(100);
    store.rates.setRate("bandwidth", 1e9);
    expect(store.rates.rateNow(bandwidth)).toBe(100);
    store.rates.setRate("peak_flops", 31);
    expect(store.rates.rateNow({ quantity: "peak_flops" })).toBe(31);
  });
  it("snap to the rates within the range only", () => {
    const { store } = make({ snap: { bandwidth: [1, 10, 100] }, ranges: { bandwidth: [5, 50] } });
    store.rates.setRate("bandwidth", 49);
    expect([store.rates.rateNow(bandwidth), store.rates.rateLimits(bandwidth).stops]).toEqual([10, [10]]);
  });
  it("are free at other memory levels than that of the roof", () => {
    const { store } = make({ memory: "all", ranges: { bandwidth: [5, 20] }, snap: { bandwidth: [5, 20] } });
    store.rates.setRate("bandwidth", 70, { level: "L2" });
    store.rates.setRate("bandwidth", 70, { level: "HBM" });
    expect(store.rates.whatIf.value).toEqual({ a: { bandwidth: { L2: 70, HBM: 20 } } });
  });
  it("leave Python's values and those of undo as they are, even if these are out of range", () => {
    const { model, store } = make({ ranges: { bandwidth: [5, 20] }, snap: { bandwidth: [5, 20] } });
    model.receive("what_if", { a: { bandwidth: { HBM: 70 } } });
    expect(store.rates.rateNow(bandwidth)).toBe(70);
    const drag = store.rates.dragRates(bandwidth);
    drag.move([6]);
    drag.cancel();
    expect(store.rates.rateNow(bandwidth)).toBe(70);
    store.rates.setRate("bandwidth", 6);
    store.history.undo();
    expect(store.rates.rateNow(bandwidth)).toBe(70);
  });
});
