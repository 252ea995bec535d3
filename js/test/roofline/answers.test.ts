// What answers are worth: the numbers that Python's tests read too.

import { describe, expect, it } from "vitest";
import golden from "../../../tests/golden/answers.json";
import { choiceVerdict, mergeVerdict, numberVerdict, RIGHT } from "../../src/roofline/answers.ts";

const judged = (answer: number, tolerance: number, given: number, attempt = 1) =>
  numberVerdict({ answer, tolerance, wrongAnswers: [], method: "" }, given, attempt);

describe("a number", () => {
  it.each(golden.numbers)("$given for $answer is worth what Python says", ({ answer, tolerance, given, right }) => {
    expect(judged(answer, tolerance, given).isRight).toBe(right);
  });
  it.each([
    [0, 5],
    [-1, 5],
    [5, 0],
    [5, -1],
    [-2, -1],
    [0, 0],
  ])("for %d is right without a tolerance if it is %d, and has no band", (answer, given) => {
    expect(judged(answer, 9, given, 2).said).toBe(given === answer ? "right" : "direction");
  });
});

describe("a partition", () => {
  const key = { kernels: 3, now: 80, least: 40, isTime: false, largest: () => "gelu" };
  it("is right if it moves no more bytes than a best one", () => {
    expect(mergeVerdict({ ...key, now: 40 }, 3)).toMatchObject(RIGHT);
    expect(mergeVerdict({ ...key, now: 39 }, 1).isRight).toBe(true);
    expect(mergeVerdict({ ...key, now: 40.1 }, 1).isRight).toBe(false);
  });
  it("that takes longer is told the kernels, then the slowest kernel, then the least time", () => {
    const said = [1, 2, 3].map((attempt) => mergeVerdict({ ...key, isTime: true }, attempt));
    expect(said.map((one) => [one.isRight, one.said, one.text])).toEqual([
      [false, "kernels", ""],
      [false, "kernel", "gelu"],
      [false, "time", ""],
    ]);
  });
  it("that moves more is told the kernels, then the largest tensor, then the fewest bytes", () => {
    const said = [1, 2, 3, 4].map((attempt) => mergeVerdict(key, attempt));
    expect(said.map((one) => [one.isRight, one.said, one.text])).toEqual([
      [false, "kernels", ""],
      [false, "tensor", "gelu"],
      [false, "bytes", ""],
      [false, "bytes", ""],
    ]);
    expect(said[0]?.merge).toEqual({ kernels: 3, now: 80, least: 40, isTime: false });
  });
});

describe("a vote", () => {
  const key = { answer: "b", options: [["a", "Why a."] as const, ["b", "Why b."] as const], ids: ["a1", "a2"] };
  it("takes every option, and says which one it was", () => {
    const judged = ["a", "a2"].map((given) => choiceVerdict({ ...key, graded: false }, given));
    expect(judged.map(({ isRight, said, text }) => [isRight, said, text])).toEqual([
      [true, "a1", "Why a."],
      [true, "a2", "Why b."],
    ]);
    expect(choiceVerdict({ ...key, graded: false }, "c").isRight).toBe(false);
    expect(choiceVerdict(key, "a").isRight).toBe(false);
  });
});
