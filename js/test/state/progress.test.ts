// How many questions of a course's page are answered, and what the contents of the course make of it.

import { describe, expect, it } from "vitest";
import { keepProgress, keptProgress, progressOf, stepAddress, type Told } from "../../src/state/progress.ts";
import { memory, refused } from "../storage.ts";

const PAGE = "file:///course/one.html";

/** The second and the third step of this story ask "a" and "b". */
const told = (place: number, answers: Told["answers"]): Told => ({
  place,
  answers,
  story: { steps: [null, { key: "a" }, { key: "b" }].map((question) => ({ question })) } as unknown as Told["story"],
});

describe("the progress of a page", () => {
  it("counts the questions with an answer, and names the first step with an open one", () => {
    expect(progressOf([told(1, {})])).toEqual({ asked: 2, answered: 0, next: "#step=2" });
    expect(progressOf([told(1, { a: [1], b: [] })])).toEqual({ asked: 2, answered: 1, next: "#step=3" });
    const both = [told(1, { a: [1], b: ["x"] }), told(2, { b: [2] })];
    expect(progressOf(both)).toEqual({ asked: 4, answered: 3, next: "#story=2&step=2" });
    expect(progressOf([told(1, { a: [1], b: [2], c: [3] })])).toEqual({ asked: 2, answered: 2, next: "" });
    expect([stepAddress(1, 3), stepAddress(2, 3)]).toEqual(["#step=3", "#story=2&step=3"]);
  });
  it("is kept for the page alone, without its step", () => {
    const browser = memory();
    const progress = progressOf([told(1, { a: [1] })]);
    expect(keepProgress(`${PAGE}#step=2`, progress, () => browser)).toBe(true);
    expect(keptProgress(`${PAGE}?a#step=9`, 2, () => browser)).toEqual(progress);
    expect(keptProgress("file:///course/two.html", 2, () => browser)).toBeUndefined();
  });
  it("is unknown, not zero, if the browser refuses or the page asks other questions now", () => {
    const progress = progressOf([told(1, { a: [1] })]);
    expect(keepProgress(PAGE, progress, refused)).toBe(false);
    expect(keptProgress(PAGE, 2, refused)).toBeUndefined();
    const browser = memory();
    keepProgress(PAGE, progress, () => browser);
    expect(keptProgress(PAGE, 3, () => browser)).toBeUndefined();
  });
  it("takes no other values for progress", () => {
    const values = [null, 5, "x", { asked: 2 }, { asked: 2, answered: "1", next: "" }];
    for (const value of [...values, { asked: 2, answered: 1, next: "javascript:x" }]) {
      const browser = memory(new Map([["roofwidget progress /course/one.html", JSON.stringify(value)]]));
      expect(
        keptProgress(PAGE, 2, () => browser),
        JSON.stringify(value),
      ).toBeUndefined();
    }
  });
});
