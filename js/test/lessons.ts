// Questions and stories for tests, as Python sends them.

import type { Question, Story, StoryStep } from "../src/wire/types.ts";

/** By default a number in FLOP/B, 5 % off at most. */
export const makeQuestion = (changes: Partial<Question> = {}): Question => ({
  ...{
    key: "q",
    kind: "number",
    prompt: [["p", "How much?"]],
    answer: 100,
    unit: "FLOP/B",
    tolerance: Math.log2(1.05),
  },
  ...{ options: [], explanation: [], on: null, kernel: null, graph: null, source: "" },
  ...changes,
});

export const makeStep = (changes: Partial<StoryStep> = {}): StoryStep => ({
  ...{ caption: [["p", "A step."]], changes: {}, question: null, hides: false },
  ...changes,
});

/** A story; `base` has the values that its steps start with. */
export const makeStory = (base: Readonly<Record<string, unknown>>, ...steps: Partial<StoryStep>[]): Story => ({
  base,
  steps: steps.map(makeStep),
});
