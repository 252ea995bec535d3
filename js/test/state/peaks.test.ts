// By which rates kernels are judged: the measured ones are what-ifs of all chips that have them.

import { describe, expect, it } from "vitest";
import { measuredRates } from "../../src/roofline/measured_rates.ts";
import { createStore } from "../../src/state/store.ts";
import { DEFAULTS, eachWithClock, FakeModel, makeChip, wireChip, wireKernels } from "../helpers.ts";

const ceiling = (rate: number, place: { memory?: string; precision?: string }, measured = true) => {
  const { memory = null, precision = null } = place;
  return { key: `measured ${memory ?? precision}`, name: "measured", rate, memory, precision, measured };
};
const MEASURED = {
  id: "a",
  peaks: { bf16: 100, fp8: 200 },
  memories: { HBM: 10, L1: null },
  ceilings: [
    ceiling(80, { precision: "bf16" }),
    ceiling(70, { precision: "bf16" }),
    ceiling(90, { precision: "bf16" }, false),
    ceiling(9, { memory: "HBM" }),
    ceiling(50, { memory: "L1" }),
  ],
};
const STATE = {
  ...DEFAULTS,
  chips: [
    wireChip(MEASURED),
    wireChip({ id: "b", peaks: { bf16: 60 }, memories: { HBM: 8 } }),
    wireChip({ id: "c", peaks: { bf16: 50 }, memories: { HBM: 8 }, ceilings: [ceiling(7, { memory: "HBM" })] }),
  ],
  kernels: wireKernels([{ flops: 10, bytes: 1 }]),
  shown: ["a", "b"],
  focus_chip: "a",
};
const ACHIEVABLE = {
  a: { peak_flops: { bf16: 80 }, bandwidth: { HBM: 9 } },
  c: { bandwidth: { HBM: 7 } },
};

const abort = eachWithClock();

function make(changes: Record<string, unknown> = {}) {
  const model = new FakeModel({ ...STATE, ...changes });
  return { model, store: createStore(model, abort().signal) };
}

describe("measured rates", () => {
  it("are the fastest measured ones of each figure that the data sheet has", () => {
    expect(measuredRates(makeChip(MEASURED))).toEqual([
      { quantity: "peak_flops", key: "bf16", rate: 80, sheet: 100 },
      { quantity: "bandwidth", key: "HBM", rate: 9, sheet: 10 },
    ]);
  });
  it("without a precision belong to the chip's own", () => {
    const chip = makeChip({ ...MEASURED, precision: "fp8", ceilings: [ceiling(150, {})] });
    expect(measuredRates(chip)).toEqual([{ quantity: "peak_flops", key: "fp8", rate: 150, sheet: 200 }]);
  });
});

describe("the choice of peaks", () => {
  it("makes the measured rates of all chips what-ifs, sends them in one message, and is one step of undo", () => {
    const { model, store } = make();
    expect(store.rates.peaksInUse.value).toBe("printed");
    store.rates.usePeaks("achievable");
    expect(model.sent).toEqual([{ what_if: ACHIEVABLE }]);
    expect(store.rates.focusRoof.value).toMatchObject({ peak: 80, bandwidth: 9, sheetPeak: 100 });
    expect(store.rates.peaksInUse.value).toBe("achievable");
    store.history.undo();
    expect(store.rates.peaksInUse.value).toBe("printed");
  });
  it("goes back to the data sheet and keeps other what-ifs", () => {
    const { store } = make({ what_if: { ...ACHIEVABLE, b: { bandwidth: { HBM: 3 } } } });
    store.rates.usePeaks("printed");
    expect(store.rates.focusRoof.value).toMatchObject({ peak: 100, bandwidth: 10 });
    expect(store.rates.shownRoofs.value[1]).toMatchObject({ bandwidth: 3 });
  });
  it("says that rates were changed, and follows Python", () => {
    const { model, store } = make();
    store.rates.usePeaks("achievable");
    store.rates.setRate("peak_flops", 85);
    expect(store.rates.peaksInUse.value).toBe("changed");
    model.receive("what_if", ACHIEVABLE);
    expect(store.rates.peaksInUse.value).toBe("achievable");
  });
  it("stays within the rates that a lesson allows on each chip, and leaves other levels alone", () => {
    const ranges = { peak_flops: [1, 70], bandwidth: [9.5, 20] };
    const memories = { HBM: 10, L2: 40 };
    const chips = [
      wireChip({ ...MEASURED, memories, ceilings: [...MEASURED.ceilings, ceiling(30, { memory: "L2" })] }),
      STATE.chips[2],
    ];
    const { store } = make({ chips, shown: ["a", "c"], ranges } as unknown as Record<string, unknown>);
    store.rates.usePeaks("achievable");
    expect(store.rates.whatIf.value).toEqual({
      a: { peak_flops: { bf16: 70 }, bandwidth: { HBM: 9.5, L2: 30 } },
      c: { bandwidth: { HBM: 9.5 } },
    });
    expect(store.rates.peaksInUse.value).toBe("changed");
    store.rates.usePeaks("printed");
    expect(store.rates.whatIf.value).toEqual({ a: { peak_flops: { bf16: 70 } }, c: { bandwidth: { HBM: 9.5 } } });
  });
  it("stops at the rates of a lesson alone", () => {
    const { store } = make({ snap: { peak_flops: [25, 50, 100] } } as unknown as Record<string, unknown>);
    store.rates.usePeaks("achievable");
    expect(store.rates.focusRoof.value).toMatchObject({ peak: 100, bandwidth: 9 });
  });
  it.each(["peak_flops", "bandwidth"])("is locked with %s", (lock) => {
    const { model, store } = make({ locks: [lock] } as unknown as Record<string, unknown>);
    store.rates.usePeaks("achievable");
    expect([store.rates.whatIf.value, model.sent]).toEqual([{}, []]);
    expect(store.lesson.lockNote(lock as "bandwidth")).toBeDefined();
  });
  it("is there only if a shown chip has a measured rate", () => {
    expect(make({ shown: ["b"], focus_chip: "b" }).store.rates.peaksInUse.value).toBeUndefined();
  });
});
