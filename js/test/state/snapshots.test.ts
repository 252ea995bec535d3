// Snapshots: what they hold, which kernels have moved since, and undo.

import { describe, expect, it } from "vitest";
import { changesSince, shownSnapshots } from "../../src/chart/layers/snapshots.tsx";
import { movesSince } from "../../src/state/snapshots.ts";
import { createStore } from "../../src/state/store.ts";
import { eachWithClock, type KernelSpec, wireChip, wireKernels } from "../helpers.ts";
import { onOneChip, SMALL, scene } from "../scenes.ts";

const GELU: KernelSpec = { name: "gelu", flops: 1e12, bytes: 1e11 };
const COPY: KernelSpec = { name: "copy", flops: 0, bytes: 1e11 };
const FLAT: KernelSpec = { name: "flat", flops: 4e14, bytes: 1e12 };

const abort = eachWithClock();

/** 100 TFLOP/s and 1 TB/s: its ridge point is 100. */
function make(specs: readonly KernelSpec[], changes: Record<string, unknown> = {}) {
  const model = onOneChip(specs, changes);
  const store = createStore(model, abort().signal);
  const moves = () => {
    const standing = {
      kernels: store.rows.drawn.value,
      rows: store.rows.drawnRows.value,
      points: store.rows.points.value,
    };
    const [last] = store.view.snapshots.value.slice(-1);
    if (!last) throw new Error("nothing is frozen");
    return movesSince(last, standing).map(({ row, ratio, intensity }) => [row, ratio, intensity]);
  };
  return { model, store, moves };
}

describe("a snapshot", () => {
  it("keeps the roof in force and where kernels stand, and Python hears of it", () => {
    const { model, store } = make([
      GELU,
      COPY,
      { ...GELU, name: "measured", time: 0.4 },
      { ...GELU, name: "none", bytes: 0, time: 1 },
    ]);
    store.rates.setRate("bandwidth", 2e12);
    store.view.freeze("before");
    const told = model.sent.at(-1)?.["snapshots"];
    expect(told).toEqual([
      {
        ...{
          name: "before",
          chip: "chip",
          precision: "bf16",
          memory: "HBM",
          peak: 1e14,
          bandwidth: 2e12,
          hidden: false,
        },
        kernels: [
          ["none", null, 1e12],
          ["measured", 10, 2.5e12],
          ["gelu", 10, 2e13],
          ["copy", 0, 2e12],
        ],
      },
    ]);
    expect(store.view.snapshots.value[0]?.kernels[0]).toEqual(["none", Number.POSITIVE_INFINITY, 1e12]);
  });
  it("stands with all levels at the one that binds", () => {
    const { store } = make([{ ...GELU, bytes: { HBM: 1e10, L2: 1e12 } }], { memory: "all" });
    store.view.freeze();
    expect(store.view.snapshots.value[0]).toMatchObject({
      memory: "all",
      bandwidth: 1e12,
      kernels: [["gelu", 1, 1e13]],
    });
  });
  it("holds all levels where the chip knows the bandwidth of one only", () => {
    const { store } = make([GELU], { memory: "all", chips: [wireChip({ memories: { HBM: 1e12, L2: null } })] });
    store.view.freeze();
    expect(store.view.snapshots.value[0]).toMatchObject({
      memory: "all",
      bandwidth: 1e12,
      kernels: [["gelu", 10, 1e13]],
    });
  });
  it("keeps every kernel with all levels where other chips know more levels than this one", () => {
    const many = { id: "many", memories: { HBM: 1e12, L2: 2e12, L1: 4e12 } };
    const specs = ["a", "b", "c"].map((name) => ({ ...GELU, name, bytes: { HBM: 1e11, L2: 1e11, L1: 1e11 } }));
    const { store } = make(specs, {
      chips: [wireChip(), wireChip(many)],
      shown: ["chip", "many"],
      memory: "all",
    });
    store.view.freeze();
    expect(store.view.snapshots.value[0]?.kernels.map(([name]) => name)).toEqual(["a", "b", "c"]);
  });
  it("keeps a copy with all levels where it stands: at the level that binds", () => {
    const { store } = make([{ ...COPY, bytes: { HBM: 1e10, L2: 1e12 }, time: 2 }], { memory: "all" });
    store.view.freeze();
    expect(store.view.snapshots.value[0]?.kernels).toEqual([["copy", 0, 5e11]]);
  });
  it("keeps no kernel that only other roofs can judge", () => {
    const chips = [wireChip(), wireChip({ id: "other", peaks: { bf16: 1e14, fp8: 2e14 } })];
    const { store } = make([{ ...GELU, precision: "fp8" }, COPY], { chips, shown: ["chip", "other"] });
    expect(store.rates.focusRoof.value?.chip.id).toBe("chip");
    store.view.freeze();
    expect(store.view.snapshots.value[0]?.kernels.map(([name]) => name)).toEqual(["copy"]);
  });
  it("keeps the 200 longest of very many, of one name the longest", () => {
    const many = Array.from({ length: 1000 }, (_, row) => ({ ...GELU, name: `k${row % 500}`, time: 1 + row }));
    const { store } = make(many, { top: null });
    store.view.freeze();
    const kept = store.view.snapshots.value[0]?.kernels ?? [];
    expect(kept).toHaveLength(200);
    expect(kept[0]).toEqual(["k499", 10, 1e9]);
    const twice = make([
      { ...GELU, time: 1 },
      { ...GELU, time: 2 },
    ]);
    twice.store.view.freeze();
    expect(twice.store.view.snapshots.value[0]?.kernels).toEqual([["gelu", 10, 5e11]]);
    expect(kept[199]).toEqual(["k300", 10, 1e12 / 801]);
  });
  it("has the first free number for a name", () => {
    const { store } = make([GELU]);
    for (const name of ["", "after", "", ""]) store.view.freeze(name);
    store.view.deleteSnapshot(0);
    store.view.freeze();
    expect(store.view.snapshots.value.map(({ name }) => name)).toEqual([
      "after",
      "snapshot 2",
      "snapshot 3",
      "snapshot 1",
    ]);
  });
  it("keeps kernels, whether they or their totals are on show, and no total", () => {
    const total: KernelSpec = { ...GELU, name: "Program", bytes: 5e10, time: 9, category: "program" };
    const measured = [
      { ...GELU, time: 1 },
      { ...GELU, name: "Program", time: 2 },
    ];
    const kernels = wireKernels(measured, 0, { program: [total, { ...total, name: "gelu", category: "step" }] });
    const { store, moves } = make([], { kernels });
    store.view.freeze();
    store.view.setScope("program");
    expect(store.rows.showsTotals.value).toBe(true);
    store.view.freeze();
    expect(store.view.snapshots.value.map((one) => one.kernels)).toEqual(
      Array(2).fill([
        ["Program", 10, 5e11],
        ["gelu", 10, 1e12],
      ]),
    );
    expect(moves()).toEqual([]);
  });
  it("shows its kernels among kernels alone, its roof among totals too, and nothing while it is hidden", () => {
    const program = [{ ...GELU, name: "Program", time: 9, category: "program" }];
    const { store } = make([], { kernels: wireKernels([{ ...GELU, time: 1 }], 0, { program }) });
    store.view.freeze("first");
    store.view.freeze("second");
    store.view.hideSnapshot(0, true);
    const shown = () =>
      shownSnapshots(store).map(({ snapshot, place }) => [place, snapshot.name, snapshot.kernels.length]);
    expect(shown()).toEqual([[1, "second", 1]]);
    store.view.setScope("program");
    expect(shown()).toEqual([[1, "second", 0]]);
    store.view.setScope("kernels");
    expect(shown()).toEqual([[1, "second", 1]]);
  });
  it("is not made where there is no roof", () => {
    const { model, store } = make([GELU], { precision: "fp4" });
    store.view.freeze();
    expect(store.view.snapshots.value).toEqual([]);
    expect(model.sent).toEqual([]);
  });
  it("comes from Python as it is", () => {
    const { model, store } = make([GELU]);
    store.view.freeze("before");
    const told = model.get("snapshots");
    model.receive("snapshots", []);
    model.receive("snapshots", told);
    expect(store.view.snapshots.value[0]).toMatchObject({ name: "before", kernels: [["gelu", 10, 1e13]] });
  });
});

describe("what has moved since", () => {
  it("is told by name, with the ratio of rates, where it is more than 3 %", () => {
    const { store, moves } = make([FLAT, GELU, COPY]);
    store.view.freeze();
    expect(moves()).toEqual([]);
    store.rates.setRate("bandwidth", 1.02e12);
    expect(moves()).toEqual([]);
    store.rates.setRate("bandwidth", 2e12);
    expect(moves()).toEqual([
      [1, 2, 1],
      [2, 2, 1],
    ]);
    store.rates.setRate("peak_flops", 1.9e14);
    expect(moves()[0]).toEqual([0, 1.9, 1]);
  });
  it("follows a name to other rows, and forgets what is gone", () => {
    const { model, store, moves } = make([FLAT, GELU, COPY]);
    store.view.freeze();
    model.receive(
      "kernels",
      wireKernels([
        { ...GELU, bytes: 5e10 },
        { name: "new", flops: 1, bytes: 1 },
      ]),
    );
    expect(moves()).toEqual([[0, 2, 2]]);
  });
  it("is of an intensity alone where the rate has stayed", () => {
    const { model, store, moves } = make([{ ...GELU, time: 1 }]);
    store.view.freeze();
    model.receive("kernels", wireKernels([{ ...GELU, bytes: 2.5e10, time: 1 }]));
    expect(moves()).toEqual([[0, 1, 4]]);
  });
  it("leads from no rate of FLOPs to one of bytes", () => {
    const { model, store, moves } = make([GELU]);
    store.view.freeze();
    model.receive("kernels", wireKernels([{ ...COPY, name: "gelu" }]));
    expect(moves()).toEqual([]);
  });
});

describe("the arrows of kernels since a snapshot", () => {
  const then = { name: "before", chip: "small", precision: "bf16", memory: "HBM", peak: 1e14, bandwidth: 1e12 };
  const specs = Array.from({ length: 20 }, (_, row) => ({ name: `k${row}`, flops: 1e12, bytes: 1e10 * (row + 2) }));
  const rows = Int32Array.from(specs, (_, row) => row);
  const kernels = specs.map(({ name, flops, bytes }) => [name, flops / bytes, 1e12] as const);
  const arrows = (width: number, selected: number[] = []) => {
    const one = scene(specs, { roofs: [SMALL], selected: new Set(selected) }, width);
    return changesSince(one, { ...then, hidden: false, kernels }, rows).map(({ key }) => key);
  };
  const first = (count: number) => Array.from({ length: count }, (_, row) => `moved ${row}`);
  it("are sixteen at most, four in a narrow chart, those that took longest first", () => {
    expect(arrows(760)).toEqual(first(16));
    expect(arrows(440)).toEqual(first(4));
  });
  it("are of what is selected alone, however far down the table", () => {
    expect(arrows(760, [18, 19])).toEqual(["moved 18", "moved 19"]);
  });
});

describe("every change of snapshots", () => {
  it("can be undone, in one history with what-ifs", () => {
    const { model, store } = make([GELU]);
    const names = () => store.view.snapshots.value.map(({ name, hidden }) => (hidden ? `(${name})` : name));
    store.view.freeze();
    store.rates.setRate("bandwidth", 2e12);
    store.view.renameSnapshot(0, "before");
    store.view.hideSnapshot(0, true);
    store.view.deleteSnapshot(0);
    expect(names()).toEqual([]);
    const steps = [1, 2, 3].map(() => {
      store.history.undo();
      return names();
    });
    expect(steps).toEqual([["(before)"], ["before"], ["snapshot 1"]]);
    expect(store.rates.focusRoof.value?.bandwidth).toBe(2e12);
    store.history.undo();
    expect(store.rates.focusRoof.value?.bandwidth).toBe(1e12);
    store.history.undo();
    expect(names()).toEqual([]);
    expect(store.history.canUndo.value).toBe(false);
    store.history.redo();
    expect(names()).toEqual(["snapshot 1"]);
    expect(model.sent.at(-1)?.["snapshots"]).toHaveLength(1);
  });
});
