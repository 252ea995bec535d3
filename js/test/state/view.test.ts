// The view of the chart: what is sent to Python, and what can be undone.

import { describe, expect, it, vi } from "vitest";
import { createStore } from "../../src/state/store.ts";
import type { Zoom } from "../../src/wire/types.ts";
import { stateOf } from "../chains.ts";
import { eachWithClock, FakeModel } from "../helpers.ts";

const abort = eachWithClock();
const [NEAR, NEARER]: Zoom[] = [
  [1, 10, 1e10, 1e11],
  [2, 5, 2e10, 5e10],
];

function made() {
  const model = new FakeModel(stateOf([]));
  const store = createStore(model, abort().signal);
  const told = (values: Record<string, unknown>) => {
    for (const [name, value] of Object.entries(values)) model.receive(name, value);
  };
  return {
    model,
    told,
    ...store.view,
    ...store.history,
    history: store.history,
    setView: store.view.setPlane,
    view: store.view.plane,
    rates: store.rates,
  };
}

describe("a zoom", () => {
  it("is told, and undone and done again by the history", () => {
    const { model, history, zoom, setZoom } = made();
    setZoom(NEAR as Zoom);
    setZoom(NEARER as Zoom);
    expect(model.state["zoom"]).toEqual([2, 5, 2e10, 5e10]);
    history.undo();
    expect(zoom.value).toEqual([1, 10, 1e10, 1e11]);
    history.undo();
    expect(zoom.value).toBeNull();
    history.redo();
    expect(zoom.value).toEqual([1, 10, 1e10, 1e11]);
  });
  it("by a hand is one entry", () => {
    const { history, zoom, setZoom, dragZoom } = made();
    const gesture = dragZoom();
    setZoom(NEAR as Zoom, { stream: true });
    setZoom(NEARER as Zoom, { stream: true });
    gesture.end();
    history.undo();
    expect([zoom.value, history.canUndo.value]).toEqual([null, false]);
  });
  it("by one run of the wheel is one entry, by two it is two", () => {
    const { history, zoom, setZoom } = made();
    setZoom(NEAR as Zoom, { stream: true, run: 1 });
    setZoom(NEARER as Zoom, { stream: true, run: 1 });
    setZoom(NEAR as Zoom, { stream: true, run: 2 });
    history.undo();
    expect(zoom.value).toEqual(NEARER);
    history.undo();
    expect([zoom.value, history.canUndo.value]).toEqual([null, false]);
  });
});

describe("another plane", () => {
  it("is shown whole, in one message, and undo brings back both", () => {
    const { model, history, view, zoom, setZoom, setView } = made();
    setZoom(NEAR as Zoom);
    setView("time");
    expect([view.value, zoom.value]).toEqual(["time", null]);
    expect(model.sent.at(-1)).toEqual({ zoom: null, view: "time" });
    history.undo();
    expect([view.value, zoom.value]).toEqual(["roofline", NEAR]);
  });
  it("so is one with another scale of times, while other units leave the zoom", () => {
    const { model, zoom, setZoom, setAxis } = made();
    setZoom(NEAR as Zoom);
    setAxis("word", 8);
    setAxis("tickBase", 2);
    expect(zoom.value).toEqual(NEAR);
    setAxis("timeScale", "linear");
    expect(zoom.value).toBeNull();
    expect(model.sent.at(-1)).toEqual({ zoom: null, time_scale: "linear" });
  });
});

describe("Python", () => {
  it("with a view and its zoom makes one entry, and none with what it said from the start", () => {
    const { history, told, view, zoom } = made();
    expect(history.canUndo.value).toBe(false);
    told({ view: "time", zoom: [1e-6, 1e-3, 1e-6, 1e-3] });
    history.undo();
    expect([view.value, zoom.value, history.canUndo.value]).toEqual(["roofline", null, false]);
  });
  it("makes redo forget", () => {
    const { history, told, setZoom } = made();
    setZoom(NEAR as Zoom);
    history.undo();
    told({ zoom: NEARER });
    expect(history.canRedo.value).toBe(false);
  });
  it("says one thing in messages that follow one another, as a view and its zoom do, and after a while another", () => {
    const { history, told, view, zoom, setZoom } = made();
    setZoom(NEAR as Zoom);
    told({ view: "time" });
    vi.advanceTimersByTime(20);
    told({ zoom: null });
    vi.advanceTimersByTime(201);
    told({ zoom: [1e-6, 1e-3, 1e-6, 1e-3] });
    history.undo();
    expect([view.value, zoom.value]).toEqual(["time", null]);
    history.undo();
    expect([view.value, zoom.value]).toEqual(["roofline", NEAR]);
  });
  it("does not move the chart under a hand, which tells its own zoom again when it lets go", () => {
    const { model, told, zoom, setZoom, dragZoom } = made();
    const gesture = dragZoom();
    setZoom(NEAR as Zoom, { stream: true });
    vi.runAllTimers();
    told({ zoom: null });
    expect(zoom.value).toEqual(NEAR);
    gesture.end();
    expect(model.sent).toEqual([{ zoom: NEAR }, { zoom: NEAR }]);
    told({ zoom: null });
    expect(zoom.value).toBeNull();
  });
  it("is heard when a hand lets go that has not moved", () => {
    const { model, history, told, zoom, dragZoom } = made();
    const gesture = dragZoom();
    told({ zoom: NEAR });
    expect(zoom.value).toBeNull();
    gesture.end();
    expect([zoom.value, model.sent, history.canUndo.value]).toEqual([NEAR, [], true]);
  });
  it("takes another plane from a hand, shown whole, and hears last that no zoom of the one before is in force", () => {
    const { model, told, view, zoom, setZoom, dragZoom } = made();
    const gesture = dragZoom();
    setZoom(NEAR as Zoom, { stream: true });
    vi.runAllTimers();
    setZoom(NEARER as Zoom, { stream: true });
    told({ view: "time" });
    expect(zoom.value).toBeNull();
    gesture.end();
    vi.runAllTimers();
    expect([view.value, zoom.value, model.sent]).toEqual(["time", null, [{ zoom: NEAR }, { zoom: null }]]);
  });
});

describe("the frame of the axes", () => {
  it("is told with the zoom that it removes, and undone with it", () => {
    const { model, history, axes, zoom, setZoom, setAxis } = made();
    setZoom(NEAR as Zoom);
    setAxis("frame", "chip");
    expect([model.state["frame"], model.state["zoom"]]).toEqual(["chip", null]);
    history.undo();
    expect([axes.frame.value, zoom.value]).toEqual(["points", NEAR]);
    history.redo();
    expect([axes.frame.value, zoom.value]).toEqual(["chip", null]);
  });
  it("from Python can be undone", () => {
    const { history, told, axes } = made();
    told({ frame: "chip" });
    expect(axes.frame.value).toBe("chip");
    history.undo();
    expect(axes.frame.value).toBe("points");
  });
  it("fits the kernels in notebooks that were saved without it", () => {
    const { frame: _, ...saved } = stateOf([]);
    expect(createStore(new FakeModel(saved), abort().signal).view.axes.frame.value).toBe("points");
  });
});
