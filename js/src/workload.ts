// The graph of a model in force: which phase it is of, its counts at the sizes, convention and dtype chosen, and which
// ops are one kernel.

import { computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { kernelsOf, partitionOf, unfused } from "./fusion.ts";
import { type Environment, environment, evaluate, type Graph, type Values } from "./graph.ts";
import type { Partition } from "./legality.ts";
import { keptSizes, type Phase, phasesOf } from "./phases.ts";
import type { Kernels } from "./wire.ts";

export interface Workload {
  readonly graph: Graph;
  readonly values: Values;
  readonly partition: Partition;
  readonly dims: Readonly<Record<string, number>>;
  readonly convention: string;
  readonly dtype: string | null;
  readonly env: Environment;
}

type Groups = readonly (readonly number[])[];
/** What can be undone. */
interface Entry {
  readonly phase: string;
  readonly groups: Groups;
}
type Tell = (changes: Readonly<Record<string, unknown>>, how?: { readonly stream?: boolean }) => void;

/** The state of a graph and what changes it; `given` are Python's kernels, `tell` tells Python. */
export function createWorkload(given: ReadonlySignal<Kernels>, tell: Tell) {
  const phases = signal<readonly Phase[]>([]);
  const phase = signal("");
  const phaseOf = (name: string) => phases.value.find((one) => one.name === name);
  const graph = computed(() => phaseOf(phase.value)?.graph());
  /** The positions of the ops of each kernel. */
  const groups = signal<Groups | null>(null);
  /** Sizes that differ from their defaults. */
  const dims = signal<Readonly<Record<string, number>>>({});
  /** Empty for the graph's own. */
  const convention = signal("");
  const dtype = signal<string | null>(null);
  const past = signal<readonly Entry[]>([]);
  const future = signal<readonly Entry[]>([]);

  const partition = computed(() => {
    const now = graph.value;
    if (!now) return undefined;
    const chosen = groups.value;
    // Groups of another graph, on their way while this one came, are no partition of it.
    const ops = chosen?.reduce((sum, group) => sum + group.length, 0);
    const fits = ops === now.ops.length && chosen?.every((group) => group.every((op) => op < now.ops.length));
    return chosen && fits ? partitionOf(now, chosen) : unfused(now);
  });
  const workload = computed<Workload | undefined>(() => {
    const now = graph.value;
    const parted = partition.value;
    if (!now || !parted) return undefined;
    const settings = { dims: dims.value, convention: convention.value || now.convention, dtype: dtype.value };
    const env = environment(now, settings);
    return { graph: now, values: evaluate(now, env), partition: parted, env, ...settings };
  });
  /** Those of the partition, and without a graph those that Python gave. */
  const kernels = computed(() => {
    const now = workload.value;
    return now ? kernelsOf(now.graph, now.partition, now.values) : given.value;
  });

  function here(): Entry | undefined {
    const parted = partition.value;
    return parted && { phase: phase.value, groups: parted.groups };
  }
  function remember(before: Entry) {
    past.value = [...past.value, before];
    future.value = [];
  }
  /** Show another phase; what depends on the graph follows by the rule that Python's `phase` states. */
  function enter(name: string, chosen?: Groups) {
    phase.value = name;
    const now = graph.value;
    if (!now) return;
    dims.value = keptSizes(now, dims.value);
    if (!now.conventions.has(convention.value) || convention.value === now.convention) convention.value = "";
    if (dtype.value === now.mainDtype) dtype.value = null;
    groups.value = chosen ?? unfused(now).groups;
  }
  function go(name: string, chosen?: Groups) {
    const elsewhere = name !== phase.value;
    if (elsewhere) enter(name, chosen);
    else if (chosen) groups.value = chosen;
    // What Python would conclude from the phase is told with it: it need not answer, which would come late.
    const settings = { phase: phase.value, dims: dims.value, convention: convention.value, dtype: dtype.value };
    tell({ ...(elsewhere && settings), partition: groups.value });
  }
  function setPhase(name: string) {
    const before = here();
    if (!before || name === before.phase || !phaseOf(name)) return;
    remember(before);
    go(name);
  }
  function setPartition(next: Partition) {
    const before = here();
    if (!before || isSame(before.groups, next.groups)) return;
    remember(before);
    go(before.phase, next.groups);
  }
  function step(from: Signal<readonly Entry[]>, to: Signal<readonly Entry[]>) {
    const next = from.value.at(-1);
    const before = here();
    if (!next || !before) return;
    from.value = from.value.slice(0, -1);
    to.value = [...to.value, before];
    go(next.phase, next.groups);
  }
  function setDim(name: string, value: number, how: { readonly stream?: boolean } = {}) {
    const normal = graph.value?.dims.find((dim) => dim.name === name)?.default;
    const { [name]: _, ...others } = dims.value;
    dims.value = value === normal ? others : { ...dims.value, [name]: value };
    tell({ dims: dims.value }, how);
  }
  function setConvention(name: string) {
    convention.value = name === graph.value?.convention ? "" : name;
    tell({ convention: convention.value });
  }
  function setDtype(name: string | null) {
    dtype.value = name === graph.value?.mainDtype ? null : name;
    tell({ dtype: dtype.value });
  }
  return {
    kernels,
    /** What Python sends, by trait. */
    read: {
      graphs: (wire: unknown) => {
        const before = phases.value;
        const was = phaseOf(phase.value);
        phases.value = phasesOf(wire, before);
        const stays = (entry: Entry) => before.some((one) => one.name === entry.phase && phases.value.includes(one));
        past.value = past.value.filter(stays);
        future.value = future.value.filter(stays);
        phase.value = (phaseOf(phase.value) ?? phases.value[0])?.name ?? "";
        // Of another graph Python tells the rest.
        if (phaseOf(phase.value) !== was) groups.value = null;
      },
      // A change from Python can be undone too, once there was something before it.
      phase: (wire: unknown) => {
        const before = groups.value && here();
        if (!before) phase.value = wire as string;
        else {
          remember(before);
          enter(wire as string);
        }
      },
      partition: (wire: unknown) => {
        const before = groups.value && here();
        groups.value = wire as Groups | null;
        if (before && wire && !isSame(before.groups, wire as Groups)) remember(before);
      },
      dims: (wire: unknown) => {
        dims.value = wire as Record<string, number>;
      },
      convention: (wire: unknown) => {
        convention.value = wire as string;
      },
      dtype: (wire: unknown) => {
        dtype.value = wire as string | null;
      },
    },
    state: {
      workload,
      phase,
      /** Their names. */
      phases: computed(() => phases.value.map(({ name }) => name)),
      canUndo: computed(() => past.value.length > 0),
      canRedo: computed(() => future.value.length > 0),
    },
    actions: {
      setPartition,
      setPhase,
      undo: () => step(past, future),
      redo: () => step(future, past),
      setDim,
      setConvention,
      setDtype,
    },
  };
}

const isSame = (one: Groups, other: Groups) => JSON.stringify(one) === JSON.stringify(other);
