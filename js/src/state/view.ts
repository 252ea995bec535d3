// The view of the chart: its plane, zoom, units, and size.

import type { Signal } from "@preact/signals";
import { type Axes, type ChangeOptions, isEqual, type Receivers, type Sync, type View, type Zoom } from "./sync.ts";

/** Python sends a view and its zoom in two messages. Messages closer in time than this, ms, make one undo entry. */
const MERGE_MS = 200;

export function createViewing(sync: Sync) {
  const { view, zoom, rateUnit, word, xAxis, tickBase, timeScale } = sync.signals;
  const axes = { rateUnit, word, xAxis, tickBase, timeScale };
  let [run, last] = [0, Number.NEGATIVE_INFINITY];
  const receiver =
    (signal: Signal, after = () => {}) =>
    (value: unknown, accept: (mergeKey: string) => void) => {
      if (isEqual(value, signal.value)) return;
      const now = performance.now();
      if (now - last > MERGE_MS) run = now;
      last = now;
      accept(`from Python ${run}`);
      after();
    };
  /** Python has changed the plane or its scale: a zoom that is being dragged does not apply there. */
  function dropZoom() {
    if (!sync.isDragged("zoom")) return;
    sync.replace({ zoom: null });
    // Sent, because zooms of this drag may still be on their way to Python.
    sync.set({ zoom: null });
  }
  return {
    receivers: {
      zoom: receiver(zoom),
      view: receiver(view, dropZoom),
      timeScale: receiver(timeScale, dropZoom),
    } satisfies Receivers,
    state: { axes },
    actions: {
      /** Show another plane, unzoomed. */
      setView: (next: View) => sync.set({ view: next, zoom: null }),
      /** Zooms with the same `run` (of the wheel or of a key) make one undo entry. */
      setZoom: (next: Zoom | null, { run, ...how }: ChangeOptions & { readonly run?: number } = {}) =>
        sync.set({ zoom: next }, { ...how, mergeKey: run === undefined ? undefined : `zoom ${run}` }),
      dragZoom: () => sync.dragOf("zoom", true),
      /** Another time scale removes the zoom, which does not apply to it. */
      setAxis: <K extends keyof Axes>(name: K, value: Axes[K]) =>
        sync.set({ [name]: value, ...(name === "timeScale" ? { zoom: null } : {}) }),
      setRulers: sync.setter("rulers"),
      setPresentation: sync.setter("presentation"),
    },
  };
}
