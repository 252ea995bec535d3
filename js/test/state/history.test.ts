// The history of several parts: what makes an entry, what undo restores, and what is forgotten.

import { computed, signal } from "@preact/signals";
import { describe, expect, it } from "vitest";
import { createHistory, type Entry } from "../../src/state/history.ts";

/** A history of two traits: a number, and a text that may be missing. */
function parts() {
  const [number, word] = [signal(0), signal<string | undefined>("a")];
  const here = computed<Entry>(() => ({
    step: number.value,
    ...(word.value === undefined ? {} : { precision: word.value }),
  }));
  const history = createHistory(here);
  const restored: string[] = [];
  function restore(entry: Entry) {
    restored.push(...Object.entries(entry).map((named) => named.join(" ")));
    number.value = entry.step ?? number.value;
    word.value = entry.precision ?? word.value;
  }
  const state = {
    get number() {
      return number.value;
    },
    set number(next: number) {
      number.value = next;
    },
    get word() {
      return word.value;
    },
    set word(next: string | undefined) {
      word.value = next;
    },
  };
  const revise = (revised: (number: number) => number | undefined) =>
    history.revise(({ step, ...others }) => {
      const left = step === undefined ? undefined : revised(step);
      return left === undefined ? others : { ...others, step: left };
    });
  const next = (isBack: boolean) => history.next(isBack)?.step;
  const undo = () => restore(history.undo());
  const redo = () => restore(history.redo());
  const set = (to: number, key?: string) =>
    history.change(() => {
      number.value = to;
    }, key);
  return { history: { ...history, undo, redo }, state, restored, numbers: { revise, next }, set };
}

describe("a change", () => {
  it("of one part is one entry, which leaves the others alone", () => {
    const { history, state, restored, set } = parts();
    set(1);
    history.change(() => {
      state.word = "b";
    });
    history.undo();
    expect([state, restored]).toEqual([{ number: 1, word: "a" }, ["precision a"]]);
    history.undo();
    expect([state.number, history.canUndo.value, history.canRedo.value]).toEqual([0, false, true]);
    history.redo();
    history.redo();
    expect([state, history.canRedo.value]).toEqual([{ number: 1, word: "b" }, false]);
  });
  it("of nothing is no entry", () => {
    const { history, set } = parts();
    set(0);
    expect(history.canUndo.value).toBe(false);
  });
  it("after undo makes redo forget, whichever part and whoever made it", () => {
    const { history, state, set } = parts();
    set(1);
    history.undo();
    history.change(() => {
      state.word = "from Python";
    });
    expect(history.canRedo.value).toBe(false);
    history.undo();
    expect(state).toEqual({ number: 0, word: "a" });
  });
  it("goes on with the one before it under one word, until another comes between", () => {
    const { history, state, set } = parts();
    set(1, "zoom 1");
    set(2, "zoom 1");
    set(3, "zoom 2");
    history.undo();
    expect(state.number).toBe(2);
    set(5, "zoom 2");
    set(6);
    set(7, "zoom 2");
    history.undo();
    expect(state.number).toBe(6);
    history.undo();
    history.undo();
    expect(state.number).toBe(2);
    history.undo();
    expect([state.number, history.canUndo.value]).toEqual([0, false]);
  });
  it("under a word that changes nothing does not hide the next of that word", () => {
    const { history, state, set } = parts();
    set(0, "zoom 1");
    set(1, "zoom 1");
    history.undo();
    expect(state.number).toBe(0);
  });
  it("that comes back under its word to where it began is none, and the next begins anew", () => {
    const { history, state, set } = parts();
    set(1, "zoom 1");
    set(0, "zoom 1");
    expect(history.canUndo.value).toBe(false);
    set(2, "zoom 1");
    history.undo();
    expect([state.number, history.canUndo.value]).toEqual([0, false]);
  });
  it("of several parts is brought back at once", () => {
    const { history, state, restored } = parts();
    history.change(() => Object.assign(state, { number: 1, word: "b" }));
    history.undo();
    expect([state, restored]).toEqual([{ number: 0, word: "a" }, ["step 0", "precision a"]]);
  });
  it("that another change makes is part of it: both are one entry", () => {
    const { history, state, set } = parts();
    history.change(() => {
      set(1);
      state.word = "b";
    });
    history.undo();
    expect([state, history.canUndo.value]).toEqual([{ number: 0, word: "a" }, false]);
  });
});

describe("a drag", () => {
  it("is one entry, however many steps and parts it has", () => {
    const { history, state, set } = parts();
    history.start();
    for (const number of [1, 2, 3]) set(number);
    history.change(() => {
      state.word = "b";
    });
    expect(history.canUndo.value).toBe(false);
    history.end();
    history.undo();
    expect([state, history.canUndo.value]).toEqual([{ number: 0, word: "a" }, false]);
  });
  it("that is taken back leaves no entry, and redo as it was", () => {
    const { history, set } = parts();
    set(4);
    history.undo();
    history.start();
    set(1);
    set(0);
    history.end();
    expect([history.canUndo.value, history.canRedo.value]).toEqual([false, true]);
  });
  it("is not undone, nor anything before it, while it lasts", () => {
    const { history, state, numbers, set } = parts();
    set(1);
    history.start();
    set(2);
    history.undo();
    expect([state.number, numbers.next(true)]).toEqual([2, undefined]);
    history.end();
    history.undo();
    expect(state.number).toBe(1);
  });
});

describe("what means nothing any more", () => {
  it("is forgotten, and with it the steps that would change nothing", () => {
    const { history, state, numbers, set } = parts();
    set(1);
    set(2);
    history.change(() => {
      state.word = "b";
    });
    numbers.revise((number) => (number === 2 ? number : undefined));
    history.undo();
    expect([state, history.canUndo.value]).toEqual([{ number: 2, word: "a" }, false]);
  });
  it("is forgotten of a drag, too", () => {
    const { history, state, numbers, set } = parts();
    history.start();
    set(1);
    history.change(() => {
      state.word = "b";
    });
    numbers.revise(() => undefined);
    history.end();
    history.undo();
    expect(state).toEqual({ number: 1, word: "a" });
  });
  it("where a part was absent a step leaves it as it is", () => {
    const { history, state, set } = parts();
    state.word = undefined;
    set(1);
    state.word = "new";
    history.undo();
    expect(state).toEqual({ number: 0, word: "new" });
  });
  it("what the next step leads to is told", () => {
    const { history, numbers, set } = parts();
    expect(numbers.next(true)).toBeUndefined();
    set(1);
    expect(numbers.next(true)).toBe(0);
    history.undo();
    expect([numbers.next(true), numbers.next(false)]).toEqual([undefined, 1]);
  });
});
