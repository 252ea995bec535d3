// Which kernels are points, how many of them, and where.

import { describe, expect, it } from "vitest";
import { judge } from "../../src/roofline/bound.ts";
import { MEASURED, type Points, pointsOf, SIDES, sideOf } from "../../src/roofline/points.ts";
import { measuredPlaces } from "../../src/roofline/positions.ts";
import { withTotals } from "../../src/roofline/totals.ts";
import { type KernelSpec, makeChip, makeKernels, makeRoof, several } from "../helpers.ts";

const FAST = makeRoof(makeChip({ id: "fast", peaks: { bf16: 100 }, memories: { HBM: 10 } }));
const SLOW = makeRoof(makeChip({ id: "slow", peaks: { bf16: 50 }, memories: { HBM: 2 } }));

const place = (specs: readonly KernelSpec[], roofs = [FAST, SLOW], focus: typeof FAST | undefined = FAST) =>
  pointsOf(makeKernels(specs), roofs, focus);

function listed({ n, row, roof, x, y }: Points) {
  return several(n, (at) => ({ row: row[at], roof: roof[at], x: x[at], y: y[at] }));
}

/** In the order of rows and, of one row, of roofs: the order of drawing is another matter. */
function sorted(points: Points) {
  return listed(points).sort((a, b) => Number(a.row) - Number(b.row) || Number(a.roof) - Number(b.roof));
}

describe("a measured kernel", () => {
  it("is one point, at its intensity and achieved rate, however many roofs are shown", () => {
    const measured = [{ flops: 300, bytes: 100, time: 20 }];
    expect(sorted(place(measured))).toEqual([{ row: 0, roof: MEASURED, x: 3, y: 15 }]);
    expect(sorted(place(measured, [FAST]))).toEqual(sorted(place(measured)));
  });
  it("without FLOPs has its bytes/s for a rate", () => {
    expect(sorted(place([{ flops: 0, bytes: 100, time: 20 }]))).toEqual([{ row: 0, roof: MEASURED, x: 0, y: 5 }]);
  });
  it("without bytes has an infinite intensity", () => {
    expect(sorted(place([{ flops: 100, bytes: 0, time: 20 }]))).toEqual([
      { row: 0, roof: MEASURED, x: Number.POSITIVE_INFINITY, y: 5 },
    ]);
  });
  it("is judged by the focus chip, and without one by the first shown", () => {
    const between = [{ flops: 1500, bytes: 100, time: 1000 }];
    expect(place(between, [FAST, SLOW], FAST).side[0]).toBe(1);
    expect(place(between, [FAST, SLOW], SLOW).side[0]).toBe(0);
    expect(pointsOf(makeKernels(between), [SLOW, FAST], undefined).side[0]).toBe(0);
    expect(pointsOf(makeKernels(between), [SLOW], FAST).side[0]).toBe(0);
  });
  it("is flagged when it stands above the roof, and only then", () => {
    const above = place([
      { flops: 100, bytes: 1, time: 0.5 },
      { flops: 100, bytes: 1, time: 1 },
      { flops: 100, bytes: 1, time: 2 },
    ]);
    expect([...above.aboveRoof.slice(0, above.n)]).toEqual([1, 0, 0]);
  });
  it("is above the roof from a utilization of more than 1 + 1e-9, in each of the ways of judging", () => {
    const specs = [1 + 1e-9, 1 + 1.001e-9].map((bytes) => ({ flops: 0, bytes, time: 1 }));
    const chip = makeChip({ memories: { HBM: 1 } });
    const late = makeRoof(chip, "auto", "main", {}, { launchOverhead: 1e-9 });
    const above = (roof: typeof FAST, ...more: readonly KernelSpec[]) => [
      ...place([...specs, ...more], [roof], roof).aboveRoof.slice(0, 2),
    ];
    expect([above(makeRoof(chip)), above(late), above(late, { flops: 1, bytes: 1 })]).toEqual(Array(3).fill([0, 1]));
  });
  it("within 1e-12 of the ridge point is bound by compute", () => {
    const sideAt = (peak: number) => {
      const roof = makeRoof(makeChip({ peaks: { bf16: peak }, memories: { HBM: 1 } }));
      return place([{ flops: 1, bytes: 1, time: 2 }], [roof], roof).side[0];
    };
    expect([sideAt(1 + 1e-12), sideAt(1 + 1.001e-12)]).toEqual([SIDES.compute, SIDES.memory]);
  });
  it("at the ridge point is bound by compute, and by no level", () => {
    const points = place([{ flops: 1000, bytes: 100, time: 20 }]);
    expect([points.side[0], [...points.binding]]).toEqual([SIDES.compute, []]);
    expect([...place([{ flops: 999, bytes: 100, time: 20 }]).binding]).toEqual(["HBM"]);
  });
  it("keeps its place where the focus chip has no peak for its precision", () => {
    const points = place([{ flops: 300, bytes: 100, time: 20, precision: "fp64" }]);
    expect(sorted(points)).toEqual([{ row: 0, roof: MEASURED, x: 3, y: 15 }]);
    expect(points.notDrawn).toBe(0);
  });
});

describe("an unmeasured kernel", () => {
  it("is a point on every shown roof, where its bound time puts it", () => {
    expect(sorted(place([{ flops: 300, bytes: 100 }]))).toEqual([
      { row: 0, roof: 0, x: 3, y: 30 },
      { row: 0, roof: 1, x: 3, y: 6 },
    ]);
  });
  it("stands on the flat of a roof that it is compute-bound on", () => {
    const points = place([{ flops: 1500, bytes: 100 }]);
    expect(sorted(points).map(({ y }) => y)).toEqual([100, 30]);
    const onFast = listed(points).findIndex(({ roof }) => roof === 0);
    expect([points.side[onFast], points.side[1 - onFast]]).toEqual([1, 0]);
    expect([...points.aboveRoof.slice(0, 2)]).toEqual([0, 0]);
  });
  it("without FLOPs has each roof's bandwidth for a rate", () => {
    expect(sorted(place([{ flops: 0, bytes: 100 }])).map(({ x, y }) => [x, y])).toEqual([
      [0, 10],
      [0, 2],
    ]);
  });
  it("has its mark on the focus roof last, so that it lies on top where roofs coincide", () => {
    expect(listed(place([{ flops: 300, bytes: 100 }], [FAST, SLOW], FAST)).map(({ roof }) => roof)).toEqual([1, 0]);
    expect(listed(place([{ flops: 300, bytes: 100 }], [FAST, SLOW], SLOW)).map(({ roof }) => roof)).toEqual([0, 1]);
  });
  it("is a kernel whose time is zero, too, and is not above a roof", () => {
    const points = place([{ flops: 300, bytes: 100, time: 0 }]);
    expect([points.n, points.measured, ...points.aboveRoof]).toEqual([2, 0, 0, 0]);
    expect(pointsOf(makeKernels([{ flops: 300, bytes: 100, time: 0 }]), [], undefined).n).toBe(0);
  });
  it("stands below its roof by the share of exposed communication", () => {
    const exposed = makeRoof(FAST.chip, "auto", "main", {}, { exposedComm: 0.25 });
    const kernels = [
      { flops: 300, bytes: 100 },
      { flops: 3000, bytes: 100 },
    ];
    expect([...place(kernels, [exposed], exposed).y]).toEqual([22.5, 75]);
  });
  it("is bound by the level of the roof that judges, not by those of other roofs", () => {
    const other = makeRoof(makeChip({ id: "other", peaks: { bf16: 100 }, memories: { DDR: 1 } }));
    const binding = (flops: number, focus: typeof FAST) => [
      ...place([{ flops, bytes: 100 }], [FAST, other], focus).binding,
    ];
    expect([binding(300, FAST), binding(3000, FAST), binding(3000, other)]).toEqual([["HBM"], [], ["DDR"]]);
  });
  it("is a point on the roofs that can judge it and on no other", () => {
    const roofs = [FAST, makeRoof(makeChip({ id: "double", peaks: { bf16: 1, fp64: 7 }, memories: { HBM: 100 } }))];
    const points = place([{ flops: 700, bytes: 1, precision: "fp64" }], roofs);
    expect(sorted(points)).toEqual([{ row: 0, roof: 1, x: 700, y: 7 }]);
    expect(points.notDrawn).toBe(0);
  });
});

describe("a kernel without a place", () => {
  it("is counted, measured or not, when its FLOPs or bytes are unknown", () => {
    const points = place([
      { flops: null, bytes: 100, time: 1 },
      { flops: 100, bytes: null, time: 1 },
      { flops: null, bytes: 100 },
      { flops: 100, bytes: null },
      { flops: null, bytes: null, time: 1 },
    ]);
    expect([points.n, points.notDrawn, points.measured]).toEqual([0, 5, 0]);
    expect([...points.home]).toEqual([-1, -1, -1, -1, -1]);
  });
  it("is counted when it has neither FLOPs nor bytes", () => {
    const points = place([
      { flops: 0, bytes: 0 },
      { flops: 0, bytes: 0, time: 1 },
    ]);
    expect([points.n, points.notDrawn]).toEqual([0, 2]);
    const beside = place([
      { flops: 300, bytes: 100 },
      { flops: 0, bytes: 0 },
      { flops: 0, bytes: 0, time: 1 },
    ]);
    expect([beside.n, beside.notDrawn, beside.measured, ...beside.home]).toEqual([2, 2, 0, 1, -1, -1]);
  });
  it("is not counted when it is idle time, measured or not, which is no kernel", () => {
    const idle = { name: "idle or not profiled", flops: null, bytes: null, category: "idle" };
    const unknown = { flops: null, bytes: null, time: 1 };
    expect(place([{ ...idle, time: 9 }, unknown]).notDrawn).toBe(1);
    expect(place([idle, unknown, { flops: 300, bytes: 100 }]).notDrawn).toBe(1);
  });
  it("leaves the others at their rows", () => {
    const points = place([
      { flops: null, bytes: 1 },
      { flops: 300, bytes: 100, time: 20 },
      { flops: 100, bytes: null },
      { flops: 300, bytes: 100 },
    ]);
    expect(sorted(points).map(({ row, roof }) => [row, roof])).toEqual([
      [1, MEASURED],
      [3, 0],
      [3, 1],
    ]);
    expect(points.notDrawn).toBe(2);
  });
});

it("without any chip those that were measured stand where they were, and no others", () => {
  const specs = [{}, { flops: 6, bytes: { HBM: 2, L2: 9 }, time: 3 }, { flops: 1, bytes: 1 }, { flops: 0, time: 1 }];
  const points = pointsOf(makeKernels(specs), [], undefined);
  expect(sorted(points)).toEqual([{ row: 1, roof: MEASURED, x: 3, y: 2 }]);
  expect([points.side[0], points.aboveRoof[0], points.notDrawn, points.home[1]]).toEqual([0, 0, 1, 0]);
});

describe("with all levels of memory", () => {
  const chip = makeChip({ id: "deep", peaks: { bf16: 100 }, memories: { HBM: 1, L2: 10, L1: null } });
  const deep = makeRoof(chip, "auto", "all");
  const inDepth = (...specs: readonly KernelSpec[]) => place(specs, [deep], deep);
  const tiled = { flops: 100, bytes: { HBM: 1, L2: 50, L1: 500 } };
  const levelsOf = (points: Points) =>
    several(points.n, (at) => [points.level[at], points.x[at], points.y[at], points.binds[at]]);

  it("a kernel has a point a level whose bytes and bandwidth are known, all at one rate", () => {
    expect(levelsOf(inDepth({ ...tiled, time: 10 }))).toEqual([
      [0, 100, 10, 0],
      [1, 2, 10, 1],
    ]);
    expect(levelsOf(inDepth(tiled))).toEqual([
      [0, 100, 20, 0],
      [1, 2, 20, 1],
    ]);
  });
  it("tells which levels bind, and stands for the kernel at the one that does", () => {
    const points = inDepth(tiled, { flops: 1e4, bytes: 1 });
    expect([...points.binding]).toEqual(["L2"]);
    expect([...points.home]).toEqual([1, 2]);
    const reused = inDepth({ flops: 100, bytes: { HBM: 50, L2: 50 } });
    expect(levelsOf(reused).map(([level, , , binds]) => [level, binds])).toEqual([
      [1, 0],
      [0, 1],
    ]);
    expect(points.binds[2]).toBe(1);
    expect([...points.side.slice(0, points.n)]).toEqual([0, 0, 1]);
  });
  it("other chips have no points, for their levels are others", () => {
    expect(place([tiled], [FAST, deep], deep).n).toBe(2);
    expect([...place([tiled], [FAST, deep], deep).roof.slice(0, 2)]).toEqual([1, 1]);
  });
  it("a measured kernel has a point at the levels whose bytes are known", () => {
    expect(levelsOf(inDepth({ flops: 100, bytes: { L2: 50 }, time: 10 }))).toEqual([[1, 2, 10, 1]]);
    expect(levelsOf(inDepth({ flops: 100, bytes: { HBM: 1 }, time: 10 }))).toEqual([[0, 100, 10, 1]]);
  });
  it("a kernel without FLOPs has one place in the strip", () => {
    expect(levelsOf(inDepth({ flops: 0, bytes: { HBM: 5, L2: 20 }, time: 10 }))).toEqual([[0, 0, 0.5, 1]]);
    expect(levelsOf(inDepth({ flops: 0, bytes: { HBM: 1, L2: 50 }, time: 10 }))).toEqual([[1, 0, 5, 1]]);
    // Bound by its launches, it is at the first level that has bytes.
    const late = makeRoof(chip, "auto", "all", {}, { launchOverhead: 9 });
    expect(levelsOf(place([{ flops: 0, bytes: { HBM: 0, L2: 20 }, time: 10 }], [late], late))).toEqual([[1, 0, 2, 1]]);
  });
  it("a kernel that no level binds is drawn last at the first level whose bytes are known", () => {
    const three = makeRoof(makeChip({ peaks: { bf16: 1 }, memories: { HBM: 1, L2: 10, L1: 100 } }), "auto", "all");
    const points = place([{ flops: 1000, bytes: { L2: 50, L1: 500 } }], [three], three);
    expect(levelsOf(points)).toEqual([
      [2, 2, 1, 0],
      [1, 20, 1, 1],
    ]);
  });
  it("counts kernels, not points", () => {
    expect(inDepth({ ...tiled, time: 10 })).toMatchObject({ n: 2, measured: 1, notDrawn: 0 });
    expect(inDepth({ flops: 100, bytes: { L1: 5 }, time: 10 })).toMatchObject({ n: 0, notDrawn: 1 });
  });
});

describe("a kernel that its launches bind", () => {
  it("is neither on the memory's nor on the compute side", () => {
    const slow = makeRoof(
      makeChip({ peaks: { bf16: 100 }, memories: { HBM: 10 } }),
      "auto",
      "main",
      {},
      { launchOverhead: 9 },
    );
    const points = place(
      [
        { flops: 100, bytes: 10 },
        { flops: 1000, bytes: 10 },
      ],
      [slow],
      slow,
    );
    expect([...points.side]).toEqual([SIDES.outside, SIDES.compute]);
    expect(points.y[0]).toBe(100);
  });
});

it("the side of a point is outside if the link or the launches bind its kernel", () => {
  const regimes = ["memory", "unknown", "compute", "network", "overhead"] as const;
  expect(regimes.map(sideOf)).toEqual([0, 0, 1, 2, 2]);
});

/** The rows of a table of 2,500. */
const ROWS = Int32Array.from({ length: 2500 }, (_, row) => row);

describe("measured kernels under one level", () => {
  const amounts = [0, 1, 3, 1e3, 5e4, 1e5, 2e5, 1e9, null];
  const specs = amounts.flatMap((flops) =>
    amounts.flatMap((bytes) =>
      [1e-9, 1e-3, 1].map((time, at) => ({ flops, bytes, time, precision: ["bf16", "fp8", null, "int4"][at] ?? null })),
    ),
  );
  const kernels = makeKernels(specs);
  const chip = makeChip({ peaks: { bf16: 100, fp8: 200 }, memories: { HBM: 1 } });
  const roof = makeRoof(chip);
  /** What `judge` says of each point. */
  const judged = ({ n, row }: Points, table = kernels, under = roof) =>
    several(n, (at) => {
      const { regime, aboveRoof } = judge(table, under)(row[at] as number);
      return [sideOf(regime), Number(aboveRoof)];
    });
  const told = ({ n, side, aboveRoof }: Points) => several(n, (at) => [side[at], aboveRoof[at]]);
  it("are on the side, and above or under their roof, as they are judged", () => {
    const points = pointsOf(kernels, [roof], roof);
    expect(points.n).toBeGreaterThan(150);
    expect(told(points)).toEqual(judged(points));
    expect(new Set(told(points).map(String)).size).toBe(4);
  });
  it("are so too where FLOPs are told by class, and where all is not measured", () => {
    const classes = makeKernels(
      specs.map(({ flops, ...rest }) => ({ ...rest, flops: { tensor: flops ?? 0, vector: 1 } })),
    );
    const points = pointsOf(classes, [roof], roof);
    expect(told(points)).toEqual(judged(points, classes));
    expect([...points.binding]).toEqual(["HBM"]);
    // 1,000 FLOPs of class vector take 1,000 s, longer than 100 B; at the peak of tensors they would not.
    const slow = makeRoof(makeChip({ peaks: { bf16: 100, vector: 1 }, memories: { HBM: 1 } }));
    const vectors = makeKernels([{ flops: { tensor: 1, vector: 1000 }, bytes: 100, time: 2000 }]);
    expect(told(pointsOf(vectors, [slow], slow))).toEqual([[SIDES.compute, 0]]);
    const dense = makeKernels([{ flops: { tensor: 1e9, vector: 1 }, bytes: 1, time: 1 }]);
    expect([...pointsOf(dense, [roof], roof).binding]).toEqual([]);
    const mixed = makeKernels([...specs, { flops: 1, bytes: 1 }]);
    const both = pointsOf(mixed, [roof], roof);
    expect(told(both)).toEqual(judged(both, mixed));
    expect(both.n).toBe(pointsOf(kernels, [roof], roof).n + 1);
  });
  it("are so too where compute and memory overlap in part, or something beside them takes time", () => {
    const linked = makeChip({ peaks: { bf16: 100, fp8: 200 }, memories: { HBM: 1 }, link: 1 });
    const looks = new Set<string>();
    for (const conditions of [{ overlap: 0.5 }, { exposedComm: 0.3 }, { launchOverhead: 0.5 }]) {
      const own = makeRoof(linked, "auto", "main", {}, conditions);
      const points = pointsOf(kernels, [own], own);
      expect(told(points), JSON.stringify(conditions)).toEqual(judged(points, kernels, own));
      looks.add(told(points).join());
    }
    expect(looks.size).toBe(3);
    // 1 B over the link and 1 B of memory take 1 s each, and 10 B over the link 10 s.
    const sent = makeKernels([1, 10].map((network) => ({ flops: 1, bytes: { HBM: 1, network }, time: 5 })));
    const points = pointsOf(sent, [makeRoof(linked)], undefined);
    expect(told(points)).toEqual([
      [SIDES.memory, 0],
      [SIDES.outside, 1],
    ]);
  });
  it("are judged again only where they may have changed from 2,001 points on", () => {
    const since = (n: number) => {
      const table = makeKernels(several(n, (at) => ({ flops: 1 + at, bytes: 1, time: 1 })));
      const rows = Int32Array.from({ length: n }, (_, row) => row);
      const faster = makeRoof(chip, "auto", "main", { [chip.id]: { peak_flops: { bf16: 101 } } });
      pointsOf(table, [roof], roof, rows);
      const { since } = pointsOf(table, [faster], faster, rows);
      return since?.points.reduce((sum, { length }) => sum + length, 0);
    };
    expect([since(2000), (since(2001) ?? 2001) < 200]).toEqual([undefined, true]);
  });
  it("are so too after each of many changes of either limit, of which most points are left out", () => {
    const many = makeKernels(
      several(2500, (at) => ({
        flops: at % 50 === 0 ? 0 : 10 ** ((at % 71) / 10),
        bytes: at % 53 === 1 ? 0 : 10 ** ((at % 37) / 8),
        time: 10 ** ((at % 97) / 12 - 2),
        precision: ["bf16", "fp8", null][at % 3] ?? null,
      })),
    );
    const left: number[] = [];
    let last: Points | undefined;
    let lastLooks: readonly string[] = [];
    for (let turn = 0; turn < 40; turn++) {
      // Steps up and down, at times a leap, of one limit or of both.
      const peak = turn % 13 === 12 ? 90_000 : 100 * 1.3 ** (Math.floor(turn / 2) % 5);
      const bandwidth = turn % 17 === 16 ? 50 : 1.2 ** ((turn % 4) - 2);
      const what = { [chip.id]: { peak_flops: { bf16: peak }, bandwidth: { HBM: bandwidth } } };
      const now = makeRoof(chip, "auto", "main", what);
      const points = pointsOf(many, [now], now, ROWS);
      const expected = judged(points, many, now).map((look) => look.join(""));
      const looks = (some: Points) => told(some).map((look) => look.join(""));
      expect(looks(points).join()).toBe(expected.join());
      expect(points.binding.has("HBM")).toBe(expected.some(([side]) => side === String(SIDES.memory)));
      if (points.since && last) {
        expect(points.since.side).toBe(last.side);
        const listed = new Set(points.since.points.flatMap((part) => [...part]));
        left.push(points.n - listed.size);
        expect(expected.filter((look, at) => look !== lastLooks[at] && !listed.has(at))).toEqual([]);
        // What was judged before stays as it was.
        expect(looks(last).join()).toBe(lastLooks.join());
      }
      last = points;
      lastLooks = expected;
    }
    expect(left.length).toBeGreaterThan(20);
    expect(Math.max(...left)).toBeGreaterThan(2000);
  });
  it("are so too on a chip that lacks a peak, and in another table of as many rows", () => {
    const table = (least: number) =>
      makeKernels(
        several(2500, (at) => ({
          flops: least * 10 ** ((at % 71) / 20),
          bytes: 1,
          time: 10 ** ((at % 97) / 12 - 2),
          precision: ["bf16", "fp8"][(at + least) % 2] as string,
        })),
      );
    const lacking = makeRoof(makeChip({ peaks: { bf16: 101 }, memories: { HBM: 1 } }));
    const [low, high] = [table(1), table(300)];
    const steps = [low, low, low, high, low].map((many, at) => [many, at % 2 === 1 ? lacking : roof] as const);
    for (const [many, now] of steps) {
      const points = pointsOf(many, [now], now, ROWS);
      expect(told(points)).toEqual(judged(points, many, now));
      expect([...points.binding]).toEqual(many === low ? ["HBM"] : []);
    }
  });
  it("keep their columns while a roof is dragged, and only those", () => {
    const rows = Int32Array.from(specs, (_, row) => row);
    const faster = makeRoof(chip, "auto", "main", { [chip.id]: { bandwidth: { HBM: 50 } } });
    const [before, after] = [pointsOf(kernels, [roof], roof, rows), pointsOf(kernels, [faster], faster, rows)];
    expect(after.x).toBe(before.x);
    expect(after.side).not.toEqual(before.side);
    const others = rows.filter((row) => row !== before.row[0]);
    expect(pointsOf(kernels, [roof], roof, others).n).toBe(before.n - 1);
  });
});

describe("the places of measured kernels", () => {
  const specs = [
    { flops: 6, bytes: 2, time: 3 },
    { flops: 8, bytes: 2, time: 4 },
    { flops: 0, bytes: 0, time: 1 },
  ];
  const kernels = makeKernels(specs);
  const rows = Int32Array.of(0, 1, 2);
  const bytes = kernels.bytes.get("main") as Float64Array;
  it("are found again for another table, other rows or other bytes, and else memoized", () => {
    const places = measuredPlaces(kernels, rows, bytes);
    expect(places).toMatchObject({
      ...{ n: 2, measured: 2, notDrawn: 1, x: Float64Array.of(3, 4), y: Float64Array.of(2, 2) },
      ...{ row: Int32Array.of(0, 1), home: Int32Array.of(0, 1, -1), level: new Int8Array(2) },
      ...{ roof: Int16Array.of(MEASURED, MEASURED), binds: Uint8Array.of(1, 1) },
    });
    expect(measuredPlaces(kernels, rows, bytes)).toBe(places);
    const slower = { ...kernels, time: kernels.time.map((seconds) => 2 * seconds) };
    expect(measuredPlaces(slower, rows, bytes)?.y).toEqual(Float64Array.of(1, 1));
    expect(measuredPlaces(kernels, rows, Float64Array.of(1, 1, 1))?.x).toEqual(Float64Array.of(6, 8, 0));
    expect(measuredPlaces(kernels, Int32Array.of(1), bytes)?.x).toEqual(Float64Array.of(4));
  });
  it("without a roof are those of the rows that were measured in this table", () => {
    const half = { ...kernels, time: Float64Array.of(3, Number.NaN, 1) };
    const placed = (table: typeof kernels) => listed(pointsOf(table, [], undefined, rows)).map(({ row }) => row);
    expect([placed(kernels), placed(half)]).toEqual([[0, 1], [0]]);
  });
  it("are not all known if one row is unmeasured", () => {
    const mixed = makeKernels([...specs, { flops: 1, bytes: 1 }]);
    const moved = mixed.bytes.get("main") as Float64Array;
    expect(measuredPlaces(mixed, Int32Array.of(0, 3), moved)).toBeUndefined();
    expect(measuredPlaces(mixed, Int32Array.of(0, 1), moved)?.n).toBe(2);
  });
});

describe("the totals of a program", () => {
  const program = [
    { name: "Total", flops: 14, bytes: 4, time: 9, category: "program" },
    { name: "1", time: 9, category: "step" },
  ];
  const kernels = withTotals(makeKernels([{ flops: 6, bytes: 2, time: 3 }, { flops: 1 }], { program }));
  const sides = ({ n, row, side, notDrawn }: Points) => [several(n, (at) => [row[at], side[at]]), notDrawn];
  it("are on a side of their own, and a total without a place is not counted", () => {
    const all = Int32Array.of(0, 2, 3);
    const wanted = [
      [
        [0, SIDES.memory],
        [2, SIDES.program],
      ],
      0,
    ];
    const late = makeRoof(FAST.chip, "auto", "main", {}, { launchOverhead: 1e-9 });
    // Without a roof; by limits; by the times of an overhead; and beside a kernel that has no place.
    expect(sides(pointsOf(kernels, [], undefined, all))).toEqual(wanted);
    expect(sides(pointsOf(kernels, [FAST], FAST, all))).toEqual(wanted);
    expect(sides(pointsOf(kernels, [late], late, all))).toEqual(wanted);
    expect(sides(pointsOf(kernels, [FAST], FAST, Int32Array.of(0, 1, 2, 3)))).toEqual([wanted[0], 1]);
  });
});
