// Throttled signals: during a drag they change at a readable pace, and at its end they have the last value.

import { computed, effect, signal } from "@preact/signals";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { throttled } from "../../src/ui/throttled.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function make() {
  const [one, other, held] = [signal(1), signal(10), signal(false)];
  const calm = throttled({ one, other }, held);
  const seen: [number, number][] = [];
  effect(() => void seen.push([calm.one.value, calm.other.value]));
  const move = (value: number) => {
    one.value = value;
    other.value = 10 * value;
  };
  return { one, held, calm, seen, move };
}

describe("throttled signals", () => {
  it("are what they follow while nothing is held", () => {
    const { calm, move } = make();
    move(2);
    expect([calm.one.value, calm.other.value]).toEqual([2, 20]);
  });
  it("follow what is held once in 125 ms, all at once", () => {
    const { seen, held, move } = make();
    held.value = true;
    seen.length = 0;
    // 30 frames at 60 Hz: half a second.
    for (let frame = 1; frame <= 30; frame++) {
      move(frame);
      vi.advanceTimersByTime(1000 / 60);
    }
    expect(seen.length).toBeGreaterThanOrEqual(3);
    expect(seen.length).toBeLessThanOrEqual(5);
    for (const [one, other] of seen) expect(other).toBe(10 * one);
  });
  it("come to the last value though the hand rests without letting go", () => {
    const { calm, held, move } = make();
    held.value = true;
    move(7);
    vi.advanceTimersByTime(125);
    expect(calm.one.value).toBe(7);
  });
  it("keep the value from before the first change, for which nobody has asked yet", () => {
    const [source, held] = [signal(1), signal(false)];
    const calm = throttled({ source }, held);
    held.value = true;
    source.value = 2;
    expect(calm.source.value).toBe(1);
  });
  it("wait at the pace until the page is idle", () => {
    const idle = vi.fn();
    vi.stubGlobal("requestIdleCallback", idle);
    const { calm, held, move } = make();
    held.value = true;
    move(7);
    vi.advanceTimersByTime(1000);
    expect(calm.one.value).toBe(1);
    idle.mock.calls[0]?.[0]();
    expect(calm.one.value).toBe(7);
    vi.unstubAllGlobals();
  });
  it("are never behind once the hand lets go", () => {
    const { calm, held, move } = make();
    held.value = true;
    move(3);
    move(4);
    held.value = false;
    expect([calm.one.value, calm.other.value]).toEqual([4, 40]);
  });
  it("have nothing worked out that nobody asks for while nothing is held", () => {
    const [source, held, work] = [signal(1), signal(false), vi.fn()];
    const calm = throttled({ worked: computed(() => work(source.value)) }, held);
    source.value = 2;
    expect(work).not.toHaveBeenCalled();
    held.value = true;
    void calm.worked.value;
    held.value = false;
    work.mockClear();
    source.value = 3;
    expect(work).not.toHaveBeenCalled();
  });
  it("do not wake what listens while nothing changes", () => {
    const { seen, held } = make();
    held.value = true;
    vi.advanceTimersByTime(1000);
    held.value = false;
    expect(seen).toEqual([[1, 10]]);
  });
});
