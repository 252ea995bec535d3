// The network plane: the place of the roof, dots, whiskers and names, and what a drag of each part changes.

import { describe, expect, it } from "vitest";
import { flatText, kindCode, kindColour, linkAt, networkScene, roofSpots } from "../../src/chart/network/scene.ts";
import { LIGHT } from "../../src/chart/theme.ts";
import { type MessageRoof, ratedMessages } from "../../src/roofline/network.ts";
import type { Store } from "../../src/state/store.ts";
import type { Message } from "../../src/wire/columns.ts";
import { makeChip, makeKernels } from "../helpers.ts";

const SIZE = { width: 800, height: 500 };
const message = (told: Partial<Message>): Message => ({
  ...{ kind: "all-reduce", group: "", size: 64e6, ranks: 8, count: 2, time: 728e-6, fastest: 280e-6, waiting: 168e-6 },
  ...told,
});
const LINK = {
  ...{ chip: makeChip({}), name: "NVLink", bandwidth: 400e9, sheet: 400e9, latency: 18e-6, sheetLatency: 18e-6 },
  isFixed: false,
};

function scene(
  messages: readonly Message[],
  told: Partial<typeof LINK> = {},
  topology = "switch",
  width = 800,
  row?: number,
  isHidden = false,
) {
  const kernels = { ...makeKernels([]), messages };
  const chips = { value: [LINK.chip] };
  const store = {
    rows: { kernels: { value: kernels }, messages: { value: isHidden ? [] : ratedMessages(kernels) } },
    rates: { chips, focusLink: { value: { ...LINK, ...told } }, topology: { value: topology } },
    view: { message: { value: row }, patterns: { value: false } },
  } as unknown as Store;
  return networkScene(store, { ...SIZE, width }, LIGHT);
}

describe("the scene of the network plane", () => {
  it("has a roof that bends at the size that reaches half of the link", () => {
    const shown = scene([message({}), message({ size: 1e3 })]);
    // 18 µs * 400 GB/s / 1.75.
    expect(shown.roof?.half).toBeCloseTo((18e-6 * 400e9) / 1.75, 6);
    const [, corner] = roofSpots(shown);
    expect(shown.scales.x.invert(corner?.[0] ?? 0) / (shown.roof?.half ?? 0)).toBeCloseTo(1, 9);
    expect(shown.scales.y.invert(corner?.[1] ?? 0) / 400e9).toBeCloseTo(1, 9);
  });
  it("has no slope if the latency is unknown", () => {
    const shown = scene([message({})], { latency: Number.NaN });
    expect(shown.roof?.half).toBeUndefined();
    expect(roofSpots(shown)).toHaveLength(2);
  });
  it("has whiskers to the fastest call only where calls are known to have waited", () => {
    const [waited, single] = scene([message({}), message({ size: 1e6, count: 1, waiting: Number.NaN })]).dots;
    expect(waited?.top).toBeLessThan(waited?.y ?? 0);
    expect(single?.top).toBeUndefined();
    const [early] = scene([message({ kind: "broadcast", waiting: Number.NaN })]).dots;
    expect(early?.top).toBeUndefined();
  });
  it("marks only what is above the roof of a switch that adds", () => {
    const at = (rate: number) => message({ time: (2 * 1.75 * 64e6) / rate, fastest: (1.75 * 64e6) / rate });
    expect(scene([at(600e9)]).dots[0]?.isAbove).toBe(false);
    expect(scene([at(800e9)]).dots[0]?.isAbove).toBe(true);
  });
  it("has the ceiling of a switch that adds only in a wide chart of a switch", () => {
    expect(scene([message({})]).ceiling).toBe(700e9);
    expect(scene([message({})], { bandwidth: 500e9 }).ceiling).toBe(875e9);
    expect(scene([message({})], {}, "ring").ceiling).toBeUndefined();
    expect(scene([message({})], {}, "in-network").ceiling).toBeUndefined();
    expect(scene([message({})], {}, "switch", 480).ceiling).toBeUndefined();
  });
  it("has the roof of a switch that adds: flat, corner, name and space above it", () => {
    const shown = scene([message({}), message({ size: 1e3 })], {}, "in-network");
    const [, corner, end] = roofSpots(shown);
    expect([shown.roof?.flat, shown.roof?.half]).toEqual([700e9, 18e-6 * 400e9]);
    expect(shown.scales.y.invert(end?.[1] ?? 0) / 700e9).toBeCloseTo(1, 9);
    expect(shown.scales.x.invert(corner?.[0] ?? 0) / 7.2e6).toBeCloseTo(1, 9);
    expect(flatText(shown)).toBe("700 GB/s for all-reduce");
    expect(flatText(scene([message({})]))).toBe("400 GB/s");
    expect(shown.scales.y(700e9)).toBeGreaterThan(shown.scales.plot.top);
  });
  it("has the roof of the hovered message, on the same axes", () => {
    const messages = [message({}), message({ kind: "reduce-scatter", size: 1e5, time: 1e-6 })];
    const [shown, hovered] = [scene(messages, {}, "in-network"), scene(messages, {}, "in-network", 800, 1)];
    expect([shown.roof?.flat, hovered.roof?.flat]).toEqual([700e9, 350e9]);
    expect(hovered.scales.y.domain).toEqual(shown.scales.y.domain);
    expect(hovered.labels.map(({ y }) => y)).toEqual(shown.labels.map(({ y }) => y));
  });
  it("names the five that waited longest, at least a line apart", () => {
    const many = Array.from({ length: 9 }, (_, at) => message({ size: 64e6 + at, waiting: (at + 1) * 1e-6 }));
    const { labels, scales } = scene(many);
    expect(labels.map(({ badge }) => badge).sort()).toEqual(["1", "2", "3", "4", "5"]);
    expect(labels.find(({ badge }) => badge === "1")?.dot.message.size).toBe(64e6 + 8);
    const ys = labels.map(({ y }) => y).sort((a, b) => a - b);
    for (const [at, y] of ys.entries())
      if (at > 0) expect(y - (ys[at - 1] as number)).toBeGreaterThanOrEqual(20 - 1e-9);
    expect(Math.max(...ys)).toBeLessThan(scales.plot.bottom);
  });
  it("does not draw messages of unknown size, ranks or time, and says why nothing is drawn", () => {
    const odd = [
      message({ size: 0 }),
      message({ time: Number.NaN }),
      message({ ranks: Number.NaN }),
      message({ ranks: 1 }),
    ];
    expect(scene(odd).dots).toEqual([]);
    expect(scene(odd).note).toBe("The ranks or the times of these messages are unknown.");
    expect(scene([message({ ranks: 1 })]).note).toBe("These messages send nothing: one rank, or no bytes.");
    expect(scene([...odd, message({})]).note).toBe("");
    expect(scene([]).note).toBe("This profile has no message sizes.");
    expect(scene([message({})], {}, "switch", 800, undefined, true)).toMatchObject({ note: "", dots: [] });
  });
  it("has finite axes with a call of no time", () => {
    const shown = scene([message({ fastest: 0 }), message({ size: 1e3 })]);
    expect(shown.scales.y.domain.every(Number.isFinite)).toBe(true);
    expect(shown.dots.map(({ top }) => top)).toEqual([undefined, expect.any(Number)]);
  });
  it("gives each kind its own pattern", () => {
    const kinds = [
      "all-reduce",
      "all-gather",
      "reduce-scatter",
      "all-to-all",
      "broadcast",
      "gather",
      "scatter",
      "send",
    ];
    expect(new Set(kinds.map(kindCode)).size).toBe(kinds.length);
    expect(new Set(kinds.slice(0, 6).map((kind) => kindColour(kind, LIGHT))).size).toBe(6);
  });
});

describe("a drag of the roof of a link", () => {
  const shown = scene([message({}), message({ size: 1e3 })]);
  const { scales } = shown;
  const roof = shown.roof as MessageRoof;
  const { factor } = roof;
  const start = { scales, roof, link: LINK, dx: 0, dy: 0 };
  it("moves the bandwidth with the flat, and keeps the latency", () => {
    const [bandwidth, latency] = linkAt({ ...start, part: "peak" }, 600, scales.y(300e9));
    expect(bandwidth / 300e9).toBeCloseTo(1, 9);
    expect(latency).toBe(18e-6);
  });
  it("moves the latency with the slope, which goes through the pointer", () => {
    const [bandwidth, latency] = linkAt({ ...start, part: "bandwidth" }, scales.x(1e5), scales.y(5e9));
    expect(bandwidth).toBe(400e9);
    expect(latency / ((factor * 1e5) / 5e9)).toBeCloseTo(1, 9);
  });
  it("moves both with the ring", () => {
    const [bandwidth, latency] = linkAt({ ...start, part: "ridge" }, scales.x(1e7), scales.y(200e9));
    expect(bandwidth / 200e9).toBeCloseTo(1, 9);
    expect(latency / ((factor * 1e7) / 200e9)).toBeCloseTo(1, 9);
  });
  it("of a switch that adds changes the bandwidth of the link below it", () => {
    const { scales, roof } = scene([message({}), message({ size: 1e3 })], {}, "in-network");
    const from = { scales, roof: roof as MessageRoof, link: LINK, dx: 0, dy: 0 };
    const [bandwidth] = linkAt({ ...from, part: "peak" }, 600, scales.y(350e9));
    expect(bandwidth / 200e9).toBeCloseTo(1, 9);
    const [kept, latency] = linkAt({ ...from, part: "bandwidth" }, scales.x(1e5), scales.y(5e9));
    expect([kept, latency / ((factor * 1e5) / 5e9)]).toEqual([400e9, expect.closeTo(1, 9)]);
    const [both, corner] = linkAt({ ...from, part: "ridge" }, scales.x(1e7), scales.y(350e9));
    expect([both / 200e9, (corner * 350e9) / factor / 1e7]).toEqual([expect.closeTo(1, 9), expect.closeTo(1, 9)]);
  });
  it("stays on the axes", () => {
    const [bandwidth] = linkAt({ ...start, part: "peak" }, 600, -1e4);
    expect(bandwidth).toBeLessThan(scales.y.domain[1]);
    const [, latency] = linkAt({ ...start, part: "bandwidth" }, -1e4, scales.y(1e9));
    expect((latency * 400e9) / factor).toBeGreaterThan(scales.x.domain[0]);
  });
});
