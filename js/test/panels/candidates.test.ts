// The chips that are offered to project a profile onto.

import { expect, test } from "vitest";
import { candidatesFor } from "../../src/panels/profile/candidates.ts";
import type { Chip } from "../../src/wire/types.ts";
import { makeChip } from "../helpers.ts";

const chip = (id: string, vendor: string, year: number | null, peak: number, kind = "gpu"): Chip => ({
  ...makeChip({ id, vendor, peaks: { bf16: peak }, memories: { HBM: 1e12 } }),
  year,
  kind,
});
const RAN = chip("h100", "NVIDIA", 2022, 1e15);
const CATALOGUE = [
  chip("a100", "NVIDIA", 2020, 3e14),
  RAN,
  chip("h100-slow", "NVIDIA", 2023, 7e14),
  chip("h200", "NVIDIA", 2024, 1.1e15),
  chip("b200", "NVIDIA", 2025, 2.2e15),
  chip("mi300x", "AMD", 2023, 1.3e15),
  chip("mi355x", "AMD", 2025, 2.5e15),
  chip("gaudi", "Intel", 2024, 1.8e15),
  chip("cpu", "Intel", 2025, 2e15, "cpu"),
  chip("unreleased", "AMD", null, 9e15),
];
const ids = (chips: readonly Chip[]) => chips.map(({ id }) => id);

test("the next and the newest chip of the vendor are offered, and the fastest new one of another", () => {
  expect(ids(candidatesFor(RAN, "bf16", CATALOGUE))).toEqual(["h200", "b200", "mi355x"]);
});

test("the newest chip is offered others of other vendors only", () => {
  expect(ids(candidatesFor(CATALOGUE[4] as Chip, "bf16", CATALOGUE))).toEqual(["mi355x"]);
});

test("no chip without a peak for the precision is offered", () => {
  expect(candidatesFor(RAN, "fp4", CATALOGUE)).toEqual([]);
});

test("a chip that only a profile knows is offered what is faster, but no CPU", () => {
  const unknown = chip("measured", "NVIDIA", null, 1.2e15, "");
  expect(ids(candidatesFor(unknown, "bf16", CATALOGUE))).toEqual(["b200", "mi355x", "gaudi"]);
});
