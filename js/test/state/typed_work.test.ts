// Work that is typed for kernels without: what is sent to Python, what follows from it, and what can be undone.

import { describe, expect, it } from "vitest";
import { captionOf } from "../../src/chart/caption.ts";
import { createStore } from "../../src/state/store.ts";
import { eachWithClock, FakeModel, wireKernels } from "../helpers.ts";
import { onOneChip } from "../scenes.ts";

const abort = eachWithClock();
// 100 TFLOP/s and 1 TB/s. With the typed work, the second kernel needs 3 s of compute.
const SPECS = [
  { name: "gemm", flops: 1e14, bytes: 1e11, time: 2, precision: "bf16" },
  { name: "flash", time: 6, count: 3 },
];
const WORK = { flops: 1e14, bytes: 1e11 };

function start(state: Record<string, unknown> = {}) {
  const model = onOneChip(SPECS, state);
  return { model, store: createStore(model, abort().signal) };
}

describe("typed work", () => {
  it("is sent alone, and gives the kernel a point, a bound and a place in the ranking", () => {
    const { model, store } = start({ selected: [1] });
    expect([store.rows.points.value.notDrawn, store.rows.ranking.value.rows]).toEqual([1, [0]]);
    expect(captionOf(store, undefined).text).toContain("unknown");
    store.rows.setTypedWork(1, WORK);
    expect(model.sent.at(-1)).toEqual({ typed_work: { 1: WORK } });
    expect([store.rows.points.value.notDrawn, store.rows.ranking.value.rows]).toEqual([0, [1, 0]]);
    expect(captionOf(store, undefined).text).toMatch(/compute-bound.*50\s%\sof\sroof/);
    expect([...store.rows.kernels.value.totalFlops]).toEqual([1e14, 3e14]);
    expect(store.rows.given.value.totalFlops[1]).toBeNaN();
  });
  it("is undone and done again, and removed if nothing is left of it", () => {
    const { model, store } = start();
    store.rows.setTypedWork(1, { flops: 1 });
    store.rows.setTypedWork(1, WORK);
    store.history.undo();
    expect(model.state["typed_work"]).toEqual({ 1: { flops: 1 } });
    store.history.undo();
    expect([model.state["typed_work"], store.history.canUndo.value]).toEqual([{}, false]);
    store.history.redo();
    store.rows.setTypedWork(1, {});
    expect(model.state["typed_work"]).toEqual({});
    expect(store.rows.kernels.value).toBe(store.rows.given.value);
  });
  it("from Python is shown and can be undone", () => {
    const { model, store } = start();
    model.receive("typed_work", { 1: WORK });
    expect(store.rows.kernels.value.totalFlops[1]).toBe(3e14);
    store.history.undo();
    expect(model.state["typed_work"]).toEqual({});
  });
  it("is nothing of other kernels, and cannot be brought back to them", () => {
    const { model, store } = start();
    store.rows.setTypedWork(1, WORK);
    model.receive("kernels", wireKernels([{ time: 1 }, { time: 2 }]));
    expect([store.rows.typedWork.value, store.history.canUndo.value]).toEqual([{}, false]);
    model.receive("typed_work", {});
    expect(store.history.canUndo.value).toBe(false);
  });
  it("does not change the precision of the roof", () => {
    const { store } = start();
    expect(store.rates.commonPrecision.value).toBe("bf16");
    store.rows.setTypedWork(1, WORK);
    expect(store.rates.commonPrecision.value).toBe("bf16");
  });
  it("cannot be set if a lesson locks what-ifs of kernels", () => {
    const { model, store } = start({ locks: ["moves"] });
    store.rows.setTypedWork(1, WORK);
    expect([store.rows.typedWork.value, model.sent]).toEqual([{}, []]);
  });
  it("is missing in notebooks that were saved without it", () => {
    const { typed_work: _, ...saved } = onOneChip(SPECS).state;
    expect(createStore(new FakeModel(saved), abort().signal).rows.typedWork.value).toEqual({});
  });
});
