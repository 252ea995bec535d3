// The graph of a model in the store: sizes, conventions and partitions, what Python is told, and undo.

import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { fuse } from "../src/fusion.ts";
import { createStore } from "../src/store.ts";
import { chain, stateOf } from "./chains.ts";
import { FakeModel } from "./helpers.ts";

let abort: AbortController;
beforeEach(() => {
  vi.useFakeTimers();
  abort = new AbortController();
});
afterEach(() => {
  abort.abort();
  vi.useRealTimers();
});
function make() {
  const model = new FakeModel(stateOf([["", chain("chain")]]));
  const store = createStore(model, abort.signal);
  const bytes = () => [...(store.kernels.value.bytes.get("main") ?? [])];
  return { model, store, bytes };
}

describe("a graph", () => {
  it("has its partition's kernels in place of those that Python gave", () => {
    const { model, store, bytes } = make();
    expect(store.kernels.value.name.values).toEqual(["a", "b"]);
    expect(bytes()).toEqual([400, 400]);
    expect([...store.kernels.value.totalFlops]).toEqual([200, 200]);
    model.receive("graphs", []);
    expect(store.workload.value).toBeUndefined();
    expect(store.kernels.value.n).toBe(1);
  });
  it("moves its points with a size at once; Python hears of it as of a stream, and of the default as of nothing", () => {
    const { model, store, bytes } = make();
    store.setDim("n", 10, { stream: true });
    expect(bytes()).toEqual([40, 40]);
    store.setDim("n", 20, { stream: true });
    vi.advanceTimersByTime(1000);
    store.setDim("n", 100);
    expect(model.sent).toEqual([{ dims: { n: 10 } }, { dims: { n: 20 } }, { dims: {} }]);
  });
  it("is counted by another convention and as if of another dtype; its own ones are told as none", () => {
    const { model, store, bytes } = make();
    store.setConvention("mac");
    store.setDtype("fp8");
    expect([...store.kernels.value.totalFlops]).toEqual([100, 100]);
    expect(bytes()).toEqual([200, 200]);
    store.setConvention("textbook");
    store.setDtype("bf16");
    expect(model.sent).toEqual([{ convention: "mac" }, { dtype: "fp8" }, { convention: "" }, { dtype: null }]);
  });
});

describe("a partition", () => {
  it("is changed as one entry, undone and done again", () => {
    const { model, store, bytes } = make();
    const { graph, partition } = store.workload.value as NonNullable<typeof store.workload.value>;
    store.select([1]);
    store.setPartition(fuse(graph, partition, 0, 1));
    expect(bytes()).toEqual([400]);
    expect(store.selected.value).toEqual([]);
    expect([store.canUndo.value, store.canRedo.value]).toEqual([true, false]);
    store.undo();
    expect(bytes()).toEqual([400, 400]);
    store.redo();
    expect(bytes()).toEqual([400]);
    const merged = { partition: [[0, 1]] };
    expect(model.sent.slice(1)).toEqual([{ selected: [], ...merged }, { partition: [[0], [1]] }, merged]);
  });
  it("from Python can be undone too, and clears what was undone", () => {
    const { model, store, bytes } = make();
    model.receive("partition", [[0, 1]]);
    expect(bytes()).toEqual([400]);
    expect(store.canRedo.value).toBe(false);
    store.undo();
    expect(bytes()).toEqual([400, 400]);
  });
  it("of another graph is none: each op is a kernel", () => {
    const { model, store, bytes } = make();
    model.receive("partition", [[0, 1, 2]]);
    expect(bytes()).toEqual([400, 400]);
    expect(store.kernels.value.n).toBe(2);
  });
  it("that Python echoes is no entry", () => {
    const { model, store } = make();
    model.receive("partition", [[0], [1]]);
    expect(store.canUndo.value).toBe(false);
  });
});

describe("a size that is dragged", () => {
  it("does not follow what Python says of it until it is let go", () => {
    const { model, store } = make();
    store.holdDims();
    store.setDim("n", 7, { stream: true });
    model.receive("dims", { n: 500 });
    expect(store.workload.value?.dims).toEqual({ n: 7 });
    model.state["dims"] = { n: 7 };
    store.releaseDims();
    expect([store.workload.value?.dims, store.held.value]).toEqual([{ n: 7 }, false]);
  });
});
