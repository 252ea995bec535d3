// The latency roof in words: the sentences are those of Python's `LatencyRoof.sentence` and `explanation`.

import { describe, expect, it } from "vitest";
import { cellText, cellTitle, columnFor, columnsOf } from "../../src/panels/table/columns.ts";
import { latencyRoof } from "../../src/roofline/latency.ts";
import { briefRows, tooltipRows } from "../../src/text/describe.ts";
import { latencyBrief, latencyLabel, latencySentence } from "../../src/text/latency.ts";
import { type KernelSpec, makeChip, makeKernels, makeRoof } from "../helpers.ts";

const ROOF = makeRoof(makeChip({ peaks: { bf16: 989.5e12 }, memories: { HBM: 3.35e12 }, latencies: { HBM: 600e-9 } }));
const said = (spec: KernelSpec, inFlight?: number) =>
  latencySentence({ ...makeKernels([spec]), inFlight: inFlight ? Float64Array.of(inFlight) : null }, 0, ROOF);

describe("the sentence", () => {
  it("has bytes, latency, rate and bandwidth, and what latency explains of the time", () => {
    expect(said({ flops: 0, bytes: 5e5 })).toBe("moves 500 kB: at 600 ns that is at most 833 GB/s of 3.35 TB/s");
    expect(said({ flops: 0, bytes: 5e5, time: 3e-6 })).toBe(
      "moves 500 kB: at 600 ns that is at most 833 GB/s of 3.35 TB/s; latency explains 20 % of its time",
    );
  });
  it("has the bytes in flight where the file counts fewer than the launch moves", () => {
    expect(said({ flops: 0, bytes: 5e8, time: 1 }, 6e4)).toBe(
      "has 60 kB in flight: at 600 ns that is at most 100 GB/s of 3.35 TB/s; latency explains 0.5 % of its time",
    );
  });
  it("says what is wrong where the kernel is faster", () => {
    expect(said({ flops: 0, bytes: 5e5, time: 3e-7 })).toBe(
      "moves 500 kB: at 600 ns that is at most 833 GB/s of 3.35 TB/s; " +
        "that would take 2× its time, so its bytes are miscounted or are those of a nearer level",
    );
  });
  it("is none for a launch that can fill the bandwidth", () => {
    expect(said({ flops: 0, bytes: 5e8, time: 1 })).toBeUndefined();
  });
});

it("the status row has its short form, unless the kernel is faster", () => {
  const brief = (spec: KernelSpec) => latencyBrief(makeKernels([spec]), 0, ROOF);
  expect(brief({ flops: 0, bytes: 5e5 })).toBe("latency: at most 833 GB/s");
  expect(brief({ flops: 0, bytes: 5e5, time: 3e-7 })).toBeUndefined();
  expect(brief({ flops: 0, bytes: 5e8, time: 1 })).toBeUndefined();
});

it("the label has the latency, the bytes in flight and the rate", () => {
  const roof = latencyRoof(makeKernels([{ flops: 0, bytes: 5e5 }]), 0, ROOF);
  expect(roof && latencyLabel(roof)).toEqual([
    "at 600 ns, 500 kB in flight: at most 833 GB/s",
    "latency: at most 833 GB/s",
  ]);
});

describe("tooltip and table", () => {
  const kernels = makeKernels([
    { name: "small", flops: 1e6, bytes: 5e5, time: 3e-6 },
    { name: "large", flops: 1e6, bytes: 5e8, time: 3e-4 },
  ]);
  it("the tooltip has a row for it, where there is one", () => {
    for (const rows of [briefRows(kernels, 0, ROOF), tooltipRows(kernels, 0, ROOF)])
      expect(rows).toContainEqual(["latency", latencySentence(kernels, 0, ROOF)]);
    for (const rows of [briefRows(kernels, 1, ROOF), tooltipRows(kernels, 1, ROOF)])
      expect(rows.map(([label]) => label)).not.toContain("latency");
  });
  it("the table's class names it beside what bounds the kernel, which stays", () => {
    const column = columnFor(columnsOf(kernels, ROOF), "bound_by");
    if (!column) throw new Error("no column");
    expect([0, 1].map((row) => cellText(column, row))).toEqual(["HBM, latency", "HBM"]);
    expect([0, 1].map((row) => column.at(row))).toEqual(["HBM", "HBM"]);
    expect(cellTitle(column, 0, kernels)).toBe(`HBM, latency\n${latencySentence(kernels, 0, ROOF)}`);
    expect(cellTitle(column, 1, kernels)).toBe("HBM");
  });
});
