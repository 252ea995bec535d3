// The step in the address of an exported page.

import { computed, signal } from "@preact/signals";
import { describe, expect, it } from "vitest";
import type { Model } from "../../src/state/model.ts";
import { followStepLink, type StepLink } from "../../src/state/step_link.ts";
import type { Story } from "../../src/wire/types.ts";
import { makeStory } from "../lessons.ts";

/** A page with this address: the step that it names, from 1. */
function page(address = Number.NaN, story: Story | null = makeStory({}, {}, {}, {})) {
  let [named, follow] = [address, () => {}];
  const written: number[] = [];
  const link: StepLink = {
    read: () => named,
    write(next) {
      named = next;
      written.push(next);
    },
    follow(changed, signal) {
      follow = changed;
      signal.addEventListener("abort", () => {
        follow = () => {};
      });
    },
  };
  const step = signal(0);
  const abort = new AbortController();
  const model = { get: (name: string) => (name === "step_link" ? link : undefined) } as unknown as Model;
  function show(next: number) {
    step.value = next;
  }
  followStepLink(model, { story: computed(() => story), step, show }, abort.signal);
  const go = (next: number) => {
    named = next;
    follow();
  };
  return { step, written, go, abort };
}

describe("the address of a page", () => {
  it("names the step that is shown first", () => {
    expect(page(3).step.value).toBe(2);
    expect(page().step.value).toBe(0);
  });
  it.each([0, -1, 4, 1.5, Number.NaN])("is ignored if it names %d, which is no step", (address) => {
    expect(page(address).step.value).toBe(0);
  });
  it("follows the step, but names no first step by itself", () => {
    const { step, written } = page();
    expect(written).toEqual([]);
    step.value = 1;
    step.value = 0;
    expect(written).toEqual([2, 1]);
  });
  it("is corrected if it names no step", () => {
    const { written } = page(9);
    expect(written).toEqual([1]);
  });
  it("is followed when it changes", () => {
    const { step, go } = page();
    go(3);
    expect(step.value).toBe(2);
    go(7);
    expect(step.value).toBe(2);
  });
  it("is left alone after the widget is closed, and without a story", () => {
    const { step, written, go, abort } = page();
    abort.abort();
    step.value = 2;
    go(2);
    expect([step.value, written]).toEqual([2, []]);
    expect(page(2, null).step.value).toBe(0);
  });
});
