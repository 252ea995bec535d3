// The latency roof: the golden file that Python's tests read too, and what it does not change.

import { describe, expect, it } from "vitest";
import golden from "../../../tests/golden/latency.json";
import { judge } from "../../src/roofline/bound.ts";
import { isContradicted, type LatencyRoof, latencyLimit, latencyRoof } from "../../src/roofline/latency.ts";
import { type KernelSpec, makeChip, makeKernels, makeRoof } from "../helpers.ts";

const CHIP = makeChip({
  ...{ id: "h100", peaks: { bf16: 989.5e12 }, memories: { HBM: 3.35e12, L2: 5.5e12 } },
  latencies: { HBM: 600e-9 },
});
const ROOF = makeRoof(CHIP);
const roofOf = (spec: KernelSpec, roof = ROOF) => latencyRoof(makeKernels([spec]), 0, roof);

describe("the latency roof", () => {
  it.each(golden.cases)("is that of the golden file: $level, $bytes B in $count launches", (one) => {
    const level = golden.levels[one.level as keyof typeof golden.levels];
    const chip = makeChip({ memories: { HBM: level.bandwidth }, latencies: { HBM: level.latency } });
    const kernels = makeKernels([{ flops: 0, bytes: { HBM: one.bytes }, count: one.count }]);
    // Python sends what the threads have in flight.
    const { in_flight, threads = 0, bytes_per_thread, waves = 1 } = one as unknown as Partial<Record<string, number>>;
    const counted = in_flight ?? (bytes_per_thread && (threads / Math.max(1, waves)) * bytes_per_thread);
    const found = latencyRoof({ ...kernels, inFlight: counted ? Float64Array.of(counted) : null }, 0, makeRoof(chip));
    const { expected } = one;
    const isTie = Math.abs(expected.in_flight / (level.bandwidth * level.latency) - 1) < 1e-12;
    if (one.bytes === 0 || isTie || !expected.is_below_bandwidth) {
      if (!isTie) expect(found).toBeUndefined();
      return;
    }
    const close = (value: number | undefined, exact: number) => expect((value ?? 0) / exact).toBeCloseTo(1, 12);
    close(found?.rate, expected.attainable_bandwidth);
    close(found?.inFlight, expected.in_flight);
    close(found?.time, expected.time);
  });
  it("of 500 kB at 600 ns is 833 GB/s of an H100's 3.35 TB/s, and takes the latency of each launch", () => {
    const roof = roofOf({ flops: 0, bytes: 1.5e6, count: 3, time: 3e-6 }) as LatencyRoof;
    expect(roof.rate).toBeCloseTo(833.333e9, -7);
    expect(roof.time).toBeCloseTo(1.8e-6, 12);
  });
  it("does not move with the bandwidth, but is gone where the bandwidth is below it", () => {
    const slower = (bandwidth: number) => makeRoof(CHIP, "auto", "main", { h100: { bandwidth: { HBM: bandwidth } } });
    const small = { flops: 0, bytes: 5e5 };
    expect(roofOf(small, slower(1e12))?.rate).toBe(roofOf(small)?.rate);
    expect(roofOf(small, slower(8e11))).toBeUndefined();
  });
  it("is unknown where the latency of the level or the bytes are", () => {
    expect(roofOf({ flops: 1, bytes: { L2: 10 } }, makeRoof(CHIP, "auto", "L2"))).toBeUndefined();
    expect(roofOf({ flops: 1 })).toBeUndefined();
    expect(roofOf({ flops: 1, bytes: 10 }, makeRoof(makeChip()))).toBeUndefined();
  });
  it("has the latency of as many cycles of a memory on the chip at another clock", () => {
    const chip = makeChip({
      ...{ id: "a", clock: 2e9, peaks: { bf16: 8e14, fp8: 16e14 }, memories: { HBM: 3e12, L2: 6e12 } },
      latencies: { HBM: 600e-9, L2: 150e-9 },
    });
    const half = { a: { peak_flops: { bf16: 4e14, fp8: 8e14 }, bandwidth: { L2: 3e12 } } };
    const latency = (level: string, whatIf = {}) =>
      roofOf({ flops: 0, bytes: { [level]: 1e3 } }, makeRoof(chip, "auto", level, whatIf))?.latency;
    expect(latency("L2")).toBe(150e-9);
    expect(latency("L2", half)).toBeCloseTo(300e-9, 15);
    expect(latency("HBM", half)).toBe(600e-9);
    expect(latency("L2", { a: { bandwidth: { L2: 3e12 } } })).toBe(150e-9);
  });
  it("of all levels is that of the main memory", () => {
    const roof = roofOf({ flops: 1, bytes: { HBM: 1e3, L2: 1e12 } }, makeRoof(CHIP, "auto", "all"));
    expect(roof?.bytes).toBe(1e3);
  });
  it("is none of the totals of a program", () => {
    const kernels = { ...makeKernels([{ flops: 1, bytes: 10 }]), own: 0 };
    expect(latencyRoof(kernels, 0, ROOF)).toBeUndefined();
  });
});

describe("a kernel", () => {
  const isLimited = (spec: KernelSpec) => latencyLimit(makeKernels([spec]), 0, ROOF) !== undefined;
  it("is limited by latency where latency takes longer than its bound", () => {
    expect(isLimited({ flops: 1e6, bytes: 5e5 })).toBe(true);
    // 1e10 FLOPs take 10.1 µs.
    expect(isLimited({ flops: 1e10, bytes: 5e5 })).toBe(false);
    expect(isLimited({ flops: 1e6, bytes: 5e8 })).toBe(false);
  });
  it("keeps its bound and its share of the roof", () => {
    const kernels = makeKernels([{ flops: 1e6, bytes: 5e5, time: 1e-6 }]);
    const bare = makeRoof(makeChip({ peaks: { bf16: 989.5e12 }, memories: { HBM: 3.35e12 } }));
    const [own, without] = [judge(kernels, ROOF)(0), judge(kernels, bare)(0)];
    expect([own.boundBy, own.time, own.utilization]).toEqual([without.boundBy, without.time, without.utilization]);
  });
  it("contradicts its latency roof where it is more than 5 % faster", () => {
    const roof = roofOf({ flops: 0, bytes: 5e5 }) as LatencyRoof;
    expect(isContradicted(roof, 0.58e-6)).toBe(false);
    expect(isContradicted(roof, 0.56e-6)).toBe(true);
    expect(isContradicted(roof, Number.NaN)).toBe(false);
  });
});
