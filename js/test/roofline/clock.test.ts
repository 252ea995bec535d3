// A chip at another clock: which rates go with the clock, and at which clock a roof is.

import { describe, expect, it } from "vitest";
import { clockOf, ratesAtClock } from "../../src/roofline/clock.ts";
import { createStore } from "../../src/state/store.ts";
import { DEFAULTS, eachWithClock, FakeModel, makeChip, makeRoof, wireChip, wireKernels } from "../helpers.ts";

const SPEC = {
  ...{ id: "a", clock: 1.98e9, peaks: { bf16: 990e12, fp8: 1980e12 } },
  memories: { HBM: 3e12, L2: null, L1: 33e12, LPDDR5X: 5e11 },
};
const abort = eachWithClock();

function make(changes: Record<string, unknown> = {}, spec: Parameters<typeof wireChip>[0] = SPEC) {
  const model = new FakeModel({
    ...{ ...DEFAULTS, chips: [wireChip(spec)], kernels: wireKernels([]), shown: ["a"], focus_chip: "a" },
    ...changes,
  });
  return createStore(model, abort().signal);
}
const HALF = { a: { peak_flops: { bf16: 495e12, fp8: 990e12 }, bandwidth: { L1: 16.5e12 } } };

describe("at another clock", () => {
  it("peaks and memories on the chip are scaled; the main memory, other memories off the chip and links stay", () => {
    const rates = ratesAtClock(makeChip(SPEC), 0.99e9);
    expect(rates.map(({ key, rate, sheet }) => [key, rate, sheet])).toEqual([
      ["bf16", 495e12, 990e12],
      ["fp8", 990e12, 1980e12],
      ["L1", 16.5e12, 33e12],
    ]);
    expect(ratesAtClock(makeChip({ ...SPEC, clock: null }), 1e9)).toEqual([]);
  });
  it("a chip has what-ifs, and none at its own clock; other what-ifs stay", () => {
    const store = make({ what_if: { a: { bandwidth: { HBM: 2e12 } } } });
    store.rates.useClock(0.99e9);
    expect(store.rates.whatIf.value).toEqual({ a: { ...HALF.a, bandwidth: { HBM: 2e12, L1: 16.5e12 } } });
    store.rates.useClock(1.98e9);
    expect(store.rates.whatIf.value).toEqual({ a: { bandwidth: { HBM: 2e12 } } });
    store.history.undo();
    expect(store.rates.whatIf.value["a"]?.peak_flops).toEqual(HALF.a.peak_flops);
  });
  it("nothing happens where a lesson locks a rate", () => {
    for (const lock of ["peak_flops", "bandwidth"]) {
      const store = make({ locks: [lock] });
      store.rates.useClock(1e9);
      expect(store.rates.whatIf.value).toEqual({});
    }
  });
});

describe("the clock of a roof", () => {
  const chip = makeChip(SPEC);
  it("is that of the data sheet, or that of what-ifs that share one", () => {
    expect(clockOf(makeRoof(chip))).toBe(1.98e9);
    expect(clockOf(makeRoof(chip, "auto", "main", HALF))).toBeCloseTo(0.99e9, 0);
    expect(clockOf(makeRoof(chip, "auto", "main", { a: { bandwidth: { HBM: 1e12 } } }))).toBe(1.98e9);
  });
  it("is unknown where one rate alone has changed, or the chip has none", () => {
    const one = { ...SPEC, peaks: { bf16: 990e12 } };
    expect(clockOf(makeRoof(makeChip(one), "auto", "main", HALF))).toBeCloseTo(0.99e9, 0);
    const alone = makeChip({ ...one, memories: { HBM: 3e12 } });
    expect(clockOf(makeRoof(alone, "auto", "main", HALF))).toBeUndefined();
    expect(clockOf(makeRoof(chip, "auto", "main", { a: { peak_flops: { bf16: 5e14 } } }))).toBeUndefined();
    expect(clockOf(makeRoof(makeChip({ ...SPEC, clock: null })))).toBeUndefined();
  });
});
