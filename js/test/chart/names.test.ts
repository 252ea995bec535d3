// Positions of labels: a gap's number by its own arrow, a roof's name by its visible part, and fewer labels in a narrow chart.

import { describe, expect, it } from "vitest";
import { boxesOf, boxOf, leaderOf, type PlacedLabel } from "../../src/chart/labels/engine.ts";
import { ridgeNumber } from "../../src/chart/labels/roof_labels.ts";
import { rooflineLabels } from "../../src/chart/labels/roofline_labels.ts";
import { gapsOf } from "../../src/chart/layers/gaps.tsx";
import { rulerOver } from "../../src/chart/layers/rulers.tsx";
import type { Gap } from "../../src/chart/paths.ts";
import { radiusAt } from "../../src/chart/points/painter.ts";
import { isShown } from "../../src/chart/points/visible.ts";
import { project, type Scales } from "../../src/chart/scales.ts";
import type { Scene } from "../../src/chart/scene.ts";
import { zoomed } from "../../src/chart/zoom.ts";
import { attainable, type Roof } from "../../src/roofline/roofline.ts";
import { type KernelSpec, makeChip, makeRoof, seeded, several, UNITS } from "../helpers.ts";
import { labelsOf, random, SMALL, scene } from "../scenes.ts";

/** Distance from a text to the rim of a circle, or to a vertical line, px. */
function distance(label: PlacedLabel, x: number, top: number, bottom = top, radius = 0): number {
  const box = boxOf(label);
  const across = Math.max(0, box.left - x, x - box.right);
  return Math.hypot(across, Math.max(0, box.top - bottom, top - box.bottom)) - radius;
}

const toArrow = (label: PlacedLabel, { x, from, to }: Gap) =>
  distance(label, x, Math.min(from, to), Math.max(from, to));
const toPoint = (label: PlacedLabel, { at, points }: Scene, index: number) =>
  distance(label, at.x[index] as number, at.y[index] as number, at.y[index], radiusAt(points, index));

/** Up to twelve kernels of the same or similar intensity. */
function crowd(next: () => number): Scene {
  const spread = next() < 0.3 ? 1 : 1 + next() ** 2 * 3;
  const specs = several(2 + Math.floor(11 * next()), (): KernelSpec => {
    const bytes = 4e10 * spread ** next();
    return { flops: 4e12, bytes, time: (bytes / 1e12) * 100 ** (0.02 + 0.98 * next()) };
  });
  return scene(specs, { roofs: [SMALL], marked: next() < 0.4 ? [0] : [] }, 360 + 700 * next());
}

/** A random part of a chart. */
function somewhere(one: Scene, next: () => number): Scene {
  const part = (low: number, high: number) => {
    const length = (high / low) ** (0.1 + 0.5 * next());
    const from = low * (high / length / low) ** next();
    return [from, from * length] as const;
  };
  const scales = zoomed(one.scales, [...part(...one.scales.x.domain), ...part(...one.scales.y.domain)]);
  return { ...one, scales, at: project(one.points, scales) };
}

/** Length of the visible part of a roof, px. */
function seen(roof: Roof, { plot, x, y }: Scales): number {
  let length = 0;
  for (let at = plot.left + 1; at <= plot.right; at++) {
    const [from, to] = [at - 1, at].map((px) => y(attainable(x.invert(px), roof))) as [number, number];
    if (Math.min(from, to) >= plot.top && Math.max(from, to) <= plot.bottom) length += Math.hypot(1, to - from);
  }
  return length;
}

describe("the call-out of a gap", () => {
  it("is nearer to its own arrow or point than to another's, or a line leads from it", () => {
    const next = seeded(31);
    let written = 0;
    for (let round = 0; round < 400; round++) {
      const whole = next() < 0.7 ? crowd(next) : random(next);
      const one = next() < 0.3 ? somewhere(whole, next) : whole;
      const gaps = gapsOf(one);
      const labels = rooflineLabels(one, gaps);
      for (const gap of gaps) {
        const label = labels.find(({ key }) => key === `gap ${gap.row}`);
        if (!label || leaderOf(label)) continue;
        written++;
        const home = one.points.home[gap.row] as number;
        const own = Math.min(toArrow(label, gap), toPoint(label, one, home));
        for (const other of gaps) {
          if (other !== gap) expect(own, `round ${round}: ${label.text}`).toBeLessThan(toArrow(label, other));
        }
        for (let index = 0; index < one.points.n; index++) {
          if (index !== home && isShown(one, index))
            expect(own, `round ${round}: ${label.text}`).toBeLessThan(toPoint(label, one, index));
        }
      }
    }
    expect(written).toBeGreaterThan(200);
  });
});

describe("the call-out of a gap among very many points", () => {
  const cloud = (count: number, marked: number[] = []) => {
    const next = seeded(43);
    const specs = several(count, (): KernelSpec => {
      const bytes = 4e10 * 40 ** next();
      return { flops: 4e12, bytes, time: (bytes / 1e12) * 100 ** (0.1 + 0.9 * next()) };
    });
    const one = scene(specs, { marked, ranked: [0, 1, 2, 3, 4] });
    const gaps = gapsOf(one);
    return { one, labels: rooflineLabels(one, gaps).filter(({ key }) => key.startsWith("gap ")), gaps };
  };
  it("covers none of a thousand, and is left out of thousands unless its kernel is pointed at", () => {
    const { one, labels, gaps } = cloud(1000);
    expect(gaps.length).toBeGreaterThan(2);
    for (const label of labels) {
      for (let index = 0; index < one.points.n; index++) {
        if (label.key !== `gap ${one.points.row[index]}`) expect(toPoint(label, one, index)).toBeGreaterThan(0);
      }
    }
    expect(cloud(2001).gaps.length).toBeGreaterThan(2);
    expect(cloud(2001).labels).toEqual([]);
    expect(cloud(2001, [7]).labels.map(({ key }) => key)).toEqual(["gap 7"]);
  });
});

/** Distance from a text to the visible part of a roof, px. */
function toRoof(label: PlacedLabel, roof: Roof, { plot, x, y }: Scales): number {
  let least = Number.POSITIVE_INFINITY;
  for (const box of boxesOf(label)) {
    for (let at = plot.left; at <= plot.right; at++) {
      const line = y(attainable(x.invert(at), roof));
      if (line < plot.top || line > plot.bottom) continue;
      const across = Math.max(0, box.left - at, at - box.right);
      least = Math.min(least, Math.hypot(across, Math.max(0, box.top - line, line - box.bottom)));
    }
  }
  return least;
}

describe("a roof's name", () => {
  it("stands beside the roof wherever 120 px of the roof are in sight", () => {
    const next = seeded(37);
    let written = 0;
    for (let round = 0; round < 300; round++) {
      const whole = random(next);
      const one = somewhere(whole, next);
      // At rest, and while the chart moves there from another part.
      const before = new Map(rooflineLabels(somewhere(whole, next), []).map(({ key, choice }) => [key, choice]));
      for (const labels of [labelsOf(one), rooflineLabels(one, gapsOf(one), { before: before })]) {
        for (const roof of one.roofs) {
          const names = labels.filter((label) => label.names?.some(({ colour }) => colour === roof.chip.id));
          const { plot } = one.scales;
          const told = `round ${round}: ${roof.chip.id}, ${one.scales.width} px`;
          if (seen(roof, one.scales) >= 120) expect(names, told).toHaveLength(1);
          for (const name of names) {
            written++;
            expect(toRoof(name, roof, one.scales), told).toBeLessThan(40);
            expect(
              boxesOf(name).every(({ right }) => right <= plot.right),
              told,
            ).toBe(true);
          }
        }
      }
    }
    expect(written).toBeGreaterThan(900);
  });
  const labelOf = (one: Scene, chip: string) =>
    rooflineLabels(one, []).find(({ names }) => names?.some(({ colour }) => colour === chip));
  const like = (id: string, peak: number, bandwidth = 1e12) =>
    makeRoof(makeChip({ id, name: id, peaks: { bf16: peak }, memories: { HBM: bandwidth } }));
  it("is at the right edge of the plot, 9 px above the flat, with its rate", () => {
    const one = scene([], { roofs: [SMALL] });
    expect(labelOf(one, "small")).toMatchObject({
      ...{ text: "small 100 TFLOP/s", x: one.scales.plot.right - 2, y: one.scales.y(1e14) - 9, anchor: "end" },
    });
  });
  it("stands with other names above flats that are nearer than 14 px, the name of the focus roof first", () => {
    const one = scene([], { roofs: [SMALL, like("same", 1e14, 2e12), like("far", 2e14)] });
    const label = labelOf(one, "same");
    expect(label?.text).toBe("small, same 100 TFLOP/s");
    expect(label?.names).toEqual([
      { text: "small", bold: true, colour: "small" },
      { text: "same", bold: false, colour: "same" },
    ]);
    expect(labelOf(one, "far")?.text).toMatch(/^far/);
  });
  it("has no rate beside eight roofs", () => {
    const roofs = several(8, (nth) => like(`m${nth}`, 1e12 * 3 ** nth));
    expect(labelOf(scene([], { roofs }), "m7")?.text).toBe("m7");
  });
  it("is along the slope, without the peak, if the flat is out of sight", () => {
    const one = scene([], { roofs: [SMALL] });
    const scales = zoomed(one.scales, [1, 50, 1e12, 2e14]);
    const label = labelOf({ ...one, scales, at: project(one.points, scales) }, "small");
    expect(label?.angle).not.toBe(0);
    expect(label?.text).toBe("small");
  });
});

describe("a ridge point's number", () => {
  const ridge = (width: number) =>
    rooflineLabels(scene([], {}, width), []).filter(({ key }) => key.startsWith("ridge "));
  it("stands beside the ridge points of other roofs while only chips are drawn", () => {
    expect(ridge(760).map(({ text }) => text)).toEqual(["200"]);
    const kernels = [{ flops: 1e12, bytes: 1e10, time: 1 }];
    expect(rooflineLabels(scene(kernels), []).filter(({ key }) => key.startsWith("ridge "))).toEqual([]);
  });
  it("of the focus roof is among the ticks: with the word, and without it in a narrow chart", () => {
    expect(ridgeNumber(SMALL, UNITS, false)).toBe("ridge 100");
    expect(ridgeNumber(SMALL, UNITS, true)).toBe("100");
  });
});

describe("a narrow chart", () => {
  const measured = (row: number): KernelSpec => ({ flops: 1e12, bytes: 1e10 * 2 ** row, time: 0.1 * 2 ** row });
  const eight = (width: number, more: Partial<Scene> = {}) =>
    scene(
      several(8, (row) => measured(row)),
      more,
      width,
    );
  const kinds = (one: Scene) => {
    const labels = labelsOf(one);
    return (kind: string) => labels.filter(({ key }) => key.includes(kind)).length;
  };
  it("has the arrows of the kernels with badges, one told in brief, and of what is pointed at its own alone", () => {
    expect(gapsOf(eight(760)).map(({ row }) => row)).toEqual([7, 6, 5, 4, 3]);
    expect(gapsOf(eight(440)).map(({ row }) => row)).toEqual([7, 6, 5, 4, 3]);
    expect(gapsOf(eight(440, { marked: [5] })).map(({ row }) => row)).toEqual([5]);
    const one = eight(440);
    const texts = labelsOf(one).filter(({ key }) => key.startsWith("gap "));
    expect(texts.length).toBeLessThanOrEqual(1);
    for (const { text } of texts) expect(text).toMatch(/^up to [\d.]+×$/);
  });
  it("names four kernels that nobody asked for, and no region beside them", () => {
    expect(kinds(eight(760))("kernel ")).toBeGreaterThan(5);
    expect(kinds(eight(760))("kernel ")).toBeLessThanOrEqual(7);
    expect(kinds(eight(440))("kernel ")).toBe(5);
    expect(kinds(eight(760))(" region")).toBe(2);
    expect(kinds(eight(440))(" region")).toBe(0);
    expect(kinds(scene([], {}, 440))(" region")).toBe(0);
    expect(kinds(scene([], {}, 560))(" region")).toBe(2);
    const marked = rooflineLabels(eight(440, { marked: [0] }), []);
    expect(marked.some(({ key }) => key === "kernel 0")).toBe(true);
  });
  it("has no ruler's words for lower roofs", () => {
    const ceiling = {
      key: "ceiling",
      name: "ceiling",
      kind: "compute",
      peak: 4e13,
      bandwidth: 1e12,
      level: "HBM",
    } as const;
    const over = (width: number) => {
      const one = scene(
        [{ flops: 1e12, bytes: 1e9, time: 0.1 }],
        { subRoofs: [{ ...ceiling, style: "ceiling", operation: "FLOP" }] },
        width,
      );
      return rulerOver(one, 0, []).labels.map(({ key }) => key);
    };
    expect(over(760)).toContain("ruler sub ceiling");
    expect(over(440)).not.toContain("ruler sub ceiling");
  });
});
