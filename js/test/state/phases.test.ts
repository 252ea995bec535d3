// The phases of a workload in the store: what each keeps, what is sent to Python, and undo across phases.

import { describe, expect, it, vi } from "vitest";
import { fuse } from "../../src/fusion/partition.ts";
import { createStore, type Store } from "../../src/state/store.ts";
import { chain, stateOf } from "../chains.ts";
import { eachWithClock, FakeModel } from "../helpers.ts";

/** Has as many ops as PREFILL, but only the size n, up to 50 and 10 by default. */
const DECODE = chain("decode", { dims: [["n", 1, 50, 10]] });
const PREFILL = chain("prefill", {
  dims: [
    ["n", 1, 1024, 100],
    ["m", 1, 8, 1],
  ],
});
const GRAPHS = [
  ["prefill", PREFILL],
  ["decode", DECODE],
] as const;
const RESET = { dims: {}, convention: "", dtype: null, partition: [[0], [1]] };

const abort = eachWithClock();
function make(state: Record<string, unknown> = {}) {
  const model = new FakeModel({ ...stateOf(GRAPHS), ...state });
  const store = createStore(model, abort().signal);
  return { model, store };
}
function mergeAll(store: Store) {
  const { graph, partition } = store.workload.graph.value as NonNullable<typeof store.workload.graph.value>;
  store.workload.setPartition(fuse(graph, partition, 0, 1));
}
const groupsOf = (store: Store) => store.workload.graph.value?.partition.groups;
const graphOf = (store: Store) => store.workload.graph.value?.graph.name;

describe("a change of phase", () => {
  it("shows the other graph unfused, its rows neither selected nor hovered, and tells Python in one message", () => {
    const { model, store } = make();
    mergeAll(store);
    store.rows.select([0]);
    store.rows.hover(0);
    vi.runAllTimers();
    model.sent.length = 0;
    store.workload.setPhase("decode");
    expect([store.workload.phase.value, graphOf(store), groupsOf(store)]).toEqual(["decode", "decode", [[0], [1]]]);
    expect([...(store.rows.kernels.value.bytes.get("main") ?? [])]).toEqual([40, 40]);
    expect([store.rows.selected.value, store.rows.hovered.value]).toEqual([[], null]);
    expect(model.sent).toEqual([{ selected: [], hovered: null, phase: "decode", ...RESET }]);
  });
  it("and back shows what was merged in it, unless its graph has come anew", () => {
    const { model, store } = make();
    mergeAll(store);
    store.workload.setPhase("decode");
    store.workload.setPhase("prefill");
    expect(groupsOf(store)).toEqual([[0, 1]]);
    expect(model.sent.at(-1)).toMatchObject({ phase: "prefill", partition: [[0, 1]] });
    store.workload.setPhase("decode");
    model.receive("graphs", [["prefill", chain("prefill", { dims: [["n", 1, 9, 1]] })], GRAPHS[1]]);
    store.workload.setPhase("prefill");
    expect(groupsOf(store)).toEqual([[0], [1]]);
  });
  it("keeps sizes that the other graph has too and that lie within its limits", () => {
    const { store } = make({ dims: { n: 50, m: 2 } });
    store.workload.setPhase("decode");
    expect(store.workload.graph.value?.dims).toEqual({ n: 50 });
    const { store: larger } = make({ dims: { n: 51 } });
    larger.workload.setPhase("decode");
    expect(larger.workload.graph.value?.dims).toEqual({});
    const { store: normal } = make({ dims: { n: 10 } });
    normal.workload.setPhase("decode");
    expect(normal.workload.graph.value?.dims).toEqual({});
  });
  it("keeps convention and dtype, but as none where they are the other graph's own", () => {
    const { model, store } = make({ convention: "mac", dtype: "fp8" });
    store.workload.setPhase("decode");
    expect(model.sent.at(-1)).toMatchObject({ convention: "mac", dtype: "fp8" });
    const own = chain("own", { convention: "mac", dtype: "fp8" });
    model.receive("graphs", [...GRAPHS, ["own", own]]);
    store.workload.setPhase("own");
    expect(model.sent.at(-1)).toMatchObject({ phase: "own", convention: "", dtype: null });
  });
  it("tells first what still waits to be told of the other graph, as which Python keeps it", () => {
    const { model, store } = make();
    store.workload.setDim("m", 2, { stream: true });
    store.workload.setDim("m", 3, { stream: true });
    store.workload.setPhase("decode");
    vi.advanceTimersByTime(1000);
    expect(model.sent).toEqual([{ dims: { m: 3 } }, { phase: "decode", ...RESET }]);
  });
  it("to the same one, or to one that there is not, is none", () => {
    const { model, store } = make();
    store.workload.setPhase("prefill");
    store.workload.setPhase("train");
    expect([store.workload.phase.value, store.history.canUndo.value, model.sent]).toEqual(["prefill", false, []]);
  });
  it("from Python is followed at once, and its partition when it comes", () => {
    const { model, store } = make({ dims: { n: 51, m: 2 } });
    mergeAll(store);
    model.sent.length = 0;
    model.receive("phase", "decode");
    expect([graphOf(store), groupsOf(store), store.workload.graph.value?.dims]).toEqual(["decode", [[0], [1]], {}]);
    model.receive("partition", [[0], [1]]);
    store.history.undo();
    expect([store.workload.phase.value, groupsOf(store)]).toEqual(["prefill", [[0, 1]]]);
    expect(model.sent.at(-1)).toMatchObject({ phase: "prefill", partition: [[0, 1]] });
  });
});

describe("undo across phases", () => {
  it("tells of the phase that it leaves first, as which Python keeps it", () => {
    const { model, store } = make();
    store.workload.setPhase("decode");
    mergeAll(store);
    vi.runAllTimers();
    model.sent.length = 0;
    store.history.undo();
    store.history.undo();
    vi.runAllTimers();
    expect(model.sent).toEqual([{ partition: [[0], [1]] }, { ...RESET, phase: "prefill" }]);
  });
  it("brings back the phase with what was merged in it, each change as one entry", () => {
    const { model, store } = make();
    mergeAll(store);
    store.workload.setPhase("decode");
    mergeAll(store);
    vi.runAllTimers();
    model.sent.length = 0;
    store.history.undo();
    vi.runAllTimers();
    expect([store.workload.phase.value, groupsOf(store)]).toEqual(["decode", [[0], [1]]]);
    store.history.undo();
    expect([store.workload.phase.value, groupsOf(store)]).toEqual(["prefill", [[0, 1]]]);
    store.history.redo();
    store.history.redo();
    vi.runAllTimers();
    expect([store.workload.phase.value, groupsOf(store), store.history.canRedo.value]).toEqual([
      "decode",
      [[0, 1]],
      false,
    ]);
    expect(model.sent).toEqual([
      { partition: [[0], [1]] },
      { ...RESET, phase: "prefill", partition: [[0, 1]] },
      { ...RESET, phase: "decode" },
      { partition: [[0, 1]] },
    ]);
  });
  it("has one entry for each change though the model repeats what it is told", () => {
    const store = createStore(new FakeModel(stateOf(GRAPHS)), abort().signal);
    store.workload.setPhase("decode");
    mergeAll(store);
    store.history.undo();
    store.history.undo();
    expect([store.workload.phase.value, groupsOf(store), store.history.canUndo.value]).toEqual([
      "prefill",
      [[0], [1]],
      false,
    ]);
  });
  it("forgets the entries of graphs that are gone or others now, and no others", () => {
    const { model, store } = make();
    mergeAll(store);
    store.workload.setPhase("decode");
    mergeAll(store);
    model.receive("graphs", [["train", chain("train", { ops: 3 })], ...GRAPHS]);
    expect([store.workload.phases.value, groupsOf(store)]).toEqual([["train", "prefill", "decode"], [[0, 1]]]);
    model.receive("graphs", [["prefill", chain("prefill", { ops: 3 })], GRAPHS[1]]);
    store.history.undo();
    expect([store.workload.phase.value, groupsOf(store), store.history.canUndo.value]).toEqual([
      "decode",
      [[0], [1]],
      false,
    ]);
  });
  it("starts with what Python had at first", () => {
    const { store } = make({ phase: "decode", partition: [[0, 1]], dims: { n: 20 } });
    expect([graphOf(store), groupsOf(store), store.workload.graph.value?.dims]).toEqual([
      "decode",
      [[0, 1]],
      { n: 20 },
    ]);
    expect(store.history.canUndo.value).toBe(false);
  });
});

describe("graphs", () => {
  it("are decoded when they are first shown, and once", () => {
    const unreadable = {
      get ops(): never {
        throw new Error("read");
      },
    };
    expect(() => make({ graphs: [GRAPHS[0], ["decode", unreadable]] }).store.workload.setPhase("decode")).toThrow(
      "read",
    );
    const { store } = make();
    const first = store.workload.graph.value?.graph;
    store.workload.setPhase("decode");
    store.workload.setPhase("prefill");
    expect(store.workload.graph.value?.graph).toBe(first);
  });
  it("without the phase in force show their first one", () => {
    const { model, store } = make({ phase: "decode", partition: [[0, 1]] });
    model.receive("graphs", [["train", chain("train")]]);
    expect([store.workload.phase.value, graphOf(store), groupsOf(store)]).toEqual(["train", "train", [[0], [1]]]);
    model.receive("phase", "train");
    expect(store.history.canUndo.value).toBe(false);
    model.receive("graphs", []);
    expect([store.workload.phase.value, store.workload.graph.value]).toEqual(["", undefined]);
  });
  it("with a partition of another phase on its way have each op as a kernel", () => {
    const { model, store } = make();
    store.workload.setPhase("decode");
    model.receive("partition", [[0, 1, 2]]);
    expect(groupsOf(store)).toEqual([[0], [1]]);
  });
});
