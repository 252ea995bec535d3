import { describe, expect, test } from "vitest";
import { found, generationsOf, MAX_PILLS, pillsOf, sectionsOf } from "../../src/panels/chips/picking.ts";
import { memoriesOf } from "../../src/panels/toolbar/menus.ts";
import type { Chip } from "../../src/wire/types.ts";
import { makeChip, several } from "../helpers.ts";

const chip = (id: string, more: Partial<Chip> = {}): Chip => ({ ...makeChip({ id }), ...more });
const many = several(20, (index) => chip(`c${index}`));
const ids = (chips: readonly Chip[]) => chips.map(({ id }) => id);

describe("pills", () => {
  test("up to eight chips all have one, in their order, whatever is shown", () => {
    const few = many.slice(0, MAX_PILLS);
    expect(pillsOf(few, ["c7"], "c7", [])).toBe(few);
  });

  test("of more chips, those shown and the focus chip have one, and the first of the others fill up", () => {
    expect(ids(pillsOf(many, ["c15", "c12"], "c19", []))).toEqual("c0 c1 c2 c3 c4 c12 c15 c19".split(" "));
  });

  test("a chip that was just switched off keeps its pill before others get one", () => {
    const before = ids(pillsOf(many, ["c10", "c15"], "c15", []));
    expect(ids(pillsOf(many, ["c15"], "c15", before))).toEqual(before);
  });

  test("when a chip is switched on, one that is not shown makes room", () => {
    const before = ids(pillsOf(many, ["c10", "c15"], "c15", []));
    expect(ids(pillsOf(many, ["c10", "c15", "c18"], "c15", before))).toEqual("c0 c1 c2 c3 c4 c10 c15 c18".split(" "));
  });

  test("with more than eight shown the focus chip still has one", () => {
    const pills = pillsOf(many, ids(many).slice(0, 12), "c11", []);
    expect(ids(pills)).toEqual("c0 c1 c2 c3 c4 c5 c6 c11".split(" "));
  });

  test("a chip that is gone takes no place", () => {
    expect(pillsOf(many, ["gone"], "", ["gone too"])).toHaveLength(MAX_PILLS);
  });
});

describe("search", () => {
  const chips = [
    chip("h100-sxm", { name: "NVIDIA H100 SXM5", vendor: "NVIDIA", family: "Hopper", year: 2022 }),
    chip("gb200", { name: "NVIDIA GB200 (one GPU)", vendor: "NVIDIA", family: "Blackwell", year: 2025 }),
    chip("b200", { name: "NVIDIA B200 (HGX, 180GB)", vendor: "NVIDIA", family: "Blackwell", year: 2024 }),
    chip("tpu-7x", {
      name: "TPU7x Ironwood",
      vendor: "Google",
      family: "TPU",
      year: 2025,
      aliases: ["TPU v7x", "v7x"],
    }),
    chip("mi300x", {
      name: "AMD Instinct MI300X",
      vendor: "AMD",
      family: "CDNA 3",
      year: 2023,
      aliases: ["1002:74a1"],
    }),
    chip("mine"),
  ];
  const foundIds = (query: string, near = "") => found(chips, query, near).map((match) => match.chip.id);

  test.each([
    ["v7x", ["tpu-7x"]],
    ["tpu v7x", ["tpu-7x"]],
    ["tpuv7x", ["tpu-7x"]],
    ["h100sxm", ["h100-sxm"]],
    ["H100-SXM5", ["h100-sxm"]],
    ["  hOp ", ["h100-sxm"]],
    ["nvidia 2024", ["b200"]],
    ["2024 nvidia", ["b200"]],
    ["cdna", ["mi300x"]],
    ["amd hopper", []],
    ["null", []],
    ["(", ["gb200", "b200"]],
    ["74a1", []],
    ["1002:74a1", ["mi300x"]],
  ])("%j finds the chips with every word", (query, expected) => {
    expect(foundIds(query)).toEqual(expected);
  });

  test("names that start with the query come before names that contain it, and both before vendor and year", () => {
    expect(foundIds("b2")).toEqual(["b200", "gb200"]);
    expect(foundIds("2025")).toEqual(["gb200", "tpu-7x"]);
    expect(foundIds("2025", "Google")).toEqual(["tpu-7x", "gb200"]);
  });

  test("letters in order find a name, if there are at least three", () => {
    expect(foundIds("hsx")).toEqual(["h100-sxm"]);
    expect(foundIds("hx")).toEqual([]);
  });

  test("the letters that match are marked, and brackets are details", () => {
    const [first] = found(chips, "b2");
    expect(first).toMatchObject({ name: "B200", detail: "HGX, 180GB", letters: [0, 1] });
    const [spaced] = found(chips, "h100sx");
    expect(spaced?.letters).toEqual([0, 1, 2, 3, 5, 6]);
  });
});

describe("the list of the palette", () => {
  const words = {
    best: "Best matches",
    inUse: "In use",
    otherVendor: "Other",
    likely: (vendor: string) => `Likely: ${vendor}`,
    also: (vendor: string) => `Also from ${vendor}`,
  };
  const gpu = (id: string, family: string, generation: number, peak: number | undefined, year: number) =>
    chip(id, {
      ...{ vendor: "NVIDIA", kind: "gpu", family, generation, year },
      peaks: new Map(peak === undefined ? [["fp16", 1]] : [["bf16", peak]]),
    });
  const chips = [
    gpu("v100", "Volta", 30, undefined, 2017),
    gpu("a30", "Ampere", 52, 165e12, 2021),
    gpu("a100", "Ampere", 55, 312e12, 2020),
    gpu("h100", "Hopper", 70, 989e12, 2022),
    gpu("h200", "Hopper", 73, 989e12, 2024),
    chip("grace", { vendor: "NVIDIA", kind: "cpu", family: "Grace", generation: 75, peaks: new Map([["bf16", 1]]) }),
    chip("mi300x", { name: "AMD MI300X", vendor: "AMD", family: "CDNA 3", year: 2023 }),
  ];
  const listed = (query: string, used: readonly string[], near: string) =>
    sectionsOf(chips, query, { used, near, words }).map(({ title, matches, vendor }) => [
      title,
      matches.map((match) => match.chip.id),
      vendor,
    ]);

  test("has the chips in use first, then the newest of the same vendor, then the other vendors", () => {
    expect(listed("", ["h100"], "NVIDIA")).toEqual([
      ["In use", ["h100"], undefined],
      ["Likely: NVIDIA", ["h200", "a30", "a100", "v100", "grace"], "NVIDIA"],
      ["AMD", ["mi300x"], "AMD"],
    ]);
  });

  test("adds others of the vendor to fewer than four matches", () => {
    expect(listed("h2", [], "NVIDIA")).toEqual([
      ["Best matches", ["h200"], undefined],
      ["Also from NVIDIA", ["h100", "a30", "a100", "v100", "grace"], undefined],
    ]);
    expect(listed("mi3", [], "NVIDIA")).toEqual([["Best matches", ["mi300x"], undefined]]);
    expect(listed("zzz", [], "NVIDIA")).toEqual([]);
  });

  test("offers all generations of a vendor that is the query", () => {
    expect(listed("nvidia", [], "AMD")[0]?.[2]).toBe("NVIDIA");
  });

  test("has for a vendor the fastest chip of each generation that has a peak, without another kind of chip", () => {
    const bf16 = (one: Chip) => one.peaks.get("bf16");
    expect(ids(generationsOf(chips, "NVIDIA", bf16))).toEqual(["a100", "h100"]);
    expect(ids(generationsOf(chips, "AMD", () => 1))).toEqual(["mi300x"]);
  });
});

describe("the memory menu", () => {
  const values = (chips: readonly Chip[], chosen = "main") => memoriesOf(chips, chosen).map(([value]) => value);

  test("offers all levels where some chip knows the bandwidth of two", () => {
    const deep = makeChip({ memories: { HBM: 1e12, L2: 5e12, L1: null } });
    expect(values([deep, makeChip({ id: "flat" })])).toEqual(["main", "all", "L2"]);
  });

  test("offers no levels where the others are unknown", () => {
    expect(values([makeChip({ memories: { HBM: 1e12, L2: null } })])).toEqual(["main"]);
  });

  test("keeps the choice that is in force on the list", () => {
    expect(values([makeChip()], "all")).toEqual(["main", "all"]);
    expect(values([makeChip()], "HBM")).toEqual(["main", "HBM"]);
  });
});
