// The entry in a host: what is slow comes after the initialization, and a view says why it has nothing to draw.

import { beforeEach, describe, expect, it, vi } from "vitest";
import widgetOf from "../src/widget.tsx";
import { stateOf } from "./chains.ts";
import { eachWithClock, FakeModel } from "./helpers.ts";

const current = eachWithClock();
beforeEach(() => void vi.spyOn(console, "error").mockImplementation(() => {}));

/** A model of which each read of its values is counted. The layout is another model. */
class CountingModel extends FakeModel {
  reads = 0;
  override get(name: string): unknown {
    if (name !== "layout") this.reads += 1;
    return super.get(name);
  }
}

function initialized(model: FakeModel) {
  const widget = widgetOf();
  const { signal } = current();
  expect(widget.initialize({ model, signal, el: undefined as unknown as HTMLElement })).toBeUndefined();
  return widget;
}

describe("the initialization", () => {
  it("returns before anything is read or decoded: a host gives it two seconds", () => {
    const model = new CountingModel(stateOf([]));
    initialized(model);
    // What is listened to is the end of the model.
    expect([model.reads, model.listening]).toEqual([0, 1]);
    vi.runAllTimers();
    expect(model.reads).toBeGreaterThan(30);
    expect(model.listening).toBeGreaterThan(30);
  });
  it("reads what Python sent meanwhile", () => {
    const model = new CountingModel(stateOf([]));
    initialized(model);
    model.receive("title", "later");
    const titles: unknown[] = [];
    vi.spyOn(model, "get").mockImplementation((name) => {
      if (name === "title") titles.push(model.state[name]);
      return model.state[name];
    });
    vi.runAllTimers();
    expect(titles).toEqual(["later"]);
  });
  it("reads nothing for a model that was closed meanwhile", () => {
    const model = new CountingModel(stateOf([]));
    initialized(model);
    current().abort();
    vi.runAllTimers();
    expect(model.reads).toBe(0);
  });
  it("that fails is shown in the view, in one sentence", async () => {
    const widget = initialized(new FakeModel({ ...stateOf([]), kernels: null }));
    vi.runAllTimers();
    const el = { textContent: "" } as HTMLElement;
    await widget.render({ model: new FakeModel({}), signal: current().signal, el });
    expect(el.textContent).toMatch(/^This roofwidget could not be drawn \(.+\): run the cell again\.$/);
    expect(console.error).toHaveBeenCalledOnce();
  });
});
