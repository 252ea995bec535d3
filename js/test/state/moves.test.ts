// Per-kernel what-ifs: their arithmetic, tested with the golden file that Python uses too, and their history.

import { describe, expect, it, vi } from "vitest";
import golden from "../../../tests/golden/moves.json";
import { changedBy, type KernelTarget, moveAt, moveBy } from "../../src/chart/gestures/kernel_target.ts";
import { scaleLog } from "../../src/chart/scales.ts";
import { moved, totalOf } from "../../src/roofline/kernel_moves.ts";
import { createStore } from "../../src/state/store.ts";
import { noteOf } from "../../src/text/moves.ts";
import { textAt } from "../../src/wire/columns.ts";
import type { Moves } from "../../src/wire/types.ts";
import {
  DEFAULTS,
  eachWithClock,
  FakeModel,
  type KernelSpec,
  makeChip,
  makeKernels,
  makeRoof,
  wireChip,
  wireKernels,
} from "../helpers.ts";

interface Case {
  name: string;
  kernel: KernelSpec;
  move: { bytes?: number; time?: number };
  memory?: string;
  launch_overhead?: number;
  expected: { time: number | null; share: number | null };
}
interface Program {
  name: string;
  kernels: KernelSpec[];
  moves: Moves;
  expected: [before: number, after: number];
}

const cases = golden.cases as unknown as Case[];
const programs = golden.programs as unknown as Program[];
const { peak_flops: peaks, memories, link } = golden.chip;
const CHIP = makeChip({ peaks, memories, link });
const roofOf = (memory = "main", launchOverhead = 0) => makeRoof(CHIP, "auto", memory, {}, { launchOverhead });
const close = (found: number | undefined, wanted: number | null) =>
  wanted === null ? expect(found).toBeNaN() : expect((found as number) / (wanted || 1)).toBeCloseTo(wanted ? 1 : 0, 12);

describe("a kernel that is moved", () => {
  it.each(cases)("$name", ({ kernel, move, memory, launch_overhead, expected }) => {
    const found = moved(makeKernels([kernel]), { 0: move }, roofOf(memory, launch_overhead));
    close(found.kernels.time[0], expected.time);
    close(expected.time === null ? Number.NaN : found.after[0], expected.share);
  });
  it.each(programs)("in a program: $name", ({ kernels, moves, expected }) => {
    const table = makeKernels(kernels);
    const totals = totalOf(table, moved(table, moves, roofOf()));
    for (const at of [0, 1] as const) close(totals[at], expected[at]);
  });
});

describe("the kernels with their what-ifs", () => {
  const precisions = makeChip({ peaks: { bf16: 1e14, fp8: 2e14 }, memories: { HBM: 1e12 } });
  const specs = (["bf16", "fp8", null] as const).map((precision) => ({ flops: 1e14, bytes: 1e9, time: 2, precision }));
  it("keep their own precision, and only kernels of the table move", () => {
    // The last row is the total of a program.
    const kernels = { ...makeKernels([...specs, { flops: 1e14, bytes: 1e9, time: 2 }]), own: 3 };
    const found = moved(kernels, { 1: { bytes: 2 }, 2: { bytes: 2 }, 3: { bytes: 2 } }, makeRoof(precisions));
    expect([...found.rows]).toEqual([1, 2]);
    expect([0, 1].map((row) => textAt(found.kernels.precision, row))).toEqual(["fp8", null]);
    expect([...found.before]).toEqual([0.25, 0.5]);
  });
  it("have exactly the factor that was asked if their bound stays, as Python says", () => {
    // 3 · 0.00019 / 0.00019 is not 3 in doubles.
    const kernels = makeKernels([{ flops: 19e9, bytes: 1e3, time: 855e-6 }]);
    const found = moved(kernels, { 0: { bytes: 0.5, time: 3 } }, makeRoof(precisions));
    expect([...found.factor]).toEqual([3]);
  });
  it("are still collectives whose bytes over the link are unknown, if they were", () => {
    const kernels = { ...makeKernels(specs), unlinked: Int32Array.of(0, 1, 0) };
    const { kernels: found } = moved(kernels, { 1: { time: 0.9 }, 2: { time: 0.9 } }, makeRoof(precisions));
    expect([...(found.unlinked ?? [])]).toEqual([1, 0]);
    expect(moved(makeKernels(specs), { 1: { time: 0.9 } }, makeRoof(precisions)).kernels.unlinked).toBeNull();
  });
});

// The first is at half of its roof (62 of 124 µs), the second at four fifths (100 of 125 µs); the third has no time.
const KERNELS: KernelSpec[] = [
  { name: "norm", flops: 1e9, bytes: 62e6, time: 124e-6 },
  { name: "matmul", flops: 1e10, bytes: 40e6, time: 125e-6 },
  { name: "planned", flops: 1e9, bytes: 62e6 },
];

describe("the note beside it", () => {
  const table = makeKernels(KERNELS);
  const note = (moves: Moves, row = 0, kernels = table, most = 99) =>
    noteOf(
      { kernels, moves, moved: moved(kernels, moves, roofOf()), focus: roofOf() },
      row,
      ({ length }) => length < most,
    );
  it("says how much less traffic, what becomes of its time, and of all", () => {
    expect(note({ 0: { bytes: 10 / 31 } })).toEqual([
      "3.1× less traffic · 124 → 40 µs (3.1× faster)",
      "all kernels 249 → 165 µs",
    ]);
  });
  it("says of the kernel alone where there is no room, in a line each", () => {
    expect(note({ 0: { bytes: 10 / 31 } }, 0, table, 30)).toEqual(["3.1× less traffic", "124 → 40 µs (3.1× faster)"]);
    expect(note({ 0: { time: 0.75 } }, 0, table, 30)).toEqual(["124 → 93 µs (1.3× faster)"]);
  });
  it("says what share of its roof another time is", () => {
    expect(note({ 0: { time: 0.75 } })).toEqual([
      "124 → 93 µs (1.3× faster)",
      "67 % of roof · all kernels 249 → 218 µs",
    ]);
    expect(note({ 0: { time: 0.2 } })).toEqual([
      "124 → 62 µs (2× faster)",
      "reaches its roof · all kernels 249 → 187 µs",
    ]);
  });
  it("says more and slower as well, and with other units both of them", () => {
    expect(note({ 0: { bytes: 20 } }, 0, makeKernels(KERNELS.slice(0, 1)))).toEqual([
      "20× more traffic · 124 µs → 2.48 ms (20× slower)",
    ]);
  });
  it("says where fewer bytes gain nothing", () => {
    expect(note({ 1: { bytes: 0.5 } }, 1)).toEqual(["2× less traffic · still 125 µs"]);
  });
  it("says a small change to a digit more, and none where it rounds to none", () => {
    // 124 / 1.05 = 118.1 and 249 - 5.9 = 243.1.
    expect(note({ 0: { bytes: 1 / 1.05 } })).toEqual([
      "1.05× less traffic · 124 → 118 µs (1.05× faster)",
      "all kernels 249 → 243 µs",
    ]);
    expect(note({ 0: { bytes: 1 / 1.003 } })).toEqual(["still 124 µs"]);
  });
  it("says on which chip its time and its share of the roof are, where that has not the focus", () => {
    const ran = makeChip({ id: "ran", name: "Ran here", peaks, memories, link });
    expect(note({ 0: { time: 0.75 } }, 0, { ...table, chip: ran })).toEqual([
      "124 → 93 µs on Ran here (1.3× faster)",
      "67 % of roof on Ran here · all kernels 249 → 218 µs",
    ]);
    // In a narrow chart the chip is left out.
    expect(note({ 0: { time: 0.75 } }, 0, { ...table, chip: ran }, 30)).toEqual(["124 → 93 µs (1.3× faster)"]);
    expect(note({ 1: { bytes: 0.5 } }, 1, { ...table, chip: ran })).toEqual([
      "2× less traffic · still 125 µs on Ran here",
    ]);
  });
  it("says of a kernel that was not measured what it may attain", () => {
    expect(note({ 2: { bytes: 0.5 } }, 2)).toEqual(["2× less traffic · attainable 16.1 → 32.3 TFLOP/s"]);
  });
  it("is none of a kernel that is not moved", () => {
    expect(note({ 0: { bytes: 0.5 } }, 1)).toEqual([]);
  });
});

describe("a kernel in the hand", () => {
  // 100 px a decade: 0.1 to 1000 FLOP/B, 1 to 10,000 FLOP/s.
  const target: KernelTarget = {
    ...{ row: 0, start: {}, leastTime: 0.5, can: { bytes: true, time: true }, at: [200, 200], from: [203, 198] },
    ...{ x: scaleLog([0.1, 1000], [0, 400]), y: scaleLog([1, 1e4], [400, 0]) },
  };
  it("changes its bytes where the hand goes sideways, its time where it goes up, and what alone can be asked", () => {
    const [x, y] = target.from;
    expect(changedBy(target, x - 9, y + 8)).toBe("bytes");
    expect(changedBy(target, x + 8, y - 9)).toBe("time");
    expect(changedBy({ ...target, can: { bytes: true, time: false } }, x, y - 9)).toBe("bytes");
    expect(changedBy({ ...target, can: { bytes: false, time: true } }, x - 9, y)).toBe("time");
  });
  const at = (changes: "bytes" | "time", x: number, y: number, rest: Partial<KernelTarget> = {}) => {
    const { bytes = 1, time = 1 } = moveAt({ ...target, ...rest }, changes, x, y);
    return [Number(bytes.toPrecision(6)), Number(time.toPrecision(6))];
  };
  it("has a tenth of its bytes a decade to the right, wherever the hand is up and down", () => {
    expect(at("bytes", 303, 50)).toEqual([0.1, 1]);
    expect(at("bytes", 103, 198)).toEqual([10, 1]);
  });
  it("takes longer farther down, and up no less than at its roof", () => {
    expect(at("time", 203, 298)).toEqual([1, 10]);
    expect(at("time", 203, 188)).toEqual([1, 0.794328]);
    expect(at("time", 203, 98)).toEqual([1, 0.5]);
  });
  it("goes on from what was asked before", () => {
    expect(at("bytes", 303, 198, { start: { bytes: 0.5, time: 2 } })).toEqual([0.05, 2]);
    expect(at("time", 203, 298, { start: { bytes: 0.5, time: 2 } })).toEqual([0.5, 20]);
  });
  it("is as it was where it was", () => {
    expect(at("bytes", 206, 300)).toEqual([1, 1]);
    expect(at("time", 300, 195)).toEqual([1, 1]);
  });
  it("stays within the axes", () => {
    expect(at("bytes", 900, 0)).toEqual([0.0105, 1]);
    expect(at("time", 0, 900)).toEqual([1, 95.2381]);
  });
  it("comes back from beyond the ends of the axes by any step", () => {
    const out: KernelTarget = { ...target, at: [-50, 450] };
    expect(moveBy(out, {}, "bytes", 1 / 1.05).bytes).toBeCloseTo(1 / 1.05, 12);
    expect(moveBy(out, {}, "bytes", 1.05)).toEqual({});
    expect(moveBy({ ...out, leastTime: 0 }, {}, "time", 1 / 1.25)).toEqual({ time: 0.8 });
    expect(moveBy(out, {}, "time", 1.25)).toEqual({});
  });
  it("goes by steps of a key, back to exactly what it was, and no farther than the axes and its roof", () => {
    const there = moveBy(target, {}, "bytes", 1 / 1.05);
    expect(there.bytes).toBeCloseTo(1 / 1.05, 12);
    expect(moveBy(target, there, "bytes", 1.05)).toEqual({ bytes: 1 });
    expect(moveBy(target, { bytes: 0.0101 }, "bytes", 1 / 1.05)).toEqual({ bytes: 0.0101 });
    expect(moveBy(target, { time: 0.51 }, "time", 1 / 1.25)).toEqual({ time: 0.5 });
    // It is at 100 FLOP/s. With 95.2 times its time it is 5 % above the lower end of the axis.
    expect(moveBy(target, { time: 76 }, "time", 1.25)).toEqual({ time: 95 });
    expect(moveBy(target, { time: 77 }, "time", 1.25)).toEqual({ time: 77 });
    expect(moveBy({ ...target, start: { time: 8 } }, { time: 600 }, "time", 1.25)).toEqual({ time: 750 });
  });
});

const begin = eachWithClock();

function start(state: Record<string, unknown> = {}) {
  const model = new FakeModel({
    ...DEFAULTS,
    chips: [wireChip({ peaks, memories })],
    kernels: wireKernels(KERNELS),
    shown: ["chip"],
    focus_chip: "chip",
    ...state,
  });
  return { model, store: createStore(model, begin().signal) };
}

describe("what is asked of kernels", () => {
  it("starts as Python says, and that is no change", () => {
    const { store } = start({ moves: { 1: { time: 2 } } });
    expect(store.rows.moves.value).toEqual({ 1: { time: 2 } });
    expect(store.history.canUndo.value).toBe(false);
  });
  it("is told to Python, a factor of 1 as none", () => {
    const { model, store } = start();
    store.rows.setMove(0, { bytes: 0.5, time: 1 });
    vi.advanceTimersByTime(1000);
    expect(model.sent).toEqual([{ moves: { 0: { bytes: 0.5 } } }]);
    store.rows.resetMoves(0);
    expect(model.state["moves"]).toEqual({});
  });
  it("is one entry of the history from taking hold to letting go", () => {
    const { model, store } = start();
    const drag = store.rows.dragKernel(0, false);
    for (const bytes of [0.9, 0.7, 0.5]) store.rows.setMove(0, { bytes });
    drag.end();
    store.rows.setMove(1, { time: 2 }, false);
    store.history.undo();
    expect(store.rows.moves.value).toEqual({ 0: { bytes: 0.5 } });
    store.history.undo();
    expect([store.rows.moves.value, model.state["moves"], store.history.canUndo.value]).toEqual([{}, {}, false]);
    store.history.redo();
    expect(store.rows.moves.value).toEqual({ 0: { bytes: 0.5 } });
  });
  it("is as it was when it is taken back, and then there is nothing to undo", () => {
    const { store } = start({ moves: { 0: { time: 2 } } });
    const drag = store.rows.dragKernel(0, false);
    expect(store.view.dragging.value).toBe(true);
    store.rows.setMove(0, { bytes: 0.5, time: 2 });
    drag.cancel();
    expect([store.rows.moves.value, store.view.dragging.value, store.history.canUndo.value]).toEqual([
      { 0: { time: 2 } },
      false,
      false,
    ]);
  });
  it("by keys is a series of steps, like a drag until the keys rest", () => {
    const { store } = start();
    const drag = store.rows.dragKernel(0, true);
    expect(store.view.dragging.value).toBe(false);
    for (const bytes of [0.9, 0.8]) {
      drag.move({ bytes });
      vi.advanceTimersByTime(149);
      expect([store.view.dragging.value, store.view.isHeld.value]).toEqual([true, false]);
    }
    vi.advanceTimersByTime(1);
    expect([store.view.dragging.value, store.rows.kernelDrag.value?.row]).toEqual([false, 0]);
    drag.end();
    store.history.undo();
    expect([store.rows.moves.value, store.history.canUndo.value]).toEqual([{}, false]);
  });
  it("while it is held takes Python's word on other kernels alone, and after it on its own too", () => {
    const { model, store } = start();
    const drag = store.rows.dragKernel(0, true);
    expect(store.view.dragging.value).toBe(false);
    store.rows.setMove(0, { bytes: 0.5 });
    model.receive("moves", { 0: { bytes: 0.7 }, 1: { time: 3 } });
    expect(store.rows.moves.value).toEqual({ 0: { bytes: 0.5 }, 1: { time: 3 } });
    drag.end();
    expect(model.state["moves"]).toEqual({ 0: { bytes: 0.5 }, 1: { time: 3 } });
    model.receive("moves", { 1: { time: 3 } });
    expect(store.rows.moves.value).toEqual({ 1: { time: 3 } });
    store.history.undo();
    expect(store.rows.moves.value).toEqual({ 0: { bytes: 0.5 }, 1: { time: 3 } });
  });
  it("is Python's word where the hand asked nothing meanwhile, else the hand's, and Python hears of it", () => {
    const { model, store } = start();
    const drag = store.rows.dragKernel(0, false);
    model.receive("moves", { 0: { time: 3 } });
    expect(store.rows.moves.value).toEqual({});
    drag.cancel();
    expect(store.rows.moves.value).toEqual({ 0: { time: 3 } });
    const again = store.rows.dragKernel(0, false);
    store.rows.setMove(0, { bytes: 0.5 });
    model.receive("moves", {});
    again.end();
    expect(store.rows.moves.value).toEqual({ 0: { bytes: 0.5 } });
    expect(model.state["moves"]).toEqual(store.rows.moves.value);
  });
  it("is nothing of other kernels, also while it is held, and cannot be brought back to them", () => {
    const { model, store } = start();
    store.rows.setMove(0, { bytes: 0.5 }, false);
    store.rows.dragKernel(1, false);
    store.rows.setMove(1, { time: 2 });
    model.receive("kernels", wireKernels(KERNELS.slice(1)));
    expect([store.rows.moves.value, store.rows.kernelDrag.value, store.history.canUndo.value]).toEqual([
      {},
      undefined,
      false,
    ]);
    model.receive("moves", {});
    expect(store.history.canUndo.value).toBe(false);
  });
  it("comes with other kernels where Python says so", () => {
    const { model, store } = start({ moves: { 0: { bytes: 0.5 } } });
    model.state["moves"] = { 1: { time: 2 } };
    model.receive("kernels", wireKernels(KERNELS.slice(1)));
    expect(store.rows.moves.value).toEqual({ 1: { time: 2 } });
  });
  it("is judged by what-if rates", () => {
    const { store } = start({ moves: { 0: { bytes: 1 / 62 } } });
    expect((store.rows.moved.value?.kernels.time[0] as number) * 1e6).toBeCloseTo(20, 9);
    // Before: 31 µs of memory. After: 10 µs of compute.
    store.rates.setRate("bandwidth", 2e12);
    expect((store.rows.moved.value?.kernels.time[0] as number) * 1e6).toBeCloseTo(40, 9);
  });
});
