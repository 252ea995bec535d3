// What a page says of its connection to Python: nothing, that changes wait, that there is no kernel, or that another one answers.

import { describe, expect, it, vi } from "vitest";
import { createStore, type Store } from "../../src/state/store.ts";
import { stateOf } from "../chains.ts";
import { eachWithClock, FakeModel } from "../helpers.ts";

const current = eachWithClock();

/** A model with a connection to a kernel, as JupyterLab has it. */
class KernelModel extends FakeModel {
  readonly layout: { model_id: string; comm_live: boolean };
  /** Whether the kernel answers the model's messages. */
  answers = true;
  /** The comms that the present kernel knows; "busy" if it does not answer, "none" if there is no kernel. */
  comms: readonly string[] | "busy" | "none" = ["layout"];
  questions = 0;
  readonly tried: unknown[] = [];
  readonly widget_manager = {
    kernel: {} as unknown,
    _get_comm_info: (): Promise<Record<string, unknown>> => {
      this.questions += 1;
      if (this.comms === "busy") return new Promise(() => {});
      if (this.comms === "none") return Promise.reject(new Error("No current kernel"));
      return Promise.resolve(Object.fromEntries(this.comms.map((id) => [id, {}])));
    },
  };
  readonly #live = new Set<() => void>();

  constructor(isLive = true) {
    super(stateOf([]));
    this.layout = { model_id: "layout", comm_live: isLive };
  }
  override get(name: string): unknown {
    return name === "layout" ? this.layout : super.get(name);
  }
  override send(content: unknown): void {
    this.tried.push(content);
    if (this.answers) super.send(content);
  }
  override on(event: string, callback: () => void): void {
    if (event === "comm_live_update") this.#live.add(callback);
    super.on(event, callback);
  }
  setLive(isLive: boolean): void {
    this.layout.comm_live = isLive;
    for (const callback of this.#live) callback();
  }
}

function make(model = new KernelModel()) {
  const store = createStore(model, current().signal);
  return { model, store, drag: (rate: number) => store.rates.setRate("peak_flops", rate) };
}

/** What the page says after so many seconds. */
async function noteAfter(seconds: number, store: Pick<Store, "python">): Promise<string> {
  await vi.advanceTimersByTimeAsync(seconds * 1000);
  return store.python.connection.value;
}

describe("the note on the connection", () => {
  it("is not there while Python answers", async () => {
    const { store, drag } = make();
    drag(70);
    expect(await noteAfter(60, store)).toBe("answering");
  });
  it("says after 5 s without an answer that changes wait, and goes with the answer", async () => {
    const { model, store, drag } = make();
    Object.assign(model, { answers: false, comms: "busy" });
    drag(70);
    expect(await noteAfter(4.9, store)).toBe("answering");
    expect(await noteAfter(0.2, store)).toBe("waiting");
    expect(await noteAfter(60, store)).toBe("waiting");
    // The host answers in time, so one question is enough.
    expect(model.questions).toBe(1);
    model.answers = true;
    expect(await noteAfter(40, store)).toBe("answering");
    expect(store.rates.focusRoof.value?.peak).toBe(70);
    expect(model.sent.at(-1)).toMatchObject({ what_if: { c: { peak_flops: { bf16: 70 } } } });
  });
  it("counts the 5 s from the oldest change, however long the drag goes on", async () => {
    const { model, store, drag } = make();
    Object.assign(model, { answers: false, comms: "busy" });
    for (let step = 0; step < 49; step++) {
      drag(50 + step);
      expect(await noteAfter(0.1, store)).toBe("answering");
    }
    expect(await noteAfter(0.2, store)).toBe("waiting");
  });
  it("says that Python was restarted when the kernel that answers does not know the model", async () => {
    const { model, store, drag } = make();
    Object.assign(model, { answers: false, comms: [] });
    drag(70);
    expect(await noteAfter(5.1, store)).toBe("restarted");
    // The page keeps its state, and sends nothing any more.
    expect(store.rates.focusRoof.value?.peak).toBe(70);
    const tried = model.tried.length;
    drag(80);
    expect(await noteAfter(120, store)).toBe("restarted");
    expect(store.rates.focusRoof.value?.peak).toBe(80);
    expect([model.tried.length, model.questions]).toEqual([tried, 1]);
  });
  it("says so at once when the host reports a lost connection, and no change waits", async () => {
    const { model, store } = make();
    Object.assign(model, { answers: false, comms: [] });
    model.setLive(false);
    expect(await noteAfter(0, store)).toBe("restarted");
  });
  it("goes with a refusal of the file that is being opened", async () => {
    const { model, store } = make();
    Object.assign(model, { answers: false, comms: [] });
    store.python.openFile("run.json");
    expect(await noteAfter(60, store)).toBe("answering");
    expect(store.python.opening.value.step).toBe("reading");
    model.setLive(false);
    expect(await noteAfter(0, store)).toBe("restarted");
    expect(store.python.opening.value).toEqual({
      step: "refused",
      name: "run.json",
      reason: "Python was restarted: run the cell again.",
    });
  });
  it("asks until there is a kernel again", async () => {
    const { model, store } = make();
    Object.assign(model, { answers: false, comms: "none" });
    model.setLive(false);
    expect(await noteAfter(20, store)).toBe("answering");
    model.comms = [];
    expect(await noteAfter(5, store)).toBe("restarted");
  });
  it("says that Python has ended when the host has no kernel any more, until it finds one", async () => {
    const { model, store, drag } = make();
    Object.assign(model, { answers: false, comms: "none" });
    drag(70);
    expect(await noteAfter(5.1, store)).toBe("waiting");
    model.widget_manager.kernel = null;
    expect(await noteAfter(5, store)).toBe("ended");
    expect(store.rates.focusRoof.value?.peak).toBe(70);
    Object.assign(model.widget_manager, { kernel: {} });
    Object.assign(model, { answers: true, comms: ["layout"] });
    expect(await noteAfter(10, store)).toBe("answering");
    expect(model.sent.at(-1)).toMatchObject({ what_if: { c: { peak_flops: { bf16: 70 } } } });
  });
  it("says so also if nothing waits, and takes it back if the kernel is found again", async () => {
    const { model, store } = make();
    model.widget_manager.kernel = null;
    model.comms = "none";
    model.setLive(false);
    expect(await noteAfter(0, store)).toBe("ended");
    Object.assign(model.widget_manager, { kernel: {} });
    model.comms = ["layout"];
    model.setLive(true);
    expect(await noteAfter(5, store)).toBe("answering");
  });
  it("says that Python was restarted when another kernel follows the one that has ended", async () => {
    const { model, store, drag } = make();
    Object.assign(model, { answers: false, comms: "none" });
    model.widget_manager.kernel = null;
    drag(70);
    expect(await noteAfter(5.1, store)).toBe("ended");
    Object.assign(model.widget_manager, { kernel: {} });
    model.comms = [];
    expect(await noteAfter(5, store)).toBe("restarted");
  });
  it("does not take a kernel that knows the model for another one", async () => {
    const { model, store, drag } = make();
    model.setLive(false);
    expect(await noteAfter(1, store)).toBe("answering");
    model.setLive(true);
    model.answers = false;
    drag(70);
    expect(await noteAfter(20, store)).toBe("waiting");
    model.answers = true;
    expect(await noteAfter(40, store)).toBe("answering");
  });
  it("is there although the first answer never came, if the host has a kernel", async () => {
    const model = new KernelModel();
    Object.assign(model, { answers: false, comms: "busy" });
    const { store, drag } = make(model);
    drag(70);
    expect(await noteAfter(5.1, store)).toBe("waiting");
  });
  it("is never there in a page that never had a kernel", async () => {
    const model = new KernelModel(false);
    Object.assign(model, { answers: false, comms: [] });
    const { store, drag } = make(model);
    drag(70);
    model.setLive(false);
    expect(await noteAfter(120, store)).toBe("answering");
    expect(model.questions).toBe(0);
    expect(store.rates.focusRoof.value?.peak).toBe(70);
  });
  it("is never there in a host without a widget manager that never answers", async () => {
    const model = new FakeModel(stateOf([]));
    vi.spyOn(model, "send").mockImplementation(() => {});
    const store = createStore(model, current().signal);
    store.rates.setRate("peak_flops", 70);
    expect(await noteAfter(120, store)).toBe("answering");
  });
  it("ends with the model", async () => {
    const { model, store, drag } = make();
    Object.assign(model, { answers: false, comms: "none" });
    drag(70);
    expect(await noteAfter(5.1, store)).toBe("waiting");
    const { questions } = model;
    current().abort();
    expect(await noteAfter(60, store)).toBe("waiting");
    expect([model.questions, model.listening]).toEqual([questions, 0]);
  });
});
