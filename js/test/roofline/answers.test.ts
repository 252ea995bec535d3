// What answers are worth: the numbers that Python's tests read too.

import { describe, expect, it } from "vitest";
import golden from "../../../tests/golden/answers.json";
import { mergeVerdict, numberVerdict } from "../../src/roofline/answers.ts";

describe("a number", () => {
  it.each(golden.numbers)(
    "$given for $answer is worth what Python says",
    ({ answer, tolerance, given, right, factor }) => {
      const verdict = numberVerdict(answer, tolerance, given);
      expect(verdict.isRight).toBe(right);
      if (factor === null) expect(Number.isFinite(verdict.factor)).toBe(false);
      else expect(verdict.factor).toBeCloseTo(factor, 9);
    },
  );
  it.each([
    [0, 5],
    [-1, 5],
    [5, 0],
    [5, -1],
    [-2, -1],
    [0, 0],
  ])("for %d has no factor if it is %d, and is right only if it is the same", (answer, given) => {
    expect(numberVerdict(answer, 9, given)).toEqual({ isRight: given === answer, factor: Number.NaN });
  });
});

describe("a partition", () => {
  it("is right if it moves no more bytes than a best one", () => {
    expect(mergeVerdict(40, 40)).toEqual({ isRight: true, factor: 1 });
    expect(mergeVerdict(40, 80)).toEqual({ isRight: false, factor: 2 });
  });
  it("that is none is wrong", () => {
    expect(mergeVerdict(40, Number.NaN)).toEqual({ isRight: false, factor: Number.NaN });
  });
});
