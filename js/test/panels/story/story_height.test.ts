// The height that all steps of a story have beside a chart.

import { describe, expect, it } from "vitest";
import { storyHeight } from "../../../src/panels/story/story_height.ts";
import { makeQuestion, makeStory } from "../../lessons.ts";

const stepsOf = (...steps: Parameters<typeof makeStory>[1][]) => makeStory({}, ...steps).steps;
const text = (letters: number) => [["p", "x".repeat(letters)] as const];

describe("the panel of a story", () => {
  it("is as high as its highest step", () => {
    const [short, long] = [{ caption: text(40) }, { caption: text(800) }];
    const height = storyHeight(stepsOf(long), 1248, 900);
    expect(storyHeight(stepsOf(short), 1248, 900)).toBeLessThan(height);
    expect(storyHeight(stepsOf(short, long, short), 1248, 900)).toBe(height);
  });
  it("takes at most 28 % of the window", () => {
    expect(storyHeight(stepsOf({ caption: text(9000) }), 1248, 720)).toBe(202);
  });
  it("gives options that do not fit beside each other rows of their own", () => {
    const ask = (letters: number) => {
      const options = ["a", "b", "c", "d"].map((one) => [one.repeat(letters), "Why."] as const);
      return storyHeight(stepsOf({ question: makeQuestion({ kind: "choice", options }) }), 1248, 2000);
    };
    // A row of options is 26 px high.
    expect(ask(60) - ask(1)).toBe(3 * 26);
  });
});
