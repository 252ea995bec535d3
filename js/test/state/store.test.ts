// The store: what is sent to Python and when, which values from Python are taken, and what each action does.

import { effect } from "@preact/signals";
import { describe, expect, it, vi } from "vitest";
import { createStore } from "../../src/state/store.ts";
import { DEFAULTS, eachWithClock, FakeModel, wireChip, wireKernels } from "../helpers.ts";

const STATE = {
  ...DEFAULTS,
  title: "A title",
  chips: [
    wireChip({ id: "a", peaks: { bf16: 100, fp8: 200 }, memories: { HBM: 10, L2: 50 } }),
    wireChip({ id: "b", peaks: { bf16: 60 }, memories: { HBM: 8 } }),
    wireChip({ id: "c", peaks: { fp8: 40 }, memories: { HBM: 4, L2: null } }),
  ],
  kernels: wireKernels([{ flops: 10, bytes: 1 }]),
  shown: ["a", "b"],
  focus_chip: "a",
};

const abort = eachWithClock();

function make(changes: Record<string, unknown> = {}) {
  const model = new FakeModel({ ...STATE, ...changes });
  return { model, store: createStore(model, abort().signal) };
}

const peaks = (model: FakeModel) =>
  model.sent.map((sent) => (sent["what_if"] as { a: { peak_flops: { bf16: number } } }).a.peak_flops.bf16);

describe("the state", () => {
  it("is the model's from the start, and nothing is sent back", () => {
    const { model, store } = make();
    expect(store.view.title.value).toBe("A title");
    expect(store.rates.chips.value.map(({ id }) => id)).toEqual(["a", "b", "c"]);
    expect(store.rows.kernels.value.n).toBe(1);
    expect(store.rates.shownRoofs.value.map(({ chip }) => chip.id)).toEqual(["a", "b"]);
    expect(store.rates.focusRoof.value).toMatchObject({ peak: 100, bandwidth: 10 });
    expect(model.sent).toEqual([]);
  });
  it("has what was selected before the page was loaded, and none that is no kernel", () => {
    expect(make({ selected: [0, 7] }).store.rows.selected.value).toEqual([0]);
  });
  it("follows every change from Python", () => {
    const { model, store } = make();
    model.receive("title", "Another");
    model.receive("shown", ["c"]);
    model.receive("focus_chip", "c");
    model.receive("precision", "fp8");
    model.receive("memory", "HBM");
    model.receive("selected", [0]);
    model.receive("hovered", 0);
    model.receive("kernels", wireKernels([{}, {}]));
    expect(store.view.title.value).toBe("Another");
    expect(store.rates.shown.value).toEqual(["c"]);
    expect(store.rates.focusRoof.value).toMatchObject({ peak: 40, level: "HBM" });
    expect([store.rows.selected.value, store.rows.hovered.value, store.rows.kernels.value.n]).toEqual([[0], 0, 2]);
    expect(model.sent).toEqual([]);
  });
  it("keeps the roofs of all chips but the one whose rate changes", () => {
    const { store } = make();
    const before = store.rates.shownRoofs.value;
    store.rates.setRate("peak_flops", 110);
    expect(store.rates.shownRoofs.value[0]).toMatchObject({ peak: 110 });
    expect(store.rates.shownRoofs.value[1]).toBe(before[1]);
  });
  it.each([
    [1e99, 1e24],
    [5e-324, 1e-3],
    [Number.POSITIVE_INFINITY, 1e24],
  ])(
    "sets no rate that hardware cannot have: for %d it sets %d, with a slider and with a dragged roof",
    (wild, most) => {
      const { store } = make();
      store.rates.setRate("peak_flops", wild);
      expect(store.rates.focusRoof.value?.peak).toBe(most);
      const drag = store.rates.dragRates({ quantity: "bandwidth" });
      drag.move([wild]);
      drag.end();
      expect(store.rates.focusRoof.value?.bandwidth).toBe(most);
    },
  );
  it("tells of each chip its roof or what it lacks", () => {
    const { model, store } = make();
    model.receive("precision", "fp8");
    expect(store.rates.roofs.value.get("b")).toEqual({ quantity: "peak_flops", name: "fp8" });
    expect(store.rates.shownRoofs.value.map(({ chip }) => chip.id)).toEqual(["a"]);
    model.receive("memory", "L2");
    expect(store.rates.roofs.value.get("c")).toEqual({ quantity: "bandwidth", name: "L2" });
  });
});

describe("a stream of changes", () => {
  it("tells Python four times a second, and of the last value 100 ms after it", () => {
    const { model, store } = make();
    store.rates.dragRates({ quantity: "peak_flops" });
    for (let step = 1; step <= 100; step++) {
      store.rates.setRate("peak_flops", 100 + step, { stream: true });
      vi.advanceTimersByTime(10);
    }
    expect(store.rates.focusRoof.value?.peak).toBe(200);
    // 1000 ms: one every 225 ms.
    expect(peaks(model)).toEqual([123, 145, 168, 190]);
    vi.advanceTimersByTime(89);
    expect(peaks(model)).toHaveLength(4);
    vi.advanceTimersByTime(1);
    expect(peaks(model)).toEqual([123, 145, 168, 190, 200]);
    vi.advanceTimersByTime(1000);
    expect(peaks(model)).toHaveLength(5);
  });
  it("tells Python four times a second also in steps that are far apart", () => {
    const { model, store } = make();
    for (let step = 1; step <= 25; step++) {
      store.rates.setRate("peak_flops", 100 + step, { stream: true });
      vi.advanceTimersByTime(80);
    }
    // 2000 ms: one every 225 ms.
    expect(peaks(model)).toEqual([103, 106, 109, 112, 115, 117, 120, 123]);
  });
  it("tells Python nothing in the frame of a change, also after a pause", () => {
    const { model, store } = make();
    for (const rate of [110, 120]) {
      store.rates.setRate("peak_flops", rate, { stream: true });
      vi.advanceTimersByTime(99);
      expect(peaks(model)).not.toContain(rate);
      vi.advanceTimersByTime(1000);
      expect(peaks(model).at(-1)).toBe(rate);
    }
  });
  it("tells Python while the page is idle, at the latest after 50 ms", () => {
    const idle = vi.fn();
    vi.stubGlobal("requestIdleCallback", idle);
    const { model, store } = make();
    store.view.setSearch("gemm", { stream: true });
    vi.advanceTimersByTime(1000);
    expect([model.sent, idle.mock.calls]).toEqual([[], [[expect.any(Function), { timeout: 50 }]]]);
    idle.mock.calls[0]?.[0]();
    expect(model.sent).toEqual([{ search: "gemm" }]);
    vi.unstubAllGlobals();
  });
  it("is told in full when the control is let go", () => {
    const { model, store } = make();
    const gesture = store.rates.dragRates({ quantity: "peak_flops" });
    store.rates.setRate("peak_flops", 110, { stream: true });
    store.rates.setRate("peak_flops", 120, { stream: true });
    gesture.end();
    expect(peaks(model)).toEqual([120]);
    vi.advanceTimersByTime(1000);
    expect(peaks(model)).toHaveLength(1);
  });
  it("of hovered rows says nothing twice", () => {
    const { model, store } = make();
    store.rows.hover(0);
    store.rows.hover(0);
    vi.advanceTimersByTime(1000);
    store.rows.hover(null);
    vi.advanceTimersByTime(1000);
    expect(model.sent).toEqual([{ hovered: 0 }, { hovered: null }]);
  });
});

describe("a single change", () => {
  it("is told at once, each in its own message", () => {
    const { model, store } = make();
    store.rates.setRate("peak_flops", 120);
    store.rates.setRate("peak_flops", 130);
    store.rows.select([0]);
    expect(peaks({ ...model, sent: model.sent.slice(0, 2) } as FakeModel)).toEqual([120, 130]);
    expect(model.sent[2]).toEqual({ selected: [0] });
    expect(vi.getTimerCount()).toBe(0);
  });
  it("takes along what a stream still holds back", () => {
    const { model, store } = make();
    store.rates.setRate("peak_flops", 110, { stream: true });
    store.rates.setRate("peak_flops", 120, { stream: true });
    store.rows.select([0]);
    expect(model.sent).toEqual([{ what_if: { a: { peak_flops: { bf16: 120 } } }, selected: [0] }]);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe("what-ifs from Python", () => {
  const theirs = { a: { peak_flops: { bf16: 500 } } };
  it("are taken while nothing is held", () => {
    const { model, store } = make();
    model.receive("what_if", theirs);
    expect(store.rates.focusRoof.value?.peak).toBe(500);
  });
  it("wait outside while a control is held that has moved: its own value is the last", () => {
    const { model, store } = make();
    const gesture = store.rates.dragRates({ quantity: "peak_flops" });
    store.rates.setRate("peak_flops", 110, { stream: true });
    model.receive("what_if", theirs);
    expect(store.rates.focusRoof.value?.peak).toBe(110);
    store.rates.setRate("peak_flops", 120, { stream: true });
    gesture.end();
    expect(store.rates.focusRoof.value?.peak).toBe(120);
    expect(model.get("what_if")).toEqual({ a: { peak_flops: { bf16: 120 } } });
  });
  it("are taken at the end when the control that was held has not moved", () => {
    const { model, store } = make();
    const gesture = store.rates.dragRates({ quantity: "peak_flops" });
    model.receive("what_if", theirs);
    expect(store.rates.focusRoof.value?.peak).toBe(100);
    gesture.end();
    expect(store.rates.focusRoof.value?.peak).toBe(500);
    expect(model.sent).toEqual([]);
  });
  it("are taken at once for every rate but the one that is held, and are not overwritten", () => {
    const { model, store } = make();
    const gesture = store.rates.dragRates({ quantity: "peak_flops" });
    store.rates.setRate("peak_flops", 110, { stream: true });
    model.receive("what_if", { a: { peak_flops: { bf16: 500 }, bandwidth: { HBM: 7 } }, b: { bandwidth: { HBM: 8 } } });
    store.rates.setRate("peak_flops", 120, { stream: true });
    gesture.end();
    const expected = { a: { peak_flops: { bf16: 120 }, bandwidth: { HBM: 7 } }, b: { bandwidth: { HBM: 8 } } };
    expect(store.rates.whatIf.value).toEqual(expected);
    expect(model.get("what_if")).toEqual(expected);
  });
  it("wait for a control that is held after the end of another was told twice", () => {
    const { model, store } = make();
    const first = store.rates.dragRates({ quantity: "peak_flops" });
    first.end();
    store.rates.dragRates({ quantity: "peak_flops" });
    first.end();
    model.receive("what_if", theirs);
    expect(store.rates.focusRoof.value?.peak).toBe(100);
  });
  it("are the only ones that wait: other changes are taken while a control is held", () => {
    const { model, store } = make();
    store.rates.dragRates({ quantity: "peak_flops" });
    model.receive("title", "Another");
    expect(store.view.title.value).toBe("Another");
  });
});

describe("a rate", () => {
  it("is that of the focus chip at the chosen precision and memory", () => {
    const { model, store } = make({ precision: "fp8", memory: "L2" });
    store.rates.setRate("peak_flops", 300);
    store.rates.setRate("bandwidth", 70);
    expect(model.get("what_if")).toEqual({ a: { peak_flops: { fp8: 300 }, bandwidth: { L2: 70 } } });
    expect(store.rates.focusRoof.value).toMatchObject({ peak: 300, bandwidth: 70, sheetPeak: 200, sheetBandwidth: 50 });
  });
  it("leaves what-ifs of other precisions, quantities and chips alone", () => {
    const others = { a: { peak_flops: { fp8: 1 }, bandwidth: { L2: 2 } }, b: { bandwidth: { HBM: 3 } } };
    const { model, store } = make({ what_if: others });
    store.rates.setRate("peak_flops", 120);
    expect(model.get("what_if")).toEqual({ ...others, a: { peak_flops: { fp8: 1, bf16: 120 }, bandwidth: { L2: 2 } } });
  });
  it("at the data sheet's value is no what-if", () => {
    const { model, store } = make();
    store.rates.setRate("peak_flops", 120);
    expect(model.get("what_if")).toEqual({ a: { peak_flops: { bf16: 120 } } });
    store.rates.setRate("peak_flops", 100);
    // No empty mapping is left: Python would remove it and send the result back.
    expect(model.get("what_if")).toEqual({});
    expect(store.rates.focusRoof.value?.peak).toBe(100);
  });
  it("is not set while the focus chip has no roof", () => {
    const { model, store } = make({ focus_chip: "b", precision: "fp8" });
    store.rates.setRate("peak_flops", 120);
    expect(model.sent).toEqual([]);
    expect(store.rates.whatIf.value).toEqual({});
  });
});

describe("chips", () => {
  it("are shown in their own order, whatever the order of toggling", () => {
    const { model, store } = make({ shown: ["c"], focus_chip: "c" });
    store.rates.toggle("b");
    store.rates.toggle("a");
    expect(store.rates.shown.value).toEqual(["a", "b", "c"]);
    expect(model.get("shown")).toEqual(["a", "b", "c"]);
    expect(store.rates.focusChip.value).toBe("c");
  });
  it("toggled off while in focus hand the focus on to the first shown", () => {
    const { model, store } = make();
    store.rates.toggle("a");
    expect(store.rates.shown.value).toEqual(["b"]);
    expect(store.rates.focusChip.value).toBe("b");
    expect([model.get("shown"), model.get("focus_chip")]).toEqual([["b"], "b"]);
  });
  it("toggled off out of focus leave it where it is", () => {
    const { model, store } = make();
    store.rates.toggle("b");
    expect([store.rates.shown.value, store.rates.focusChip.value]).toEqual([["a"], "a"]);
    expect(model.sent).toEqual([{ shown: ["a"] }]);
  });
  it("may all be toggled off, and the next one toggled on takes the focus", () => {
    const { store } = make();
    store.rates.toggle("b");
    store.rates.toggle("a");
    expect(store.rates.shown.value).toEqual([]);
    store.rates.toggle("c");
    expect([store.rates.shown.value, store.rates.focusChip.value]).toEqual([["c"], "c"]);
  });
  it("given the focus are shown", () => {
    const { model, store } = make();
    store.rates.focus("c");
    expect([store.rates.shown.value, store.rates.focusChip.value]).toEqual([["a", "b", "c"], "c"]);
    expect([model.get("shown"), model.get("focus_chip")]).toEqual([["a", "b", "c"], "c"]);
  });
});

describe("a choice of precision or memory", () => {
  it("is told at once", () => {
    const { model, store } = make();
    store.rates.choosePrecision("bf16");
    store.rates.chooseMemory("HBM");
    expect(model.sent).toEqual([{ precision: "bf16" }, { memory: "HBM" }]);
    expect([store.rates.precision.value, store.rates.memory.value]).toEqual(["bf16", "HBM"]);
  });
  it("that the focus chip lacks gives the focus to a shown chip that has it", () => {
    const { model, store } = make({ focus_chip: "b" });
    store.rates.choosePrecision("fp8");
    expect(store.rates.focusChip.value).toBe("a");
    expect([model.get("precision"), model.get("focus_chip")]).toEqual(["fp8", "a"]);
  });
  it("that no shown chip has leaves the focus where it is", () => {
    const { store } = make({ shown: ["b"], focus_chip: "b" });
    store.rates.choosePrecision("fp8");
    expect([store.rates.focusChip.value, store.rates.focusRoof.value]).toEqual(["b", undefined]);
  });
});

describe("what is drawn differently during a drag", () => {
  it("is drawn again at the end of the drag, but not at the press", () => {
    const { store } = make();
    const drawn: unknown[] = [];
    const stop = effect(() => {
      drawn.push([store.rates.focusRoof.value?.peak, store.view.isInDrag()]);
    });
    const rest = store.rates.focusRoof.value?.peak;
    store.rates.dragRates({ quantity: "peak_flops" }).end();
    expect(drawn).toEqual([[rest, false]]);
    const gesture = store.rates.dragRates({ quantity: "peak_flops" });
    gesture.move([120]);
    gesture.end();
    expect(drawn.slice(1)).toEqual([
      [120, true],
      [120, false],
    ]);
    stop();
  });
  it("keeps its memory levels at the press", () => {
    const { store } = make();
    const levels = store.rates.shownLevels.value;
    const gesture = store.rates.dragRates({ quantity: "peak_flops" });
    expect(store.rates.shownLevels.value).toBe(levels);
    gesture.end();
  });
});

describe("a series of steps by keys", () => {
  it("is like a drag until the keys rest", () => {
    const { store } = make();
    store.rates.setRate("peak_flops", 110, { stream: true });
    expect([store.view.dragging.value, store.view.isHeld.value]).toEqual([true, false]);
    vi.advanceTimersByTime(140);
    store.rates.setRate("peak_flops", 120, { stream: true });
    vi.advanceTimersByTime(140);
    expect(store.view.dragging.value).toBe(true);
    vi.advanceTimersByTime(20);
    expect(store.view.dragging.value).toBe(false);
  });
  it("steps from the present rate, though the panels still show an older rate", () => {
    const { store } = make();
    const before = store.throttled.focusRoof.value?.peak;
    store.rates.setRate("peak_flops", 110, { stream: true });
    expect(store.throttled.focusRoof.value?.peak).toBe(before);
    expect(store.rates.rateNow({ quantity: "peak_flops" })).toBe(110);
  });
  it("ends at another change and at a drag", () => {
    const { store } = make();
    store.rates.setRate("peak_flops", 110, { stream: true });
    store.rates.setRate("peak_flops", 130);
    expect(store.view.dragging.value).toBe(false);
    store.rates.setRate("peak_flops", 120, { stream: true });
    store.rates.dragRates({ quantity: "peak_flops" }).end();
    expect(store.view.dragging.value).toBe(false);
  });
});

describe("the end", () => {
  it("stops listening to every change", () => {
    const { model, store } = make();
    // Two more: for what an update says about itself, and for a lost kernel.
    expect(model.listening).toBe(Object.keys(STATE).length + 2);
    abort().abort();
    expect(model.listening).toBe(0);
    model.receive("title", "Another");
    expect(store.view.title.value).toBe("A title");
  });
  it("tells Python what a stream still holds back, and leaves no timer", () => {
    const { model, store } = make();
    store.rates.setRate("peak_flops", 110, { stream: true });
    store.rates.setRate("peak_flops", 120, { stream: true });
    abort().abort();
    expect(peaks(model)).toEqual([120]);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe("all levels of memory", () => {
  const tiled = wireKernels([{ flops: 100, bytes: { HBM: 1, L2: 500 } }]);
  it("has a bandwidth to change for each", () => {
    const { model, store } = make({ memory: "all", kernels: tiled });
    expect(store.rates.focusRoof.value).toMatchObject({ level: "HBM", levels: [{ name: "HBM" }, { name: "L2" }] });
    store.rates.setRate("bandwidth", 100, { level: "L2" });
    expect(model.sent).toEqual([{ what_if: { a: { bandwidth: { L2: 100 } } } }]);
    store.rates.setRate("bandwidth", 50, { level: "L2" });
    expect(model.sent[1]).toEqual({ what_if: {} });
  });
  it("keeps a level that is held, though it binds nothing any more", () => {
    const { store } = make({ memory: "all", kernels: tiled });
    const names = () => store.rates.shownLevels.value.map(({ name }) => name);
    expect(names()).toEqual(["HBM", "L2"]);
    const gesture = store.rates.dragRates({ quantity: "bandwidth", level: "L2" });
    store.rates.setRate("bandwidth", 1e6, { level: "L2", stream: true });
    expect(names()).toEqual(["HBM", "L2"]);
    gesture.end();
    expect(names()).toEqual(["HBM"]);
    store.rates.setAllLevels(true);
    expect(names()).toEqual(["HBM", "L2"]);
  });
  it("lists the levels of the focus chip without a bandwidth", () => {
    const { store } = make({ memory: "all", focus_chip: "c", precision: "fp8" });
    expect(store.rates.unknownLevels.value).toEqual(["L2"]);
    store.rates.chooseMemory("main");
    expect(store.rates.unknownLevels.value).toEqual([]);
  });
});

describe("ceilings and exposed communication", () => {
  it("are told to Python, a drag at the pace of a stream", () => {
    const { model, store } = make();
    store.rates.setExposedRoofs([0.2], { stream: true });
    store.rates.setExposedRoofs([0.4], { stream: true });
    vi.advanceTimersByTime(1000);
    expect(model.sent).toEqual([{ exposed_roofs: [0.4] }]);
    expect(store.rates.subRoofs.value.map(({ peak }) => peak)).toEqual([60]);
  });
  it("are drawn as ticked: another precision's peak comes and goes", () => {
    const { model, store } = make({ precision: "fp8" });
    store.rates.toggleCeiling("bf16");
    expect(store.rates.subRoofs.value).toMatchObject([{ name: "bf16", peak: 100, kind: "compute", style: "ceiling" }]);
    store.rates.toggleCeiling("bf16");
    expect(model.sent).toEqual([{ ceilings: ["bf16"] }, { ceilings: [] }]);
  });
  it("ticked under one precision are kept under another", () => {
    const { store } = make({ precision: "fp8", ceilings: ["c of another"] });
    store.rates.toggleCeiling("bf16");
    store.rates.choosePrecision("bf16");
    expect(store.rates.ceilings.value).toEqual(["c of another", "bf16"]);
  });
  it("are unticked in any case", () => {
    const { model, store } = make({ precision: "fp8", ceilings: ["BF16"] });
    store.rates.toggleCeiling("bf16");
    expect(model.sent).toEqual([{ ceilings: [] }]);
  });
  it("while communication is dragged, what Python says of it waits", () => {
    const { model, store } = make();
    const gesture = store.rates.dragExposedRoofs();
    store.rates.setExposedRoofs([0.3], { stream: true });
    model.receive("exposed_roofs", [0.1]);
    expect([store.rates.exposedRoofs.value, store.view.dragging.value]).toEqual([[0.3], true]);
    model.state["exposed_roofs"] = [0.3];
    gesture.end();
    expect([store.rates.exposedRoofs.value, store.view.dragging.value]).toEqual([[0.3], false]);
  });
  it("a share of exposed communication from Python lowers every roof, and an unmeasured kernel with it", () => {
    const { model, store } = make();
    const [y] = store.rows.points.value.y;
    model.receive("exposed_comm", 0.5);
    expect(store.rates.focusRoof.value?.conditions.exposedComm).toBe(0.5);
    expect(store.rows.points.value.y[0]).toBe((y as number) / 2);
    expect(store.rates.subRoofs.value.map(({ name }) => name)).toEqual(["50 % exposed"]);
  });
  it("launch overhead from Python bounds every roof", () => {
    const { model, store } = make();
    model.receive("launch_overhead", 5e-6);
    expect(store.rates.focusRoof.value?.conditions.launchOverhead).toBe(5e-6);
  });
});

describe("chips replaced while a slider is held", () => {
  it("take its what-if with them", () => {
    const { model, store } = make();
    const gesture = store.rates.dragRates({ quantity: "peak_flops" });
    store.rates.setRate("peak_flops", 77, { stream: true });
    model.state["what_if"] = {};
    model.receive("chips", STATE.chips.slice(1));
    gesture.end();
    model.receive("chips", STATE.chips);
    expect(store.rates.whatIf.value).toEqual({});
    expect(store.view.dragging.value).toBe(false);
  });
});

describe("what can be undone of rates", () => {
  it("is of each chip apart, though keys changed the same rate of both", () => {
    const { store } = make();
    store.rates.setRate("peak_flops", 90, { stream: true });
    store.rates.focus("b");
    store.rates.setRate("peak_flops", 50, { stream: true });
    store.history.undo();
    expect(store.rates.whatIf.value).toEqual({ a: { peak_flops: { bf16: 90 } } });
  });
  it("is nothing of chips that are gone", () => {
    const { model, store } = make({ focus_chip: "b" });
    store.rates.setRate("peak_flops", 50, { stream: true });
    store.rates.setRate("peak_flops", 60);
    model.receive("chips", STATE.chips.slice(0, 1));
    expect([store.history.canUndo.value, store.history.canRedo.value]).toEqual([false, false]);
  });
  it("comes back in one message with a zoom that was changed by the same hand", () => {
    const { model, store } = make();
    const gesture = store.rates.dragRates({ quantity: "peak_flops" });
    store.rates.setRate("peak_flops", 90, { stream: true });
    model.receive("zoom", [1, 10, 20, 80]);
    gesture.end();
    vi.runAllTimers();
    model.sent.length = 0;
    store.history.undo();
    expect(model.sent).toEqual([{ what_if: {}, zoom: null }]);
  });
});
