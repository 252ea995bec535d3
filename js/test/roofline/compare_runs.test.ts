// What became of the kernels of an earlier run: the differences, what is in one run alone, and the arrows on the chart.

import { describe, expect, it } from "vitest";
import { earlierPoints, runArrows } from "../../src/chart/layers/compare_runs.tsx";
import { project, scalesOf } from "../../src/chart/scales.ts";
import type { Scene } from "../../src/chart/scene.ts";
import { changeOf, largestChanges, passing, runsOf } from "../../src/roofline/compare_runs.ts";
import { pointsOf } from "../../src/roofline/points.ts";
import { formatChange } from "../../src/text/numbers.ts";
import type { Baseline } from "../../src/wire/columns.ts";
import { runWords } from "../../src/words/words.ts";
import { type KernelSpec, makeChip, makeKernels, makeRoof, several } from "../helpers.ts";

const ROOF = makeRoof(makeChip());
const WORDS = ["faster", "slower", "same", "unknown", "other work", null];

const kernel = (name: string, time: number | null, bytes = 1e12): KernelSpec => ({ name, flops: 1e14, bytes, time });
function baseline(
  specs: readonly KernelSpec[],
  match: readonly number[],
  verdicts: readonly (string | null)[],
): Baseline {
  const codes = Int32Array.from(verdicts, (word) => WORDS.indexOf(word));
  const isPerLaunch = new Int32Array(specs.length);
  return { kernels: makeKernels(specs), match: Int32Array.from(match), verdict: { values: WORDS, codes }, isPerLaunch };
}

const NOW = makeKernels([
  kernel("new", 1),
  kernel("copy", 1.5),
  kernel("matmul", 4),
  kernel("newer", 2),
  kernel("norm", 2),
]);
const BEFORE = baseline(
  [kernel("matmul", 8), kernel("gone", 1), kernel("copy", 1), kernel("norm", 2), kernel("long gone", 9)],
  [2, -1, 1, 4, -1],
  ["faster", null, "slower", "same", null],
);
const RUNS = runsOf(BEFORE, NOW);

describe("two runs", () => {
  it("differ most where most seconds came or went", () => {
    expect(RUNS.changes.map(({ earlier, row, from, to, verdict }) => [earlier, row, from, to, verdict])).toEqual([
      [0, 2, 8, 4, "faster"],
      [2, 1, 1, 1.5, "slower"],
      [3, 4, 2, 2, "same"],
    ]);
  });
  it("of which one launches a kernel half as often have its time per launch, and the numbers of launches", () => {
    const before = baseline([{ ...kernel("gemm", 10), count: 100 }, kernel("norm", 2)], [0, 1], ["same", "slower"]);
    const now = makeKernels([{ ...kernel("gemm", 5), count: 50 }, kernel("norm", 4)]);
    const { changes } = runsOf({ ...before, isPerLaunch: Int32Array.of(1, 0) }, now);
    expect(changes.map(({ from, to, launches, verdict }) => [from, to, launches, verdict])).toEqual([
      [0.1, 0.1, [100, 50], "same"],
      [2, 4, undefined, "slower"],
    ]);
    expect(formatChange(changes[0]?.from ?? 0, changes[0]?.to ?? 1)).toBe("±0 %");
  });
  it("of which one launches a kernel less often differ by the seconds of all launches", () => {
    const before = baseline([{ ...kernel("gemm", 10), count: 100 }, kernel("norm", 2)], [0, 1], ["same", "slower"]);
    const rows = (gemm: KernelSpec) => {
      const now = makeKernels([gemm, kernel("norm", 4)]);
      return runsOf({ ...before, isPerLaunch: Int32Array.of(1, 0) }, now).changes.map(({ row }) => row);
    };
    // norm takes 2 s more, gemm 0.1 s or 2.5 s less.
    expect(rows({ ...kernel("gemm", 9.9), count: 99 })).toEqual([1, 0]);
    expect(rows({ ...kernel("gemm", 7.5), count: 75 })).toEqual([0, 1]);
  });
  it("have a word for each verdict of Python's, and no arrow where the work is another", () => {
    expect(new Set([...Object.keys(runWords.verdicts), null])).toEqual(new Set(WORDS));
    const other = runsOf(baseline([kernel("matmul", 8)], [2], ["other work"]), NOW);
    expect(drawn(NOW, other).arrows).toEqual([]);
    expect(other.changes.map(({ verdict }) => verdict)).toEqual(["other work"]);
    expect(largestChanges(other, () => true)).toEqual([]);
  });
  it("have seven numbered changes at most, the largest of all launches together, of drawn kernels", () => {
    const names = several(10, (at) => `k${at}`);
    // The first is the same; kernel 9 saves 9 s, and kernel 1 saves 1 s.
    const before = baseline(
      names.map((name) => kernel(name, 20)),
      names.map((_, at) => at),
      names.map((_, at) => (at === 0 ? "same" : "faster")),
    );
    const now = makeKernels(names.map((name, at) => kernel(name, 20 - at)));
    const largest = largestChanges(runsOf(before, now), (row) => row !== 8);
    expect(largest.map(({ row }) => row)).toEqual([9, 7, 6, 5, 4, 3, 2]);
    expect(largest.map(changeOf)).toEqual([-9, -7, -6, -5, -4, -3, -2]);
  });
  it("have kernels of their own, the longest first", () => {
    expect([RUNS.onlyBefore, RUNS.onlyNow]).toEqual([
      [4, 1],
      [3, 0],
    ]);
  });
  it("follow the filters, and keep what passes in either run", () => {
    const { changes, onlyBefore, onlyNow } = passing(RUNS, Int32Array.of(0, 1), Int32Array.of(0, 1));
    expect(changes.map(({ earlier, row }) => [earlier, row])).toEqual([
      [0, 2],
      [2, 1],
    ]);
    expect([onlyBefore, onlyNow]).toEqual([[1], [0]]);
  });
  it("are compared while word of how they match is still that of other kernels", () => {
    const { changes, onlyBefore } = runsOf(BEFORE, makeKernels([kernel("matmul", 4)]));
    expect([changes.length, onlyBefore.length]).toEqual([0, 5]);
  });
  it("have kernels of equal change, or of equal time, in the order of the present table", () => {
    const now = makeKernels([1, 2, 3, null, 5, 8, 6, 5].map((time) => kernel("k", time)));
    const earlier = [4, 3, 2, 1, 7, null, 9, 7].map((time) => kernel("k", time));
    const before = baseline(
      earlier,
      [2, 1, 0, -1, -1, -1, -1, -1],
      ["faster", "same", "slower", ...Array(5).fill(null)],
    );
    const runs = runsOf(before, now);
    // 1 s each.
    expect(runs.changes.map(({ earlier, row }) => [earlier, row])).toEqual([
      [2, 0],
      [1, 1],
      [0, 2],
    ]);
    expect([runs.onlyBefore, runs.onlyNow]).toEqual([
      [6, 4, 7, 3, 5],
      [5, 6, 4, 7, 3],
    ]);
  });
  it("have an unknown change without a verdict, and none with a kernel beyond the present table", () => {
    const runs = runsOf(baseline([kernel("a", 1), kernel("b", 1)], [0, 1], [null, "same"]), makeKernels([{ time: 1 }]));
    expect(runs.changes.map(({ earlier, verdict }) => [earlier, verdict])).toEqual([[0, "unknown"]]);
    expect([runs.onlyBefore, runs.onlyNow]).toEqual([[1], []]);
  });
  it("have no order where one was not measured", () => {
    const { changes } = runsOf(
      baseline([kernel("a", null), kernel("b", 1)], [0, 1], ["unknown", "faster"]),
      makeKernels([kernel("a", 3), kernel("b", 0.5)]),
    );
    expect(changes.map(({ row }) => row)).toEqual([1, 0]);
  });
});

describe("the change of a time", () => {
  it("has its sign, also that there is none", () => {
    expect([formatChange(4, 3), formatChange(2, 3), formatChange(2, 2), formatChange(1000, 995)]).toEqual([
      ...["−25 %", "+50 %", "±0 %", "−0.5 %"],
    ]);
  });
  it("is unknown where one was not measured, or took no time", () => {
    expect([formatChange(Number.NaN, 1), formatChange(1, Number.NaN), formatChange(0, 1)]).toEqual(
      Array(3).fill("unknown"),
    );
  });
});

function drawn(now = NOW, runs = RUNS) {
  const points = pointsOf(now, [ROOF], ROOF);
  const earlier = earlierPoints(runs, points, [ROOF], ROOF);
  const scales = scalesOf({ width: 760, height: 420 }, [ROOF], points, ROOF, undefined, earlier.points);
  const scene = { points, scales, at: project(points, scales), marked: [2], selected: new Set() } as unknown as Scene;
  return { scene, arrows: runArrows(scene, earlier), earlier };
}

describe("an arrow", () => {
  it("goes from where a kernel stood to where it stands, with the change of its time", () => {
    const { scene, arrows } = drawn();
    expect(arrows.map(({ row, text, faster, isMarked }) => [row, text, faster, isMarked])).toEqual([
      [2, "−50 %", true, true],
      [1, "+50 %", false, false],
    ]);
    const [matmul, copy] = arrows;
    const { scales, at, points } = scene;
    // 100 TFLOP in 8 s and in 4 s, at 100 FLOP/B.
    expect(matmul?.from[0]).toBeCloseTo(scales.x(100), 3);
    expect(matmul?.from[1]).toBeCloseTo(scales.y(1.25e13), 3);
    expect(matmul?.to[1]).toBeCloseTo(scales.y(2.5e13), 3);
    expect(copy?.to).toEqual([at.x[points.home[1] as number], at.y[points.home[1] as number]]);
    // A shorter time is a higher rate.
    expect((matmul?.from[1] ?? 0) > (matmul?.to[1] ?? 0)).toBe(true);
    expect((copy?.from[1] ?? 0) < (copy?.to[1] ?? 0)).toBe(true);
  });
  it("is drawn only to what is drawn, and has room on the chart", () => {
    const points = pointsOf(NOW, [ROOF], ROOF, Int32Array.of(1));
    expect(earlierPoints(RUNS, points, [ROOF], ROOF).changes.map(({ row }) => row)).toEqual([1]);
    const slow = [kernel("a", 1), kernel("b", 1)];
    const was = runsOf(baseline([kernel("a", 1e6), kernel("b", 1)], [0, 1], ["faster", "same"]), makeKernels(slow));
    const { scene, arrows } = drawn(makeKernels(slow), was);
    expect(arrows[0]?.from[1]).toBeLessThan(scene.scales.plot.bottom);
  });
  it("is left out where another kernel is alone", () => {
    const { scene, earlier } = drawn();
    const alone = { ...scene, selected: new Set([1]) } as Scene;
    expect(runArrows(alone, earlier).map(({ row }) => row)).toEqual([1]);
  });
  it("is one of seven at most, those of the largest changes", () => {
    const many = several(40, (at) => kernel(`k${at}`, 1 + at));
    const after = makeKernels(many.map((one, at) => ({ ...one, time: 0.5 + at / 2 })));
    const runs = runsOf(baseline(many, [...many.keys()], Array(40).fill("faster")), after);
    const rows = drawn(after, runs).arrows.map(({ row }) => row);
    expect(rows).toEqual(several(7, (at) => 39 - at));
  });
});
