// The page's side of the protocol of roofwidget/state/messages.py, with a Python that answers when the test says so.

import { describe, expect, it, vi } from "vitest";
import { fuse } from "../../src/fusion/partition.ts";
import { difference, merged, applied as patched, rebased } from "../../src/state/changes.ts";
import { createStore } from "../../src/state/store.ts";
import { isEqual } from "../../src/ui/equal.ts";
import { chain, stateOf } from "../chains.ts";
import { eachWithClock, FakeModel, type PageMessage, seeded } from "../helpers.ts";

const GRAPHS = [
  ["prefill", chain("prefill")],
  ["decode", chain("decode")],
] as const;

/** Python that answers only when it is told to. */
class SlowModel extends FakeModel {
  readonly messages: PageMessage[] = [];
  isGone = false;
  #missed = 0;
  override send(content: unknown): void {
    if (this.isGone) throw new Error("Kernel is dead");
    this.messages.push(content as PageMessage);
  }
  get last(): PageMessage {
    return this.messages.at(-1) as PageMessage;
  }
  /** Answers the last message as Python does with values that it accepts. */
  answer(): void {
    super.send(this.last);
  }
  /** Answers the last message with these values. */
  refuse(values: Record<string, unknown>): void {
    this.update(values, this.last.page, this.last.number);
  }
  /** An update is lost. */
  miss(): void {
    this.#missed += 1;
  }
  override receive(name: string, value: unknown): void {
    this.update({ [name]: value }, "", 0, 1 + this.#missed);
    this.#missed = 0;
  }
  /** The host fetches the state as a whole, as it was some updates ago. */
  restore(values: Record<string, unknown>, ticks = 0): void {
    this.update(values, "", -1, ticks + this.#missed);
    this.#missed = 0;
  }
  /** Another page has changed something. */
  hear(values: Record<string, unknown>): void {
    this.update(values, "another", 1);
  }
}

const abort = eachWithClock();
function make(state: Record<string, unknown> = {}) {
  const model = new SlowModel({ ...stateOf([]), ...state });
  const store = createStore(model, abort().signal);
  expect(model.messages).toMatchObject([{ number: 1, ask: expect.arrayContaining(["what_if", "selected"]) }]);
  model.answer();
  model.messages.length = 0;
  return { model, store };
}
const bandwidth = (rate: number) => ({ c: { bandwidth: { HBM: rate } } });

describe("a message", () => {
  it("is numbered, names its page, and only one is unanswered", () => {
    const { model, store } = make();
    store.rows.select([0]);
    store.view.setSearch("a");
    store.view.setSearch("b");
    expect(model.messages).toEqual([
      { kind: "roofwidget", page: model.last.page, number: 2, values: { selected: [0] } },
    ]);
    model.answer();
    expect(model.messages.slice(1)).toMatchObject([{ number: 3, values: { search: "b" } }]);
    model.answer();
    expect(model.messages).toHaveLength(2);
    expect(vi.getTimerCount()).toBe(0);
  });
  it("holds only what was changed of a mapping, and null for what was removed", () => {
    const { model, store } = make({ what_if: { d: { bandwidth: { HBM: 3 } }, ...bandwidth(4) } });
    store.rates.setRate("bandwidth", 10);
    expect(model.last).toMatchObject({ changes: { what_if: { c: { bandwidth: { HBM: null } } } } });
    store.rates.setRate("bandwidth", 5);
    store.rates.setRate("peak_flops", 6);
    model.answer();
    expect(model.last).toMatchObject({
      changes: { what_if: { c: { bandwidth: { HBM: 5 }, peak_flops: { bf16: 6 } } } },
    });
  });
  it("without an answer is sent again as it was, less and less often", () => {
    const { model, store } = make();
    store.view.setSearch("a");
    store.view.setSearch("b");
    const times = [1, 2, 4, 8, 10, 10];
    for (const [at, seconds] of times.entries()) {
      vi.advanceTimersByTime(seconds * 1000 - 1);
      expect(model.messages).toHaveLength(at + 1);
      vi.advanceTimersByTime(1);
      expect(model.messages).toHaveLength(at + 2);
    }
    expect(new Set(model.messages.map((message) => JSON.stringify(message))).size).toBe(1);
    model.answer();
    expect(model.last).toMatchObject({ number: 3, values: { search: "b" } });
  });
  it("that the host cannot send is sent later", () => {
    const { model, store } = make();
    model.isGone = true;
    store.view.setSearch("a");
    model.isGone = false;
    vi.advanceTimersByTime(1000);
    expect(model.messages).toMatchObject([{ number: 2, values: { search: "a" } }]);
  });
  it("has its prints shown where the host shows those of other widgets", () => {
    const heard: unknown[] = [];
    class Host extends FakeModel {
      readonly widget_manager = { callbacks: () => "log" };
      override send(content: unknown, callbacks?: unknown): void {
        heard.push(callbacks);
        super.send(content);
      }
    }
    createStore(new Host(stateOf([])), abort().signal).view.setSearch("a");
    expect(heard).toEqual(["log", "log"]);
  });
  it("of a drag follows the answer to the one before at the pace of a stream", () => {
    const { model, store } = make();
    const drag = store.rates.dragRates({ quantity: "bandwidth" });
    const moves = (from: number, to: number) => {
      for (let rate = from; rate <= to; rate++) {
        drag.move([rate]);
        vi.advanceTimersByTime(25);
      }
    };
    moves(11, 19);
    expect(model.messages).toMatchObject([{ changes: { what_if: bandwidth(19) } }]);
    moves(20, 22);
    model.answer();
    expect(model.messages).toHaveLength(1);
    moves(23, 28);
    expect(model.messages[1]).toMatchObject({ changes: { what_if: bandwidth(28) } });
    moves(29, 45);
    expect(model.messages).toHaveLength(2);
    model.answer();
    expect(model.messages[2]).toMatchObject({ changes: { what_if: bandwidth(45) } });
  });
  it("of a phase is not joined with what was changed in the phase before", () => {
    const { model, store } = make(stateOf(GRAPHS));
    store.view.setSearch("busy");
    const { graph, partition } = store.workload.graph.value as NonNullable<typeof store.workload.graph.value>;
    store.workload.setPartition(fuse(graph, partition, 0, 1));
    vi.advanceTimersByTime(10);
    store.history.undo();
    store.workload.setPhase("decode");
    expect(model.messages).toHaveLength(1);
    model.answer();
    expect(model.last.values).toEqual({ partition: [[0], [1]] });
    model.answer();
    expect(model.last.values).toMatchObject({ phase: "decode", partition: [[0], [1]] });
  });
});

describe("a host that runs the cells which read a widget", () => {
  it("is told of each change that Python has applied, and of no question", () => {
    const saved: unknown[] = [];
    const { model, store } = make({ _runs_cells: true });
    Object.assign(model, {
      set: (name: string, value: unknown) => saved.push([name, value]),
      save_changes: () => saved.push("saved"),
    });
    store.view.setSearch("a");
    expect(saved).toEqual([]);
    model.answer();
    expect(saved).toEqual([["_answered", 2], "saved"]);
    model.miss();
    model.receive("title", "later");
    vi.advanceTimersByTime(500);
    model.answer();
    expect(saved).toHaveLength(2);
  });
  it("of another kind is told nothing", () => {
    const { model, store } = make();
    Object.assign(model, { set: vi.fn(), save_changes: vi.fn() });
    store.view.setSearch("a");
    model.answer();
    expect((model as unknown as { set: unknown }).set).not.toHaveBeenCalled();
  });
});

describe("a merge that waits while Python changes the phase", () => {
  it("is not made in the other phase", () => {
    const { model, store } = make(stateOf(GRAPHS));
    const { graph, partition } = store.workload.graph.value as NonNullable<typeof store.workload.graph.value>;
    store.view.setSearch("busy");
    store.workload.setPartition(fuse(graph, partition, 0, 1));
    vi.advanceTimersByTime(10);
    model.receive("phase", "decode");
    model.answer();
    expect(model.messages.filter(({ values = {} }) => "partition" in values)).toEqual([]);
    expect([store.workload.phase.value, store.workload.graph.value?.partition.groups]).toEqual(["decode", [[0], [1]]]);
  });
});

describe("a late answer", () => {
  it("does not move back what has been changed since", () => {
    const { model, store } = make();
    store.view.setSearch("a");
    store.view.setSearch("ab");
    model.answer();
    expect(store.view.search.value).toBe("ab");
    model.answer();
    expect([store.view.search.value, model.get("search")]).toEqual(["ab", "ab"]);
  });
  it("does not move back a drag, nor does another page that drags the same", () => {
    const { model, store } = make();
    const drag = store.rates.dragRates({ quantity: "bandwidth" });
    drag.move([11]);
    vi.advanceTimersByTime(100);
    drag.move([12]);
    model.answer();
    model.hear({ what_if: bandwidth(99) });
    expect(store.rates.focusRoof.value?.bandwidth).toBe(12);
    drag.end();
    expect(store.rates.focusRoof.value?.bandwidth).toBe(12);
    expect(model.last).toMatchObject({ changes: { what_if: bandwidth(12) } });
    model.answer();
    expect([store.rates.focusRoof.value?.bandwidth, model.get("what_if")]).toEqual([12, bandwidth(12)]);
  });
  it("to an unanswered rate does not hide other rates of another page", () => {
    const { model, store } = make();
    store.rates.setRate("bandwidth", 12);
    model.hear({ what_if: { c: { peak_flops: { bf16: 7 }, bandwidth: { HBM: 99 } } } });
    expect(store.rates.whatIf.value).toEqual({ c: { peak_flops: { bf16: 7 }, bandwidth: { HBM: 12 } } });
  });
});

describe("a refused value", () => {
  it("goes, and so does its undo entry", () => {
    const { model, store } = make();
    store.rates.setRate("bandwidth", 12);
    expect(store.history.canUndo.value).toBe(true);
    model.refuse({ what_if: {} });
    expect([store.rates.whatIf.value, store.history.canUndo.value]).toEqual([{}, false]);
    store.view.setSearch("no");
    model.refuse({ search: "" });
    expect(store.view.search.value).toBe("");
  });
  it("that the pointer holds goes when it is let go", () => {
    const { model, store } = make();
    const drag = store.rates.dragRates({ quantity: "bandwidth" });
    drag.move([12]);
    vi.advanceTimersByTime(100);
    model.refuse({ what_if: {} });
    expect(store.rates.focusRoof.value?.bandwidth).toBe(12);
    drag.end();
    model.refuse({ what_if: {} });
    expect([store.rates.focusRoof.value?.bandwidth, store.history.canUndo.value]).toEqual([10, false]);
  });
});

describe("what another page did", () => {
  it("is no undo entry and keeps redo, and undo does not take it back", () => {
    const { model, store } = make();
    store.rates.setRate("bandwidth", 12);
    model.answer();
    model.hear({ what_if: { c: { bandwidth: { HBM: 12 }, peak_flops: { bf16: 7 } } } });
    store.history.undo();
    model.answer();
    expect(store.rates.whatIf.value).toEqual({ c: { peak_flops: { bf16: 7 } } });
    model.hear({ what_if: { c: { peak_flops: { bf16: 8 } } }, view: "time" });
    expect([store.history.canUndo.value, store.history.canRedo.value]).toEqual([false, true]);
    store.history.redo();
    expect(store.rates.whatIf.value).toEqual({ c: { bandwidth: { HBM: 12 }, peak_flops: { bf16: 8 } } });
    expect(store.view.plane.value).toBe("time");
  });
  it("to a graph is none either, and its phase comes with its groups and sizes", () => {
    const { model, store } = make(stateOf(GRAPHS));
    const { graph, partition } = store.workload.graph.value as NonNullable<typeof store.workload.graph.value>;
    store.workload.setDim("n", 50);
    model.answer();
    model.hear({ phase: "decode", partition: [[0, 1]], dims: { n: 7 }, convention: "mac", dtype: null });
    expect(store.workload.graph.value).toMatchObject({
      dims: { n: 7 },
      convention: "mac",
      partition: { groups: [[0, 1]] },
    });
    expect(fuse(graph, partition, 0, 1).groups).toEqual([[0, 1]]);
    store.history.undo();
    model.answer();
    expect([store.workload.phase.value, store.workload.graph.value?.dims]).toEqual(["prefill", {}]);
  });
  it("is an entry if Python code did it", () => {
    const { model, store } = make();
    model.receive("view", "time");
    expect(store.history.canUndo.value).toBe(true);
  });
});

describe("a lost update", () => {
  it("is noticed at the next one, and the page asks for all shared traits", () => {
    const { model, store } = make();
    model.miss();
    model.receive("search", "a");
    vi.runOnlyPendingTimers();
    expect(model.last).toMatchObject({ ask: expect.arrayContaining(["what_if", "view", "search"]) });
    model.refuse({ view: "time" });
    expect(store.view.plane.value).toBe("time");
  });
  it("that came before a state as a whole is asked for, too", () => {
    const { model } = make();
    model.miss();
    model.restore({ view: "time" });
    vi.runOnlyPendingTimers();
    expect(model.last).toMatchObject({ ask: expect.arrayContaining(["view"]) });
  });
});

describe("a state that is older than what the page has", () => {
  it("is not taken, and what it would have changed is asked for", () => {
    const { model, store } = make();
    model.receive("search", "new");
    model.receive("view", "time");
    model.restore({ search: "", view: "roofline" }, -1);
    expect([store.view.search.value, store.view.plane.value]).toEqual(["new", "time"]);
    vi.runOnlyPendingTimers();
    expect(model.messages).toMatchObject([{ ask: ["search", "view"] }]);
    // Python says what the page has, and what the model of the page had before.
    model.refuse({ search: "new", view: "roofline" });
    expect([store.view.search.value, store.view.plane.value]).toEqual(["new", "roofline"]);
  });
  it("with the clock of the page is nothing new", () => {
    const { model, store } = make();
    model.receive("search", "new");
    model.restore({ search: "new" });
    vi.runOnlyPendingTimers();
    expect([store.view.search.value, model.messages]).toEqual(["new", []]);
  });
});

describe("how long Python has not answered", () => {
  it("counts from the oldest change that has no answer, and hovering counts for nothing", () => {
    const { model, store } = make();
    const start = performance.now();
    store.rows.hover(0);
    expect(store.python.waitingSince.value).toBeUndefined();
    vi.advanceTimersByTime(500);
    store.view.setSearch("a");
    vi.advanceTimersByTime(300);
    store.view.setSearch("b");
    expect(store.python.waitingSince.value).toBe(start + 500);
    model.answer();
    expect(store.python.waitingSince.value).toBe(start + 500);
    model.answer();
    expect(store.python.waitingSince.value).toBeUndefined();
  });
  it("is not said of a page that never had a Python", () => {
    const model = new SlowModel(stateOf([]));
    const store = createStore(model, abort().signal);
    store.view.setSearch("a");
    expect(store.python.waitingSince.value).toBeUndefined();
  });
  it("is over once the kernel of the model is gone, and nothing is sent any more", () => {
    const { model, store } = make();
    store.view.setSearch("a");
    store.python.disconnect();
    store.view.setSearch("b");
    vi.advanceTimersByTime(100_000);
    expect([store.python.waitingSince.value, store.view.search.value, model.messages.length]).toEqual([
      undefined,
      "b",
      1,
    ]);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe("the end of a page", () => {
  it("sends what waits for an answer, in order", () => {
    const { model, store } = make();
    store.view.setSearch("a");
    store.view.setSearch("b");
    abort().abort();
    expect(model.messages).toMatchObject([{ number: 2 }, { number: 3, values: { search: "b" } }]);
  });
});

describe("changes of a mapping", () => {
  const random = seeded(5);
  const draw = () => {
    const leaves = () =>
      Object.fromEntries(["x", "y"].flatMap((key) => (random() < 0.5 ? [[key, Math.floor(3 * random())]] : [])));
    const all = ["a", "b", "c"].map((key) => [key, leaves()] as const);
    return Object.fromEntries(all.filter(([, own]) => Object.keys(own).length > 0));
  };
  it("make the one of the other, one after another or merged", () => {
    for (let count = 0; count < 500; count++) {
      const [one, two, three] = [draw(), draw(), draw()];
      const [first, second] = [difference(one, two), difference(two, three)];
      expect(patched(one, first)).toEqual(two);
      expect(patched(one, merged(first, second))).toEqual(three);
      expect(isEqual(one, two)).toBe(Object.keys(first).length === 0);
      // An entry that equals the value before follows, and one that differs in a key keeps this key.
      expect(rebased(one, one, two)).toEqual(two);
      const own = rebased(three, one, two);
      for (const key of ["a", "b", "c"]) {
        for (const leaf of ["x", "y"]) {
          const [was, now, kept] = [one[key]?.[leaf], two[key]?.[leaf], three[key]?.[leaf]];
          expect((own as typeof one)[key]?.[leaf]).toBe(kept === was ? now : kept);
        }
      }
    }
  });
});
