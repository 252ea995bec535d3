// Numbers to text and back, on the golden file that the Python is held to as well.

import { describe, expect, it } from "vitest";
import limits from "../../../tests/golden/figure_limits.json";
import golden from "../../../tests/golden/units.json";
import {
  formatBinary,
  formatCapacity,
  formatChange,
  formatFactor,
  formatIntensity,
  formatPercent,
  formatQuantity,
  formatRatio,
  formatSignificant,
  formatSpeedUp,
  formatTenths,
  formatTick,
  MAX_RATE,
  MIN_RATE,
  parseAmount,
  parseRate,
  roundUp,
  type Unit,
} from "../../src/text/numbers.ts";
import { strings } from "../../src/words/words.ts";

const double = (value: number | string) =>
  typeof value === "number" ? value : { nan: Number.NaN, inf: Infinity, "-inf": -Infinity }[value as "nan"];
const RATES = ["FLOP/s", "B/s"] as const;
const SAYS: Record<string, RegExp> = {
  number: /^no number in/,
  unit: /is not a unit of/,
  size: /^hardware has a rate from 0.001 /,
};

describe("numbers to text", () => {
  it("rounds up what is at least needed, and leaves what has as few digits", () => {
    expect([3517.2, 3.518e12, 1.0502, 0.0999].map((value) => roundUp(value, 4))).toEqual([
      3518, 3.518e12, 1.051, 0.0999,
    ]);
  });

  it("rounds exactly, ties to even, to significant digits", () => {
    for (const { value, digits, text } of golden.significant) {
      expect(formatSignificant(double(value), digits), `${value} at ${digits} digits`).toBe(text);
    }
  });
  it("writes a quantity with the prefix and digits of exact rounding", () => {
    for (const { value, unit, digits, text } of golden.quantity) {
      expect(formatQuantity(double(value), unit as Unit, digits), `${value} ${unit} at ${digits} digits`).toBe(text);
    }
  });
  it("writes an intensity plainly up to 9,999 and with a prefix above", () => {
    for (const { value, digits, text } of golden.intensity) {
      expect(formatIntensity(double(value), digits), `${value} at ${digits} digits`).toBe(text);
    }
  });
  it.each([
    [1.09e-3, 1.0799e-3, "1.09 ms", "1.08 ms", "1.01"],
    [1.0851e-3, 1.0849e-3, "1.08 ms", "1.08 ms", "1"],
    [1.094e-3, 1.086e-3, "1.094 ms", "1.086 ms", "1.01"],
    [2e-3, 1e-3, "2 ms", "1 ms", "2"],
    [1e-3, 1e-3, "1 ms", "1 ms", "1"],
    [1e-3, 1.000_000_01e-3, "1 ms", "1 ms", "1"],
  ])("writes the times %d and %d and the factor between them so that they agree", (before, now, one, other, factor) => {
    expect(formatSpeedUp(before, now)).toEqual({ before: one, now: other, factor });
  });
  it("writes a time that is unknown", () => {
    expect(formatSpeedUp(Number.NaN, 1)).toEqual({ before: "unknown", now: "1 s", factor: "unknown" });
    expect(formatSpeedUp(Number.NaN, Number.NaN)).toEqual({ before: "unknown", now: "unknown", factor: "unknown" });
  });
  it("writes energies with prefixes below one, too", () => {
    expect(formatQuantity(5e-13, "J/FLOP")).toBe("0.5 pJ/FLOP");
    expect(formatQuantity(3e-11, "J/B")).toBe("30 pJ/B");
    expect(formatQuantity(0.25, "B")).toBe("0.25 B");
  });
  it("writes powers of 1024 with binary prefixes from 10,000 up", () => {
    const values = [1, 8192, 9999, 10_000, 2 ** 14, 1.5 * 2 ** 40, 2 ** 80];
    expect(values.map(formatBinary)).toEqual(["1", "8192", "9999", "9.766Ki", "16Ki", "1.5Ti", "1049000Ei"]);
  });
  it("takes three digits when none are asked for", () => {
    expect(formatQuantity(123456, "B")).toBe("123 kB");
    expect(formatIntensity(1.2345)).toBe("1.23 FLOP/B");
    expect(formatSignificant(1.2345)).toBe("1.23");
  });
  it("writes shares whole from 10 % up and with two digits below, and 100 % only for 100 %", () => {
    for (const { share, text } of golden.percent) expect(formatPercent(double(share)), String(share)).toBe(text);
  });
  it("writes ratios whole from 10 up and with two digits below, ties to even", () => {
    for (const { value, text } of golden.ratio) expect(formatRatio(value), String(value)).toBe(text);
  });
  it("writes factors near to 1 with three digits", () => {
    for (const { value, text } of golden.factor) expect(formatFactor(value), String(value)).toBe(text);
    expect([0.4444, 0.8999, 0.9001, 1.0999, 1.1001].map(formatFactor)).toEqual(["0.44", "0.9", "0.9", "1.1", "1.1"]);
  });
  it("writes a change in percent, with its sign", () => {
    for (const { from, to, text } of golden.change) {
      expect(formatChange(double(from), double(to)), `${from} to ${to}`).toBe(text);
    }
  });
  it("writes a capacity in KiB, MiB and GiB, unless it is a whole number of megabytes", () => {
    for (const { value, text } of golden.capacity) expect(formatCapacity(value), String(value)).toBe(text);
  });
  it("writes one decimal, ties to even: 1.25 is 1.2", () => {
    for (const { value, text } of golden.tenths) expect(formatTenths(value), String(value)).toBe(text);
  });
  it("labels powers of ten as short as they can be", () => {
    const ticks = [1e-5, 1e-3, 0.01, 0.1, 1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e9, 1e12, 1e15, 1e16];
    const labels = ["1e-5", "0.001", "0.01", "0.1", "1", "10", "100"];
    expect(ticks.map(formatTick)).toEqual([...labels, "1k", "10k", "100k", "1M", "1G", "1T", "1P", "10P"]);
  });
});

describe("an amount that a person types", () => {
  it("may be as large as the limit, and is quoted without the spaces around it", () => {
    expect(parseAmount("5 kB", "B", 5000)).toBe(5000);
    expect(parseAmount("5.001 kB", "B", 5000)).toMatch(/5 kB/);
    expect(parseAmount("  much ", "FLOP", 1)).toBe(parseAmount("much", "FLOP", 1));
  });
  it("of integer operations is read in either unit, and refused with an example in operations", () => {
    for (const text of ["2 TOP", "2 TOPs", "2 TFLOP", "2T"]) expect(parseAmount(text, "OP", 1e30), text).toBe(2e12);
    for (const text of ["2 TB", "-1", "1e31", "much"]) expect(parseAmount(text, "OP", 1e30), text).toMatch(/“4 TOP”/);
  });
  it("has a prefix at its start only", () => {
    expect(parseAmount("2 tflop", "FLOP", 1e30)).toBe(2e12);
    expect(parseAmount("2 flotp", "FLOP", 1e30)).toMatch(/is not a unit of FLOP/);
    expect(parseAmount("3 gb", "B", 1e30)).toBe(3e9);
    for (const text of ["3 xgb", "3 gbx"]) expect(parseAmount(text, "B", 1e30), text).toMatch(/is not a unit of B/);
  });
});

describe("what a person types", () => {
  it("is read as the double nearest to what is written", () => {
    for (const { text, unit, value } of golden.parse) {
      const [low = 0, high = 0] = limits[unit as "B/s"] ?? [];
      const read = parseRate(text, unit as "B/s", 1);
      if (value >= low && value <= high) expect(read, text).toBe(value);
      else expect(read, text).toMatch(SAYS["size"] as RegExp);
    }
  });
  it("is refused with its reason and an example when it is no such rate", () => {
    for (const { text, unit, why } of golden.refused) {
      expect(parseRate(text, unit as "B/s", 1), text).toMatch(SAYS[why] as RegExp);
      expect(parseRate(text, unit as "B/s", 1), text).toContain(unit === "B/s" ? "“3.35 TB/s”" : "“2 PFLOP/s”");
    }
  });
  it("may be a multiple of the value in force", () => {
    for (const text of ["×1.5", "x1.5", "x 1.5", "*1.5", " × 1.5 "]) expect(parseRate(text, "B/s", 4e12)).toBe(6e12);
    expect(parseRate("x.5", "FLOP/s", 4e12)).toBe(2e12);
    expect(parseRate("x2 TB/s", "B/s", 4e12)).toMatch(/^no number/);
  });
  it("is quoted without the spaces around it", () => {
    for (const text of ["fast", "3.35", "x fast"]) {
      expect(parseRate(`  ${text} `, "B/s", 1)).toBe(parseRate(text, "B/s", 1));
    }
    expect(parseRate("x fast", "B/s", 1)).toMatch(/^no number in “x fast”/);
  });
  it("needs a unit below 1e6, for no chip is as slow", () => {
    expect(parseRate("3.35", "B/s", 1)).toBe(strings.unitMissing("3.35", "3.35 TB/s"));
    expect(parseRate("999999", "FLOP/s", 1)).toBe(strings.unitMissing("999999", "2 PFLOP/s"));
    expect(parseRate("1e6", "FLOP/s", 1)).toBe(1e6);
  });
  it("must be above zero", () => {
    for (const text of ["0", "-1", "-2 TB/s", "0 GiB/s", "x0", "x-1"]) {
      expect(parseRate(text, "B/s", 1e12), text).toMatch(/^a rate must be above zero/);
    }
  });
  it("must be a rate that hardware can have, within the limits that Python has too", () => {
    for (const unit of RATES) {
      expect([MIN_RATE, MAX_RATE], unit).toEqual(limits[unit]);
      const sentence = `hardware has a rate from 0.001 ${unit} to 1 Y${unit}; write for example “`;
      for (const text of ["1e99", `1.001 Y${unit}`, `0.00099 ${unit}`, `1e400 ${unit}`, "x1e80", "x1e-80"]) {
        expect(parseRate(text, unit, 1e12), text).toMatch(new RegExp(`^${sentence}`));
      }
      expect(parseRate(`1 Y${unit}`, unit, 1)).toBe(1e24);
      expect(parseRate(`0.001 ${unit}`, unit, 1)).toBe(1e-3);
    }
  });
  it("comes back within rounding when it is what is shown", () => {
    for (const unit of RATES) {
      for (let exponent = 0; exponent <= 24; exponent += 0.37) {
        const rate = 10 ** exponent;
        const again = parseRate(formatQuantity(rate, unit, 4), unit, 1);
        expect(Math.abs((again as number) / rate - 1), String(rate)).toBeLessThanOrEqual(0.5e-3);
      }
    }
  });
});

describe("a typed amount", () => {
  const amount = (text: string, unit: "FLOP" | "B" = "FLOP") => parseAmount(text, unit, 1e27);
  it("has a unit, a prefix or neither", () => {
    expect(["4 TFLOP", "4tflops", "4T", "4e12", " 4000 GFLOP "].map((text) => amount(text))).toEqual(
      Array(5).fill(4e12),
    );
    expect(["1 GiB", "10 gb", "10G", "12 kB", "12 kb", "0"].map((text) => amount(text, "B"))).toEqual([
      ...[2 ** 30, 1e10, 1e10, 12e3, 12e3, 0],
    ]);
  });
  it.each([
    ["much", "FLOP", "no number in “much”; write for example “4 TFLOP”"],
    ["4 TFLOP/s", "FLOP", "“TFLOP/s” is not a unit of FLOP; write for example “4 TFLOP”"],
    ["4 TB", "FLOP", "“TB” is not a unit of FLOP; write for example “4 TFLOP”"],
    ["4 TFLOP", "B", "“TFLOP” is not a unit of B; write for example “10 GB”"],
    ["4 mB", "B", "“mB” is not a unit of B; write for example “10 GB”"],
    ["-1 GB", "B", "a kernel has no less than nothing; write for example “10 GB”"],
    ["1e31", "B", "a launch has at most 1000 YB; write for example “10 GB”"],
    ["1e999", "FLOP", "a launch has at most 1000 YFLOP; write for example “4 TFLOP”"],
  ] as const)("that says nothing, %s, gets a sentence", (text, unit, sentence) => {
    expect(amount(text, unit)).toBe(sentence);
  });
});
