import { describe, expect, test } from "vitest";
import { formatFractions, parseFractions } from "../../src/panels/hardware/exposed.tsx";

describe("fractions that are typed", () => {
  test.each([
    ["20, 40, 60 %", [0.2, 0.4, 0.6]],
    ["20%,40%", [0.2, 0.4]],
    ["60 20;40", [0.2, 0.4, 0.6]],
    ["0.2, 0.4", [0.2, 0.4]],
    ["0.5 %", [0.005]],
    ["1", [0.01]],
    ["20, 20, 0", [0.2]],
    ["99.5", [0.995]],
    ["0", []],
    ["  ", []],
    ["%", []],
  ])("%j", (text, expected) => {
    expect(parseFractions(text)).toEqual(expected);
  });

  test.each([
    ["much", "“much”"],
    ["20, forty", "“forty”"],
    ["-5", "“-5”"],
    ["1e999", "“1e999”"],
    ["100 %", "“100”"],
    ["20, 140", "“140”"],
  ])("%j is refused with a sentence that names the part at fault", (text, part) => {
    expect(parseFractions(text)).toContain(part);
  });
});

test("fractions are written as they may be typed", () => {
  expect(formatFractions([0.2, 0.4, 0.6])).toBe("20, 40, 60 %");
  expect(formatFractions([])).toBe("");
  for (const fractions of [[0.005], [0.2], [0.07, 0.95]]) {
    expect(parseFractions(formatFractions(fractions))).toEqual(fractions);
  }
});
