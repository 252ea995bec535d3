// The headline of the store: which roof it judges, when it follows a drag, and when nothing is said.

import { effect } from "@preact/signals";
import { expect, it, vi } from "vitest";
import { createStore } from "../../src/state/store.ts";
import { DEFAULTS, eachWithClock, FakeModel, wireChip, wireKernels } from "../helpers.ts";

const abort = eachWithClock();

/** 1 s at the roof of chip "a", which has 100 TFLOP/s and 1 TB/s, in 4 s. */
const STATE = {
  ...DEFAULTS,
  chips: [wireChip({ id: "a" })],
  kernels: wireKernels([{ name: "matmul", flops: 1e14, bytes: 1, time: 4 }]),
  shown: ["a"],
  focus_chip: "a",
};

const storeOf = (state: object = {}) => createStore(new FakeModel({ ...STATE, ...state }), abort().signal);

it("follows a drag only as often as the panels, and says that the roof is a what-if", () => {
  const store = storeOf();
  const said: (string | undefined)[] = [];
  const stop = effect(() => {
    said.push(store.rows.headline.value?.headline);
  });
  expect(said).toEqual(["matmul runs at 25 % of its roof: up to 3 s of 4 s could be saved."]);
  const drag = store.rates.dragRates({ quantity: "peak_flops" });
  for (const peak of [0.9e14, 0.8e14, 0.5e14]) drag.move([peak]);
  expect(said).toHaveLength(1);
  vi.advanceTimersByTime(1000);
  drag.end();
  expect(said.at(-1)).toBe("matmul runs at 50 % of its roof: up to 2 s of 4 s could be saved.");
  expect(store.rows.headline.value?.detail).toBe(
    "With your what-if: it is compute-bound: at its roof 2 s would remain.",
  );
  expect(said).toHaveLength(2);
  stop();
});

it("is about all kernels, whichever filters are set", () => {
  const store = storeOf({ search: "nothing" });
  expect(store.rows.passing.value).toHaveLength(0);
  expect(store.rows.headline.value?.rule).toBe("one");
});

it("gives way to a title only if no kernel was measured", () => {
  expect(storeOf({ title: "A lesson" }).rows.headline.value?.rule).toBe("one");
  const kernels = wireKernels([{ flops: 1e14, bytes: 1 }]);
  expect(storeOf({ kernels }).rows.headline.value?.rule).toBe("unmeasured");
  expect(storeOf({ kernels, title: "A lesson" }).rows.headline.value).toBeUndefined();
  expect(storeOf({ kernels: wireKernels([]) }).rows.headline.value).toBeUndefined();
});

it("of a graph waits for the best partition, and that of a picture does not", () => {
  const store = storeOf({ kernels: wireKernels([{ flops: 1e14, bytes: 1 }]) });
  const times = { seconds: 4, bestSeconds: 1, bestKernels: 1, isExact: true, bytes: 4e9, leastBytes: 1e9 };
  store.workload.setFusion({ ...times, kernels: 4, memoryBound: 4, isUnfused: true });
  expect(store.rows.headline.value?.headline).toBe("Fused into one kernel, this graph runs 4× as fast.");
  expect(store.rows.pictureHeadline.value?.rule).toBe("unmeasured");
  store.workload.setFusion(undefined);
  expect(store.rows.headline.value?.rule).toBe("unmeasured");
});
