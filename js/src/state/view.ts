// ChangeOptions the chart is looked at: which plane, which part of it, in which units and how large.

import type { Signal } from "@preact/signals";
import { type Axes, type ChangeOptions, isEqual, type Receivers, type Sync, type View, type Zoom } from "./sync.ts";

/** Messages from Python that follow one another within this time, ms, make one undo entry: a view and its zoom. */
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
  /** Another plane or another scale: a zoom that is being dragged means nothing there. */
  function dropZoom() {
    if (!sync.isHeld("zoom")) return;
    sync.replace({ zoom: null });
    // Some of the drag's zooms may still be on their way to Python.
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
      /** Another plane is shown whole. */
      setView: (next: View) => sync.set({ view: next, zoom: null }),
      /** The zooms of one `run` of the wheel or of keys make one undo entry. */
      setZoom: (next: Zoom | null, { run, ...how }: ChangeOptions & { readonly run?: number } = {}) =>
        sync.set({ zoom: next }, { ...how, mergeKey: run === undefined ? undefined : `zoom ${run}` }),
      dragZoom: () => sync.dragOf("zoom", true),
      /** Times on one scale are no places on the other: that shows the plane whole. */
      setAxis: <K extends keyof Axes>(name: K, value: Axes[K]) =>
        sync.set({ [name]: value, ...(name === "timeScale" ? { zoom: null } : {}) }),
      setRulers: sync.setter("rulers"),
      setPresentation: sync.setter("presentation"),
    },
  };
}
