// Rulers: what each roof allows at a position, in exact numbers, and labels that keep clear of each other.

import { describe, expect, it } from "vitest";
import { overlap, squareAround } from "../../src/chart/labels/box_index.ts";
import { boxesOf } from "../../src/chart/labels/engine.ts";
import { limitsOver, rulerAt, rulerBeside, rulerOver } from "../../src/chart/layers/rulers.tsx";
import { changesSince } from "../../src/chart/layers/snapshots.tsx";
import { type Box, spotAt } from "../../src/chart/scales.ts";
import type { Scene } from "../../src/chart/scene.ts";
import { zoomed } from "../../src/chart/zoom.ts";
import type { SubRoof } from "../../src/roofline/ceilings.ts";
import { crossingsAt } from "../../src/roofline/crossings.ts";
import type { Roof } from "../../src/roofline/roofline.ts";
import { type KernelSpec, makeChip, makeRoof, seeded, several } from "../helpers.ts";
import { expectClear, expectInside, LARGE, labelsOf, random, SMALL, scene } from "../scenes.ts";

const LEVELS = makeChip({ id: "small", memories: { HBM: 1e12, L2: 1e13 } });

const sub = (kind: SubRoof["kind"], peak: number, bandwidth: number): SubRoof => ({
  ...{ key: `ceiling ${kind}`, name: kind, kind, peak, bandwidth, level: "HBM", style: "ceiling", operation: "FLOP" },
});

const rates = (lines: Parameters<typeof crossingsAt>[0], ai: number) =>
  crossingsAt(lines, () => ai).map(({ name, rate }) => [name, rate]);

describe("a vertical line", () => {
  it("crosses each roof at its slope or at its flat", () => {
    const lines = scene([]);
    expect(rates(lines, 20)).toEqual([
      ["small", 2e13],
      ["large", 4e13],
    ]);
    expect(rates(lines, 1000)).toEqual([
      ["small", 1e14],
      ["large", 4e14],
    ]);
    expect(crossingsAt(lines, () => 150).map(({ isFigure }) => isFigure)).toEqual([true, false]);
  });
  it("crosses a lower peak from its own ridge point on, and a lower bandwidth up to it", () => {
    const lines = {
      ...scene([], { roofs: [SMALL] }),
      subRoofs: [sub("compute", 5e13, 1e12), sub("bandwidth", 1e14, 5e11)],
    };
    expect(rates(lines, 20)).toEqual([
      ["bandwidth", 1e13],
      ["small", 2e13],
    ]);
    expect(rates(lines, 80)).toEqual([
      ["bandwidth", 4e13],
      ["compute", 5e13],
      ["small", 8e13],
    ]);
    expect(rates(lines, 300)).toEqual([
      ["compute", 5e13],
      ["small", 1e14],
    ]);
  });
  it("crosses what communication leaves wherever it is", () => {
    const lines = { ...scene([], { roofs: [SMALL] }), subRoofs: [sub("communication", 8e13, 8e11)] };
    expect(rates(lines, 10)[0]).toEqual(["communication", 8e12]);
    expect(rates(lines, 1000)[0]).toEqual(["communication", 8e13]);
  });
  it("crosses without FLOPs the bandwidths, in bytes a second", () => {
    const lines = { ...scene([]), subRoofs: [sub("compute", 5e13, 1e12), sub("bandwidth", 1e14, 5e11)] };
    expect(rates(lines, 0)).toEqual([
      ["bandwidth", 5e11],
      ["small", 1e12],
      ["large", 2e12],
    ]);
  });
});

describe("the ruler over a kernel", () => {
  const texts = (specs: readonly KernelSpec[], more?: Partial<Scene>) =>
    limitsOver(scene(specs, more), 0).map(({ text }) => text);

  it("tells of each roof above it the limit and what is possible there", () => {
    expect(texts([{ flops: 1e12, bytes: 5e10, time: 0.1 }])).toEqual([
      "small 20 TFLOP/s · 2×",
      "large 40 TFLOP/s · 4×",
    ]);
  });
  it("tells of no roof below it", () => {
    expect(texts([{ flops: 1e12, bytes: 5e10, time: 0.04 }])).toEqual(["large 40 TFLOP/s · 1.6×"]);
  });
  it("starts on the roof on which a kernel that was not measured stands", () => {
    expect(texts([{ flops: 1e12, bytes: 5e10 }], { focus: SMALL, roofs: [SMALL] })).toEqual(["small 20 TFLOP/s"]);
  });
  it("tells of a kernel without FLOPs in bytes a second", () => {
    expect(texts([{ flops: 0, bytes: 1e11, time: 0.25 }])).toEqual(["small 1 TB/s · 2.5×", "large 2 TB/s · 5×"]);
  });
  it("writes beside the strip what it tells of one that stands there", () => {
    const specs = [
      { flops: 0, bytes: 1e11, time: 0.25 },
      { flops: 1e12, bytes: 5e10, time: 0.1 },
    ];
    // The strip ends a little above the focus chip's bandwidth.
    const one = scene(specs, { roofs: [LARGE, SMALL] });
    const { labels, ticks } = rulerOver(one, 0, []);
    expect(labels.map(({ text }) => text)).toEqual(["large 2 TB/s · 5×", "small 1 TB/s · 2.5×"]);
    expect(labels.every(({ x }) => x > one.scales.plot.left)).toBe(true);
    expect(ticks.map(({ y }) => y)).toEqual([2e12, 1e12].map((rate) => one.scales.strip?.y(rate)));
  });
  it("crosses each level's roof at the intensity there", () => {
    const roof = makeRoof(LEVELS, "auto", "all");
    const one = scene([{ flops: 1e12, bytes: { HBM: 5e10, L2: 1e12 }, time: 1 }], {
      roofs: [roof],
      levels: roof.levels,
    });
    const limits = limitsOver(one, one.points.home[0] as number);
    expect(limits.map(({ text, ai }) => [text, ai])).toEqual([
      ["L2 10 TFLOP/s · 10×", 1],
      ["HBM 20 TFLOP/s · 20×", 20],
    ]);
    const { ticks } = rulerOver(one, one.points.home[0] as number, []);
    expect(ticks.map(({ x }) => x)).toEqual([one.scales.x(20), one.scales.x(1)].sort((a, b) => b - a));
  });
  it("is whole over a kernel without bytes, which has no place along the axis", () => {
    const one = scene([{ flops: 1e12, bytes: 0, time: 0.1 }]);
    const { d, ticks, labels } = rulerOver(one, 0, []);
    expect(d).not.toMatch(/Infinity|NaN/);
    expect(ticks.map(({ x }) => x)).toEqual([one.at.x[0], one.at.x[0]]);
    expect(labels.map(({ text }) => text)).toEqual(["small 100 TFLOP/s · 10×", "large 400 TFLOP/s · 40×"]);
  });
  it("has under a zoom neither line nor tick of an intensity that lies left of the plot", () => {
    const specs = [
      { flops: 0, bytes: 1e11, time: 0.25 },
      { flops: 1e12, bytes: { HBM: 5e10, L2: 1e12 }, time: 1 },
    ];
    const roof = makeRoof(LEVELS, "auto", "all");
    const all = scene(specs, { roofs: [roof], levels: roof.levels });
    const one = scene(specs, {
      ...{ roofs: [roof], levels: roof.levels },
      scales: zoomed(all.scales, [1.2, 1000, 1e11, 1e15]),
    });
    // The HBM crossing is at 20; the L2 crossing is at 1, which is left of the plot.
    const over = rulerOver(one, one.points.home[1] as number, []);
    expect(over.ticks.map(({ x }) => x)).toEqual([one.scales.x(20)]);
    expect(over.d.match(/M/g)).toHaveLength(1);
    expect(rulerOver(one, 0, []).ticks.every(({ x }) => x < one.scales.plot.left)).toBe(true);
  });
  it("leaves the tooltip the side on which it hides least", () => {
    const one = scene([{ flops: 1e12, bytes: 5e10, time: 0.1 }]);
    const signals = { view: { rulers: { value: true } }, rows: { selected: { value: [] }, pointed: { value: 0 } } };
    const x = one.at.x[0] as number;
    const right = { left: x + 16, right: 760, top: 0, bottom: 400 };
    const everywhere = { left: 0, right: 760, top: 0, bottom: 400 };
    const beside = (boxes: readonly Box[]) => rulerBeside(signals as never, one, [], 0, boxes);
    expect(beside([right, everywhere]).box).toBe(right);
    expect(beside([everywhere, right]).box).toBe(right);
    expect(beside([right]).ruler?.labels.every(({ anchor }) => anchor === "end")).toBe(true);
  });
  it("is not drawn while rulers are hidden, and of one selected kernel while none is pointed at", () => {
    const one = scene([{ flops: 1e12, bytes: 5e10, time: 0.1 }]);
    const beside = (rulers: boolean, selected: number[]) =>
      rulerBeside(
        {
          view: { rulers: { value: rulers } },
          rows: { selected: { value: selected }, pointed: { value: null } },
        } as never,
        one,
        [],
        -1,
      );
    expect(beside(false, [0])).toEqual({});
    expect(beside(true, [])).toEqual({});
    expect(beside(true, [0]).ruler?.labels).toHaveLength(2);
  });
});

describe("the ruler on empty space", () => {
  it("tells the intensity there and what each roof allows, in the plot alone", () => {
    const empty = scene([]);
    const { x } = empty.scales;
    const at = rulerAt(empty, { x: x(10), y: 300 }, []);
    expect(at?.labels.map(({ text }) => text)).toEqual(["small 10 TFLOP/s", "large 20 TFLOP/s", "10 FLOP/B"]);
    expect(rulerAt(empty, { x: 10, y: 300 }, [])).toBeUndefined();
    expect(rulerAt(empty, { x: x(10), y: 415 }, [])).toBeUndefined();
  });
});

describe("the roof's own change since a snapshot", () => {
  const told = { name: "before", chip: "small", precision: "bf16", memory: "HBM", peak: 1e14, bandwidth: 1e12 };
  const changed = (roof: Roof) =>
    changesSince(scene([], { roofs: [roof] }), { ...told, hidden: false, kernels: [] }, new Int32Array()).map(
      ({ text }) => text,
    );
  it("is of its peak and of its bandwidth, also to another chip's", () => {
    expect(changed(makeRoof(LEVELS, "auto", "main", { small: { bandwidth: { HBM: 2e12 } } }))).toEqual(["HBM 2×"]);
    expect(changed(LARGE)).toEqual(["peak 4×", "HBM 2×"]);
  });
  it("is none of the bandwidth where another level of the chip is looked at", () => {
    expect(changed(makeRoof(LEVELS, "auto", "L2"))).toEqual([]);
  });
});

describe("what is written on any chart", () => {
  it("never overlaps, stays in the frame, and keeps clear of the ruler's limits", () => {
    const next = seeded(23);
    let written = 0;
    for (let round = 0; round < 60; round++) {
      const one = random(next);
      const names = labelsOf(one);
      const over = one.points.n > 0 ? rulerOver(one, 0, names).labels : [];
      const at = rulerAt(one, { x: one.scales.plot.left + 90 * next(), y: 100 }, names)?.labels ?? [];
      for (const labels of [
        [...names, ...over],
        [...names, ...at],
      ]) {
        written += labels.length;
        expectClear(labels, `round ${round}`);
        const { width, plot } = one.scales;
        expectInside(labels, { left: 0, right: width, top: 0, bottom: plot.bottom }, `round ${round}`);
      }
    }
    expect(written).toBeGreaterThan(1000);
  });
  it("covers none of the points but with what must be written", () => {
    const next = seeded(29);
    for (let round = 0; round < 100; round++) {
      const one = random(next);
      const marks = several(one.points.n, (index) => squareAround(...spotAt(one.at, index), 4));
      const names = labelsOf(one).filter(({ key, bold }) => !bold && !/^(?:roof|ridge) /.test(key));
      for (const label of names) {
        const isOver = boxesOf(label).some((box) => marks.some((mark) => overlap(box, mark)));
        expect(isOver, `round ${round}: ${label.text}`).toBe(false);
      }
    }
  });
});
