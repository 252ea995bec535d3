// The extents of the axes, which stay the same while a roof is dragged.

import { describe, expect, it } from "vitest";
import {
  chartHeight,
  type Extent,
  isOffScale,
  project,
  type Scales,
  scaleLog,
  scalesOf,
  spotAt,
} from "../../src/chart/scales.ts";
import { zoomed } from "../../src/chart/zoom.ts";
import { pointsOf } from "../../src/roofline/points.ts";
import { ridgePoint } from "../../src/roofline/roofline.ts";
import type { WhatIf } from "../../src/wire/types.ts";
import { type KernelSpec, makeChip, makeKernels, makeRoof, seeded, several } from "../helpers.ts";

const SIZE = { width: 800, height: 448 };
const CHIPS = [
  makeChip({ id: "fast", peaks: { bf16: 9.895e14 }, memories: { HBM: 3.35e12 } }),
  makeChip({ id: "slow", peaks: { fp16: 6.5e13 }, memories: { GDDR6: 3.2e11 } }),
];

function draw(specs: readonly KernelSpec[], whatIf: WhatIf = {}, chips = CHIPS) {
  const roofs = chips.map((chip) => makeRoof(chip, "auto", "main", whatIf));
  const points = pointsOf(makeKernels(specs), roofs, roofs[0]);
  return { roofs, points, scales: scalesOf(SIZE, roofs, points, roofs[0]) };
}

const holds = ([low, high]: Extent, value: number) => low <= value && value <= high;
const domains = ({ x, y }: Scales) => [x.domain, y.domain];

describe("a log scale", () => {
  it("puts equal factors equally far apart", () => {
    const scale = scaleLog([1, 1000], [100, 400]);
    expect([1, 10, 100, 1000].map(scale).map(Math.round)).toEqual([100, 200, 300, 400]);
    expect(scale.domain).toEqual([1, 1000]);
  });
  it("may run upwards, as the vertical axis does", () => {
    expect(Math.round(scaleLog([1, 100], [300, 100])(10))).toBe(200);
  });
});

describe("the extents of the chart", () => {
  it("hold every roof's ridge point, on its slope and on its flat", () => {
    const { roofs, scales } = draw([]);
    for (const roof of roofs) {
      expect(holds(scales.x.domain, ridgePoint(roof) / 2)).toBe(true);
      expect(holds(scales.x.domain, ridgePoint(roof) * 2)).toBe(true);
      expect(holds(scales.y.domain, roof.peak)).toBe(true);
    }
  });
  it("hold every point, wherever it was measured", () => {
    const random = seeded(1);
    for (let round = 0; round < 200; round++) {
      const specs = several(1 + Math.floor(random() * 8), () => ({
        flops: random() < 0.1 ? 0 : 10 ** (18 * random()),
        bytes: random() < 0.1 ? 0 : 10 ** (15 * random()),
        time: random() < 0.3 ? null : 10 ** (9 * random() - 8),
      }));
      const { points, scales } = draw(specs);
      const at = project(points, scales);
      const box = scales.strip ? { ...scales.plot, left: scales.strip.left } : scales.plot;
      for (let index = 0; index < points.n; index++) {
        expect(at.x[index], `round ${round}`).toBeGreaterThanOrEqual(box.left);
        expect(at.x[index], `round ${round}`).toBeLessThanOrEqual(box.right);
        expect(at.y[index], `round ${round}`).toBeGreaterThanOrEqual(box.top);
        expect(at.y[index], `round ${round}`).toBeLessThanOrEqual(box.bottom);
      }
    }
  });
  it("do not move when a roof is dragged within its room", () => {
    const specs = [
      { flops: 1e12, bytes: 1e10, time: 0.01 },
      { flops: 1e12, bytes: 1e8 },
    ];
    const still = domains(draw(specs).scales);
    for (const factor of [0.2, 0.5, 0.9, 1.1, 1.5, 2]) {
      const peak = { fast: { peak_flops: { bf16: 9.895e14 * factor } } };
      const bandwidth = { fast: { bandwidth: { HBM: 3.35e12 * factor } } };
      expect(domains(draw(specs, peak).scales), `peak × ${factor}`).toEqual(still);
      expect(domains(draw(specs, bandwidth).scales), `bandwidth × ${factor}`).toEqual(still);
    }
  });
  it("make room when a roof is set far beyond the data sheet", () => {
    const scales = draw([], { fast: { peak_flops: { bf16: 9.895e17 } } }).scales;
    expect(holds(scales.y.domain, 9.895e17)).toBe(true);
    expect(holds(scales.x.domain, 9.895e17 / 3.35e12)).toBe(true);
  });
  it("are finite and rising with nothing but a snapshot without kernels", () => {
    const [name, chip, precision, memory] = ["frozen", "fast", "bf16", "HBM"];
    const snapshot = { name, chip, precision, memory, peak: 1e15, bandwidth: 1e12, hidden: false, kernels: [] };
    const nothing = pointsOf(makeKernels([]), [], undefined);
    const { x, y } = scalesOf(SIZE, [], nothing, undefined, undefined, undefined, undefined, [snapshot]);
    expect(holds(x.domain, 1000)).toBe(true);
    expect(holds(y.domain, 1e15)).toBe(true);
    for (const [low, high] of [x.domain, y.domain]) expect(low < high && Number.isFinite(high)).toBe(true);
  });
  it("are finite with nothing to show", () => {
    for (const domain of domains(draw([], {}, []).scales)) {
      expect(domain[0]).toBeGreaterThan(0);
      expect(domain[1]).toBeGreaterThan(domain[0]);
      expect(Number.isFinite(domain[1])).toBe(true);
    }
  });
});

describe("kernels that take less than 0.1 % of the time", () => {
  const main = [
    { flops: 1e12, bytes: 1e10, time: 0.999 },
    { flops: 0, bytes: 1e10, time: 0.1 },
  ];
  const slow = { flops: 0, bytes: 1e3 };
  it("do not widen the axes", () => {
    const alone = draw(main).scales;
    const few = [
      { ...slow, time: 9.5e-4 },
      { flops: 1, bytes: 1e6, time: 1e-5 },
    ];
    const { points, scales } = draw([...main, ...few]);
    expect(domains(scales)).toEqual(domains(alone));
    expect(scales.strip?.y.domain).toEqual(alone.strip?.y.domain);
    expect(project(points, scales).beyond).toEqual([2, 3]);
    expect(draw([...main, { ...slow, time: 1.2e-3 }]).scales.y.domain[0]).toBeLessThan(alone.y.domain[0] / 1000);
  });
  it("stand 14 px inside the edge beyond which they would be, until the chart is zoomed", () => {
    const { points, scales } = draw([
      ...main,
      { ...slow, time: 9e-4 },
      { flops: 1, bytes: 1e6, time: 1e-5 },
      { flops: 1e15, bytes: 1, time: 1e-5 },
    ]);
    const { plot } = scales;
    const at = project(points, scales);
    expect(at.y[2]).toBe(plot.bottom - 14);
    expect(spotAt(at, 3)).toEqual([plot.left + 14, plot.bottom - 14]);
    expect(spotAt(at, 4)).toEqual([plot.right - 14, plot.top + 14]);
    const near = zoomed(scales, [1, 1000, 1e11, 1e15]);
    expect(project(points, near).beyond).toEqual([]);
    expect(project(points, near).x[3]).toBeLessThan(near.plot.left);
  });
  it("widen the axes if all kernels take equally long, however many there are", () => {
    const many = several(2000, (at) => ({ flops: 1e9 * (at + 1), bytes: 1e9, time: 1 }));
    const { points, scales } = draw(many);
    expect(project(points, scales).beyond).toEqual([]);
    expect(scales.y.domain[0]).toBe(5e8);
  });
});

describe("kernels without FLOPs or bytes", () => {
  it("without FLOPs that only seem very fast stand 14 px below the upper edge, and do not widen the axes", () => {
    const copies = [
      { flops: 0, bytes: 1e9, time: 1e-3 },
      { flops: 0, bytes: 1e9, time: 1e-9 },
    ];
    const { points, scales } = draw(copies);
    expect(isOffScale(scales, 0, 1e12)).toBe(false);
    expect(isOffScale(scales, 0, 1e18)).toBe(true);
    const { y } = project(points, scales);
    expect(y[1]).toBe(scales.plot.top + 14);
    expect(y[0]).toBeCloseTo(scales.strip?.y(1e12) as number, 3);
    expect(points.y[1]).toBe(1e18);
  });
  it("without FLOPs stand in a strip left of the plot, by bytes/s", () => {
    const { points, scales } = draw([
      { flops: 0, bytes: 1e9, time: 0.001 },
      { flops: 0, bytes: 1e9, time: 0.01 },
      { flops: 1e9, bytes: 1e9, time: 0.01 },
    ]);
    const at = project(points, scales);
    const strip = scales.strip;
    if (!strip) throw new Error("there is no strip");
    expect(strip.right).toBeLessThan(scales.plot.left);
    expect(at.x[0]).toBe(at.x[1]);
    expect(at.x[0]).toBeGreaterThan(strip.left);
    expect(at.x[0]).toBeLessThan(strip.right);
    expect(at.y[0]).toBeCloseTo(strip.y(1e12), 3);
    expect(at.y[1]).toBeCloseTo(strip.y(1e11), 3);
    expect(holds(strip.y.domain, 3.35e12)).toBe(true);
    expect(at.x[2]).toBeCloseTo(scales.x(1), 3);
  });
  it("leave no strip where there are none", () => {
    const { scales } = draw([{ flops: 1e9, bytes: 1e9, time: 0.01 }]);
    expect(scales.strip).toBeUndefined();
    expect(scales.plot.left).toBeLessThan(draw([{ flops: 0, bytes: 1, time: 1 }]).scales.plot.left);
  });
  it("without bytes stand at the right edge", () => {
    const { points, scales } = draw([{ flops: 1e9, bytes: 0, time: 0.01 }]);
    const [x] = project(points, scales).x;
    expect(x).toBeLessThan(scales.plot.right);
    expect(x).toBeGreaterThan(scales.plot.right - 20);
  });
});

describe("the frame of the chips", () => {
  const framed = (specs: readonly KernelSpec[], chips = CHIPS) => {
    const roofs = chips.map((chip) => makeRoof(chip));
    const points = pointsOf(makeKernels(specs), roofs, roofs[0]);
    return { points, scales: scalesOf(SIZE, roofs, points, roofs[0], undefined, undefined, undefined, [], true) };
  };
  it("stand as high in the strip as a roof of their bandwidth enters the plot, also under a zoom", () => {
    const { scales } = draw([
      { flops: 0, bytes: 1e9, time: 1e-3 },
      { flops: 1e12, bytes: 1e10, time: 0.1 },
    ]);
    for (const one of [scales, zoomed(scales, [1, 100, 1e11, 1e14])]) {
      for (const bandwidth of [1e11, 3.35e12]) {
        expect(one.strip?.y(bandwidth)).toBeCloseTo(one.y(one.x.domain[0] * bandwidth), 6);
      }
    }
  });
  it("do not widen the vertical axis if they are above ten times their roof", () => {
    const [one, fast] = [
      { flops: 1e12, bytes: 1e10, time: 0.1 },
      { flops: 1e12, bytes: 1e10, time: 1e-6 },
    ];
    expect(draw([one, fast]).scales.y.domain[1]).toBe(draw([one]).scales.y.domain[1]);
  });
  const before = [
    { flops: 1e12, bytes: 1e10, time: 0.1 },
    { flops: 0, bytes: 1e9, time: 0.1 },
  ];
  const after = [
    { flops: 3e15, bytes: 1e10, time: 40, precision: "fp8" },
    { flops: 5e3, bytes: 1e9, time: 1e-3 },
    { flops: 0, bytes: 7, time: 1e-3 },
  ];
  it("gives different kernels equal axes, exactly", () => {
    const [one, other] = [framed(before).scales, framed(after).scales];
    expect(domains(one)).toEqual(domains(other));
    expect(one.strip?.y.domain).toEqual(other.strip?.y.domain);
    expect(one.plot).toEqual(other.plot);
    expect(domains(draw(before).scales)).not.toEqual(domains(draw(after).scales));
  });
  it("draws a rate beyond an end of the strip at this end", () => {
    const { points, scales } = framed(after);
    const y = project(points, scales).y[2] as number;
    expect(y).toBeGreaterThan(scales.plot.top);
    expect(y).toBeLessThan(scales.plot.bottom);
  });
  it("does not follow snapshots", () => {
    const roofs = CHIPS.map((chip) => makeRoof(chip));
    const points = pointsOf(makeKernels(before), roofs, roofs[0]);
    const [name, chip, precision, memory] = ["frozen", "fast", "bf16", "HBM"];
    const snapshot = { name, chip, precision, memory, peak: 1e20, bandwidth: 1e12, hidden: false, kernels: [] };
    const scales = scalesOf(SIZE, roofs, points, roofs[0], undefined, undefined, undefined, [snapshot], true);
    expect(domains(scales)).toEqual(domains(framed(before).scales));
  });
  it("fits the points if there is no roof", () => {
    expect(domains(framed(before, []).scales)).toEqual(domains(draw(before, {}, []).scales));
  });
});

it("the chart is as high as a readable shape of its width, within bounds", () => {
  expect([100, 600, 1500, 3600].map((width) => chartHeight(width))).toEqual([280, 336, 520, 1008]);
});
it("on a screen of its own the chart is as high as there is room, but no tower", () => {
  expect([900, 100, 4000].map((room) => chartHeight(1600, room, true))).toEqual([900, 220, 1200]);
});
it("beside the sliders on one screen the chart is no higher than its readable shape", () => {
  expect([900, 100, 270].map((room) => chartHeight(535, room))).toEqual([300, 220, 270]);
});

describe("what was shown before", () => {
  const few = [{ flops: 1e12, bytes: 1e10, time: 1e-2 }];
  const many = [...few, { flops: 1e9, bytes: 1e12, time: 10 }, { flops: 0, bytes: 1e9, time: 1 }];
  const after = (before: Scales) => {
    const { roofs, points } = draw(few);
    return scalesOf(SIZE, roofs, points, roofs[0], undefined, undefined, before);
  };
  it("keeps its room, and the strip its place", () => {
    const { scales } = draw(many);
    const kept = after(scales);
    expect(domains(kept)).toEqual(domains(scales));
    expect(kept.plot).toEqual(scales.plot);
    expect(kept.strip?.y.domain).toEqual(scales.strip?.y.domain);
  });
  it("takes none from what is shown now", () => {
    const { points, roofs, scales } = draw(many);
    const grown = scalesOf(SIZE, roofs, points, roofs[0], undefined, undefined, draw(few).scales);
    expect(domains(grown)).toEqual(domains(scales));
  });
});

it("a scale leads back from pixels to values", () => {
  const scale = scaleLog([1e-3, 1e6], [400, 20]);
  for (const value of [1e-3, 0.5, 7e4]) expect(scale.invert(scale(value))).toBeCloseTo(value, 9 - Math.log10(value));
});
