// Short names of kernels: each for one kernel, with whole numbers. Short names of chips.

import { describe, expect, it } from "vitest";
import { shortNames } from "../../src/text/names.ts";
import { distinctNames, shortenName } from "../../src/text/short_names.ts";
import { makeChip, seeded, several } from "../helpers.ts";

const rows = (names: readonly string[]) => names.map((_, row) => row);
const NUMBERS = /\d+(?:[.,]\d+)*/g;

describe("the short name of a chip", () => {
  const named = (...chips: readonly (readonly [id: string, name: string])[]) => [
    ...shortNames(chips.map(([id, name]) => makeChip({ id, name: `NVIDIA ${name}`, vendor: "NVIDIA" }))).values(),
  ];
  it("has no vendor, no last part in brackets and no size of the memory", () => {
    expect(named(["h100-sxm", "H100 SXM5 80GB"], ["h100-nvl", "H100 NVL 94GB (one card)"])).toEqual([
      "H100 SXM5",
      "H100 NVL",
    ]);
  });
  it("keeps the size by which the id tells the chip from another", () => {
    expect(named(["a100-sxm-80gb", "A100 SXM4 80GB"], ["rtx-5060-ti-8gb", "RTX 5060 Ti 8GB"])).toEqual([
      "A100 SXM4 80GB",
      "RTX 5060 Ti 8GB",
    ]);
    expect(named(["one", "X1 8GB"], ["two", "X1 16GB"])).toEqual(["X1 8GB", "X1 16GB"]);
  });
});

describe("a short name", () => {
  it("keeps both ends, and its numbers whole", () => {
    expect(shortenName("add of 100,000,000 elements", 24)).toBe("add of … elements");
    expect(shortenName("add of 100,000 elements", 24)).toBe("add of 100,000 elements");
    expect(shortenName("ampere_sgemm_128x64_tn_splitK", 24)).toBe("ampere_sgemm_…_tn_splitK");
    expect(shortenName("norm", 24)).toBe("norm");
    expect(shortenName("fusion.attention_scores", 12)).toBe("fusion…cores");
  });
  it("differs from every other: by what differs in their names, or by their rows", () => {
    const names = ["add of 100,000 whole elements", "add of 100,000,000 whole elements", "gemm", "gemm", "norm"];
    expect(distinctNames(names, rows(names), 24)).toEqual([
      "add of 100,000 … elements",
      "add of 100,000,000 …ents",
      "gemm #3",
      "gemm #4",
      "norm",
    ]);
  });
  it("of random kernels is read as no other's", () => {
    const next = seeded(7);
    const pick = <T>(all: readonly T[]) => all[Math.floor(next() * all.length)] as T;
    const words = [
      "void",
      "cutlass",
      "gemm",
      "elementwise_kernel",
      "at::native",
      "fwd",
      "fusion.",
      "bf16",
      "<float>",
      "add",
      "of",
    ];
    const sizes = ["100,000", "100,000,000", "64", "128x64", "4096", "1.5", "100"];
    for (let round = 0; round < 300; round++) {
      const names = several(30, () =>
        several(1 + Math.floor(6 * next()), () => pick(next() < 0.4 ? sizes : words)).join(pick([" ", "_"])),
      );
      for (const most of [12, 24]) {
        const short = distinctNames(names, rows(names), most);
        expect(short.filter((text) => /…\s*…|\.…|…\./.test(text))).toEqual([]);
        expect(new Set(short).size, short.join("\n")).toBe(names.length);
        for (const [at, text] of short.entries()) {
          if (!/ #\d+$/.test(text)) expect(text.length).toBeLessThanOrEqual(most + 2);
          const whole = (names[at] as string).match(NUMBERS) ?? [];
          for (const number of text.replace(/ #\d+$/, "").match(NUMBERS) ?? []) expect(whole, text).toContain(number);
        }
      }
    }
  });
});
