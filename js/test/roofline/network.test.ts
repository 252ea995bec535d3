// The network plane: the golden file that Python's tests read too, the link with what-ifs, and the order of messages.

import { describe, expect, it } from "vitest";
import golden from "../../../tests/golden/network.json";
import {
  aboveOf,
  busFactor,
  busRoof,
  inOrder,
  kindsOf,
  latencyRate,
  leading,
  linkIn,
  modelRate,
  rate,
  roofOver,
  sentFactor,
  switchRoof,
} from "../../src/roofline/network.ts";
import type { Message } from "../../src/wire/columns.ts";
import { makeChip } from "../helpers.ts";

const message = (told: Partial<Message>): Message => ({
  ...{ kind: "all-reduce", group: "", size: 1e6, ranks: 8, count: 1, time: 1e-3, fastest: 1e-3, waiting: Number.NaN },
  ...told,
});
const all = (...told: Partial<Message>[]) => told.map((one, row) => rate(message(one), row));

describe("the roofs of messages", () => {
  it.each(golden.factors)("have the factors of the golden file: $kind of $ranks", ({ kind, ranks, factor, sent }) => {
    expect(busFactor(kind, ranks)).toBeCloseTo(factor, 14);
    for (const topology of ["ring", "switch", "in-network"] as const)
      expect(sentFactor(kind, ranks, topology), topology).toBeCloseTo(sent[topology], 12);
  });
  it.each(golden.models)("are those of the golden file: $kind, $size B", (one) => {
    const roof = roofOver(one, { bandwidth: one.link, latency: one.latency }, one.topology);
    expect(latencyRate(roof, one.size) / one.slope).toBeCloseTo(1, 12);
    expect(modelRate(roof, one.size) / one.model).toBeCloseTo(1, 12);
    expect((roof.half ?? 0) / one.half).toBeCloseTo(1, 12);
  });
  it.each(golden.roofs)("are as high as in the golden file: $kind of $ranks, $topology", (one) => {
    expect(busRoof(one, one.link, one.topology) / one.roof).toBeCloseTo(1, 12);
    expect(roofOver(one, { bandwidth: one.link, latency: 1 }, one.topology).flat / one.roof).toBeCloseTo(1, 12);
  });
  it("are unknown if the number of ranks is unknown, and without a corner if the latency is", () => {
    expect(sentFactor("all-reduce", Number.NaN, "in-network")).toBeNaN();
    expect(roofOver(message({}), { bandwidth: 1, latency: Number.NaN }, "ring").half).toBeUndefined();
    expect(roofOver(undefined, { bandwidth: 8, latency: 2 }, "in-network")).toMatchObject({ flat: 8, half: 16 });
  });
  it("are passed by a message alone, in one topology or in all", () => {
    const at = (kind: string, bus: number, topology: string) => {
      const size = 1e6;
      const one = rate(message({ kind, size, time: (busFactor(kind, 8) * size) / bus }), 0);
      return aboveOf(one, 400e9, topology);
    };
    expect([at("all-reduce", 410e9, "switch"), at("all-reduce", 600e9, "switch")]).toEqual(["", "own"]);
    expect([at("all-reduce", 600e9, "in-network"), at("all-reduce", 800e9, "in-network")]).toEqual(["", "all"]);
    // Through a switch that adds: 350 GB/s.
    expect([at("reduce-scatter", 390e9, "in-network"), at("reduce-scatter", 390e9, "switch")]).toEqual(["own", ""]);
    expect(at("reduce-scatter", 430e9, "switch")).toBe("all");
    // On a ring of eight: 100 GB/s.
    expect([at("all-to-all", 200e9, "ring"), at("all-to-all", 430e9, "ring")]).toEqual(["own", "all"]);
  });
  it.each(golden.messages)("have points at the golden rates: $kind", (one) => {
    const found = rate({ ...one, group: "", waiting: Number.NaN }, 0);
    expect(found.algorithm / one.algorithm).toBeCloseTo(1, 12);
    expect(found.bus / one.bus).toBeCloseTo(1, 12);
    expect(found.best / one.best).toBeCloseTo(1, 12);
  });
  it("have a ceiling with a switch that adds only if there is an all-reduce of more than two ranks", () => {
    expect(switchRoof([message({}), message({ ranks: 4 })], { bandwidth: 450e9 })).toBe(787.5e9);
    expect(switchRoof([message({ ranks: 2 }), message({ kind: "all-gather" })], { bandwidth: 450e9 })).toBeUndefined();
  });
  it("have the slope of the kind with most time together", () => {
    const messages = all({ time: 3 }, { kind: "all-gather", time: 2 }, { kind: "all-gather", size: 8, time: 2 });
    expect(leading(messages)?.kind).toBe("all-gather");
    expect(leading([])).toBeUndefined();
  });
});

describe("the link", () => {
  const links = [
    { name: "NVLink", bandwidth: 450e9, latency: null },
    { name: "PCIe", bandwidth: 64e9, latency: 1e-6 },
  ];
  const chip = { ...makeChip({ id: "a" }), link: 450e9, links };
  it("is the first to other chips, with an unknown latency until a what-if says it", () => {
    expect(linkIn(chip, {})).toMatchObject({ name: "NVLink", bandwidth: 450e9, latency: Number.NaN, isFixed: false });
    const whatIf = { a: { bandwidth: { network: 900e9, HBM: 1 }, latency: { network: 18e-6 } } };
    expect(linkIn(chip, whatIf)).toMatchObject({
      bandwidth: 900e9,
      sheet: 450e9,
      latency: 18e-6,
      sheetLatency: Number.NaN,
    });
  });
  it("is the first also if another is as fast", () => {
    const twins = { ...chip, links: links.map((link) => ({ ...link, bandwidth: 450e9 })) };
    expect(linkIn(twins, {}, "PCIe")).toMatchObject({ name: "PCIe", isFixed: true });
    expect(linkIn(twins, {})).toMatchObject({ name: "NVLink", isFixed: false });
  });
  it("to the host has no what-ifs", () => {
    const whatIf = { a: { bandwidth: { network: 900e9 } } };
    expect(linkIn(chip, whatIf, "PCIe")).toMatchObject({ bandwidth: 64e9, latency: 1e-6, isFixed: true });
    expect(linkIn({ ...chip, link: null, links: links.slice(1) }, whatIf)).toMatchObject({
      name: "PCIe",
      isFixed: true,
    });
    expect(linkIn({ ...chip, link: null, links: [] }, whatIf)).toBeUndefined();
  });
  it("to the host never takes the place of a link to other chips whose bandwidth is unknown", () => {
    const fabric = { name: "ICI", bandwidth: null, latency: null };
    const unstated = { ...chip, link: null, links: [fabric, ...links.slice(1)] };
    expect(linkIn(unstated, {})).toBeUndefined();
    expect(linkIn(unstated, {}, "PCIe")).toMatchObject({ name: "PCIe", bandwidth: 64e9, isFixed: true });
  });
});

describe("messages", () => {
  it("are in the order of waiting, and of time where no message is known to have waited", () => {
    const rows = (messages: ReturnType<typeof all>) => inOrder(messages).map(({ row }) => row);
    expect(rows(all({ time: 1 }, { time: 3 }, { time: 2 }))).toEqual([1, 2, 0]);
    expect(rows(all({ time: 1, waiting: 0.5 }, { time: 3 }, { time: 2, waiting: 0.1 }))).toEqual([0, 2, 1]);
  });
  it("have kinds by their share of the time", () => {
    expect(kindsOf(all({ time: 1 }, { kind: "send", time: 3 }))).toEqual([
      ["send", 0.75],
      ["all-reduce", 0.25],
    ]);
  });
});
