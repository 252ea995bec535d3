import { describe, expect, test } from "vitest";
import { type Dim, environment } from "../../src/fusion/graph.ts";
import {
  derivation,
  figuresOf,
  isLog,
  keyed,
  parseSize,
  positionOf,
  shareOf,
  valueAt,
} from "../../src/panels/workload/dims.ts";
import { LIST_KEYS } from "../../src/ui/keys.ts";
import type { WireOp } from "../../src/wire/types.ts";
import { decodeGraph, drawn, valuesOf } from "../graphs.ts";
import { several } from "../helpers.ts";

const dim = (low: number, high: number, initial = low): Dim => ({ name: "batch", low, high, default: initial });
const BATCH = dim(1, 1024, 48);
const HEADS = dim(8, 64, 40);

const through = (one: Dim) => several(one.high - one.low + 1, (at) => one.low + at);

describe("the track of a dimension", () => {
  test("is logarithmic only where the range is wider than 32", () => {
    expect([dim(1, 32), dim(1, 33), dim(128, 4096), dim(128, 4097)].map(isLog)).toEqual([false, true, false, true]);
  });

  test("a power of two stands at its octave, and on a linear track a value stands at itself", () => {
    expect(shareOf(BATCH, 32)).toBe(0.5);
    expect(shareOf(HEADS, 36)).toBe(0.5);
    expect(shareOf(dim(7, 7), 7)).toBe(0);
  });

  test("a value outside the range stands at its end", () => {
    expect(positionOf(BATCH, 4096)).toBe(10);
    expect(positionOf(HEADS, 1)).toBe(8);
  });

  test.each([BATCH, HEADS, dim(3, 1000, 7), dim(5, 5)])("every whole number of %j comes back from its place", (one) => {
    for (const value of through(one)) expect(valueAt(one, positionOf(one, value), false)).toBe(value);
  });

  test("both ends are reached, although a power of two is near", () => {
    const one = dim(1, 1000, 32);
    expect(valueAt(one, positionOf(one, 1000), true)).toBe(1000);
    expect(valueAt(dim(15, 1030), Math.log2(15), true)).toBe(15);
    expect(valueAt(dim(15, 1030), Math.log2(1030), true)).toBe(1030);
  });

  test("a dragged value takes a power of two or the default that is near, and no other", () => {
    expect(valueAt(BATCH, Math.log2(510), true)).toBe(512);
    expect(valueAt(BATCH, Math.log2(510), false)).toBe(510);
    expect(valueAt(BATCH, Math.log2(460), true)).toBe(460);
    expect(valueAt(BATCH, Math.log2(49.5), true)).toBe(48);
    expect(valueAt(dim(100, 3100, 1000), 1020, true)).toBe(1000);
    expect(valueAt(dim(100, 3100, 1000), 1020, false)).toBe(1020);
    expect(valueAt(dim(100, 3100, 1000), 2040, true)).toBe(2040);
  });

  test("it takes no power of two outside the range", () => {
    expect(valueAt(dim(17, 1000), Math.log2(17.01), true)).toBe(17);
    expect(valueAt(dim(17, 1000), Math.log2(999.4), true)).toBe(999);
  });

  test("on the longest track a power of two takes no more than a tenth of an octave", () => {
    const one = dim(1, 2 ** 40);
    expect(valueAt(one, 20.09, true)).toBe(2 ** 20);
    expect(valueAt(one, 20.11, true)).toBe(Math.round(2 ** 20.11));
  });
});

describe("keys on a slider", () => {
  const walk = (one: Dim, from: number, key: string) => {
    const met = [from];
    for (let at = 0; at < 3000; at++) {
      const next = keyed(one, met.at(-1) as number, key) as number;
      if (next === met.at(-1)) return met;
      met.push(next);
    }
    throw new Error(`${key} never reaches an end`);
  };

  test.each([
    ["ArrowRight", 32, 33],
    ["ArrowLeft", 32, 31],
    ["ArrowUp", 512, 528],
    ["ArrowDown", 512, 504],
    ["ArrowUp", 510, 512],
    ["PageUp", 33, 64],
    ["PageDown", 33, 32],
    ["PageUp", 64, 128],
    ["PageDown", 64, 32],
    ["PageUp", 1024, 1024],
    ["ArrowLeft", 1, 1],
    ["Home", 48, 1],
    ["End", 48, 1024],
  ])("%s leads from %d to %d on a log track", (key, from, to) => {
    expect(keyed(BATCH, from, key)).toBe(to);
  });

  test("on a linear track an arrow is one, and a page about an eighth", () => {
    expect(keyed(HEADS, 40, "ArrowRight")).toBe(41);
    expect(keyed(HEADS, 40, "PageUp")).toBe(44);
    expect(keyed(dim(1000, 20_000), 1000, "ArrowRight")).toBe(1024);
    expect(keyed(dim(1000, 20_000), 1024, "ArrowLeft")).toBe(1000);
  });

  test.each([BATCH, HEADS, dim(1, 2 ** 20), dim(1000, 20_000)])(
    "walking up and down %j meets the same values",
    (one) => {
      for (const [up, down] of [
        ["ArrowUp", "ArrowDown"],
        ["PageUp", "PageDown"],
      ] as const) {
        const risen = walk(one, one.low, up);
        expect(risen.at(-1)).toBe(one.high);
        // The high end itself need be no multiple of a step.
        const fallen = walk(one, risen.at(-1) as number, down);
        expect(fallen.reverse()).toEqual(risen);
      }
    },
  );

  test("other keys mean nothing", () => {
    expect(keyed(BATCH, 48, "a")).toBeUndefined();
  });
});

describe("sizes that are typed", () => {
  test.each([
    ["64", 64],
    [" 1,024 ", 1024],
    ["1 000", 1000],
    ["1_000", 1000],
    ["1k", 1000],
    ["1Ki", 1024],
    [".5Ki", 512],
    ["1.005k", 1005],
    ["×2", 96],
    ["x 1.51", 72],
    ["*0.5", 24],
  ])("%j", (text, size) => {
    const one = dim(1, 1024, 48);
    expect(parseSize(text, text === "1.005k" ? dim(1, 2000) : one, 48)).toBe(size);
  });

  test.each([
    ["many", "no number in “many”"],
    ["", "no number in “”"],
    ["-3", "no number in “-3”"],
    ["5i", "no number in “5i”"],
    ["1,5", "no number in “1,5”"],
    ["12 apples", "no number in “12 apples”"],
    ["1.5", "“1.5” is not a whole number"],
    ["0", "batch must be from 1 to 1024"],
    ["2Ki", "batch must be from 1 to 1024"],
    ["×100", "batch must be from 1 to 1024"],
  ])("%j is refused with a sentence", (text, sentence) => {
    expect(parseSize(text, BATCH, 48)).toContain(sentence);
  });
});

/** A linear layer with GELU in one op, M·K times K·N. */
const LINEAR = decodeGraph({
  name: "linear",
  dims: [
    ["K", 1, 65_536, 4096],
    ["M", 1, 65_536, 512],
    ["N", 1, 65_536, 4096],
  ],
  convention: "textbook",
  ops: [
    {
      name: "linear",
      kind: "matmul",
      inputs: [0, 1],
      outputs: [2],
      flops: { tensor: ["*", "@fma", "M", "N", "K"], vector: ["*", 8, "M", "N"] },
      extra: ["*", "@accumulator", "M", "N"],
      terms: [
        ["multiply and add", ["*", "@fma", "M", "N", "K"]],
        ["gelu", ["*", 8, "M", "N"]],
      ],
    },
    { name: "view", kind: "injective", inputs: [], outputs: [], flops: {}, extra: 0, terms: [] },
  ],
  tensors: [
    { name: "x", shape: ["M", "K"], dtype: "bf16", bytes: ["/", ["*", "@bf16", "M", "K"], 8] },
    { name: "w", shape: ["K", "N"], dtype: "bf16", bytes: ["/", ["*", "@bf16", "K", "N"], 8] },
    { name: "y", shape: ["M", "N"], dtype: "bf16", bytes: ["/", ["*", "@bf16", "M", "N"], 8] },
  ],
  outputs: [2],
  dtypes: { bf16: 16, fp8: 8, bool: 8 },
  conventions: { textbook: { "@fma": 2, "@accumulator": 0 }, mac: { "@fma": 1, "@accumulator": 4 } },
});

describe("the derivation of an op", () => {
  test("has its formulas with names, with their numbers, and their amounts", () => {
    expect(derivation(LINEAR, environment(LINEAR), 0)).toEqual({
      counts: [
        { name: "FLOPs, tensor", formula: "2·M·N·K", numbers: "2·512·4096·4096", amount: "17.2 GFLOP" },
        { name: "FLOPs, vector", formula: "8·M·N", numbers: "8·512·4096", amount: "16.8 MFLOP" },
        {
          name: "Bytes",
          formula: "2·M·K + 2·K·N + 2·M·N",
          numbers: "2·512·4096 + 2·4096·4096 + 2·512·4096",
          amount: "41.9 MB",
        },
      ],
      terms: [
        { name: "multiply and add", formula: "2·M·N·K", numbers: "2·512·4096·4096", amount: "17.2 GFLOP" },
        { name: "gelu", formula: "8·M·N", numbers: "8·512·4096", amount: "16.8 MFLOP" },
      ],
    });
  });

  test("follows dimensions, convention and dtype", () => {
    const env = environment(LINEAR, { dims: { M: 1 }, convention: "mac", dtype: "fp8" });
    const { counts } = derivation(LINEAR, env, 0);
    expect(counts.map(({ numbers }) => numbers)).toEqual(["1·4096·4096", "8·1·4096", "1·4096 + 4096·4096 + 5·1·4096"]);
    expect(counts[0]?.amount).toBe("16.8 MFLOP");
  });

  test("names a single term where its count stands, instead of saying it twice", () => {
    const [op] = LINEAR.ops;
    const flops = { tensor: ["*", "@fma", "M", "N", "K"] as const };
    const terms = [["multiply and add", flops.tensor]] as const;
    const graph = { ...LINEAR, ops: [{ ...(op as WireOp), flops, terms }] };
    const found = derivation(graph, environment(graph), 0);
    expect(found.counts.map(({ name }) => name)).toEqual(["FLOPs, multiply and add", "Bytes"]);
    expect(found.terms).toEqual([]);
  });

  test("says a number once", () => {
    const { counts } = derivation(LINEAR, environment(LINEAR), 1);
    expect(counts).toEqual([{ name: "Bytes", formula: "0", numbers: "", amount: "0 B" }]);
  });

  test("every op of a graph drawn at random has one that can be written", () => {
    for (const graph of drawn)
      for (let op = 0; op < graph.ops.length; op++) {
        const { counts, terms } = derivation(graph, environment(graph), op);
        for (const { formula, amount } of [...counts, ...terms]) {
          expect(formula).not.toMatch(/@|undefined|NaN/);
          expect(amount).toMatch(/^[\d.]+ \w+$/);
        }
      }
  });
});

describe("the row of an op", () => {
  const values = valuesOf(LINEAR);

  test("has its FLOPs of all classes, its bytes and their ratio", () => {
    expect(figuresOf(LINEAR, values, 0)).toEqual(["17.2 GFLOP · 41.9 MB", "410 FLOP/B"]);
  });

  test("has them as the convention counts them, not as kernels are held against peaks", () => {
    const flops = { tensor: ["*", "@fma", 1000] };
    const [op] = LINEAR.ops;
    const wire = { name: "", dims: [], tensors: [{ name: "x", shape: [10], dtype: "bf16", bytes: 20 }], outputs: [] };
    const mac = decodeGraph({
      ...wire,
      ops: [{ ...op, inputs: [0], outputs: [], flops, extra: 0 }],
      dtypes: { bf16: 16 },
      convention: "mac",
      conventions: { mac: { "@fma": 1 } },
    });
    const counted = valuesOf(mac);
    expect(figuresOf(mac, counted, 0)).toEqual(["1 kFLOP · 20 B", "50 FLOP/B"]);
    expect(counted.flops[0]?.[0]).toBe(2000);
  });

  test("has no ratio where nothing is moved or computed", () => {
    expect(figuresOf(LINEAR, values, 1)).toEqual(["0 FLOP · 0 B", ""]);
  });
});

test("keys walk along a list, stop at its ends, and leave it", () => {
  const walk = (key: string, from: number | null) => LIST_KEYS[key]?.(from, 10, 6);
  expect([walk("ArrowDown", null), walk("ArrowUp", null), walk("ArrowDown", 3), walk("ArrowUp", 0)]).toEqual([
    0, 0, 4, 0,
  ]);
  expect([walk("PageDown", 2), walk("PageDown", 8), walk("PageUp", 8), walk("Home", 8), walk("End", 0)]).toEqual([
    8, 9, 2, 0, 9,
  ]);
  expect([walk("Escape", 4), walk("Escape", null), walk("Enter", 4)]).toEqual([null, undefined, undefined]);
});
