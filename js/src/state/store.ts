// The state of one model as signals, and the actions that change it: with outbox.ts the only file that writes to the model.

import { batch, signal } from "@preact/signals";
import type { Partition } from "../fusion/legality.ts";
import type { Roof } from "../roofline/roofline.ts";
import type { Moves } from "../roofline/what_if_arithmetic.ts";
import type { Kernels } from "../wire/columns.ts";
import { decodeChips, decodeKernels } from "../wire/decode.ts";
import type { Chip, WhatIf } from "../wire/types.ts";
import { derive } from "./derived.ts";
import { createFiltering } from "./filters.ts";
import { createWorkload } from "./graph.ts";
import { createHistory } from "./history.ts";
import { createMoves } from "./kernel_what_ifs.ts";
import { createOutbox, type Model } from "./outbox.ts";
import { createRates } from "./rates.ts";
import { createSelection } from "./selection.ts";
import { createSnapshots } from "./snapshots.ts";
import { followMerges } from "./trails.ts";
import { createViewing, type View, type Zoom } from "./view.ts";

export type { Model, View, Zoom };

export type Store = ReturnType<typeof createStore>;

export function createStore(model: Model, abort: AbortSignal) {
  const outbox = createOutbox(model);
  const { put, tell } = outbox;
  const history = createHistory();
  const title = signal("");
  const chips = signal<readonly Chip[]>([]);
  const given = signal<Kernels>(undefined as unknown as Kernels);
  const workload = createWorkload(given, outbox.tellAll, history);
  const filtering = createFiltering(outbox);
  const { kernels } = workload;
  const viewing = createViewing(outbox, history);
  const { read: readSnapshots, ...frozen } = createSnapshots(outbox, history, () => derived);
  const selection = createSelection({ model, outbox, kernels, atRoof: filtering.state.atRoof });
  const shown = signal<readonly string[]>([]);
  const focusChip = signal("");
  const precision = signal("auto");
  const memory = signal("main");
  const exposedComm = signal<readonly number[]>([]);
  const ceilings = signal<readonly string[] | null>(null);
  const allLevels = signal(false);
  const launchOverhead = signal(0);
  const dragging = signal(false);
  const rates = createRates({
    dragging,
    outbox,
    history,
    told: () => model.get("what_if") as WhatIf,
    focusRoof: (): Roof | undefined => derived.focusRoof.value,
  });
  const { whatIf } = rates;
  const moves = createMoves({
    ...{ dragging, outbox, history, kernels },
    focusRoof: () => derived.focusRoof.value,
    told: () => model.get("moves") as Moves,
  });
  /** The trait that a control holds other than a rate. */
  let heldTrait: string | undefined;

  const plain: Record<string, { value: unknown }> = {
    ...{ title, shown, precision, memory, ceilings },
    ...{ focus_chip: focusChip, exposed_comm: exposedComm, all_levels: allLevels, launch_overhead: launchOverhead },
    ...filtering.traits,
    ...viewing.traits,
    ...selection.state,
  };
  const read: Record<string, (value: unknown) => void> = {
    ...Object.fromEntries(
      Object.entries(plain).map(([name, here]) => [
        name,
        (value: unknown) => {
          if (name !== heldTrait) here.value = value;
        },
      ]),
    ),
    chips: (value) => {
      chips.value = decodeChips(value);
      rates.keepAmong(chips.value);
    },
    // Before graphs: rows that are selected from the start are rows of some kernels.
    kernels: (value) =>
      forgetRows(() => {
        given.value = decodeKernels(value);
      }),
    ...workload.read,
    partition: (value) => batch(() => workload.read.partition(value) && moves.reread()),
    dims: (value) => {
      if (heldTrait !== "dims") workload.read.dims(value);
    },
    graphs: (value) => forgetRows(() => workload.read.graphs(value)),
    phase: (value) => {
      // The model repeats what it was told from here.
      if (value !== workload.state.phase.value) forgetRows(() => workload.read.phase(value));
    },
    what_if: (value) => rates.take(value as WhatIf),
    moves: (value) => moves.take(value as Moves),
    snapshots: readSnapshots,
    ...filtering.read,
    ...viewing.read,
  };
  function forgetRows(change: () => void) {
    batch(() => {
      change();
      selection.reread();
      moves.reread();
    });
  }
  const listeners = Object.entries(read).map(([name, take]) => {
    const listener = () => take(model.get(name));
    model.on(`change:${name}`, listener);
    return [name, listener] as const;
  });
  batch(() => {
    for (const [, listener] of listeners) listener();
  });

  abort.addEventListener("abort", () => {
    outbox.close();
    for (const [name, listener] of listeners) model.off(`change:${name}`, listener);
  });

  const state = { chips, kernels, shown, focusChip, precision, memory, whatIf, exposedComm, ceilings, allLevels };
  const derived = derive({ ...state, ...filtering.state, ...workload.state, launchOverhead, dragging });
  const { shownRoofs, focusRoof } = derived;
  const trails = followMerges(workload.state.workload, abort);

  function show(ids: readonly string[]) {
    shown.value = chips.value.map((chip) => chip.id).filter((id) => ids.includes(id));
    put("shown", shown.value);
  }
  function giveFocus(id: string) {
    if (!shown.value.includes(id)) show([...shown.value, id]);
    focusChip.value = id;
    put("focus_chip", id);
  }
  /** Change several signals as one, and tell Python in one message. */
  function act(change: () => void) {
    batch(change);
    outbox.send();
  }
  const focus = (id: string) => act(() => giveFocus(id));
  function toggle(id: string) {
    act(() => {
      const on = !shown.value.includes(id);
      show(on ? [...shown.value, id] : shown.value.filter((other) => other !== id));
      const next = shown.value[0];
      if (!shown.value.includes(focusChip.value) && next !== undefined) giveFocus(next);
    });
  }
  /** Choose; if the focus chip has no such figure, a shown chip that has it takes the sliders. */
  function choose(name: "precision" | "memory", value: string) {
    act(() => {
      (name === "precision" ? precision : memory).value = value;
      put(name, value);
      const able = shownRoofs.value[0];
      if (!focusRoof.value && able) giveFocus(able.chip.id);
    });
  }
  /** While a trait is dragged, what the kernel says of it waits. */
  function holdTrait(name: "exposed_comm" | "dims" | "time_share") {
    if (name === "dims") history.hold();
    heldTrait = name;
    dragging.value = true;
  }
  function releaseTrait() {
    const name = heldTrait;
    heldTrait = undefined;
    dragging.value = false;
    history.release();
    outbox.send();
    if (name !== undefined) read[name]?.(model.get(name));
  }
  function setExposedComm(fractions: readonly number[], { stream = false } = {}) {
    exposedComm.value = fractions;
    tell("exposed_comm", fractions, { stream });
  }
  function toggleCeiling(key: string) {
    const before = ceilings.value ?? focusRoof.value?.chip.ceilings.map((ceiling) => ceiling.key) ?? [];
    const others = before.filter((other) => other.toLowerCase() !== key.toLowerCase());
    ceilings.value = others.length < before.length ? others : [...before, key];
    tell("ceilings", ceilings.value);
  }
  /** Other kernels have other rows. */
  function regroup(change: () => void) {
    batch(() => {
      selection.clear();
      moves.clear();
      change();
    });
    outbox.tellAll({}, { later: true });
  }
  function setAllLevels(on: boolean) {
    allLevels.value = on;
    tell("all_levels", on);
  }

  return {
    ...state,
    ...derived,
    ...workload.state,
    ...workload.actions,
    ...filtering.state,
    ...filtering.actions,
    trails,
    setPartition: (next: Partition) => regroup(() => workload.actions.setPartition(next)),
    setPhase(name: string) {
      // Python keeps each phase as it was left: what still waits to be told of it goes first.
      outbox.send();
      regroup(() => workload.actions.setPhase(name));
    },
    undo: () => (workload.actions.keepsRows(true) ? act : regroup)(history.undo),
    redo: () => (workload.actions.keepsRows(false) ? act : regroup)(history.redo),
    canUndo: history.canUndo,
    canRedo: history.canRedo,
    title,
    ...selection.state,
    pointed: selection.pointed,
    ...viewing.state,
    ...viewing.actions,
    setView(next: View) {
      selection.actions.hover(null);
      viewing.actions.setView(next);
    },
    launchOverhead,
    /** Whether a control is being dragged. */
    dragging,
    focus,
    toggle,
    choosePrecision: (value: string) => choose("precision", value),
    chooseMemory: (value: string) => choose("memory", value),
    ...rates.actions,
    ...moves.state,
    ...moves.actions,
    setExposedComm,
    holdExposedComm: () => holdTrait("exposed_comm"),
    releaseExposedComm: releaseTrait,
    holdDims: () => holdTrait("dims"),
    releaseDims: releaseTrait,
    holdTimeShare: () => holdTrait("time_share"),
    releaseTimeShare: releaseTrait,
    toggleCeiling,
    setAllLevels,
    ...frozen,
    ...selection.actions,
  };
}
