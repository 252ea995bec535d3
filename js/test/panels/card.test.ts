import { describe, expect, test } from "vitest";
import { factsOf, linkOf, runsOf, unknownOf } from "../../src/panels/chips/card.tsx";
import type { Chip, Figure } from "../../src/wire/types.ts";
import { makeChip } from "../helpers.ts";

const figure = (label: string, value: number | null, more: Partial<Figure> = {}): Figure => ({
  label,
  value,
  unit: "FLOP/s",
  measured: false,
  source: "Data sheet",
  url: "https://example.org/sheet",
  confidence: "datasheet",
  checks: [],
  ...more,
});
const chip = (figures: readonly Figure[], more: Partial<Chip> = {}): Chip => ({
  ...makeChip(),
  ceilings: [],
  figures,
  ...more,
});
const valuesOf = (figures: readonly Figure[]) =>
  runsOf(chip(figures)).flatMap(({ rows }) => rows.map(({ value }) => value));

describe("figures", () => {
  test("have four digits and SI prefixes; counts are words with a number", () => {
    expect(
      valuesOf([
        figure("Peak bf16", 989.5e12),
        figure("Peak int8", 1979e12, { unit: "OP/s" }),
        figure("HBM bandwidth", 3.3521e12, { unit: "B/s" }),
        figure("L2 capacity", 52428800, { unit: "B" }),
        figure("Clock", 1.98e9, { unit: "Hz" }),
        figure("Units", 16896, { unit: "core" }),
        figure("Bits", 3, { unit: "" }),
        figure("Energy", 5e-13, { unit: "J/FLOP" }),
      ]),
    ).toEqual(["989.5 TFLOP/s", "1.979 POP/s", "3.352 TB/s", "50 MiB", "1.98 GHz", "16896 core", "3", "0.5 pJ/FLOP"]);
  });

  test("neighbours of one source and confidence share one line about it", () => {
    const runs = runsOf(
      chip([
        figure("a", 1),
        figure("b", 2),
        figure("c", 3, { confidence: "derived" }),
        figure("d", 4, { source: "Talk", url: "" }),
        figure("e", 5),
      ]),
    );
    expect(runs.map(({ source, confidence, rows }) => [source, confidence, rows.map(({ label }) => label)])).toEqual([
      ["Data sheet", "datasheet", ["a", "b"]],
      ["Data sheet", "derived", ["c"]],
      ["Talk", "datasheet", ["d"]],
      ["Data sheet", "datasheet", ["e"]],
    ]);
  });

  test("say what other sources say, as a ratio to theirs", () => {
    const checks = [
      [1.98e15, "Sparse sheet"],
      [1.071e15, "A profiler"],
    ] as const;
    const [run] = runsOf(chip([figure("Peak bf16", 0.99e15, { checks })]));
    expect(run?.rows[0]?.others).toEqual([
      { text: "others say 1.98 PFLOP/s (×2):", source: "Sparse sheet" },
      { text: "others say 1.071 PFLOP/s (×1.08):", source: "A profiler" },
    ]);
  });

  test("are told to be measured where a ceiling of that rate was", () => {
    const figures = [
      figure("HBM bandwidth", 3e12),
      figure("Ceiling: HBM, HBM", 3e12, { measured: true }),
      figure("Ceiling: no FMA", 5e14),
    ];
    const rows = runsOf(chip(figures)).flatMap((run) => run.rows);
    expect(rows.map(({ measured }) => measured)).toEqual([false, true, false]);
  });
});

describe("an address", () => {
  test.each(["https://example.org/a", "http://example.org", "HTTPS://EXAMPLE.ORG"])("%s is a link", (url) => {
    expect(linkOf(url)).toBe(url);
  });

  test.each(["javascript:alert(1)//https://x", " https://x", "ftp://x", "unknown repository", ""])(
    "%j is text",
    (url) => {
      expect(linkOf(url)).toBeUndefined();
      expect(runsOf(chip([figure("a", 1, { url })]))[0]).toMatchObject({ link: undefined, place: url });
    },
  );
});

describe("what is unknown", () => {
  test("is each figure without a value", () => {
    const figures = [
      figure("L2 bandwidth (never published)", null, { unit: "B/s" }),
      figure("HBM bandwidth", 1e12),
      figure("ICI, one way", null),
    ];
    const told = chip(figures);
    expect(unknownOf(told)).toEqual(["L2 bandwidth (never published)", "ICI, one way"]);
    expect(runsOf(told).flatMap(({ rows }) => rows.map(({ label }) => label))).toEqual(["HBM bandwidth"]);
  });
});

test("the facts are those the chip tells, and a single source is said in words", () => {
  expect(factsOf(chip([], { vendor: "AMD", family: "", year: null, status: "single-source" }))).toEqual([
    ["Vendor", "AMD"],
    ["Status", "from one source; no second source found"],
  ]);
  expect(factsOf(chip([], { year: 2022, status: "illustrative" }))).toEqual([
    ["Year", "2022"],
    ["Status", "illustrative"],
  ]);
});
