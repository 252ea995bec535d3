// What is said to an answer, and how answers are typed and written.

import { describe, expect, it } from "vitest";
import golden from "../../../tests/golden/answers.json";
import { verdictText } from "../../src/text/answers.ts";
import { formatAnswer, parseAnswer } from "../../src/text/numbers.ts";
import { makeQuestion } from "../lessons.ts";

describe("a typed answer", () => {
  it.each(golden.typed)("'$text' in '$unit' is read as Python reads it", ({ text, unit, value }) => {
    const read = parseAnswer(text, unit);
    if (value === null) expect(read).toBeUndefined();
    else expect(read).toBeCloseTo(value, 12 - Math.ceil(Math.log10(value)));
  });
  it("is written so that it is read back", () => {
    for (const [value, unit] of [
      [8.77e-6, "s"],
      [3.35e12, "B/s"],
      [166.3, "FLOP/B"],
      [120, "tokens"],
      [0.25, ""],
    ] as const)
      expect(parseAnswer(formatAnswer(value, unit), unit)).toBeCloseTo(value, 9);
    expect([formatAnswer(8.77e-6, "s"), formatAnswer(120, "tokens"), formatAnswer(1 / 3, "")]).toEqual([
      "8.77 µs",
      "120 tokens",
      "0.3333",
    ]);
  });
});

describe("the unit of a typed answer", () => {
  it("of a rate may be in a hurry, as in a box of the chart", () => {
    expect(parseAnswer("2 tflops", "FLOP/s")).toBe(2e12);
    expect(parseAnswer("2t", "FLOP/s")).toBe(2e12);
    expect(parseAnswer("3.5 gb/s", "B/s")).toBeUndefined();
    expect(parseAnswer("3g", "B/s")).toBe(3e9);
    expect(parseAnswer("2t", "OP/s")).toBe(2e12);
  });
  it("has a binary prefix for bytes only", () => {
    expect(parseAnswer("1 KiB", "B")).toBe(1024);
    expect(parseAnswer("1 KiFLOP", "FLOP")).toBeUndefined();
  });
  it("of an intensity has no prefix up to 9,999", () => {
    expect([formatAnswer(5000, "FLOP/B"), formatAnswer(50_000, "FLOP/B")]).toEqual(["5000 FLOP/B", "50 kFLOP/B"]);
  });
});

describe("what is said to an answer", () => {
  const number = makeQuestion({ answer: 100 });
  const choice = makeQuestion({
    kind: "choice",
    answer: "HBM",
    options: [
      ["HBM", ""],
      ["peak", "No: left of the ridge."],
    ],
  });
  it("names the factor and the direction", () => {
    expect(verdictText(number, 1000, { isRight: false, factor: 10 })).toBe("Not yet: 10 times too large.");
    expect(verdictText(number, 50, { isRight: false, factor: 0.5 })).toBe("Not yet: 2 times too small.");
    expect(verdictText(number, 101, { isRight: true, factor: 1.01 })).toBe("Right.");
  });
  it("names only the direction without a factor", () => {
    const verdict = { isRight: false, factor: Number.NaN };
    expect(verdictText(number, -5, verdict)).toBe("Not yet: too small.");
    expect(verdictText(makeQuestion({ answer: 0 }), 5, verdict)).toBe("Not yet: too large.");
  });
  it("is the text of the chosen option", () => {
    expect(verdictText(choice, "peak", { isRight: false, factor: Number.NaN })).toBe("Not yet. No: left of the ridge.");
    expect(verdictText(choice, "HBM", { isRight: true, factor: Number.NaN })).toBe("Right.");
    expect(verdictText(choice, "gone", { isRight: false, factor: Number.NaN })).toBe("Not yet.");
  });
  it("names the bytes of a partition, and nothing of an answer that is none", () => {
    const merge = makeQuestion({ kind: "merge", answer: [["a", "b"]] });
    expect(verdictText(merge, [["a"], ["b"]], { isRight: false, factor: 2 })).toBe(
      "Not yet: it moves 2 times the bytes that are needed.",
    );
    expect(verdictText(merge, [["x"]], { isRight: false, factor: Number.NaN })).toBe("Not yet.");
    expect(verdictText(number, "text", undefined)).toBe("Not yet.");
  });
});
