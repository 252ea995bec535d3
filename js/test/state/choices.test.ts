// What follows from a choice is the same in Python: a table written by hand, which pytest reads too.

import { describe, expect, it, vi } from "vitest";
import golden from "../../../tests/golden/choices.json";
import { mainOf } from "../../src/fusion/graph.ts";
import { MIN_UTILIZATION_ABOVE_ROOF, TIE_TOLERANCE } from "../../src/roofline/bound.ts";
import { commonPrecision } from "../../src/roofline/ceilings.ts";
import { byFallingTime, UNFILTERED } from "../../src/roofline/filters.ts";
import { judgeOf } from "../../src/roofline/kernel_moves.ts";
import { MIN_EXPLAINED_SHARE } from "../../src/roofline/projection.ts";
import { MAX_RANKED_KERNELS, rankingOf } from "../../src/roofline/ranking.ts";
import { MAX_SNAPSHOT_KERNELS, MAX_SNAPSHOT_NAME } from "../../src/state/snapshots.ts";
import { createStore } from "../../src/state/store.ts";
import { encodeSnapshots } from "../../src/wire/encode.ts";
import type { Chip, WhatIf } from "../../src/wire/types.ts";
import { chain, stateOf } from "../chains.ts";
import {
  type ChipSpec,
  eachWithClock,
  FakeModel,
  type KernelSpec,
  makeChip,
  makeKernels,
  makeRoof,
  wireChip,
  wireKernels,
} from "../helpers.ts";

const SPECS = Object.fromEntries(
  Object.entries(golden.chips).map(([id, { peaks, memories, ceilings }]): [string, ChipSpec] => [
    id,
    { id, peaks, memories, ceilings: ceilings.map((one) => ({ ...one, measured: false })) },
  ]),
);
const chipOf = (id: string): Chip => makeChip(SPECS[id]);

const abort = eachWithClock();
function storeOf(chips: readonly string[], kernels: readonly KernelSpec[], changes: Record<string, unknown> = {}) {
  const model = new FakeModel({
    ...stateOf([]),
    graphs: [],
    phase: "",
    partition: null,
    chips: chips.map((id) => wireChip(SPECS[id])),
    shown: chips,
    focus_chip: chips[0],
    kernels: wireKernels(kernels),
    ...changes,
  });
  return createStore(model, abort().signal);
}

describe("defaults and limits", () => {
  it("are those of Python", () => {
    expect({
      top: UNFILTERED.top,
      snapshot_kernels: MAX_SNAPSHOT_KERNELS,
      snapshot_name: MAX_SNAPSHOT_NAME,
      ranked: MAX_RANKED_KERNELS,
      explained_share: MIN_EXPLAINED_SHARE,
      above_roof_from: MIN_UTILIZATION_ABOVE_ROOF,
      tie: TIE_TOLERANCE,
    }).toEqual(golden.defaults);
  });
});

describe("the precision of a roof", () => {
  it.each(golden.common_precision)("is common in $flops of $precision: $common", ({ flops, precision, common }) => {
    const specs = precision.map((own, row): KernelSpec => {
      const parts = Object.entries(flops).flatMap(([key, column]) => {
        const count = column?.[row] ?? null;
        return count === null ? [] : [[key, count] as const];
      });
      return { flops: Object.fromEntries(parts), bytes: 1, precision: own };
    });
    expect(commonPrecision(makeKernels(specs)) ?? "").toBe(common);
  });
  it.each(golden.roof_precision)("of $chip, asked for $asked, is $precision", ({ chip, asked, common, precision }) => {
    const store = storeOf([chip], [{ flops: 1, bytes: 1, precision: common || null }], { precision: asked });
    expect(store.rates.focusRoof.value?.precision).toBe(precision);
  });
});

describe("the chip that judges measured kernels", () => {
  it.each(golden.judge)("that ran on $ran, with focus $focus at $memory, is $judge", (one) => {
    const kernels = {
      ...makeKernels([{ flops: 1, bytes: 1, time: 1 }]),
      chip: one.ran === null ? null : chipOf(one.ran),
    };
    expect(judgeOf(kernels, makeRoof(chipOf(one.focus), "auto", one.memory)).chip.id).toBe(one.judge);
  });
});

describe("a changed rate", () => {
  it.each(golden.what_if)("$chip of $before gives $after", ({ before, chip, after, ...change }) => {
    const quantity = "peak_flops" in change ? "peak_flops" : "bandwidth";
    const [key, rate] = (change as unknown as Record<string, [string, number]>)[quantity] as [string, number];
    const choice = quantity === "peak_flops" ? { precision: key } : { memory: key };
    const store = storeOf([chip, "plain"], [{ flops: 1, bytes: 1 }], { what_if: before, ...choice });
    store.rates.setRate(quantity, rate);
    expect(store.rates.whatIf.value).toEqual(after as WhatIf);
  });
});

describe("ceilings", () => {
  it.each(golden.ceilings)("at $precision and $memory are possible as in Python", (one) => {
    const { precision, memory, chosen, possible, on } = one;
    const store = storeOf(["wide"], [{ flops: 1, bytes: 1 }], { precision, memory, ceilings: chosen });
    expect(store.rates.possibleCeilings.value.map(({ key }) => key)).toEqual(possible);
    expect(store.rates.possibleCeilings.value.filter((ceiling) => ceiling.on).map(({ key }) => key)).toEqual(on);
  });
  it("of a chip are its own, then its precisions", () => {
    const { ceilings, peaks } = chipOf("wide");
    expect([...ceilings.map(({ key }) => key), ...peaks.keys()]).toEqual(golden.known_ceilings.names);
  });
});

describe("a snapshot", () => {
  it.each(golden.snapshots)("at $memory keeps what Python keeps", ({ memory, precision, kernels, kept }) => {
    const store = storeOf(["wide"], kernels as readonly KernelSpec[], { memory, precision });
    store.view.freeze();
    const [found] = encodeSnapshots(store.view.snapshots.value);
    expect(found).toMatchObject(kept);
    expect(found?.kernels).toHaveLength(kept.kernels.length);
  });
});

describe("what to fix first", () => {
  it.each(golden.ranking)("is $rows", ({ kernels: rows, ...wanted }) => {
    const kernels = makeKernels(
      rows.map((row): KernelSpec => ("self_time" in row ? { ...row, selfTime: row.self_time } : row)),
    );
    const found = rankingOf(kernels, byFallingTime(kernels), makeRoof(makeChip()));
    expect(found.rows).toEqual(wanted.rows);
    for (const [at, gain] of found.gains.entries()) expect(gain).toBeCloseTo(wanted.gains[at] as number, 9);
    expect(found.share).toBeCloseTo(wanted.share, 12);
  });
});

describe("the main dtype", () => {
  it.each(golden.main_dtype)("of $tensors is $main", ({ tensors, main }) => {
    expect(mainOf(tensors)).toBe(main);
  });
});

describe("another phase", () => {
  it.each(golden.phases.cases)("from $at to $to", ({ at, to, then }) => {
    const graphs = Object.entries(golden.phases.graphs).map(([name, { n, ...own }]) => {
      const dims = [["n", ...n] as unknown as readonly [string, number, number, number]];
      const graph = chain(name, { ops: 1, dims, ...own }) as Record<string, unknown>;
      return [name, { ...graph, conventions: { textbook: { "@fma": 2 }, hpc: { "@fma": 2 } } }] as const;
    });
    const { dims = {}, convention = "", dtype = null } = at as Partial<typeof then & { dims: Record<string, number> }>;
    const state = { ...stateOf(graphs), phase: at.phase, dims, convention, dtype };
    const store = createStore(new FakeModel(state), abort().signal);
    store.workload.setPhase(to);
    vi.runAllTimers();
    expect({
      dims: store.workload.dims.value,
      convention: store.workload.convention.value,
      dtype: store.workload.dtype.value,
    }).toEqual(then);
  });
});
