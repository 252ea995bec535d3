// The file of answers that a page saves. Python's tests grade such files.

import { signal } from "@preact/signals";
import { expect, it } from "vitest";
import { answersText } from "../../../src/panels/story/answers_file.ts";
import type { Attempt, Story } from "../../../src/wire/types.ts";
import { makeQuestion, makeStory } from "../../lessons.ts";

it("has all questions as Python reads them, and all answers", () => {
  const number = makeQuestion({ prompt: [["p", "How ", ["em", "much"], "?"]], explanation: [["p", "So."]] });
  const merge = makeQuestion({ key: "m", kind: "merge", answer: [["a", "b"]], graph: { ops: [] }, tolerance: null });
  const story = makeStory({}, {}, { question: number }, { question: merge });
  const answers = { q: [1, 100], m: [[["a"], ["b"]]] } as Record<string, readonly Attempt[]>;
  const text = answersText({ story: signal<Story | null>(story), answers: signal(answers) });
  expect(text.endsWith("\n")).toBe(true);
  expect(JSON.parse(text)).toEqual({
    format: "roofwidget answers",
    version: 1,
    questions: [
      { ...number, prompt: "How much?", explanation: "So." },
      { ...merge, prompt: "How much?", explanation: "" },
    ],
    answers,
  });
});

it("of a student's page says whose it is, and has the prompts of the sheet", () => {
  const story = makeStory({}, { question: makeQuestion() });
  const head = { id: "007", questions: [{ key: "q", prompt: "How *much*?" }] };
  const text = answersText({ story: signal<Story | null>(story), answers: signal({}) }, head);
  expect(JSON.parse(text)).toEqual({ format: "roofwidget answers", version: 1, answers: {}, ...head });
});

it("has no questions without a story", () => {
  const text = answersText({ story: signal<Story | null>(null), answers: signal({}) });
  expect(JSON.parse(text)).toMatchObject({ questions: [], answers: {} });
});
