// How large points are: by their share of the time in which something ran.

import { describe, expect, it } from "vitest";
import { radiusAt } from "../../src/chart/points/painter.ts";
import { pointsOf } from "../../src/roofline/points.ts";
import { radii } from "../../src/roofline/positions.ts";
import { withTotals } from "../../src/roofline/totals.ts";
import { type KernelSpec, makeChip, makeKernels, makeRoof, several } from "../helpers.ts";

const sizes = (specs: readonly KernelSpec[]) => specs.map((_, row) => radii(makeKernels(specs))(row));

describe("the radius of a point", () => {
  it("goes with the root of its share, so that its area goes with its share", () => {
    // 24 px would be all of the time: a sixteenth of it has a quarter of that. No point is larger than 12 px.
    expect(sizes([{ time: 6.25 }, { time: 93.75 }])).toEqual([6, 12]);
    expect(sizes([{ time: 4 }, { time: 16 }, { time: 80 }])).toEqual([5, 9.5, 12]);
  });
  it("leaves out the time in which nothing ran", () => {
    const idle = { name: "idle or not profiled", time: 900, category: "idle" };
    expect(sizes([{ time: 6.25 }, idle, { time: 93.75 }])).toEqual([6, 12, 12]);
    expect(sizes([{ ...idle, category: "Idle" }, { time: 6.25 }, { time: 93.75 }])).toEqual([12, 6, 12]);
    expect(sizes([{ time: 6.25 }, { ...idle, time: null }, { time: 93.75 }])).toEqual([6, Number.NaN, 12]);
  });
  it("is that of the seconds of its own", () => {
    expect(sizes([{ time: 100, selfTime: 6.25 }, { time: 93.75 }])).toEqual([6, 12]);
  });
  it("is never so small that it could not be seen", () => {
    expect(sizes([{ time: 1e-9 }, { time: 0 }, { time: 1 }])).toEqual([3, 3, 12]);
  });
  it("says nothing where all take equally long or nothing was measured", () => {
    expect(sizes([{ time: 2 }, { time: 2 }, {}])).toEqual([Number.NaN, Number.NaN, Number.NaN]);
    expect(sizes([{ time: 2 }])).toEqual([Number.NaN]);
    expect(sizes([{ time: 15 }, {}, { time: 1 }])).toEqual([12, Number.NaN, 6]);
  });
  it("of a program is a star's, and its time is not theirs", () => {
    const program = [
      { name: "Total", time: 500, category: "program" },
      { name: "1", time: 9, category: "step" },
    ];
    const kernels = withTotals(makeKernels([{ time: 6.25 }, { time: 93.75 }], { program }));
    expect([0, 1, 2, 3].map(radii(kernels))).toEqual([6, 12, 9, Number.NaN]);
  });
});

describe("on the chart", () => {
  const roof = makeRoof(makeChip());
  const of = (specs: readonly KernelSpec[]) => {
    const points = pointsOf(makeKernels(specs), [roof], roof);
    return several(points.n, (index) => radiusAt(points, index));
  };
  const one = { flops: 1e12, bytes: 1e10 };
  it("a point whose size says nothing is as it always was", () => {
    expect(of([one, { ...one, time: 1 }])).toEqual([4.5, 4.5]);
  });
  it("the least are smaller still where there are very many", () => {
    const many = several(2001, (row) => ({ ...one, time: row === 0 ? 1e6 : 1 }));
    expect(of(many).slice(0, 2)).toEqual([12, 2.5]);
  });
});
