// Long work in slices, with frames between them.

import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { heapOf } from "../../src/fusion/greedy.ts";
import { finish, inSlices, type Work } from "../../src/ui/slices.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Each step takes 3 ms. */
function* steps(count: number, done: number[] = []): Work<string> {
  for (let step = 1; step <= count; step++) {
    vi.advanceTimersByTime(3);
    done.push(step);
    yield;
  }
  return "done";
}

describe("long work", () => {
  it("is done at once where it fits into a slice of 8 ms", () => {
    const then = vi.fn();
    inSlices(steps(2), then);
    expect(then).toHaveBeenCalledExactlyOnceWith("done");
  });
  it("else goes on after what waits for the thread", () => {
    const [done, then]: [number[], (result: string) => void] = [[], vi.fn()];
    inSlices(steps(5, done), then);
    expect(done).toEqual([1, 2, 3]);
    expect(then).not.toHaveBeenCalled();
    vi.runOnlyPendingTimers();
    expect(done).toEqual([1, 2, 3, 4, 5]);
    expect(then).toHaveBeenCalledExactlyOnceWith("done");
  });
  it("is begun in a task of its own where that is asked for, unless it is abandoned first", () => {
    const then = vi.fn();
    inSlices(steps(2), then, { later: true });
    inSlices(steps(2), then, { later: true })();
    expect(then).not.toHaveBeenCalled();
    vi.runAllTimers();
    expect(then).toHaveBeenCalledExactlyOnceWith("done");
  });
  it("is abandoned between slices, and tells nothing", () => {
    const [done, then]: [number[], (result: string) => void] = [[], vi.fn()];
    inSlices(steps(5, done), then)();
    vi.runAllTimers();
    expect(done).toEqual([1, 2, 3]);
    expect(then).not.toHaveBeenCalled();
  });
  it("comes to the same all at once", () => {
    expect(finish(steps(5))).toBe("done");
  });
});

describe("a heap", () => {
  it("gives its items in order, whenever they were pushed, and nothing once it is empty", () => {
    const heap = heapOf<number>((a, b) => a < b);
    const given: (number | undefined)[] = [];
    for (const item of [5, 3, 8, 3, 9, 1]) heap.push(item);
    given.push(heap.pop(), heap.pop());
    for (const item of [2, 7]) heap.push(item);
    while (given.length < 9) given.push(heap.pop());
    expect(given).toEqual([1, 3, 2, 3, 5, 7, 8, 9, undefined]);
  });
});
