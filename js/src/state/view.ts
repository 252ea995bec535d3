// The slice of the view: the plane, the zoom and the units of the chart, the filters, the table, and the open tab.

import { type Signal, signal } from "@preact/signals";
import { UNFILTERED } from "../roofline/filters.ts";
import { isEqual } from "../ui/equal.ts";
import type { Zoom } from "../wire/types.ts";
import type { ChangeOptions, Edits, Receivers } from "./edits.ts";
import type { Locks } from "./locks.ts";
import type { Axes, View } from "./traits.ts";

/**
 * If Python sends two messages with less than this time between them, ms, the messages make one undo entry. For
 * example, Python sends a view and its zoom in two messages.
 */
const MERGE_MS = 200;

/** The traits with the user's choices about the chips. */
const CHOICES = [
  "shown",
  "focusChip",
  "precision",
  "memory",
  "link",
  "topology",
  "exposedRoofs",
  "ceilings",
  "allLevels",
] as const;

/** Which kernels have gap arrows: those to fix first, all, or none. */
export type Gaps = "first" | "all" | "none";
const NEXT_GAPS: Record<Gaps, Gaps> = { first: "all", all: "none", none: "first" };

/** `leave`: hovers nothing; called when the chart shows another plane. `setOnly` ends the choice of single kernels. */
export function createView(
  edits: Edits,
  { guard }: Pick<Locks, "guard">,
  leave: () => void,
  setOnly: (rows: null) => void,
) {
  const { signals, set, setter } = edits;
  const { view, zoom, rateUnit, word, xAxis, tickBase, timeScale, frame } = signals;
  const tab = signal<string | null>(null);
  const patterns = signal(false);
  const gaps = signal<Gaps>("first");
  const allJoins = signal(false);
  const isTableOpen = signal(false);
  const message = signal<number | undefined>(undefined);
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
    if (!edits.isDragged("zoom")) return;
    edits.replace({ zoom: null });
    // The page sends the removed zoom to Python too, because Python may receive earlier zooms of this drag after the
    // new plane.
    edits.set({ zoom: null });
  }
  return {
    receivers: {
      // Python may change several of these traits together, such as the shown chips and the focus chip. These changes
      // make one undo entry.
      ...Object.fromEntries(CHOICES.map((name) => [name, receiver(edits.signals[name])])),
      zoom: receiver(zoom),
      view: receiver(view, dropZoom),
      timeScale: receiver(timeScale, dropZoom),
      frame: receiver(frame),
    } satisfies Receivers,
    slice: {
      plane: view,
      message,
      axes,
      tab,
      patterns,
      gaps,
      allJoins,
      isTableOpen,
      ...guard("view", {
        setPlane(next: View) {
          leave();
          set({ view: next, zoom: null });
        },
        setZoom: (next: Zoom | null, { run, ...how }: ChangeOptions & { readonly run?: number } = {}) =>
          set({ zoom: next }, { ...how, mergeKey: run === undefined ? undefined : `zoom ${run}` }),
        dragZoom: () => edits.dragOf("zoom", true),
        setAxis: <K extends keyof Axes>(name: K, value: Axes[K]) =>
          set({ [name]: value, ...(name === "timeScale" || name === "frame" ? { zoom: null } : {}) }),
        setPatterns(next: boolean) {
          patterns.value = next;
        },
        setGaps(next: Gaps) {
          gaps.value = next;
        },
        cycleGaps() {
          gaps.value = NEXT_GAPS[gaps.value];
        },
        setAllJoins(next: boolean) {
          allJoins.value = next;
        },
      }),
      ...guard("filters", {
        setSearch: setter("search"),
        setCategories: setter("categories"),
        setBounds: setter("bounds"),
        setPrecisions: setter("precisions"),
        setPhases: setter("phases"),
        setTimeShare: setter("timeShare"),
        dragTimeShare: () => edits.dragOf("timeShare"),
        setTop: setter("top"),
        setInfeed: setter("infeed"),
        setScope: setter("scope"),
        setSortBy: setter("sortBy"),
        clearFilters() {
          setOnly(null);
          set(UNFILTERED);
        },
      }),
      setColumns: setter("columns"),
      setColourBy: setter("colourBy"),
      setRulers: setter("rulers"),
      setPresentation: setter("presentation"),
      openTab(name: string) {
        tab.value = name;
      },
      openTable(isOpen: boolean) {
        isTableOpen.value = isOpen;
      },
      dragging: edits.dragging,
      isInDrag: edits.isInDrag,
      isHeld: edits.isHeld,
    },
  };
}
