import { describe, expect, test } from "vitest";
import { memoriesOf } from "../../src/panels/chips/chips.tsx";
import { found, grouped, MAX_PILLS, pillsOf } from "../../src/panels/chips/picking.ts";
import type { Chip } from "../../src/wire/types.ts";
import { makeChip } from "../helpers.ts";

const chip = (id: string, more: Partial<Chip> = {}): Chip => ({ ...makeChip({ id }), ...more });
const many = Array.from({ length: 20 }, (_, index) => chip(`c${index}`));
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
    chip("b200", { name: "NVIDIA B200", vendor: "NVIDIA", family: "Blackwell", year: 2024 }),
    chip("tpu-7x", { name: "TPU7x Ironwood", vendor: "Google", family: "TPU", aliases: ["TPU v7x", "v7x"] }),
    chip("mi300x", { name: "AMD Instinct MI300X", vendor: "AMD", family: "CDNA 3", year: 2023 }),
    chip("mine"),
  ];

  test.each([
    ["", ["h100-sxm", "b200", "tpu-7x", "mi300x", "mine"]],
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
    ["(", []],
  ])("%j finds the chips in which every word stands", (query, expected) => {
    expect(ids(found(chips, query))).toEqual(expected);
  });
});

test("chips stand by vendor as they first appear, families and chips from the oldest generation on", () => {
  const chips = [
    chip("b200", { vendor: "NVIDIA", family: "Blackwell", generation: 80 }),
    chip("mine"),
    chip("rtx", { vendor: "NVIDIA", family: "Ampere", generation: 58 }),
    chip("a100", { vendor: "NVIDIA", family: "Ampere", generation: 55 }),
  ];
  const told = grouped(chips, "Other").map(({ name, families }) => [
    name,
    families.map((family) => [family.name, ids(family.chips)]),
  ]);
  expect(told).toEqual([
    [
      "NVIDIA",
      [
        ["Ampere", ["a100", "rtx"]],
        ["Blackwell", ["b200"]],
      ],
    ],
    ["Other", [["", ["mine"]]]],
  ]);
});

describe("the memory select", () => {
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
