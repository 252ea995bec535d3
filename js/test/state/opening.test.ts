// Opening a profile: parts of a file, what the person is asked, what Python refuses; and requests that get lost.

import { describe, expect, it, vi } from "vitest";
import { createOpening } from "../../src/state/opening.ts";
import { createRequests, type Reply } from "../../src/state/requests.ts";
import { eachWithClock, FakeModel } from "../helpers.ts";

const current = eachWithClock();

interface Asked {
  readonly page: string;
  readonly number: number;
  readonly ask: string;
  readonly [key: string]: unknown;
}

/** A model whose Python replies to requests as the test says. */
class AskedModel extends FakeModel {
  readonly asked: Asked[] = [];
  readonly bytes: number[] = [];
  replies: (asked: Asked) => Reply | undefined = () => undefined;
  readonly #hears = new Set<(content?: unknown) => void>();

  override send(content: unknown, _callbacks?: unknown, buffers?: readonly ArrayBuffer[]): void {
    const asked = content as Asked;
    this.asked.push(asked);
    if (buffers?.[0]) this.bytes.push(buffers[0].byteLength);
    const reply = this.replies(asked);
    if (reply) this.hear({ kind: "roofwidget-reply", page: asked.page, number: asked.number, ...reply });
  }
  hear(reply: unknown) {
    for (const callback of [...this.#hears]) callback(reply);
  }
  override on(event: string, callback: (content?: unknown) => void): void {
    if (event === "msg:custom") this.#hears.add(callback);
  }
  override off(_event: string, callback: (content?: unknown) => void): void {
    this.#hears.delete(callback);
  }
}

function make(canCompare = false) {
  const model = new AskedModel({});
  const requests = createRequests(model, current().signal);
  const { state, actions } = createOpening(requests, () => canCompare);
  const settle = () => vi.advanceTimersByTimeAsync(0);
  return { model, requests, state, ...actions, settle };
}

const file = (bytes: number, name = "run.json") => new File([new Uint8Array(bytes)], name);
const taken = ({ ask, offset = 0 }: Asked): Reply => (ask === "show" ? { shown: 7 } : { received: Number(offset) });

describe("a file", () => {
  it("is refused when its kernel is gone, whether it is sent or read, and so is the next one", async () => {
    const reason = "Python was restarted";
    for (const last of ["part", "show"]) {
      const { model, requests, state, openFile, settle } = make();
      model.replies = (asked) => (asked.ask === last ? undefined : taken(asked));
      openFile([file(10)]);
      await settle();
      expect(state.opening.value.step).toBe(last === "part" ? "sending" : "reading");
      requests.refuseAll(reason);
      await settle();
      expect(state.opening.value).toEqual({ step: "refused", name: "run.json", reason });
      const { length } = model.asked;
      openFile([file(10, "next.json")]);
      await vi.advanceTimersByTimeAsync(120_000);
      expect(state.opening.value).toEqual({ step: "refused", name: "next.json", reason });
      expect(model.asked.length).toBe(length);
    }
  });
  it("is sent in parts of 1 MiB, each after the reply to the one before, and is then shown", async () => {
    const { model, state, openFile, settle } = make();
    openFile([file(2.5 * 2 ** 20)]);
    const steps: string[] = [];
    for (let at = 0; at < 6; at++) {
      await settle();
      steps.push(state.opening.value.step);
      const last = model.asked.at(-1) as Asked;
      model.hear({ kind: "roofwidget-reply", page: last.page, number: last.number, ...taken(last) });
    }
    expect(model.asked.map(({ ask, offset }) => [ask, offset])).toEqual([
      ["part", 0],
      ["part", 2 ** 20],
      ["part", 2 ** 21],
      ["show", undefined],
    ]);
    expect(model.bytes).toEqual([2 ** 20, 2 ** 20, 2 ** 19]);
    expect(steps.slice(0, 4)).toEqual(["sending", "sending", "sending", "reading"]);
    expect(state.opening.value).toEqual({ step: "opened", name: "run.json", kernels: 7 });
  });
  it("that is empty is sent as one empty part, so that the reader says what is wrong", async () => {
    const { model, openFile, settle } = make();
    model.replies = taken;
    openFile([file(0)]);
    await settle();
    expect(model.asked.map(({ ask }) => ask)).toEqual(["part", "show"]);
  });
  it("waits for the person's choice if there are kernels to compare with", async () => {
    const { model, state, openFile, proceed, settle } = make(true);
    model.replies = taken;
    openFile([file(10)]);
    await settle();
    expect([state.opening.value.step, model.asked.length]).toEqual(["choosing", 0]);
    proceed(true);
    await settle();
    expect(model.asked.at(-1)).toMatchObject({ ask: "show", compare: true });
  });
  it("is refused with Python's reason, and a refused part is the last", async () => {
    const { model, state, openFile, settle } = make();
    model.replies = () => ({ refused: "too large" });
    openFile([file(3 * 2 ** 20)]);
    await settle();
    expect(state.opening.value).toEqual({ step: "refused", name: "run.json", reason: "too large" });
    expect(model.asked.length).toBe(1);
  });
  it("that is cancelled is forgotten by Python, and its late reply changes nothing", async () => {
    const { model, state, openFile, dismissOpening, settle } = make();
    openFile([file(3 * 2 ** 20)]);
    await settle();
    dismissOpening();
    const first = model.asked[0] as Asked;
    model.hear({ kind: "roofwidget-reply", page: first.page, number: first.number, received: 2 ** 20 });
    await settle();
    expect(state.opening.value).toEqual({ step: "idle" });
    expect(model.asked.map(({ ask }) => ask)).toEqual(["part", "cancel"]);
  });
});

it("several files are sent one beside the other, and shown as series without a question", async () => {
  const { model, state, openFile, settle } = make(true);
  model.replies = taken;
  openFile([file(10, "a.csv"), file(20, "b.csv")]);
  await settle();
  await settle();
  expect(model.asked).toMatchObject([
    { ask: "part", name: "a.csv", size: 10, beside: false },
    { ask: "part", name: "b.csv", size: 20, beside: true },
    { ask: "show", compare: false },
  ]);
  expect(state.opening.value).toEqual({ step: "opened", name: "a.csv, b.csv", kernels: 7 });
});

it("the example, the exchange of two runs and the end of a comparison are asked for, and may be refused", async () => {
  const { model, state, openExample, swapRuns, stopComparing, settle } = make();
  model.replies = ({ ask }) => (ask === "stop" ? { refused: "not here" } : {});
  for (const act of [openExample, swapRuns, stopComparing]) {
    act();
    await settle();
  }
  expect(model.asked.map(({ ask }) => ask)).toEqual(["example", "swap", "stop"]);
  expect(state.opening.value).toEqual({ step: "refused", name: "", reason: "not here" });
});

it("a path is read where Python runs", async () => {
  const { model, state, openFile, settle } = make();
  model.replies = taken;
  openFile("runs/a.csv");
  await settle();
  expect(model.asked).toMatchObject([{ ask: "show", path: "runs/a.csv", compare: false }]);
  expect(state.opening.value).toEqual({ step: "opened", name: "runs/a.csv", kernels: 7 });
});

describe("a request", () => {
  it("is repeated with the same number until it is answered, at longer and longer intervals", async () => {
    const { model, requests } = make();
    const reply = requests.ask({ ask: "catalogue" });
    for (const ms of [0, 4000, 8000, 16_000]) await vi.advanceTimersByTimeAsync(ms);
    expect(model.asked.map(({ number }) => number)).toEqual([1, 1, 1, 1]);
    const { page } = model.asked[0] as Asked;
    model.hear({ kind: "roofwidget-reply", page: "another page", number: 1, catalogue: "no" });
    model.hear({ kind: "roofwidget-reply", page, number: 1, catalogue: "yes" });
    expect((await reply).catalogue).toBe("yes");
    await vi.advanceTimersByTimeAsync(200_000);
    expect(model.asked.length).toBe(4);
  });
  it("waits for the reply to the one before", async () => {
    const { model, requests, settle } = make();
    const both = [requests.ask({ ask: "cancel" }), requests.ask({ ask: "catalogue" })];
    await settle();
    expect(model.asked.map(({ ask }) => ask)).toEqual(["cancel"]);
    model.replies = () => ({});
    model.hear({ kind: "roofwidget-reply", page: model.asked[0]?.page, number: 1 });
    await Promise.all(both);
    expect(model.asked.map(({ ask }) => ask)).toEqual(["cancel", "catalogue"]);
  });
  it("ends when the widget is closed", async () => {
    const { requests, settle } = make();
    const reply = expect(requests.ask({ ask: "catalogue" })).rejects.toThrow("closed");
    await settle();
    current().abort();
    await reply;
  });
  it("is not sent after the widget was closed, also if it waited for the request before it", async () => {
    const { model, requests, settle } = make();
    const replies = ["cancel", "catalogue"].map((ask) =>
      expect(requests.ask({ ask } as Parameters<typeof requests.ask>[0])).rejects.toThrow("closed"),
    );
    await settle();
    current().abort();
    await settle();
    expect(model.asked.map(({ ask }) => ask)).toEqual(["cancel"]);
    expect(vi.getTimerCount()).toBe(0);
    await Promise.all(replies);
    await expect(requests.ask({ ask: "catalogue" })).rejects.toThrow("closed");
  });
});
