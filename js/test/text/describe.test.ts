// What is said of a kernel: the sentence under the chart, the tooltip, the call-out of its gap.

import { describe, expect, it } from "vitest";
import golden from "../../../tests/golden/bytes_elsewhere.json";
import { cellText, columnFor, columnsOf } from "../../src/panels/table/columns.ts";
import { judge } from "../../src/roofline/bound.ts";
import { bytesElsewhere, type Roof } from "../../src/roofline/roofline.ts";
import { briefRows, categoryName, gapText, sentenceOf, sentenceOfRoof, tooltipRows } from "../../src/text/describe.ts";
import { nameOf } from "../../src/text/kernel_names.ts";
import type { Kernels } from "../../src/wire/columns.ts";
import { strings } from "../../src/words/words.ts";
import { type KernelSpec, makeChip, makeKernels, makeRoof, several } from "../helpers.ts";

const CHIP = makeChip({
  id: "h",
  name: "H100",
  peaks: { bf16: 9.9e14, fp8: 1.979e15 },
  memories: { HBM: 3.35e12, L2: 5.5e12, L1: null },
});
const ROOF = makeRoof(CHIP);
const words = strings.tooltip;

const say = (spec: KernelSpec, roof = ROOF) => sentenceOf(makeKernels([{ name: "k", ...spec }]), 0, roof);
const rows = (spec: KernelSpec, roof = ROOF) => Object.fromEntries(tooltipRows(makeKernels([spec]), 0, roof));
const MATMUL = { name: "matmul", flops: 4e12, bytes: 1e10, time: 0.01 };

describe("the sentence", () => {
  it("of a measured kernel tells the bound, both yardsticks together and what closing the gap is worth", () => {
    expect(say(MATMUL)).toBe(
      "matmul on H100 · min(990 TFLOP/s, 400 FLOP/B × 3.35 TB/s) = 990 TFLOP/s attainable · compute-bound · 40 % of peak · 40 % of roof · " +
        "2.5× possible",
    );
    expect(say({ flops: 1e12, bytes: 1e10, time: 0.01 })).toBe(
      "k on H100 · min(990 TFLOP/s, 100 FLOP/B × 3.35 TB/s) = 335 TFLOP/s attainable · memory-bound (HBM) · 10 % of peak · 30 % of roof · " +
        "3.4× possible",
    );
  });
  it("of an unmeasured kernel tells how much of the peak it can reach at most", () => {
    expect(say({ flops: 1e12, bytes: 1e10 })).toBe(
      "k on H100 · min(990 TFLOP/s, 100 FLOP/B × 3.35 TB/s) = 335 TFLOP/s attainable · memory-bound (HBM) · at most 34 % of peak",
    );
    expect(say({ flops: 1e12, bytes: 0 })).toContain(
      "∞ FLOP/B × 3.35 TB/s) = 990 TFLOP/s attainable · compute-bound · at most 100 %",
    );
  });
  it("of a kernel without FLOPs tells its bytes and the time that they take", () => {
    expect(say({ flops: 0, bytes: 3.35e9 })).toBe(
      "k on H100 · 0 FLOP, 3.35 GB: at least 1 ms at 3.35 TB/s · memory-bound (HBM)",
    );
    expect(say({ flops: 0, bytes: 3.35e9, time: 0.004 })).toBe(
      "k on H100 · 0 FLOP, 3.35 GB: at least 1 ms at 3.35 TB/s · memory-bound (HBM) · 0 % of peak · 25 % of roof · 4× possible",
    );
  });
  it("of a kernel whose FLOPs or bytes are unknown says just that", () => {
    for (const spec of [{ flops: null, bytes: 1 }, { flops: 1, bytes: null, time: 1 }, {}]) {
      expect(say(spec)).toBe(`k on H100 · ${strings.unknownSentence("FLOPs")}`);
    }
  });
  it("of a kernel with bytes at other levels only names these levels", () => {
    const sentence = (bytes: KernelSpec["bytes"], memory = "main") =>
      say({ flops: 1, bytes: bytes ?? null }, makeRoof(CHIP, "auto", memory));
    expect(sentence({ SMEM: 1 })).toBe("k on H100 · its bytes are at SMEM, which H100 lacks; it has HBM, L2, L1");
    expect(sentence({ L1: 1 })).toBe("k on H100 · its bytes are at L1, and H100 has no bandwidth for L1");
    expect(sentence({ L2: 1, SMEM: 1 })).toBe("k on H100 · its bytes are at L2, SMEM, not at HBM");
    expect(sentence(1, "L2")).toBe("k on H100 · its bytes are at HBM, not at L2");
    expect(rows({ flops: 1, bytes: { SMEM: 1 } })[words.why]).toBe(
      "its bytes are at SMEM, which H100 lacks; it has HBM, L2, L1",
    );
    expect(rows(MATMUL)[words.why]).toBeUndefined();
  });
  it("finds the same levels as Python", () => {
    const chip = makeChip({ memories: golden.chip });
    for (const { bytes, memory, elsewhere } of golden.cases) {
      const kernels = makeKernels([{ flops: 1, bytes: (bytes as KernelSpec["bytes"]) ?? null }]);
      expect(bytesElsewhere(kernels, 0, makeRoof(chip, "auto", memory)), JSON.stringify(bytes)).toEqual(elsewhere);
    }
  });
  it("of a kernel that sends bytes to other chips says that its chip has no known link to them", () => {
    const spec = { name: "reduce", flops: 1e13, bytes: { HBM: 1e10, network: 1e11 }, time: 2 };
    const alone = makeRoof({ ...CHIP, link: null });
    const said = "H100 has no known link to other chips";
    expect(say(spec, alone)).toBe(`reduce on H100 · ${said}`);
    expect(rows(spec, alone)[words.why]).toBe(said);
    expect(rows(spec, makeRoof({ ...CHIP, link: 1e11 }))[words.why]).toBeUndefined();
    expect(rows({ ...spec, bytes: { HBM: 1e10, network: 0 } }, alone)[words.why]).toBeUndefined();
  });
  it("of a kernel at its roof promises nothing, and near to it no round number", () => {
    // At 3.35 TB/s its bytes take 2.985 ms: 99.84 % and 96.9 % of these times.
    const [at, near] = [0.00299, 0.00308].map((time) => makeKernels([{ flops: 1e12, bytes: 1e10, time }]));
    expect(sentenceOf(at as Kernels, 0, ROOF)).toMatch(/ · 34 % of peak · 99.8 % of roof$/);
    expect(gapText(judge(at as Kernels, ROOF)(0))).toBe("99.8 % of roof");
    expect(sentenceOf(near as Kernels, 0, ROOF)).toMatch(/ · 97 % of roof · 1.03× possible$/);
    expect(gapText(judge(near as Kernels, ROOF)(0))).toBe("97 % of roof · up to 1.03×");
  });
  it("of a collective whose bytes over the link are unknown promises no gain, unless it is above its roof", () => {
    const said = (time: number) =>
      sentenceOf({ ...makeKernels([{ ...MATMUL, name: "all-reduce", time }]), unlinked: Int32Array.of(1) }, 0, ROOF);
    expect(said(0.01)).toMatch(/ · 40 % of peak · 40 % of roof$/);
    expect(said(0.001)).toMatch(new RegExp(` · ${strings.aboveRoof}$`));
  });
  it("is told without its formula where there is more to tell", () => {
    expect(sentenceOf(makeKernels([MATMUL]), 0, ROOF, true)).toBe(
      "matmul on H100 · compute-bound · 40 % of peak · 40 % of roof · 2.5× possible",
    );
  });
  it("of a kernel above its roof says that something is off, and promises no gain", () => {
    const sentence = say({ flops: 1e12, bytes: 1e10, time: 0.001 });
    expect(sentence).toContain("101 % of peak · 299 % of roof");
    expect(sentence).toContain(strings.aboveRoof);
    expect(sentence).not.toContain("possible");
  });
  it("of a kernel whose precision the chip lacks names that precision", () => {
    expect(say({ flops: 1e12, bytes: 1e10, time: 1, precision: "fp64" })).toBe(
      "k on H100 · H100 has no peak for its fp64 FLOPs",
    );
    expect(say({ flops: { fp64: 1e9, bf16: 1e12 }, bytes: 1e10 })).toContain("fp64");
    // The FLOPs have a precision, and the kernel another one.
    expect(say({ flops: { fp64: 1e9 }, bytes: 1e10, precision: "int4" })).toContain("no peak for its fp64 FLOPs");
    expect(say({ flops: { matmul: 1e9 }, bytes: 1e10, precision: "fp64" })).toContain("no peak for its fp64 FLOPs");
  });
  it("of a kernel with a precision of its own names the peak that judges it", () => {
    expect(say({ flops: 1e13, bytes: 1e9, precision: "fp8" })).toContain("min(1.979 PFLOP/s, ");
  });
  it("uses the rates in force, not those of the data sheet", () => {
    const roof = makeRoof(CHIP, "auto", "main", { h: { peak_flops: { bf16: 2e15 }, bandwidth: { HBM: 5e12 } } });
    expect(say({ flops: 1e12, bytes: 1e10 }, roof)).toContain("min(2 PFLOP/s, 100 FLOP/B × 5 TB/s) = 500 TFLOP/s");
  });
  it("of a roof tells its sides as the view has them", () => {
    expect(sentenceOfRoof(ROOF)).toContain("left of it are memory-bound");
    expect(sentenceOfRoof(ROOF, "time")).toContain("above the diagonal are memory-bound");
  });
  it("of a roof tells its rates and its ridge point", () => {
    expect(sentenceOfRoof(ROOF)).toMatch(
      /^H100 · 990 TFLOP\/s at bf16, 3\.35 TB\/s from HBM · ridge point 295\.5 FLOP\/B: /,
    );
  });
  it("of a roof tells which of its rates are not the data sheet's", () => {
    // 990 / 5.025 = 197.0.
    const roof = makeRoof(CHIP, "auto", "main", { h: { bandwidth: { HBM: 5.025e12 } } });
    expect(sentenceOfRoof(roof)).toContain(
      "H100 · 990 TFLOP/s at bf16, 5.025 TB/s (×1.5) from HBM · ridge point 197 FLOP/B",
    );
    const near = makeRoof(CHIP, "auto", "main", { h: { bandwidth: { HBM: 3.355e12 } } });
    expect(sentenceOfRoof(near)).toContain("H100 · 990 TFLOP/s at bf16, 3.355 TB/s from HBM");
  });
});

describe("of a kernel that ran on another chip", () => {
  const ran = makeChip({ id: "a", name: "A100" });
  const kernels = { ...makeKernels([MATMUL, { flops: 4e12, bytes: 1e10 }]), chip: ran };
  it("the sentence says where it was measured, and of no gap that it could close", () => {
    expect(sentenceOf(kernels, 0, ROOF)).toBe(
      "matmul on H100 · measured on A100 · min(990 TFLOP/s, 400 FLOP/B × 3.35 TB/s) = 990 TFLOP/s attainable · " +
        "compute-bound · 40 % of peak · 40 % of roof",
    );
    expect(sentenceOf(kernels, 0, makeRoof(ran))).not.toContain("measured on");
    expect(sentenceOf(kernels, 1, ROOF)).not.toContain("measured on");
  });
  it("the tooltip says it too", () => {
    expect(tooltipRows(kernels, 0, ROOF)).toContainEqual([words.measuredOn, "A100"]);
    expect(tooltipRows(kernels, 0, makeRoof(ran)).map(([label]) => label)).not.toContain(words.measuredOn);
    expect(tooltipRows(kernels, 1, ROOF).map(([label]) => label)).not.toContain(words.measuredOn);
  });
});

describe("the tooltip", () => {
  it("of a measured kernel has both yardsticks, its rates, its time and its bound", () => {
    const spec = { ...MATMUL, bytes: { HBM: 1e10, L2: 2.2e10, L1: 5e10 }, category: "gemm", count: 20 };
    expect(tooltipRows(makeKernels([spec, { flops: 1, bytes: 1, time: 0.03 }]), 0, ROOF)).toEqual([
      [words.category, "gemm"],
      [words.chip, "H100"],
      [words.ai({}), "400 FLOP/B"],
      [words.achieved, "400 TFLOP/s"],
      [words.attainable, "990 TFLOP/s"],
      [words.roof, "40 %"],
      [words.peak, "40 %"],
      [words.boundBy, "compute"],
      [words.time, "10 ms · 25 % of the run"],
      [words.bandwidth("HBM"), "1 TB/s · 30 %"],
      [words.bandwidth("L2"), "2.2 TB/s · 40 %"],
      [words.boundTime, "4.04 ms"],
      [words.launches, "20"],
    ]);
  });
  it("of a hovered kernel that was not measured begins with the chip, if several chips are shown", () => {
    const [fast, other] = ["Fast", "Other"].map((name) => makeRoof(makeChip({ id: name, name }))) as [Roof, Roof];
    const unmeasured = makeKernels([{ flops: 1e12, bytes: 1e10 }]);
    expect(briefRows(unmeasured, 0, other, [fast, other])[0]).toEqual(["on", "Other"]);
    expect(briefRows(unmeasured, 0, other, [other])[0]).toEqual(["at most", "100 TFLOP/s"]);
    expect(briefRows(makeKernels([MATMUL]), 0, other, [fast, other])[0]?.[0]).toBe("time");
  });
  it("of a hovered kernel has five rows: its time, its launches, what it reaches of its roof, what binds it, and its share", () => {
    const spec = { ...MATMUL, bytes: { HBM: 1e10 }, count: 20 };
    expect(briefRows(makeKernels([spec, { flops: 1, bytes: 1, time: 0.03 }]), 0, ROOF)).toEqual([
      ["time", "10 ms · 25 % of the run"],
      ["launches", "20 × 500 µs"],
      ["achieved", "400 TFLOP/s of 990"],
      ["bound by", "compute, 400 FLOP/B"],
      ["of its roof", "40 %"],
    ]);
    expect(briefRows(makeKernels([{ flops: 0, bytes: 1e9, time: 1e-3 }]), 0, ROOF).slice(1)).toEqual([
      ["achieved", "1 TB/s of 3.35"],
      ["bound by", "HBM, 0 FLOP"],
      ["of its roof", "30 %"],
    ]);
    expect(briefRows(makeKernels([{ flops: 1e12, bytes: 1e10 }]), 0, ROOF)).toEqual([
      ["at most", "335 TFLOP/s"],
      ["bound by", "HBM, 100 FLOP/B"],
    ]);
    expect(briefRows(makeKernels([{ ...MATMUL, time: 1e-3 }]), 0, ROOF).at(-1)).toEqual(["of its roof", "above"]);
  });
  it("of an unmeasured kernel has what it can reach at most, and nothing that was measured", () => {
    expect(tooltipRows(makeKernels([{ flops: 1e12, bytes: 1e10 }]), 0, ROOF)).toEqual([
      [words.chip, "H100"],
      [words.ai({}), "100 FLOP/B"],
      [words.attainable, "335 TFLOP/s"],
      [words.atMost, "34 %"],
      [words.boundBy, "HBM"],
      [words.flip, "9.9 TB/s (×2.96)"],
      [words.boundTime, "2.99 ms"],
    ]);
  });
  it("of a kernel without FLOPs has bytes/s, and no FLOP/s that would all be zero", () => {
    const found = rows({ flops: 0, bytes: 3.35e9, time: 0.004 });
    expect(found).toMatchObject({
      [words.ai({})]: "0 FLOP/B",
      [words.roof]: "25 %",
      [words.boundBy]: "HBM",
      [words.bandwidth("HBM")]: "838 GB/s · 25 %",
      [words.boundTime]: "1 ms",
    });
    expect(Object.keys(found)).not.toContain(words.achieved);
    expect(Object.keys(found)).not.toContain(words.attainable);
    expect(Object.keys(rows({ flops: 0, bytes: 1 }))).not.toContain(words.atMost);
  });
  it("of a kernel above its roof has the share as it is, not clamped", () => {
    expect(rows({ flops: 1e12, bytes: 1e10, time: 0.001 })).toMatchObject({
      [words.roof]: "299 %",
      [words.peak]: "101 %",
    });
  });
  it("of a kernel whose FLOPs are unknown says so, and still has the rate of its bytes", () => {
    const found = rows({ flops: null, bytes: 1e10, time: 0.01 });
    expect(found).toMatchObject({ [words.ai({})]: "unknown", [words.boundBy]: "unknown" });
    expect(found[words.bandwidth("HBM")]).toBe("1 TB/s · 30 %");
  });
  it("has the rate of a level at the bandwidth in force", () => {
    const roof = makeRoof(CHIP, "auto", "main", { h: { bandwidth: { HBM: 2e12 } } });
    expect(rows({ flops: 1e12, bytes: 1e10, time: 0.01 }, roof)[words.bandwidth("HBM")]).toBe("1 TB/s · 50 %");
  });
  it("has no rate of a level that the kernel does not use", () => {
    const found = rows({ flops: 1e12, bytes: { HBM: 1e10, L2: 0 }, time: 0.01 });
    expect(Object.keys(found)).toContain(words.bandwidth("HBM"));
    expect(Object.keys(found)).not.toContain(words.bandwidth("L2"));
  });
  it("of a kernel that contains others has its self time too, and the share of the run is that of its self time", () => {
    const specs = [
      { ...MATMUL, selfTime: 0.004 },
      { flops: 1, bytes: 1, time: 0.006 },
    ];
    const found = Object.fromEntries(tooltipRows(makeKernels(specs), 0, ROOF));
    expect([found[words.time], found[words.selfTime]]).toEqual(["10 ms", "4 ms · 40 % of the run"]);
  });
  it("counts launches only where there are several", () => {
    expect(Object.keys(rows({ ...MATMUL, count: 1 }))).not.toContain(words.launches);
  });
});

describe("on which of several chips it would compute", () => {
  // Ridge points of 100, 50 and 400 FLOP/B.
  const roofOf = (id: string, peak: number) =>
    makeRoof(makeChip({ id, name: id, peaks: { bf16: peak }, memories: { HBM: 1e12 } }));
  const [mid, low, high] = [roofOf("Mid", 1e14), roofOf("Low", 5e13), roofOf("High", 4e14)];
  const told = (ai: number, roofs: readonly Roof[], roof = mid, spec: KernelSpec = {}) =>
    tooltipRows(makeKernels([{ flops: ai * 1e9, bytes: 1e9, ...spec }]), 0, roof, "roofline", roofs);
  const on = (...args: Parameters<typeof told>) => told(...args).find(([label]) => label === words.computeBoundOn)?.[1];

  it("is told where it is some of them, in the order of the chart", () => {
    expect(on(60, [mid, low, high])).toBe("Low");
    expect(on(200, [mid, low, high])).toBe("Mid, Low");
    expect(on(200, [high, mid], high)).toBe("Mid");
  });
  it("is not where it is none of them, or each, or where there is one alone", () => {
    expect(on(10, [mid, low, high])).toBeUndefined();
    expect(on(500, [mid, low, high])).toBeUndefined();
    expect(on(60, [low])).toBeUndefined();
    expect(on(60, [])).toBeUndefined();
  });
  it("is not of a kernel that one of them cannot judge, nor of a program's time", () => {
    expect(on(1000, [mid, makeRoof(CHIP, "fp8"), low], mid, { precision: "fp8" })).toBeUndefined();
    const total = { ...makeKernels([{ name: "step", flops: 60e9, bytes: 1e9 }]), own: 0 };
    expect(tooltipRows(total, 0, mid, "roofline", [mid, low]).map(([label]) => label)).not.toContain(
      words.computeBoundOn,
    );
  });
  it("stands under the bandwidth from which on it would compute on this one", () => {
    const labels = told(60, [mid, low]).map(([label]) => label);
    expect(labels.slice(labels.indexOf(words.flip))).toEqual([words.flip, words.computeBoundOn, words.boundTime]);
  });
});

describe("the call-out of a gap", () => {
  const gap = (spec: KernelSpec) => {
    const kernels = makeKernels([spec]);
    return gapText(judge(kernels, ROOF)(0));
  };
  it("has the share of the roof and the factor to it", () => {
    expect(gap(MATMUL)).toBe("40 % of roof · up to 2.5×");
  });
  it("counts no further than a thousand times", () => {
    expect(gap({ ...MATMUL, time: 4 })).toBe("0.1 % of roof · up to 990×");
    expect(gap({ ...MATMUL, time: 30_000 })).toBe("far below its roof · > 1000×");
    expect(say({ ...MATMUL, time: 30_000 })).toContain(" · > 1000× possible");
  });
  it("has no factor above the roof", () => {
    expect(gap({ ...MATMUL, time: 0.001 })).toBe(strings.aboveRoofShort);
  });
});

describe("the name of a kernel", () => {
  it("is its own, and a stand-in with its row where it has none", () => {
    const kernels = makeKernels([{ name: "matmul" }, { name: "" }, { name: "  " }]);
    expect(several(3, (row) => nameOf(kernels, row))).toEqual(["matmul", strings.unnamed(1), strings.unnamed(2)]);
  });
  it("is text, whatever stands in it", () => {
    const name = "<script>alert(1)</script>";
    expect(nameOf(makeKernels([{ name }]), 0)).toBe(name);
    expect(say({ name, flops: 1, bytes: 1 })).toContain(name);
  });
  it("of a name that reverses what follows it stays in reading order", () => {
    const name = "\u202egnp.exe\u2066";
    const [kernels, shown] = [makeKernels([{ ...MATMUL, name }]), "\ufffdgnp.exe\ufffd"];
    expect(nameOf(kernels, 0)).toBe(shown);
    expect(sentenceOf(kernels, 0, ROOF)).toContain(`${shown} on H100`);
  });
  it("shows its control characters, except those that are white space", () => {
    expect(nameOf(makeKernels([{ name: "a\0b\u001b[31m\u0085c\td" }]), 0)).toBe("a\ufffdb\ufffd[31m\ufffdc\td");
  });
});

describe("the name of a category", () => {
  const CATEGORY = "\u202emmeg\0";
  it("does not reverse what follows it", () => {
    expect(categoryName(CATEGORY)).toBe("\ufffdmmeg\ufffd");
    expect(categoryName("")).toBe(strings.noCategory);
    expect(tooltipRows(makeKernels([{ ...MATMUL, category: CATEGORY }]), 0, ROOF)).toContainEqual([
      words.category,
      "\ufffdmmeg\ufffd",
    ]);
  });
  it("is in no tooltip of a kernel without one", () => {
    const labels = tooltipRows(makeKernels([{ ...MATMUL, category: null }]), 0, ROOF).map(([label]) => label);
    expect(labels).not.toContain(words.category);
  });
});

describe("with all levels of memory", () => {
  const DEEP = makeRoof(
    makeChip({ id: "d", name: "Deep", peaks: { bf16: 1e14 }, memories: { HBM: 1e12, L2: 1e13 } }),
    "auto",
    "all",
  );
  const TILED = { name: "tiled", flops: 1e12, bytes: { HBM: 1e9, L2: 5e11 }, time: 0.1 };
  it("the sentence of the roof names no single ridge point", () => {
    expect(sentenceOfRoof(DEEP)).toBe("Deep · 100 TFLOP/s at bf16 · every level counts; the slowest binds");
  });
  it("the sentence of a kernel has a slope for each level, and the tooltip an intensity", () => {
    const kernels = makeKernels([TILED]);
    expect(sentenceOf(kernels, 0, DEEP)).toContain(
      "min(100 TFLOP/s, HBM 1000 FLOP/B × 1 TB/s, L2 2 FLOP/B × 10 TB/s) = 20 TFLOP/s attainable · memory-bound (L2)",
    );
    const found = Object.fromEntries(tooltipRows(kernels, 0, DEEP));
    expect([found[words.aiAt("HBM", {})], found[words.aiAt("L2", {})]]).toEqual(["1000 FLOP/B", "2 FLOP/B"]);
    // Faster L2 alone need not make it compute-bound: another level may bind next.
    expect(found).not.toHaveProperty(words.flip);
  });
});

describe("a kernel that something outside its roof binds", () => {
  const chip = makeChip({ id: "n", name: "Linked", peaks: { bf16: 1e14 }, memories: { HBM: 1e12 }, link: 1e11 });
  it("by its link says so, and that the roof alone would allow more", () => {
    const kernels = makeKernels([{ name: "step", flops: 1e13, bytes: { HBM: 1e10, network: 1e11 }, time: 2 }]);
    const roof = makeRoof(chip);
    expect(sentenceOf(kernels, 0, roof)).toContain("network-bound: 1 s over its link · 5 % of peak · 50 % of roof");
    const found = Object.fromEntries(tooltipRows(kernels, 0, roof));
    expect([found[words.attainable], found[words.withOutside]]).toEqual(["100 TFLOP/s", "10 TFLOP/s"]);
  });
  it("has the attainable rate of the sentence and the table in the tooltip too, and its rate with launches beside it", () => {
    const kernels = makeKernels([{ name: "tiny", flops: 1e9, bytes: 1e9, time: 1e-4 }]);
    const roof = makeRoof(
      makeChip({ peaks: { bf16: 9.9e14 }, memories: { HBM: 3.35e12 } }),
      "auto",
      "main",
      {},
      {
        launchOverhead: 1e-2,
      },
    );
    expect(sentenceOf(kernels, 0, roof)).toContain("= 3.35 TFLOP/s attainable · launch-bound: 10 ms");
    const found = Object.fromEntries(tooltipRows(kernels, 0, roof));
    expect([found[words.attainable], found[words.withOutside]]).toEqual(["3.35 TFLOP/s", "100 GFLOP/s"]);
    const attainable = columnFor(columnsOf(kernels, roof), "attainable");
    expect(attainable && cellText(attainable, 0)).toBe("3.35 TFLOP/s");
  });
  it("by its launches has the time of its bytes in the sentence, not that of its launches", () => {
    const kernels = makeKernels([{ name: "copy", flops: 0, bytes: 3.35e9, count: 2 }]);
    const roof = makeRoof(CHIP, "auto", "main", {}, { launchOverhead: 1 });
    expect(sentenceOf(kernels, 0, roof)).toBe(
      "copy on H100 · 0 FLOP, 3.35 GB: at least 1 ms at 3.35 TB/s · launch-bound: 2 s of launch overhead",
    );
  });
  it("by exposed communication has the share that is left of its roof in sentence, tooltip and table", () => {
    const kernels = makeKernels([{ name: "step", flops: 1e12, bytes: 1e10, time: 0.01 }]);
    const roof = makeRoof(CHIP, "auto", "main", {}, { exposedComm: 0.3 });
    expect(sentenceOf(kernels, 0, roof)).toBe(
      "step on H100 · 30 % exposed · 70 % of min(990 TFLOP/s, 100 FLOP/B × 3.35 TB/s) = 234 TFLOP/s attainable · " +
        "memory-bound (HBM) · 10 % of peak · 43 % of roof · 2.3× possible",
    );
    expect(Object.fromEntries(tooltipRows(kernels, 0, roof))).toMatchObject({
      [words.attainable]: "234 TFLOP/s",
      [words.roof]: "43 %",
      [words.boundTime]: "4.26 ms",
    });
    expect(sentenceOfRoof(roof)).toMatch(/ · 30 % exposed$/);
    const product = makeKernels([{ name: "matmul", flops: 9.9e12, bytes: 1e9 }]);
    expect(sentenceOf(product, 0, roof)).toContain("= 693 TFLOP/s attainable · compute-bound · at most 70 % of peak");
  });
  it("by its launches says so, and the time view has the times of one", () => {
    const kernels = makeKernels([{ name: "tiny", flops: 1e9, bytes: 4e6, count: 2, time: 5e-5 }]);
    const roof = makeRoof(chip, "auto", "main", {}, { launchOverhead: 1e-5 });
    expect(sentenceOf(kernels, 0, roof)).toContain("launch-bound: 20 µs of launch overhead");
    const found = Object.fromEntries(tooltipRows(kernels, 0, roof, "time"));
    expect([found[strings.time.axisX], found[strings.time.axisY]]).toEqual(["5 µs", "2 µs"]);
  });
});
