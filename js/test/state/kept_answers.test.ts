// Answers that the browser keeps for an exported page.

import { describe, expect, it } from "vitest";
import { answersStorage, keepAnswers } from "../../src/state/kept_answers.ts";
import { createStore } from "../../src/state/store.ts";
import type { Story } from "../../src/wire/types.ts";
import { eachWithClock, FakeModel } from "../helpers.ts";
import { onOneChip } from "../scenes.ts";
import { memory, refused } from "../storage.ts";

const abort = eachWithClock();
const question = (key: string) => ({ key, kind: "choice", prompt: [], answer: "a", options: [], unit: "" });
const story = (...keys: string[]) =>
  ({
    base: {},
    steps: keys.map((key) => ({ caption: [], changes: {}, question: question(key), hides: false })),
  }) as unknown as Story;

describe("the storage of answers", () => {
  it("gives back what was kept, to a story of the same questions at the same place alone", () => {
    const browser = memory();
    const storage = (asked: Story, place = 1) => answersStorage(asked, place, () => browser);
    expect(storage(story("a"))?.read()).toBeUndefined();
    const answers = { a: [1, "two", [["x", "y"], ["z"]]] };
    expect(storage(story("a"))?.write(answers)).toBe(true);
    expect(storage(story("a"))?.read()).toEqual(answers);
    expect(storage(story("b"))?.read()).toBeUndefined();
    expect(storage(story("a"), 2)?.read()).toBeUndefined();
    storage(story("a"))?.write({});
    expect(storage(story("a"))?.read()).toEqual({});
  });
  it("is there only for a story that asks", () => {
    const silent = {
      base: {},
      steps: [{ caption: [], changes: {}, question: null, hides: false }],
    } as unknown as Story;
    expect([answersStorage(null, 1, memory), answersStorage(silent, 1, memory)]).toEqual([undefined, undefined]);
  });
  it("takes no other values for answers", () => {
    for (const text of ["", "{", "null", "[]", "5", '{"a": 1}', '{"a": [null]}', '{"a": [[1]]}', '{"a": [{}]}']) {
      const storage = answersStorage(story("a"), 1, () => ({ ...memory(), getItem: () => text }));
      expect(storage?.read(), text).toBeUndefined();
    }
  });
  it("says that it has kept nothing if the browser refuses", () => {
    const storage = answersStorage(story("a"), 1, refused);
    expect([storage?.read(), storage?.write({ a: [1] })]).toEqual([undefined, false]);
  });
});

describe("the answers of a page", () => {
  const start = (storage: unknown) => {
    const model = onOneChip([], { story: story("a", "b"), answers_storage: storage });
    return createStore(model, abort().signal);
  };
  it("are kept at each change, and forgotten when they are removed", () => {
    const storage = answersStorage(story("a"), 1, () => browser);
    const browser = memory();
    const store = start(storage);
    expect([store.lesson.isStorageRefused?.value, storage?.read()]).toEqual([false, undefined]);
    store.lesson.giveAnswer("a");
    expect(storage?.read()).toEqual({ a: ["a"] });
    store.lesson.forgetAnswers();
    expect([storage?.read(), store.lesson.answers.value]).toEqual([{}, {}]);
  });
  it("that the browser refuses to keep are told", () => {
    const store = start(answersStorage(story("a"), 1, refused));
    expect(store.lesson.isStorageRefused?.value).toBe(false);
    store.lesson.giveAnswer("a");
    expect(store.lesson.isStorageRefused?.value).toBe(true);
  });
  it("with Python are Python's to keep", () => {
    expect(start(undefined).lesson.isStorageRefused).toBeUndefined();
    expect(keepAnswers(new FakeModel({}), { value: {}, peek: () => ({}) } as never, abort().signal)).toBeUndefined();
  });
});
