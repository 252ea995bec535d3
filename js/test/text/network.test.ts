// What is said of messages whose calls are not known one by one, or whose ranks are unknown.

import { expect, it } from "vitest";
import { type RatedMessage, rate } from "../../src/roofline/network.ts";
import { messageCard, messageFormula, messageName, networkSentence } from "../../src/text/network.ts";
import { makeChip } from "../helpers.ts";

const LINK = {
  ...{ chip: makeChip({}), name: "NVLink", bandwidth: 400e9, sheet: 400e9, latency: 18e-6, sheetLatency: 18e-6 },
  isFixed: false,
};
const NONE = { link: undefined, topology: "switch" } as const;
const sums = { kind: "all-reduce", group: "", size: 8e6, ranks: 8, count: 1000, time: 2, waiting: Number.NaN };

it("has the mean call in the formula if no single call is known", () => {
  const message = rate({ ...sums, fastest: Number.NaN }, 0);
  expect(messageFormula(message, NONE)).toBe("all-reduce 8 MB: 1.75 × 8 MB ÷ 2 ms = 7 GB/s");
  expect(messageCard(message, NONE)[1].map(([name]) => name)).not.toContain("fastest call");
});

it("has the fastest call in the formula and the mean call behind it", () => {
  const message = rate({ ...sums, fastest: 1e-3 }, 0);
  expect(messageFormula(message, NONE)).toBe("all-reduce 8 MB: 1.75 × 8 MB ÷ 1 ms = 14 GB/s; mean call 7 GB/s");
});

it("has no formula if the number of ranks is unknown", () => {
  expect(messageFormula(rate({ ...sums, ranks: Number.NaN, fastest: 1e-3 }, 0), NONE)).toBe("all-reduce 8 MB");
});

it("says the share of the roof that the topology allows, and what a faster message means", () => {
  const message = rate({ ...sums, count: 1, time: (1.75 * 8e6) / 600e9, fastest: (1.75 * 8e6) / 600e9 }, 0);
  const told = (topology: "ring" | "switch" | "in-network", bandwidth = LINK.bandwidth) =>
    Object.fromEntries(messageCard(message, { link: { ...LINK, bandwidth }, topology })[1]);
  expect(told("switch")).toMatchObject({ "of link": "150 %", note: "above the wire: the switch may add" });
  expect(told("in-network")["of link"]).toBe("86 %");
  expect(told("in-network")).not.toHaveProperty("note");
  expect(told("in-network", 300e9)["note"]).toContain("above every roof");
  const slower = rate({ ...sums, count: 2, time: (4 * 1.75 * 8e6) / 600e9, fastest: (1.75 * 8e6) / 600e9 }, 0);
  const card = Object.fromEntries(messageCard(slower, { link: LINK, topology: "switch" })[1]);
  expect(card).toMatchObject({ "of link": "75 %", note: "above the wire: the switch may add" });
  expect(messageFormula(message, { link: LINK, topology: "in-network" })).toContain("= 600 GB/s, 86 % of NVLink");
});

it("says that the link may not connect all ranks of a large group", () => {
  const told = (ranks: number) =>
    Object.fromEntries(messageCard(rate({ ...sums, ranks, fastest: 1 }, 0), { link: LINK, topology: "switch" })[1]);
  expect(told(16)["note"]).toBe("if NVLink does not connect all ranks, the network between them is the limit");
  expect(told(8)).not.toHaveProperty("note");
});

it("names the series of a message, in brief", () => {
  expect(messageName({ kind: "all-reduce", size: 8e6 })).toBe("all-reduce 8 MB");
  expect(messageName({ kind: "all-reduce", size: 8e6, series: "v1.1" })).toBe("all-reduce 8 MB · v1.1");
  expect(messageName({ kind: "send", size: 8, series: "x".repeat(99) })).toBe(`send 8 B · ${"x".repeat(39)}…`);
});

it("says why there is no roof, and leaves messages that are not drawn out of the corner", () => {
  const one = rate({ ...sums, ranks: 1, time: 9, fastest: 1e-3 }, 0);
  const other = rate({ ...sums, fastest: 1e-3 }, 1);
  const told = (messages: readonly RatedMessage[], link: typeof LINK | undefined = LINK, noChip = "") =>
    networkSentence(messages, { link, topology: "switch" }, noChip);
  expect(told([one, other])).toContain("half at 4.1 MB");
  expect(told([one])).toBe("These messages send nothing: one rank, or no bytes.");
  expect(networkSentence([other], { link: undefined, topology: "switch" })).toContain("links is unknown");
  expect(networkSentence([other], { link: undefined, topology: "switch" }, "Add a chip")).toBe("Add a chip");
});

it("has the model with what is sent, and its corner", () => {
  const message = rate({ ...sums, fastest: 1e-3 }, 0);
  const told = (topology: "switch" | "in-network") => networkSentence([message], { link: LINK, topology });
  expect(told("switch")).toBe("time = latency + 1.75 × size / NVLink; half at 4.1 MB");
  expect(told("in-network")).toBe("time = latency + size / NVLink; half at 7.2 MB");
});
