// The state of one model as signals, and the actions that change it; the only file that writes to the model.

import { batch, signal } from "@preact/signals";
import { derive } from "./derived.ts";
import type { Partition } from "./legality.ts";
import { followMerges } from "./trails.ts";
import { type Rate, withRate } from "./whatif.ts";
import type { Chip, Kernels, Quantity, WhatIf } from "./wire.ts";
import { decodeChips, decodeKernels } from "./wire.ts";
import { createWorkload } from "./workload.ts";

/** What the store needs of anywidget's model. */
export interface Model {
  get(name: string): unknown;
  set(name: string, value: unknown): void;
  save_changes(): void;
  on(event: string, callback: () => void): void;
  off(event: string, callback: () => void): void;
}

/** Rate against intensity, or memory time against compute time. */
export type View = "roofline" | "time";

interface Asked {
  readonly stream?: boolean;
  readonly level?: string | undefined;
}

export type Store = ReturnType<typeof createStore>;

/** Python hears of a stream of changes this often, ms, and always of the last one. */
const PERIOD = 100;

export function createStore(model: Model, abort: AbortSignal) {
  const title = signal("");
  const chips = signal<readonly Chip[]>([]);
  const given = signal<Kernels>(undefined as unknown as Kernels);
  const workload = createWorkload(given, (changes, how) => tellAll(changes, how));
  const { kernels } = workload;
  const shown = signal<readonly string[]>([]);
  const focusChip = signal("");
  const precision = signal("auto");
  const memory = signal("main");
  const whatIf = signal<WhatIf>({});
  const exposedComm = signal<readonly number[]>([]);
  const ceilings = signal<readonly string[] | null>(null);
  const allLevels = signal(false);
  const launchOverhead = signal(0);
  const view = signal<View>("roofline");
  const selected = signal<readonly number[]>([]);
  const hovered = signal<number | null>(null);
  /** The rate that a control holds: until it is let go, the kernel's word on it waits. */
  let grip: (Rate & { moved: boolean }) | undefined;
  const held = signal(false);
  /** The trait that a control holds other than a rate. */
  let heldTrait: string | undefined;

  const pending = new Map<string, unknown>();
  const plain: Record<string, { value: unknown }> = {
    ...{ title, shown, precision, memory, ceilings, view, selected, hovered },
    ...{ focus_chip: focusChip, exposed_comm: exposedComm, all_levels: allLevels, launch_overhead: launchOverhead },
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
      const gone = grip?.chip;
      if (gone !== undefined && !chips.value.some(({ id }) => id === gone)) {
        pending.delete("what_if");
        grip = undefined;
        held.value = false;
        whatIf.value = model.get("what_if") as WhatIf;
      }
    },
    ...workload.read,
    dims: (value) => {
      if (heldTrait !== "dims") workload.read.dims(value);
    },
    kernels: (value) =>
      forgetRows(() => {
        given.value = decodeKernels(value);
      }),
    graphs: (value) => forgetRows(() => workload.read.graphs(value)),
    phase: (value) => {
      // The model repeats what it was told from here.
      if (value !== workload.state.phase.value) forgetRows(() => workload.read.phase(value));
    },
    what_if: (value) => {
      whatIf.value = grip ? withRate(value as WhatIf, grip) : (value as WhatIf);
    },
  };
  // What was about to be said of the rows before means nothing now.
  function forgetRows(change: () => void) {
    batch(() => {
      change();
      pending.delete("selected");
      pending.delete("hovered");
      const within = (row: number) => row < kernels.value.n;
      selected.value = (model.get("selected") as number[]).filter(within);
      const row = model.get("hovered") as number | null;
      hovered.value = row !== null && within(row) ? row : null;
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

  // Python is told of a stream at once, then at most once a period, and always of the last value.
  let timer: ReturnType<typeof setTimeout> | undefined;
  function send(): boolean {
    if (pending.size === 0) return false;
    for (const [name, value] of pending) model.set(name, value);
    pending.clear();
    model.save_changes();
    return true;
  }
  function tick() {
    timer = send() ? setTimeout(tick, PERIOD) : undefined;
  }
  const tell = (name: string, value: unknown, how?: Asked) => tellAll({ [name]: value }, how);
  function tellAll(changes: Readonly<Record<string, unknown>>, { stream = false }: Asked = {}) {
    for (const [name, value] of Object.entries(changes)) pending.set(name, value);
    if (!stream) send();
    else if (timer === undefined) tick();
  }
  abort.addEventListener("abort", () => {
    clearTimeout(timer);
    send();
    for (const [name, listener] of listeners) model.off(`change:${name}`, listener);
  });

  const state = { chips, kernels, shown, focusChip, precision, memory, whatIf, exposedComm, ceilings, allLevels };
  const derived = derive({ ...state, launchOverhead, held });
  const { shownRoofs, focusRoof } = derived;
  const trails = followMerges(workload.state.workload, abort);

  function show(ids: readonly string[]) {
    shown.value = chips.value.map((chip) => chip.id).filter((id) => ids.includes(id));
    pending.set("shown", shown.value);
  }
  function giveFocus(id: string) {
    if (!shown.value.includes(id)) show([...shown.value, id]);
    focusChip.value = id;
    pending.set("focus_chip", id);
  }
  /** Change several signals as one, and tell Python in one message. */
  function act(change: () => void) {
    batch(change);
    send();
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
      pending.set(name, value);
      const able = shownRoofs.value[0];
      if (!focusRoof.value && able) giveFocus(able.chip.id);
    });
  }
  function rateOf(quantity: Quantity, level?: string, rate?: number): Rate | undefined {
    const roof = focusRoof.value;
    if (!roof) return undefined;
    const memory = roof.levels.find(({ name }) => name === (level ?? roof.level));
    const [key, now, sheet] =
      quantity === "peak_flops"
        ? [roof.precision, roof.peak, roof.sheetPeak]
        : [memory?.name ?? roof.level, memory?.bandwidth ?? roof.bandwidth, memory?.sheet ?? roof.sheetBandwidth];
    return { chip: roof.chip.id, quantity, key, rate: rate ?? now, sheet };
  }
  /** Change a rate of the focus chip, a bandwidth at another `level` too; at its data sheet's the what-if is gone. */
  function setRate(quantity: Quantity, rate: number, { stream = false, level }: Asked = {}) {
    const change = rateOf(quantity, level, rate);
    if (!change) return;
    if (grip) grip = { ...change, moved: true };
    whatIf.value = withRate(whatIf.value, change);
    tell("what_if", whatIf.value, { stream });
  }
  function hold(quantity: Quantity, level?: string) {
    const rate = rateOf(quantity, level);
    if (!rate) return;
    grip = { ...rate, moved: false };
    held.value = true;
  }
  function release() {
    const moved = grip?.moved;
    grip = undefined;
    held.value = false;
    send();
    if (!moved) whatIf.value = model.get("what_if") as WhatIf;
  }
  /** While a trait is dragged, what the kernel says of it waits. */
  function holdTrait(name: "exposed_comm" | "dims") {
    heldTrait = name;
    held.value = true;
  }
  function releaseTrait() {
    const name = heldTrait;
    heldTrait = undefined;
    held.value = false;
    send();
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
  /** Other kernels have other rows; one that Python still had to hear of could be none of them. */
  function regroup(change: () => void) {
    act(() => {
      if (selected.value.length > 0) pending.set("selected", []);
      if (hovered.value !== null) pending.set("hovered", null);
      selected.value = [];
      hovered.value = null;
      change();
    });
  }
  function setView(next: View) {
    hover(null);
    view.value = next;
    tell("view", next);
  }
  function setAllLevels(on: boolean) {
    allLevels.value = on;
    tell("all_levels", on);
  }
  function hover(row: number | null) {
    if (row === hovered.value) return;
    hovered.value = row;
    tell("hovered", row, { stream: true });
  }
  function select(rows: readonly number[]) {
    selected.value = rows;
    tell("selected", rows);
  }

  return {
    ...state,
    ...derived,
    ...workload.state,
    ...workload.actions,
    trails,
    setPartition: (next: Partition) => regroup(() => workload.actions.setPartition(next)),
    setPhase: (name: string) => regroup(() => workload.actions.setPhase(name)),
    undo: () => regroup(workload.actions.undo),
    redo: () => regroup(workload.actions.redo),
    title,
    selected,
    hovered,
    launchOverhead,
    view,
    /** Whether a control is held. */
    held,
    focus,
    toggle,
    choosePrecision: (value: string) => choose("precision", value),
    chooseMemory: (value: string) => choose("memory", value),
    setRate,
    setExposedComm,
    holdExposedComm: () => holdTrait("exposed_comm"),
    releaseExposedComm: releaseTrait,
    holdDims: () => holdTrait("dims"),
    releaseDims: releaseTrait,
    toggleCeiling,
    setAllLevels,
    setView,
    hold,
    release,
    hover,
    select,
  };
}
