// A closed model: the host may keep the model and its comm, but the values are released.

import { describe, expect, it, vi } from "vitest";
import { freeWhenClosed } from "../../src/state/closing.ts";
import { createStore } from "../../src/state/store.ts";
import { TRAIT_NAMES, wireName } from "../../src/state/traits.ts";
import { stateOf } from "../chains.ts";
import { eachWithClock, FakeModel } from "../helpers.ts";

/** An ipywidgets model, as a host makes it. */
class HostModel {
  readonly comm = { on_msg: vi.fn(), on_close: vi.fn() };
  readonly values: Map<string, unknown>;
  readonly callbacks: ((closed: HostModel) => void)[] = [];
  constructor(values: Record<string, unknown> = {}) {
    this.values = new Map(Object.entries(values));
  }
  on(event: string, callback: (closed: HostModel) => void) {
    if (event === "destroy") this.callbacks.push(callback);
  }
  close() {
    for (const callback of [...this.callbacks]) callback(this);
  }
  /** What anywidget gives to the page. */
  proxy() {
    return {
      get: (name: string) => this.values.get(name),
      set: (name: string, value: unknown, how: { unset?: boolean; silent?: boolean } = {}) => {
        expect(how.silent).toBe(true);
        if (how.unset) this.values.delete(name);
        else this.values.set(name, value);
      },
      send() {},
      on: (event: string, callback: (content?: unknown) => void) => this.on(event, callback),
      off: (_event: string, callback: unknown) =>
        void this.callbacks.splice(this.callbacks.indexOf(callback as never), 1),
    };
  }
  get isForgotten() {
    return [this.comm.on_msg, this.comm.on_close].every(({ mock }) => mock.calls.length > 0);
  }
}

const NAMES = TRAIT_NAMES.map(wireName);

function make(layout: unknown = new HostModel()) {
  const values = Object.fromEntries([...NAMES, "_esm", "_css"].map((name) => [name, "a value"]));
  const model = new HostModel({ ...values, layout, _view_name: "AnyView" });
  freeWhenClosed(model.proxy());
  return { model, layout: layout as HostModel };
}

describe("a closed model", () => {
  it("is forgotten by its comm, and loses its values, but not what the host needs for its views", () => {
    const { model, layout } = make();
    expect(model.isForgotten).toBe(false);
    expect(model.values.size).toBeGreaterThan(50);
    model.close();
    expect(model.isForgotten).toBe(true);
    expect([...model.values.keys()]).toEqual(["layout", "_view_name"]);
    expect(layout.isForgotten).toBe(false);
    expect(model.callbacks).toEqual([]);
  });
  it("may be closed after its layout", () => {
    const { model, layout } = make();
    layout.close();
    expect([layout.isForgotten, model.isForgotten]).toEqual([true, false]);
    model.close();
    expect(model.isForgotten).toBe(true);
  });
  it.each([
    ["no layout", null],
    ["a layout that is no model", {}],
  ])("in a host with %s ends as well", (_, layout) => {
    const { model } = make(layout);
    model.close();
    expect(model.values.has("_esm")).toBe(false);
  });
  it.each([
    ["does not tell which model was closed", undefined],
    ["has no comms", {}],
    ["has comms without callbacks", { comm: {} }],
  ])("in a host that %s ends as well", (_, closed) => {
    const { model } = make();
    for (const callback of [...model.callbacks]) callback(closed as never);
    expect(model.values.has("_esm")).toBe(false);
  });
});

describe("a drag that a closed model ends", () => {
  const abort = eachWithClock();
  it.each([
    ["without a move", false],
    ["after a move", true],
  ])("%s takes nothing more from Python, keeps its value, and sends nothing", (_, moves) => {
    const model = new FakeModel(stateOf([]));
    const controller = abort();
    const store = createStore(model, controller.signal);
    const drag = store.rates.dragRates({ quantity: "bandwidth" });
    if (moves) drag.move([7]);
    vi.advanceTimersByTime(1000);
    model.receive("what_if", { [store.rates.focusChip.value]: { peak_flops: { bf16: 5 } } });
    const { value: shown } = store.rates.whatIf;
    const count = model.sent.length;
    controller.abort();
    for (const name of TRAIT_NAMES) delete model.state[wireName(name)];
    expect(store.view.isHeld.value).toBe(false);
    drag.move([9]);
    drag.end();
    expect(store.rates.whatIf.value).toEqual(shown);
    expect(model.sent).toHaveLength(count);
  });
});
