// What is said of messages whose calls are not known one by one, or whose ranks are unknown.

import { expect, it } from "vitest";
import { rate } from "../../src/roofline/network.ts";
import { messageCard, messageFormula } from "../../src/text/network.ts";

const sums = { kind: "all-reduce", group: "", size: 8e6, ranks: 8, count: 1000, time: 2, waiting: Number.NaN };

it("has the mean call in the formula if no single call is known", () => {
  const message = rate({ ...sums, fastest: Number.NaN }, 0);
  expect(messageFormula(message, undefined)).toBe("all-reduce 8 MB: 1.75 × 8 MB ÷ 2 ms = 7 GB/s");
  expect(messageCard(message, undefined, false)[1].map(([name]) => name)).not.toContain("fastest call");
});

it("has the fastest call in the formula and the mean call behind it", () => {
  const message = rate({ ...sums, fastest: 1e-3 }, 0);
  expect(messageFormula(message, undefined)).toBe("all-reduce 8 MB: 1.75 × 8 MB ÷ 1 ms = 14 GB/s; mean call 7 GB/s");
});

it("has no formula if the number of ranks is unknown", () => {
  expect(messageFormula(rate({ ...sums, ranks: Number.NaN, fastest: 1e-3 }, 0), undefined)).toBe("all-reduce 8 MB");
});
