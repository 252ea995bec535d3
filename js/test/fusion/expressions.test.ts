// Counts over symbols: their values, and how they are printed.

import { describe, expect, it } from "vitest";
import golden from "../../../tests/golden/formulas.json";
import touched from "../../../tests/golden/touched.json";
import { compile, formula, withNumbers } from "../../src/fusion/expressions.ts";
import type { WireExpression } from "../../src/wire/types.ts";

const ENV: Record<string, number> = { M: 4096, N: 4096, K: 512, n: 7, "@fma": 2, "@bf16": 16, "@fp4": 4, "@causal": 1 };
const index = new Map(Object.keys(ENV).map((name, at) => [name, at]));
const lookup = (symbol: string) => ENV[symbol];
const value = (wire: WireExpression) => compile(wire, index)(Float64Array.from(Object.values(ENV)));

describe("the value of a count", () => {
  it.each<[WireExpression, number]>([
    [5, 5],
    ["9007199254740992", 2 ** 53],
    ["n", 7],
    [["+", "n", 3, ["*", -1, "K"]], -502],
    [["*", "@fma", "M", "N", "K"], 17_179_869_184],
    [["/", "n", 2], 4],
    [["/", ["*", 2, "n"], 2], 7],
    [["/", ["*", -1, "n"], 2], -3],
    [["/", ["*", "n", 3, "@fp4"], 8], 11],
    [["min", "M", "K", "n"], 7],
    [["max", 3, ["min", "n", 5]], 5],
  ])("of %j is %d", (wire, wanted) => {
    expect(value(wire)).toBe(wanted);
  });
  it("is rounded up by the smallest rest of the largest numbers", () => {
    for (const divisor of [3, 1000, 94906265, 134217727]) {
      const whole = Math.floor((2 ** 53 - 1) / divisor);
      expect(value(["/", whole * divisor, divisor])).toBe(whole);
      expect(value(["/", (whole - 1) * divisor + 1, divisor])).toBe(whole);
    }
  });
  it("is read from the environment each time", () => {
    const count = compile(["*", 2, "n"], new Map([["n", 0]]));
    expect([count(Float64Array.of(3)), count(Float64Array.of(4))]).toEqual([6, 8]);
  });
  it("of an unknown symbol is an error that names it", () => {
    expect(() => value(["*", 2, "seq"])).toThrow("no value for 'seq'");
  });
});

describe("the mean number of items that draws touch", () => {
  it("is the nearest whole number, as in Python", () => {
    for (const [factor, total, picked, times, wanted] of touched.cases as number[][]) {
      const wire = ["touched", factor, total, picked, "T"] as WireExpression;
      expect(compile(wire, new Map([["T", 0]]))(Float64Array.of(times as number))).toBe(wanted);
    }
    expect(value(["touched", 4096, 8, 2, 10 ** 15])).toBe(8 * 4096);
  });
  it("is printed as in Python", () => {
    for (const { wire, text, env, value: wanted, in_numbers } of touched.formulas) {
      const sizes: Record<string, number | undefined> = env;
      const names = Object.keys(env);
      const count = compile(wire as unknown as WireExpression, new Map(names.map((name, at) => [name, at])));
      expect(count(Float64Array.from(names, (name) => sizes[name] as number))).toBe(wanted);
      expect(formula(wire as unknown as WireExpression)).toBe(text);
      expect(withNumbers(wire as unknown as WireExpression, (name) => sizes[name])).toBe(in_numbers);
    }
  });
});

describe("a formula", () => {
  it.each(golden.cases)("of $wire is $text", ({ wire, text }) => {
    const values: Record<string, number> = golden.values;
    expect(formula(wire as unknown as WireExpression, (symbol) => values[symbol])).toBe(text);
  });
  it.each<[WireExpression, string, string]>([
    [["*", "@fma", "M", "N", "K"], "2·M·N·K", "2·4096·4096·512"],
    [["/", ["*", "M", "N", "@bf16"], 8], "2·M·N", "2·4096·4096"],
    [["/", ["*", "M", "n", "@fp4"], 8], "⌈M·n / 2⌉", "⌈4096·7 / 2⌉"],
    [["/", ["+", "M", 1], ["+", "n", 1]], "⌈(M + 1) / (n + 1)⌉", "⌈(4096 + 1) / (7 + 1)⌉"],
    [["/", "M", ["*", 2, "n"]], "⌈M / (2·n)⌉", "⌈4096 / (2·7)⌉"],
    [["/", "M", ["*", "n", "n"]], "⌈M / n²⌉", "⌈4096 / 7²⌉"],
    [["/", 9, "n"], "⌈9 / n⌉", "⌈9 / 7⌉"],
    [["/", ["*", "M", "N"], "n"], "⌈M·N / n⌉", "⌈4096·4096 / 7⌉"],
    [["/", ["+", ["*", 8, "M"], "n", 16], 8], "M + ⌈n / 8⌉ + 2", "4096 + ⌈7 / 8⌉ + 2"],
    [["+", ["*", 5, "N", "N"], ["*", -1, "N"], "@fma", 1], "5·N² - N + 3", "5·4096² - 4096 + 3"],
    [["+", ["*", -3, "n"], ["*", 3, "n"]], "0", "0"],
    [["*", ["+", "n", 1], ["+", "n", 1]], "n² + 2·n + 1", "7² + 2·7 + 1"],
    [["min", "n", 9, ["*", "@fma", 2]], "min(n, 4)", "min(7, 4)"],
    [["max", ["*", "@fma", 2], 9], "9", "9"],
    [["*", 2, ["max", "n", 1], ["max", "n", 1]], "2·max(n, 1)²", "2·max(7, 1)²"],
    [["*", "9007199254740993", "n"], "9007199254740993·n", "9007199254740993·7"],
    [["/", 7, 2], "4", "4"],
    [["/", -7, 2], "-3", "-3"],
    [["+", ["*", -1, "n"], 1], "-n + 1", "-7 + 1"],
  ])("of %j is %s, and %s in numbers", (wire, wanted, inNumbers) => {
    expect(formula(wire, lookup)).toBe(wanted);
    expect(withNumbers(wire, lookup)).toBe(inNumbers);
  });
  it.each<[WireExpression, string]>([
    // Like terms merge, and only these.
    [["+", "ab", ["*", "a", "b"]], "ab + a·b"],
    [["+", ["*", "a", "b"], ["*", "b", "a"]], "2·a·b"],
    [["+", ["min", "a", "b"], ["min", "b", "a"]], "2·min(a, b)"],
    [["+", ["min", "a", "b"], ["max", "a", "b"]], "min(a, b) + max(a, b)"],
    [["+", ["/", ["+", "a", 1], 2], ["/", ["+", 1, "a"], 2]], "2·⌈(a + 1) / 2⌉"],
    [["+", ["/", "a", "b"], ["/", "b", "a"]], "⌈a / b⌉ + ⌈b / a⌉"],
    [["+", "a", "b", ["*", -1, "a"], "a"], "b + a"],
    [["*", ["+", "n", 1], ["+", "n", -1]], "n² - 1"],
    // A constant comes last, and signs are those of terms.
    [["+", 5, "a"], "a + 5"],
    [["+", "9007199254740993", 1], "9007199254740994"],
    [["+", ["*", -2, "a"], ["*", -1, "b"], -3], "-2·a - b - 3"],
    [["*", ...Array<string>(12).fill("a")], "a¹²"],
    // The parts of a minimum or maximum.
    [["min", ["+", "a", "b"], ["*", "a1", "b"]], "min(a + b, a1·b)"],
    [["max", ["+", "a", "b"], ["+", "b", "a"], "c"], "max(a + b, c)"],
    [["min", "a", ["min", "b", "c"]], "min(a, b, c)"],
    [["min", "a", ["max", "b", "c"]], "min(a, max(b, c))"],
    [["min", "a", ["*", 2, ["min", "b", "c"]]], "min(a, 2·min(b, c))"],
    [["min", "a", ["+", 1, ["min", "b", "c"]]], "min(a, min(b, c) + 1)"],
    [["min", "a", ["*", "d", ["min", "b", "c"]]], "min(a, d·min(b, c))"],
    [["min", "a", ["*", ["min", "b", "c"], "d"]], "min(a, min(b, c)·d)"],
    [["min", "a", ["+", ["min", "b", "c"], "d"]], "min(a, min(b, c) + d)"],
    [["+", ["min", "a", "b", "c"], ["min", ["*", "a1", "b"], "c"]], "min(a, b, c) + min(a1·b, c)"],
    [["min", "a", "a"], "a"],
    [["min", 0, 5], "0"],
    [["max", 0, 5], "5"],
    [["min", 0, "n"], "min(0, n)"],
    [["min", 3, 5], "3"],
    [["max", -3, -5], "-3"],
    [["max", 3, "n", 7, 5], "max(n, 7)"],
    // Quotients are rounded up, and cancel what divides all terms.
    [["/", 0, "n"], "0"],
    [["/", ["+", "a", "b"], ["+", "b", "a"]], "⌈(a + b) / (b + a)⌉"],
    [["/", ["*", "a", "b"], ["+", "a", "b"]], "⌈a·b / (a + b)⌉"],
    [["/", ["*", 6, "a", "b"], ["*", 3, "b"]], "2·a"],
    [["/", ["*", 6, "a", "b"], ["*", 4, "b"]], "⌈6·a·b / (4·b)⌉"],
    [["/", ["*", 6, "a", "b"], ["*", 3, "b", "b"]], "⌈6·a·b / (3·b²)⌉"],
    [["/", ["+", ["*", "a", "b"], "c"], "b"], "⌈(a·b + c) / b⌉"],
    [["/", "a", ["*", "b", "c"]], "⌈a / (b·c)⌉"],
    [["/", ["+", ["*", 3, "a"], ["*", 6, "b"]], 9], "⌈(a + 2·b) / 3⌉"],
    [["/", ["*", -3, "a"], 6], "⌈-a / 2⌉"],
    [["/", ["+", ["*", 4, "a"], 3], 2], "2·a + 2"],
    [["/", ["+", ["*", 4, "a"], -3], 2], "2·a - 1"],
    // Items that draws touch: 8 (1 - 27/64) = 4.625.
    [["touched", 1, 8, 2, 3], "5"],
    [["touched", ["*", 2, "a"], ["*", 2, "n"], "p", ["+", "t", 1]], "⌊2·a·(2·n)·(1 - (1 - p/(2·n))^(t + 1))⌉"],
    [["touched", "a", "n", 0, "t"], "⌊a·n·(1 - (1 - 0/n)^t)⌉"],
    [
      ["+", ["touched", "a", "b", "c", "d"], ["touched", ["*", "a1", "b"], "c", "d", 0]],
      "⌊a·b·(1 - (1 - c/b)^d)⌉ + ⌊a1·b·c·(1 - (1 - d/c)^0)⌉",
    ],
    [["touched", ["+", "a", 1], ["*", "n", "n"], 3, "t"], "⌊(a + 1)·(n²)·(1 - (1 - 3/(n²))^t)⌉"],
    [
      ["+", ["touched", 1, "n", 2, "t"], ["touched", 1, "n", 2, "u"], ["touched", 1, "n", 2, "t"]],
      "2·⌊1·n·(1 - (1 - 2/n)^t)⌉ + ⌊1·n·(1 - (1 - 2/n)^u)⌉",
    ],
  ])("of %j is %s", (wire, wanted) => {
    expect(formula(wire)).toBe(wanted);
  });
  it("keeps the words of the convention where no values are given", () => {
    expect(formula(["*", "@fma", "M"])).toBe("@fma·M");
  });
});
