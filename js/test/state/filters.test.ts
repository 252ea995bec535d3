// The filters: which rows pass, the figures about them, and what is sent to Python.

import { describe, expect, it, vi } from "vitest";
import { createStore } from "../../src/state/store.ts";
import { textAt } from "../../src/wire/columns.ts";
import { stateOf } from "../chains.ts";
import { eachWithClock, FakeModel, type KernelSpec, type MetadataSpec, makeKernels, wireKernels } from "../helpers.ts";

// The ridge point of the chip is 10 FLOP/byte: 100 FLOP/s / 10 bytes/s.
const KERNELS: readonly KernelSpec[] = [
  { name: "gemm", flops: 4000, bytes: 100, time: 50, category: "dot" },
  { name: "copy", flops: 0, bytes: 100, time: 30, category: "copy" },
  { name: "infeed", flops: 0, bytes: 10, time: 15, category: "Infeed", precision: "fp8" },
  { name: "norm", flops: 100, bytes: 100, time: 5, category: "dot" },
  { name: "later", flops: 100, bytes: 1 },
];
const TOTALS: MetadataSpec = {
  program: [
    { name: "Total", flops: 4200, bytes: 310, time: 100, category: "program" },
    { name: "1", flops: 2100, bytes: 155, time: 60, category: "step" },
    { name: "2", flops: 2100, bytes: 155, time: 40, category: "step" },
  ],
};

const abort = eachWithClock();

function make(told: MetadataSpec = {}, changes: Record<string, unknown> = {}) {
  const state = { ...stateOf([]), phase: "", partition: null, kernels: wireKernels(KERNELS, 0, told), ...changes };
  const model = new FakeModel(state);
  return { model, store: createStore(model, abort().signal) };
}

const namesOf = ({ rows }: ReturnType<typeof make>["store"]) =>
  [...rows.passing.value].map((row) => textAt(rows.kernels.value.name, row));

describe("the rows that pass", () => {
  it("are all of them at first, in the table's order, and rows keep their numbers", () => {
    const { model, store } = make();
    expect([...store.rows.passing.value]).toEqual([0, 1, 2, 3, 4]);
    store.view.setSearch("o");
    expect([...store.rows.passing.value]).toEqual([1, 3]);
    expect(store.rows.kernels.value.n).toBe(5);
    expect(model.sent).toEqual([{ search: "o" }]);
  });
  it("follow each filter, whoever sets it", () => {
    const { model, store } = make();
    store.view.setCategories(["dot"]);
    expect(namesOf(store)).toEqual(["gemm", "norm"]);
    model.receive("categories", null);
    store.view.setBounds(["compute"]);
    expect(namesOf(store)).toEqual(["gemm", "later"]);
    store.view.setBounds(["HBM"]);
    expect(namesOf(store)).toEqual(["copy", "infeed", "norm"]);
    store.view.setBounds(null);
    model.receive("precisions", ["fp8"]);
    expect(namesOf(store)).toEqual(["infeed"]);
    store.view.setPrecisions([""]);
    expect(namesOf(store)).toEqual(["gemm", "copy", "norm", "later"]);
    store.view.setPrecisions(null);
    model.receive("infeed", false);
    store.view.setTop(2);
    expect(namesOf(store)).toEqual(["gemm", "copy"]);
    store.view.setTop(null);
    store.view.setTimeShare(0.8);
    expect(namesOf(store)).toEqual(["gemm", "copy"]);
  });
  it("follow the filter by phase, which the kernels of a trace have in a column of the file", () => {
    const phase = ["prefill", "decode", null, "decode", "prefill"];
    const { model, store } = make({ extra: { phase } });
    store.view.setPhases(["decode"]);
    expect(namesOf(store)).toEqual(["copy", "norm"]);
    expect(model.sent).toEqual([{ phases: ["decode"] }]);
    expect([store.rows.isFiltered.value, store.rows.totals.value.share]).toEqual([true, 0.35]);
    model.receive("phases", ["", "prefill"]);
    expect(namesOf(store)).toEqual(["gemm", "infeed", "later"]);
    store.view.clearFilters();
    expect(store.view.phases.value).toBeNull();
  });
  it("by what binds them follow the sliders of the focus chip", () => {
    const { store } = make();
    store.view.setBounds(["compute"]);
    store.rates.setRate("peak_flops", 1000);
    expect(namesOf(store)).toEqual(["later"]);
  });
  it("by what binds them are unknown where the focus chip has no roof", () => {
    const { store } = make({}, { precision: "fp64" });
    expect(store.rows.boundBy.value.values).toEqual(["unknown"]);
    store.view.setBounds(["HBM"]);
    expect(namesOf(store)).toEqual([]);
  });
  it("are counted, with their share of the time of all", () => {
    const { store } = make();
    expect(store.rows.totals.value).toEqual({ kernels: 5, all: 5, share: 1 });
    store.view.setCategories(["dot"]);
    expect(store.rows.totals.value).toEqual({ kernels: 2, all: 5, share: 0.55 });
    const idle = { name: "idle or not profiled", time: 90, category: "Idle" };
    const { store: some } = make({}, { kernels: wireKernels([{ name: "a", time: 4 }, { name: "b", time: 6 }, idle]) });
    expect(some.rows.totals.value).toEqual({ kernels: 2, all: 2, share: 1 });
    some.view.setSearch("a");
    expect(some.rows.totals.value).toEqual({ kernels: 1, all: 2, share: 0.04 });
    expect(make({}, { kernels: wireKernels([{}]) }).store.rows.totals.value).toEqual({
      kernels: 1,
      all: 1,
      share: Number.NaN,
    });
  });
  it("alone are points, those that take long under those that do not", () => {
    const { store } = make();
    store.view.setSearch("o");
    expect([...store.rows.points.value.row.slice(0, 2)]).toEqual([1, 3]);
    expect(store.rows.points.value.n).toBe(2);
    expect(store.rows.points.value.home[0]).toBe(-1);
    store.view.setSearch("");
    expect([...store.rows.points.value.row.slice(0, 5)]).toEqual([0, 1, 2, 3, 4]);
  });
});

describe("lifting all filters", () => {
  it("is one message, and what was set from Python goes too", () => {
    const { model, store } = make({}, { search: "x", time_share: 0.5, top: 3, categories: ["dot"] });
    expect(store.rows.isFiltered.value).toBe(true);
    expect([...store.rows.passing.value]).toEqual([]);
    store.view.clearFilters();
    expect(store.rows.isFiltered.value).toBe(false);
    expect(store.rows.passing.value.length).toBe(5);
    expect(model.sent).toEqual([
      {
        search: "",
        categories: null,
        bounds: null,
        precisions: null,
        phases: null,
        time_share: 1,
        top: 1000,
        infeed: true,
      },
    ]);
  });
  it("shows the kernels again that were left out when some were singled out", () => {
    const { model, store } = make();
    store.rows.setOnly([0, 3]);
    expect(namesOf(store)).toEqual(["gemm", "norm"]);
    expect([store.rows.isFiltered.value, store.rows.only.value]).toEqual([true, [0, 3]]);
    store.view.setSearch("m");
    store.view.setCategories(["copy"]);
    expect(namesOf(store)).toEqual([]);
    store.view.clearFilters();
    expect(namesOf(store).length).toBe(5);
    expect([store.rows.isFiltered.value, store.rows.only.value]).toEqual([false, null]);
    // Only this page singles kernels out.
    expect(model.sent.every((sent) => !Object.keys(sent).includes("only_rows"))).toBe(true);
  });
  it("is not needed when other kernels come: then none is singled out", () => {
    const { model, store } = make();
    store.rows.setOnly([0, 3]);
    model.receive("kernels", wireKernels(KERNELS.slice(1)));
    expect(namesOf(store)).toEqual(["copy", "infeed", "norm", "later"]);
    expect(store.rows.isFiltered.value).toBe(false);
  });
  it("leaves what is no filter", () => {
    const { store } = make(TOTALS, { scope: "program", sort_by: "flops", columns: ["name"] });
    store.view.clearFilters();
    expect([store.view.scope.value, store.view.sortBy.value, store.view.columns.value]).toEqual([
      "program",
      "flops",
      ["name"],
    ]);
  });
  it("has nothing to lift where all kernels are asked for", () => {
    expect(make({}, { top: null }).store.rows.isFiltered.value).toBe(false);
  });
});

describe("a stream", () => {
  it("of searches or shares is told at the pace of a stream, and always its last", () => {
    const { model, store } = make();
    for (const text of ["g", "ge", "gem"]) store.view.setSearch(text, { stream: true });
    vi.advanceTimersByTime(1000);
    expect(model.sent).toEqual([{ search: "gem" }]);
  });
  it("of shares while the slider is held is not answered back", () => {
    const { model, store } = make();
    const gesture = store.view.dragTimeShare();
    store.view.setTimeShare(0.5, { stream: true });
    vi.advanceTimersByTime(1000);
    model.receive("time_share", 0.9);
    expect(store.view.timeShare.value).toBe(0.5);
    gesture.end();
    expect(store.view.timeShare.value).toBe(0.9);
  });
});

describe("the totals of a program", () => {
  it("are rows after the kernels; the program alone is drawn with them, last, as a star", () => {
    const { store } = make(TOTALS);
    expect(store.rows.drawn.value.n).toBe(8);
    expect(store.rows.kernels.value.n).toBe(5);
    expect([...store.rows.drawnRows.value]).toEqual([0, 1, 2, 3, 4, 5]);
    const { n, row, side, radius } = store.rows.points.value;
    expect([n, row[n - 1], side[n - 1], radius[n - 1]]).toEqual([6, 5, 3, 9]);
    expect(store.rows.points.value.x[n - 1]).toBe(4200 / 310);
    expect(store.rows.points.value.y[n - 1]).toBe(42);
    expect([...make().store.rows.drawnRows.value]).toEqual([0, 1, 2, 3, 4]);
  });
  it("are one star beside the kernels, though a file tells two", () => {
    const [total, ...steps] = TOTALS.program as readonly KernelSpec[];
    const { store } = make({ program: [total as KernelSpec, { ...total, name: "Total (HW)" }, ...steps] });
    expect([...store.rows.drawnRows.value]).toEqual([0, 1, 2, 3, 4, 5]);
    store.view.setScope("program");
    expect([...store.rows.points.value.side.slice(0, 4)]).toEqual([1, 1, 3, 3]);
  });
  it("are drawn alone in their scope, the program on top, whatever the filters are", () => {
    const { model, store } = make(TOTALS, { search: "none of them" });
    expect([...store.rows.drawnRows.value]).toEqual([5]);
    store.view.setScope("program");
    expect([...store.rows.drawnRows.value]).toEqual([7, 6, 5]);
    expect(model.sent).toEqual([{ scope: "program" }]);
    expect([...make({}, { scope: "program" }).store.rows.drawnRows.value]).toEqual([0, 1, 2, 3, 4]);
  });
  it("are pointed at and not told to Python, nor are they selected", () => {
    const { model, store } = make(TOTALS);
    store.rows.hover(1);
    vi.advanceTimersByTime(1000);
    store.rows.hover(5);
    expect([store.rows.pointed.value, store.rows.hovered.value]).toEqual([5, null]);
    store.rows.select([5, 2]);
    expect(store.rows.selected.value).toEqual([2]);
    store.rows.hover(null);
    expect(store.rows.pointed.value).toBeNull();
    expect(model.sent).toEqual([{ hovered: 1 }, { hovered: null, selected: [2] }]);
  });
  it("are forgotten with the kernels that they came with", () => {
    const { model, store } = make(TOTALS);
    store.rows.hover(6);
    model.receive("kernels", wireKernels(KERNELS));
    expect(store.rows.pointed.value).toBeNull();
  });
});

describe("categories", () => {
  it("have their kernels and their share of the time, that of the longest time first", () => {
    expect(make().store.rows.byCategory.value).toEqual([
      { name: "dot", kernels: 2, code: 0, share: 0.55 },
      { name: "copy", kernels: 1, code: 1, share: 0.3 },
      { name: "Infeed", kernels: 1, code: 2, share: 0.15 },
      { name: "", kernels: 1, code: 3, share: 0 },
    ]);
  });

  it("are as phases are: their kernels and their share of the time", () => {
    const phase = ["prefill", "decode", null, "decode", "prefill"];
    const of = (told: MetadataSpec) =>
      make(told).store.rows.byPhase.value.map((one) => [one.name, one.kernels, one.share]);
    expect(of({ extra: { phase } })).toEqual([
      ["prefill", 2, 0.5],
      ["decode", 2, 0.35],
      ["", 1, 0.15],
    ]);
    expect(of({})).toEqual([["", 5, 1]]);
    expect(of({ extra: { phase: [1, 2, 3, 4, 5] } })).toEqual([["", 5, 1]]);
  });

  it("that are series keep their codes, and so their colours, while one of them becomes the longest", () => {
    const { model, store } = make();
    const runs = (time: number) =>
      wireKernels([
        { name: "a", flops: 1, bytes: 1, time: 5, category: "run 1" },
        { name: "b", flops: 1, bytes: 1, time, category: "run 2" },
      ]);
    for (const [time, longestFirst] of [
      [1, ["run 1", "run 2"]],
      [7, ["run 2", "run 1"]],
    ] as const) {
      model.receive("kernels", { ...(runs(time) as object), series: true });
      expect(store.rows.kernels.value.category.values).toEqual(["run 1", "run 2"]);
      expect(store.rows.byCategory.value.map(({ name }) => name)).toEqual(longestFirst);
      expect(store.rows.byCategory.value.map(({ code }) => `run ${code + 1}`)).toEqual(longestFirst);
    }
    model.receive("kernels", runs(7));
    expect(store.rows.kernels.value.category.values).toEqual(["run 2", "run 1"]);
  });
});

describe("rows at their roof", () => {
  it("mean nothing once there are other kernels", () => {
    const { model, store } = make();
    store.rows.setAtRoof([1, 3]);
    expect(model.sent).toEqual([{ at_roof: [1, 3] }]);
    model.state["at_roof"] = [0, 3];
    model.receive("kernels", wireKernels(KERNELS.slice(0, 2)));
    expect(store.rows.atRoof.value).toEqual([0]);
  });
});

describe("a big table", () => {
  it("passes none it should not: every row is judged", () => {
    const specs = Array.from({ length: 3000 }, (_, row) => ({ name: `k${row}`, flops: 1, bytes: 1, time: row + 1 }));
    const kernels = makeKernels(specs);
    expect(kernels.totalTime).toBe((3000 * 3001) / 2);
    const { store } = make({}, { kernels: wireKernels(specs) });
    expect(store.rows.passing.value.length).toBe(1000);
    expect(store.rows.passing.value[0]).toBe(2000);
    store.view.setTop(null);
    store.view.setSearch("k29*9");
    // 299, because "*" also matches nothing; 2909, 2919 … 2989; and 2990 to 2999.
    expect(store.rows.passing.value.length).toBe(20);
  });
});
