// What is said to an answer, and how answers are typed and written.

import { describe, expect, it } from "vitest";
import golden from "../../../tests/golden/answers.json";
import { verdictOf } from "../../src/state/lesson.ts";
import { verdictText } from "../../src/text/answers.ts";
import { formatAnswer } from "../../src/text/numbers.ts";
import { asThousands, readNumber } from "../../src/text/written.ts";
import type { Question } from "../../src/wire/types.ts";
import { makeQuestion } from "../lessons.ts";

const EXAMPLE = "12 FLOP/B";
const read = (text: string, unit: string) => readNumber(text, unit, EXAMPLE);

describe("a typed answer", () => {
  it.each(golden.typed)("'$text' in '$unit' is read as Python reads it", ({ text, unit, value }) => {
    if (value === null) expect(read(text, unit)).toBeTypeOf("string");
    else expect(read(text, unit)).toBe(value);
  });
  it.each(golden.written)("'$text' in '$unit' is read as people write it", ({ text, unit, value, is, asked }) => {
    const found = read(text, unit);
    if (value !== null) expect((found as number) / value).toBeCloseTo(1, 14);
    else if (is === undefined) expect(found).toBeTypeOf("string");
    else expect(found).toBe(`“${text}” is ${is}; the question asks for ${asked}`);
  });
  it("that is no number is told so, with an example", () => {
    expect(read(" many ", "FLOP/B")).toBe("“many” is not a number; write for example “12 FLOP/B”");
    expect(read("12 apples", "FLOP/B")).toBe("“12 apples” is not a number; write for example “12 FLOP/B”");
    expect(read("12 T", "tokens")).toBe("“12 T” is not a number; write for example “12 FLOP/B”");
    expect(read("3 s", "tokens")).toBe("“3 s” is a time (s); the question asks for tokens");
    expect(read("1/0", "s")).toBe("“1/0” divides by zero");
    expect(read("1e999", "s")).toBe("“1e999” is too large");
    expect(read("3 GB", "")).toBe("“3 GB” is a number of bytes (B); the question asks for a number without a unit");
    expect(read("1".repeat(301), "s")).toContain("is not a number");
  });
  it("with a comma before three digits is one number in English", () => {
    expect(read("516,096", "B")).toBe(516_096);
    expect(asThousands("516,096")).toBeUndefined();
  });
  it("is written so that it is read back", () => {
    for (const [value, unit] of [
      [8.77e-6, "s"],
      [3.35e12, "B/s"],
      [166.3, "FLOP/B"],
      [1.98e9, "Hz"],
      [700, "W"],
      [120, "tokens"],
      [0.25, ""],
    ] as const)
      expect(read(formatAnswer(value, unit), unit)).toBeCloseTo(value, 9);
    expect([formatAnswer(8.77e-6, "s"), formatAnswer(120, "tokens"), formatAnswer(1 / 3, "")]).toEqual([
      "8.77 µs",
      "120 tokens",
      "0.3333",
    ]);
    expect(formatAnswer(516_096, "B", 7)).toBe("516.096 kB");
  });
});

describe("the unit of a typed answer", () => {
  it("of a rate may be in a hurry, as in a box of the chart", () => {
    expect(read("2 tflops", "FLOP/s")).toBe(2e12);
    expect(read("2t", "FLOP/s")).toBe(2e12);
    expect(read("3.5 gb/s", "B/s")).toBeTypeOf("string");
    expect(read("3g", "B/s")).toBe(3e9);
    expect(read("2t", "OP/s")).toBe(2e12);
  });
  it("may be a prefix alone, but not of seconds", () => {
    expect([read("12 T", "FLOP"), read("4 G", "B"), read("2 k", "FLOP/B")]).toEqual([12e12, 4e9, 2000]);
    expect(read("2 k", "s")).toBeTypeOf("string");
  });
  it("has a binary prefix for bytes only", () => {
    expect(read("1 KiB", "B")).toBe(1024);
    expect(read("1 KiFLOP", "FLOP")).toBeTypeOf("string");
  });
  it("of an intensity has no prefix up to 9,999", () => {
    expect([formatAnswer(5000, "FLOP/B"), formatAnswer(50_000, "FLOP/B")]).toEqual(["5000 FLOP/B", "50 kFLOP/B"]);
  });
});

const asked = (name: string): Question => {
  const record = golden.questions[name as keyof typeof golden.questions];
  const kind = "options" in record ? "choice" : "number";
  return makeQuestion({ kind, tolerance: null, ...(record as Partial<Question>) });
};

describe("what is said to an answer", () => {
  it.each(golden.feedback)(
    "$given to '$question' is what Python says",
    ({ question, given, attempt, said, message }) => {
      const verdict = verdictOf(asked(question), given, attempt);
      expect([verdict?.isRight, verdict?.said]).toEqual([said === "right", said]);
      if (verdict && message !== null) expect(verdictText(verdict)).toBe(message);
    },
  );
  it("never has the factor between the answer and the right one", () => {
    for (const given of [1, 3.7, 80, 1000, 1e6])
      for (const attempt of [1, 2, 3]) {
        const verdict = verdictOf(makeQuestion({ answer: 295.373 }), given, attempt);
        const digits = verdict ? verdictText(verdict).match(/[0-9.]*[0-9]/g) : ["none"];
        expect(["2", "10"]).toEqual(expect.arrayContaining(digits ?? []));
      }
  });
  it("names kernels, a tensor and bytes of a partition", () => {
    const merge = { kernels: 2, now: 32768, least: 16384, isTime: false };
    const wrong = { isRight: false, text: "", merge };
    expect(verdictText({ ...wrong, said: "kernels" })).toBe("Not yet: 2 kernels. Fewer bytes are possible.");
    expect(verdictText({ ...wrong, said: "tensor", text: "gelu" })).toBe(
      "Not yet: 2 kernels. 'gelu' costs most bytes.",
    );
    expect(verdictText({ ...wrong, said: "bytes" })).toBe("Not yet: 2 kernels move 32.77 kB. 16.38 kB can be reached.");
    expect(verdictText({ ...wrong, isRight: true, said: "right" })).toBe("Right.");
  });
  it("names kernels and times of a partition that is to be the fastest", () => {
    const merge = { kernels: 2, now: 1.276e-3, least: 1.135e-3, isTime: true };
    const wrong = { isRight: false, text: "", merge };
    expect(verdictText({ ...wrong, said: "kernels" })).toBe("Not yet: 2 kernels. Less time is possible.");
    expect(verdictText({ ...wrong, said: "kernel", text: "norm + up" })).toBe(
      "Not yet: 2 kernels. 'norm + up' is no kernel of the fastest partition.",
    );
    expect(verdictText({ ...wrong, said: "time" })).toBe("Not yet: 2 kernels take 1.276 ms. 1.135 ms can be reached.");
  });
  it("is to a vote the text of the option alone", () => {
    expect(verdictText({ isRight: true, said: "a2", text: "Why." })).toBe("Why.");
  });
});
