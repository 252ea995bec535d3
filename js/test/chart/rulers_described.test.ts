// What rulers say of the roofs above a kernel, on the chart and to screen readers.

import { effect } from "@preact/signals";
import { describe, expect, it, vi } from "vitest";
import { limitsOver, roofsAbove, rulerOver } from "../../src/chart/layers/rulers.tsx";
import { createStore, pacedStore } from "../../src/state/store.ts";
import { eachWithClock, type KernelSpec, makeChip, makeRoof, seeded, several, wireChip } from "../helpers.ts";
import { onOneChip, SMALL, scene } from "../scenes.ts";

const abort = eachWithClock();

/** 100 TFLOP/s and 1 TB/s, above the roof of a slow chip, with the columns that the panels need. */
function make(specs: readonly KernelSpec[], changes: Record<string, unknown> = {}) {
  const slow = wireChip({ id: "slow", name: "slow", memories: { HBM: 1e10 } });
  const model = onOneChip(specs, {
    chips: [wireChip({ memories: { HBM: 1e12, L2: 1e13 } }), slow],
    shown: ["chip", "slow"],
    ...changes,
  });
  const store = createStore(model, abort().signal);
  return { store, panels: pacedStore(store) };
}

const PLAIN: KernelSpec = { flops: 1e12, bytes: 5e10 };

describe("what is spoken of the roofs over a kernel", () => {
  it("is nothing while rulers are hidden, in the time view, and of a row without a place", () => {
    expect(roofsAbove(make([PLAIN]).store, 0)).toMatch(/chip 20 TFLOP\/s/);
    expect(roofsAbove(make([PLAIN], { shown: ["chip"] }).store, 0), "the sentence says it").toBe("");
    expect(roofsAbove(make([PLAIN], { rulers: false }).store, 0)).toBe("");
    expect(roofsAbove(make([PLAIN], { view: "time" }).store, 0)).toBe("");
    expect(roofsAbove(make([PLAIN, { flops: 1 }]).store, 1)).toBe("");
  });
  it.each(["main", "all"])("is said in panels of one moment while a roof is dragged, memory %s", (memory) => {
    const { store, panels } = make([PLAIN], { memory });
    const said: string[] = [];
    const end = effect(() => void said.push(roofsAbove(panels, 0)));
    store.rates.dragRates({ quantity: "bandwidth" });
    for (let frame = 1; frame <= 15; frame++) {
      store.rates.setRate("bandwidth", 1e12 * (1 + frame / 10), { stream: true });
      vi.advanceTimersByTime(1000 / 60);
    }
    vi.advanceTimersByTime(60);
    end();
    // Once at rest, and once after each eighth of a second. The press says nothing.
    expect(said).toHaveLength(3);
    expect(new Set(said).size).toBe(3);
    // It stands on the roof at 20 FLOP/B: never above one of a moment ago, never below one to come.
    for (const text of said) expect(text).toMatch(/: (?:chip|HBM) [\d.]+ TFLOP\/s\.$/);
    expect(said[0]).toContain(" 20 TFLOP/s");
    expect(said.at(-1)).toContain(" 50 TFLOP/s");
  });
});

describe("the roof on which a kernel that was not measured stands", () => {
  it("is over it whatever digit the last one is, and of one that was measured there is none below it", () => {
    const next = seeded(7);
    const specs = several(200, () => ({ flops: 1e12 * (1 + next()), bytes: (1e11 * (1 + next())) / 3 }));
    const one = scene(specs, { roofs: [SMALL] });
    for (let index = 0; index < one.points.n; index++) expect(limitsOver(one, index), `${index}`).toHaveLength(1);
    // 20 TFLOP/s are allowed, and half a millionth of them is a fault of no rounding.
    const above = scene([{ ...PLAIN, time: 0.05 / (1 + 5e-7) }], { roofs: [SMALL] });
    expect(limitsOver(above, 0)).toEqual([]);
  });
  it("is so with a roof for each level, too", () => {
    const next = seeded(9);
    const roof = makeRoof(makeChip({ id: "small", memories: { HBM: 1e12, L2: 1e13 } }), "auto", "all");
    const specs = several(200, () => {
      const bytes = { HBM: (1e10 * (1 + next())) / 3, L2: (1e12 * (1 + next())) / 7 };
      return { flops: 1e12 * (1 + next()), bytes };
    });
    const one = scene(specs, { roofs: [roof], levels: roof.levels });
    for (let index = 0; index < one.points.n; index++) {
      const binding = Math.min(...limitsOver(one, index).map(({ rate }) => rate));
      expect(binding / (one.points.y[index] as number), `${index}`).toBeCloseTo(1, 9);
    }
  });
});

describe("how many times as fast a kernel would be at its roof", () => {
  const one = scene([{ ...PLAIN, time: 0.1 }]);
  const texts = (key: string) =>
    rulerOver(one, 0, [{ kind: "gap", key, text: "", colour: "", x: 0, y: 0, anchor: "start", choice: 0 }]).labels.map(
      ({ text }) => text,
    );
  it("is told once: by the call-out of its own gap, else by the ruler, which tells it of other roofs", () => {
    expect(texts("gap 0")).toEqual(["small 20 TFLOP/s", "large 40 TFLOP/s · 4×"]);
    expect(texts("gap 1")).toEqual(["small 20 TFLOP/s · 2×", "large 40 TFLOP/s · 4×"]);
  });
});
