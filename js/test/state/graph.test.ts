// The graph in the store: sizes, conventions and partitions, what is sent to Python, and undo.

import { describe, expect, it, vi } from "vitest";
import type { Partition } from "../../src/fusion/legality.ts";
import { fuse } from "../../src/fusion/partition.ts";
import { createStore } from "../../src/state/store.ts";
import { chain, stateOf } from "../chains.ts";
import { written } from "../graphs.ts";
import { eachWithClock, FakeModel, wireChip } from "../helpers.ts";

const abort = eachWithClock();
function make() {
  const model = new FakeModel(stateOf([["", chain("chain")]]));
  const store = createStore(model, abort().signal);
  const bytes = () => [...(store.rows.kernels.value.bytes.get("main") ?? [])];
  return { model, store, bytes };
}

describe("a graph", () => {
  it("has its partition's kernels in place of those that Python gave", () => {
    const { model, store, bytes } = make();
    expect(store.rows.kernels.value.name.values).toEqual(["a", "b"]);
    expect(bytes()).toEqual([400, 400]);
    expect([...store.rows.kernels.value.totalFlops]).toEqual([200, 200]);
    model.receive("graphs", []);
    expect(store.workload.graph.value).toBeUndefined();
    expect(store.rows.kernels.value.n).toBe(1);
  });
  it("moves its points with a size at once; Python hears of it as of a stream, and of the default as of nothing", () => {
    const { model, store, bytes } = make();
    store.workload.setDim("n", 10, { stream: true });
    expect(bytes()).toEqual([40, 40]);
    store.workload.setDim("n", 20, { stream: true });
    vi.advanceTimersByTime(1000);
    store.workload.setDim("n", 100);
    expect(model.sent).toEqual([{ dims: { n: 20 } }, { dims: {} }]);
  });
  it("changes its sizes by keys in a series of steps, which is one undo entry and like a drag until the keys rest", () => {
    const { store } = make();
    for (const size of [90, 80]) store.workload.setDim("n", size, { stream: true });
    expect([store.view.dragging.value, store.view.isHeld.value]).toEqual([true, false]);
    vi.advanceTimersByTime(149);
    store.workload.setDim("n", 70, { stream: true });
    vi.advanceTimersByTime(149);
    expect(store.view.dragging.value).toBe(true);
    vi.advanceTimersByTime(1);
    expect(store.view.dragging.value).toBe(false);
    store.history.undo();
    expect([store.workload.dims.value, store.history.canUndo.value]).toEqual([{}, false]);
  });
  it("changes a typed size at once, and that is no step", () => {
    const { store } = make();
    store.workload.setDim("n", 90);
    expect(store.view.dragging.value).toBe(false);
  });
  it("is counted by another convention and as if of another dtype; its own ones are told as none", () => {
    const { model, store, bytes } = make();
    store.workload.setConvention("mac");
    store.workload.setDtype("fp8");
    // On the chart a multiply-add counts as two FLOPs, as in the peaks, whichever convention is chosen.
    expect([...store.rows.kernels.value.totalFlops]).toEqual([200, 200]);
    expect(bytes()).toEqual([200, 200]);
    store.workload.setConvention("textbook");
    store.workload.setDtype("bf16");
    expect(model.sent).toEqual([{ convention: "mac" }, { dtype: "fp8" }, { convention: "" }, { dtype: null }]);
  });
});

describe("the roof of precision auto", () => {
  it("is at the one that all kernels compute in, on chips that have it", () => {
    const { store } = make();
    expect(store.rates.focusRoof.value?.precision).toBe("bf16");
    store.workload.setDtype("fp8");
    expect([store.rates.commonPrecision.value, store.rates.focusRoof.value?.peak]).toEqual(["fp8", 200]);
    store.rates.choosePrecision("bf16");
    expect(store.rates.focusRoof.value?.peak).toBe(100);
  });
});

describe("a large graph", () => {
  const large = chain("large", { ops: 300 });
  it("is worked out between frames, and nothing of it is shown before it is all there", () => {
    const { model, store } = make();
    model.receive("graphs", [["", large]]);
    model.receive("partition", [[0, 1], ...Array.from({ length: 298 }, (_, at) => [at + 2])]);
    expect(store.workload.graph.value).toBeUndefined();
    expect(store.rows.kernels.value.n).toBe(1);
    store.history.undo();
    vi.runAllTimers();
    expect(store.workload.graph.value?.graph.ops).toHaveLength(300);
    expect(store.rows.kernels.value.n).toBe(299);
    expect(model.sent).toEqual([]);
  });
  it("gives way to one that comes before it is there", () => {
    const { model, store } = make();
    model.receive("graphs", [["", large]]);
    model.receive("graphs", [["", chain("larger", { ops: 400 })]]);
    expect(vi.getTimerCount()).toBe(1);
    model.receive("graphs", [["", chain("small", { ops: 3 })]]);
    expect(vi.getTimerCount()).toBe(0);
    expect(store.rows.kernels.value.n).toBe(3);
    vi.runAllTimers();
    expect(store.workload.graph.value?.graph.name).toBe("small");
  });
});

describe("a partition", () => {
  it("leaves the counts as they are, and a size leaves the partition", () => {
    const { store } = make();
    const before = store.workload.graph.value as NonNullable<typeof store.workload.graph.value>;
    store.workload.setPartition(fuse(before.graph, before.partition, 0, 1));
    expect(store.workload.graph.value?.values).toBe(before.values);
    const merged = store.workload.graph.value?.partition;
    store.workload.setDim("n", 10);
    expect(store.workload.graph.value?.partition).toBe(merged);
    expect(store.rows.kernels.value.name.values).toEqual(["a + b"]);
  });
  it("is changed as one entry, undone and done again", () => {
    const { model, store, bytes } = make();
    const { graph, partition } = store.workload.graph.value as NonNullable<typeof store.workload.graph.value>;
    store.rows.select([1]);
    store.workload.setPartition(fuse(graph, partition, 0, 1));
    expect(bytes()).toEqual([400]);
    expect(store.rows.selected.value).toEqual([]);
    expect([store.history.canUndo.value, store.history.canRedo.value]).toEqual([true, false]);
    vi.runAllTimers();
    store.history.undo();
    expect(bytes()).toEqual([400, 400]);
    vi.runAllTimers();
    store.history.redo();
    expect(bytes()).toEqual([400]);
    vi.runAllTimers();
    const merged = { partition: [[0, 1]] };
    expect(model.sent.slice(1)).toEqual([{ selected: [], ...merged }, { partition: [[0], [1]] }, merged]);
  });
  it("chosen again lets go of what is selected, and Python hears of it", () => {
    const { model, store } = make();
    store.rows.select([1]);
    store.workload.setPartition(store.workload.graph.value?.partition as Partition);
    vi.runAllTimers();
    expect(model.sent).toEqual([{ selected: [1] }, { selected: [] }]);
    expect(store.history.canUndo.value).toBe(false);
  });
  it("from Python can be undone too, and clears what was undone", () => {
    const { model, store, bytes } = make();
    model.receive("partition", [[0, 1]]);
    expect(bytes()).toEqual([400]);
    expect(store.history.canRedo.value).toBe(false);
    store.history.undo();
    expect(bytes()).toEqual([400, 400]);
  });
  it("of another graph is none: each op is a kernel", () => {
    const { model, store, bytes } = make();
    model.receive("partition", [[0, 1, 2]]);
    expect(bytes()).toEqual([400, 400]);
    expect(store.rows.kernels.value.n).toBe(2);
  });
  it("that Python repeats is none that is new: its trail and what is selected stay", () => {
    const { model, store } = make();
    const { graph, partition } = store.workload.graph.value as NonNullable<typeof store.workload.graph.value>;
    store.workload.setPartition(fuse(graph, partition, 0, 1));
    store.rows.select([0]);
    const merged = store.workload.graph.value?.partition;
    model.receive("partition", [[0, 1]]);
    expect(store.workload.graph.value?.partition).toBe(merged);
    expect(store.workload.trails.value?.list).toHaveLength(1);
    expect(store.rows.selected.value).toEqual([0]);
  });
  it("stays with its trail as counts change, and Python has nothing to answer", () => {
    const { model, store } = make();
    const { graph, partition } = store.workload.graph.value as NonNullable<typeof store.workload.graph.value>;
    store.workload.setPartition(fuse(graph, partition, 0, 1));
    vi.runAllTimers();
    const merged = store.workload.graph.value?.partition;
    store.workload.setDtype("fp8");
    store.workload.setConvention("mac");
    expect(store.workload.graph.value?.partition).toBe(merged);
    expect(store.workload.trails.value?.list[0]?.ratio).toBe(2);
    expect(model.sent.slice(1)).toEqual([{ dtype: "fp8" }, { convention: "mac" }]);
  });
  it("that Python echoes is no entry", () => {
    const { model, store } = make();
    model.receive("partition", [[0], [1]]);
    expect(store.history.canUndo.value).toBe(false);
  });
});

describe("a size that is dragged", () => {
  it("does not follow what Python says of it until it is let go", () => {
    const { model, store } = make();
    const gesture = store.workload.dragDim("n");
    store.workload.setDim("n", 7, { stream: true });
    model.receive("dims", { n: 500 });
    expect(store.workload.graph.value?.dims).toEqual({ n: 7 });
    model.state["dims"] = { n: 7 };
    gesture.end();
    expect([store.workload.graph.value?.dims, store.view.dragging.value]).toEqual([{ n: 7 }, false]);
  });
});

describe("what can be undone", () => {
  const settings = (store: ReturnType<typeof make>["store"]) => {
    const { dims, convention, dtype, partition } = store.workload.graph.value as NonNullable<
      typeof store.workload.graph.value
    >;
    return [dims, convention, dtype, partition.groups.length];
  };
  it("is a size, a convention and a dtype as well as a partition, and Python hears of what changes back", () => {
    const { model, store } = make();
    store.workload.setDim("n", 10);
    store.workload.setConvention("mac");
    store.workload.setDtype("fp8");
    const { graph, partition } = store.workload.graph.value as NonNullable<typeof store.workload.graph.value>;
    store.workload.setPartition(fuse(graph, partition, 0, 1));
    expect(settings(store)).toEqual([{ n: 10 }, "mac", "fp8", 1]);
    vi.runAllTimers();
    const sent = model.sent.length;
    for (let times = 0; times < 4; times++) {
      store.history.undo();
      vi.runAllTimers();
    }
    expect(settings(store)).toEqual([{}, "textbook", null, 2]);
    expect(store.history.canUndo.value).toBe(false);
    expect(model.sent.slice(sent)).toEqual([
      { partition: [[0], [1]] },
      { dtype: null },
      { convention: "" },
      { dims: {} },
    ]);
    for (let times = 0; times < 4; times++) store.history.redo();
    expect(settings(store)).toEqual([{ n: 10 }, "mac", "fp8", 1]);
  });
  it("keeps the selected rows where the groups stay", () => {
    const { store } = make();
    store.workload.setDim("n", 10);
    store.rows.select([1]);
    store.history.undo();
    expect(store.rows.selected.value).toEqual([1]);
  });
  it("has a drag as one entry, two drags as two, and one that is taken back as none", () => {
    const { store } = make();
    const drag = (...sizes: number[]) => {
      const gesture = store.workload.dragDim("n");
      for (const size of sizes) store.workload.setDim("n", size, { stream: true });
      gesture.end();
    };
    drag(50, 20, 10);
    drag(11, 12);
    drag(13, 12);
    store.history.undo();
    expect(settings(store)[0]).toEqual({ n: 10 });
    store.history.undo();
    expect(settings(store)[0]).toEqual({});
    expect(store.history.canUndo.value).toBe(false);
  });
  it("has the steps of a key on one size as one entry", () => {
    const { store } = make();
    for (const size of [99, 98, 97]) store.workload.setDim("n", size, { stream: true });
    store.workload.setDtype("fp8");
    store.workload.setDim("n", 96, { stream: true });
    store.history.undo();
    expect(settings(store)).toEqual([{ n: 97 }, "textbook", "fp8", 2]);
    store.history.undo();
    store.history.undo();
    expect(settings(store)).toEqual([{}, "textbook", null, 2]);
  });
  it("has a change from Python too, but not what it starts with", () => {
    const model = new FakeModel({ ...stateOf([["", chain("chain")]]), dims: { n: 7 }, dtype: "fp8" });
    const store = createStore(model, abort().signal);
    expect(store.history.canUndo.value).toBe(false);
    model.receive("dims", { n: 8 });
    model.receive("dims", { n: 8 });
    store.history.undo();
    expect(settings(store)).toEqual([{ n: 7 }, "textbook", "fp8", 2]);
    expect(store.history.canUndo.value).toBe(false);
  });
  it("goes on where nothing is changed: the same value again is no entry", () => {
    const { store } = make();
    store.workload.setDim("n", 100);
    store.workload.setDtype(null);
    store.workload.setConvention("textbook");
    expect(store.history.canUndo.value).toBe(false);
  });
});

describe("kernels on the focus chip", () => {
  const text = "!norm: x > y; act: y > z";
  const shapes = Object.fromEntries([..."xyz"].map((name) => [name, [16, 4096]]));
  const { ops, tensors, outputs, dtypes } = written(text, { shapes });
  const conventions = { textbook: { "@fma": 2 } };
  const wire = { ...{ name: "norm", dims: [], convention: "textbook" }, ops, tensors, outputs, conventions };
  const room = (id: string, bytes: number) => wireChip({ id, share: { level: "SMEM", bytes, units: 1 } });
  const make = () =>
    createStore(
      new FakeModel({
        ...stateOf([["", { ...wire, dtypes: Object.fromEntries(dtypes ?? []) }]]),
        ...{ chips: [room("large", 8192), room("small", 8191)], shown: ["large", "small"] },
        ...{ focus_chip: "large", partition: [[0, 1]] },
      }),
      abort().signal,
    );
  it("read rows twice that it does not hold", () => {
    const store = make();
    const bytes = () => store.rows.kernels.value.bytes.get("main")?.[0];
    const rows = 16 * 4096 * 2;
    expect(bytes()).toBe(2 * rows);
    const before = store.workload.graph.value?.forms;
    store.rates.focus("small");
    expect(bytes()).toBe(3 * rows);
    expect(store.workload.graph.value?.forms).not.toBe(before);
  });
  it("keep their bytes while a rate moves", () => {
    const store = make();
    const before = store.workload.graph.value?.forms;
    store.rates.setRate("bandwidth", 2e12);
    expect(store.workload.graph.value?.forms).toBe(before);
  });
});
