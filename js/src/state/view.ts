// The view of the chart: the plane, the zoom, the units, and the size.

import { type Signal, signal } from "@preact/signals";
import type { Zoom } from "../wire/types.ts";
import { type Axes, type ChangeOptions, isEqual, type Receivers, type Sync, type View } from "./sync.ts";

/**
 * If Python sends two messages with less than this time between them, ms, the messages make one undo entry. For
 * example, Python sends a view and its zoom in two messages.
 */
const MERGE_MS = 200;

/** The traits with the user's choices about the chips. */
const CHOICES = ["shown", "focusChip", "precision", "memory", "exposedRoofs", "ceilings", "allLevels"] as const;

/** Which kernels have gap arrows: those to fix first, all, or none. */
export type Gaps = "first" | "all" | "none";
const NEXT_GAPS: Record<Gaps, Gaps> = { first: "all", all: "none", none: "first" };

export function createViewing(sync: Sync) {
  const { view, zoom, rateUnit, word, xAxis, tickBase, timeScale, frame } = sync.signals;
  const tab = signal<string | null>(null);
  const patterns = signal(false);
  const gaps = signal<Gaps>("first");
  const isTableOpen = signal(false);
  const axes = { rateUnit, word, xAxis, tickBase, timeScale, frame };
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
  /**
   * Drops a zoom that is being dragged. Called after Python has changed the plane or the time scale, because the zoom
   * does not apply to the new plane or scale.
   */
  function dropZoom() {
    if (!sync.isDragged("zoom")) return;
    sync.replace({ zoom: null });
    // The page sends the removed zoom to Python too, because Python may receive earlier zooms of this drag after the
    // new plane.
    sync.set({ zoom: null });
  }
  return {
    receivers: {
      // Python may change several of these traits together, such as the shown chips and the focus chip. These changes
      // make one undo entry.
      ...Object.fromEntries(CHOICES.map((name) => [name, receiver(sync.signals[name])])),
      zoom: receiver(zoom),
      view: receiver(view, dropZoom),
      timeScale: receiver(timeScale, dropZoom),
      frame: receiver(frame),
    } satisfies Receivers,
    state: { axes, tab, patterns, gaps, isTableOpen },
    actions: {
      setView: (next: View) => sync.set({ view: next, zoom: null }),
      setZoom: (next: Zoom | null, { run, ...how }: ChangeOptions & { readonly run?: number } = {}) =>
        sync.set({ zoom: next }, { ...how, mergeKey: run === undefined ? undefined : `zoom ${run}` }),
      dragZoom: () => sync.dragOf("zoom", true),
      setAxis: <K extends keyof Axes>(name: K, value: Axes[K]) =>
        sync.set({ [name]: value, ...(name === "timeScale" || name === "frame" ? { zoom: null } : {}) }),
      openTab(name: string) {
        tab.value = name;
      },
      openTable(isOpen: boolean) {
        isTableOpen.value = isOpen;
      },
      setRulers: sync.setter("rulers"),
      setPatterns(next: boolean) {
        patterns.value = next;
      },
      setGaps(next: Gaps) {
        gaps.value = next;
      },
      cycleGaps() {
        gaps.value = NEXT_GAPS[gaps.value];
      },
      setPresentation: sync.setter("presentation"),
    },
  };
}
