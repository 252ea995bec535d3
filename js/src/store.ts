// The state of one model as signals, and the actions that change it; the only file that writes to the model.

import { batch, computed, signal } from "@preact/signals";
import type { Missing, Roof } from "./roofline.ts";
import { isRoof, roofOf } from "./roofline.ts";
import type { Chip, Kernels, Quantity, WhatIf } from "./wire.ts";
import { decodeChips, decodeKernels } from "./wire.ts";

/** What the store needs of anywidget's model. */
export interface Model {
  get(name: string): unknown;
  set(name: string, value: unknown): void;
  save_changes(): void;
  on(event: string, callback: () => void): void;
  off(event: string, callback: () => void): void;
}

export type Store = ReturnType<typeof createStore>;

/** Python hears of a stream of changes this often, ms, and always of the last one. */
const PERIOD = 100;

export function createStore(model: Model, abort: AbortSignal) {
  const title = signal("");
  const chips = signal<readonly Chip[]>([]);
  const kernels = signal<Kernels>(undefined as unknown as Kernels);
  const shown = signal<readonly string[]>([]);
  const focusChip = signal("");
  const precision = signal("auto");
  const memory = signal("main");
  const whatIf = signal<WhatIf>({});
  const selected = signal<readonly number[]>([]);
  const hovered = signal<number | null>(null);
  /** Which controls are held: while one is, the kernel's updates of what_if wait. */
  const held = signal(0);

  const read: Record<string, (value: unknown) => void> = {
    title: (value) => {
      title.value = value as string;
    },
    chips: (value) => {
      chips.value = decodeChips(value);
    },
    kernels: (value) => {
      kernels.value = decodeKernels(value);
    },
    shown: (value) => {
      shown.value = value as string[];
    },
    focus_chip: (value) => {
      focusChip.value = value as string;
    },
    precision: (value) => {
      precision.value = value as string;
    },
    memory: (value) => {
      memory.value = value as string;
    },
    what_if: (value) => {
      if (held.value === 0) whatIf.value = value as WhatIf;
    },
    selected: (value) => {
      selected.value = value as number[];
    },
    hovered: (value) => {
      hovered.value = value as number | null;
    },
  };
  const listeners = Object.entries(read).map(([name, take]) => {
    const listener = () => take(model.get(name));
    model.on(`change:${name}`, listener);
    return [name, listener] as const;
  });
  batch(() => {
    for (const [, listener] of listeners) listener();
  });

  // Python is told of a stream at once, then at most once a period, and always of the last value.
  const pending = new Map<string, unknown>();
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
  function tell(name: string, value: unknown, { stream = false } = {}) {
    pending.set(name, value);
    if (!stream) send();
    else if (timer === undefined) tick();
  }
  abort.addEventListener("abort", () => {
    clearTimeout(timer);
    send();
    for (const [name, listener] of listeners) model.off(`change:${name}`, listener);
  });

  /** The roof of every chip, or what it lacks, by id. */
  const roofs = computed<ReadonlyMap<string, Roof | Missing>>(
    () => new Map(chips.value.map((chip) => [chip.id, roofOf(chip, precision.value, memory.value, whatIf.value)])),
  );
  /** What chips lack, by id: it does not change with a what-if. */
  const lacking = computed<ReadonlyMap<string, Missing>>(
    () =>
      new Map(
        chips.value.flatMap((chip) => {
          const roof = roofOf(chip, precision.value, memory.value, {});
          return isRoof(roof) ? [] : [[chip.id, roof]];
        }),
      ),
  );
  const shownRoofs = computed(() =>
    shown.value.flatMap((id) => {
      const roof = roofs.value.get(id);
      return roof && isRoof(roof) ? [roof] : [];
    }),
  );
  const focusRoof = computed(() => {
    const roof = roofs.value.get(focusChip.value);
    return roof && isRoof(roof) ? roof : undefined;
  });

  function setShown(ids: readonly string[]) {
    shown.value = chips.value.map((chip) => chip.id).filter((id) => ids.includes(id));
    tell("shown", shown.value);
  }
  function focus(id: string) {
    batch(() => {
      if (!shown.value.includes(id)) setShown([...shown.value, id]);
      focusChip.value = id;
    });
    tell("focus_chip", id);
  }
  function toggle(id: string) {
    batch(() => {
      const on = !shown.value.includes(id);
      setShown(on ? [...shown.value, id] : shown.value.filter((other) => other !== id));
      const next = shown.value[0];
      if (!shown.value.includes(focusChip.value) && next !== undefined) focus(next);
    });
  }
  /** Choose; if the focus chip has no such figure, a shown chip that has it takes the sliders. */
  function choose(name: "precision" | "memory", value: string) {
    batch(() => {
      (name === "precision" ? precision : memory).value = value;
      const able = shownRoofs.value[0];
      if (!focusRoof.value && able) focus(able.chip.id);
    });
    tell(name, value);
  }
  /** Change a rate of the focus chip; at its data sheet's value the what-if is gone. */
  function setRate(quantity: Quantity, rate: number, { stream = false } = {}) {
    const roof = focusRoof.value;
    if (!roof) return;
    const key = quantity === "peak_flops" ? roof.precision : roof.level;
    const sheet = quantity === "peak_flops" ? roof.sheetPeak : roof.sheetBandwidth;
    const others = Object.entries(whatIf.value[roof.chip.id]?.[quantity] ?? {}).filter(([name]) => name !== key);
    const rates = Object.fromEntries(rate === sheet ? others : [...others, [key, rate]]);
    whatIf.value = { ...whatIf.value, [roof.chip.id]: { ...whatIf.value[roof.chip.id], [quantity]: rates } };
    tell("what_if", whatIf.value, { stream });
  }
  function hold() {
    held.value += 1;
  }
  function release() {
    held.value = Math.max(0, held.value - 1);
    send();
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
    title,
    chips,
    kernels,
    shown,
    focusChip,
    precision,
    memory,
    whatIf,
    selected,
    hovered,
    roofs,
    lacking,
    /** Whether a control is held. */
    held: computed(() => held.value > 0),
    shownRoofs,
    focusRoof,
    focus,
    toggle,
    choosePrecision: (value: string) => choose("precision", value),
    chooseMemory: (value: string) => choose("memory", value),
    setRate,
    hold,
    release,
    hover,
    select,
  };
}
