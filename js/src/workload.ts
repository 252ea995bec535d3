// The graph of a model in force: its counts at the sizes, convention and dtype chosen, and which ops are one kernel.

import { computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { kernelsOf, partitionOf, unfused } from "./fusion.ts";
import { decodeGraph, type Environment, environment, evaluate, type Graph, type Values } from "./graph.ts";
import type { Partition } from "./legality.ts";
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
type Tell = (name: string, value: unknown, how?: { readonly stream?: boolean }) => void;

/** The state of a graph and what changes it; `given` are Python's kernels, `tell` tells Python. */
export function createWorkload(given: ReadonlySignal<Kernels>, tell: Tell) {
  const graph = signal<Graph | undefined>(undefined);
  /** The positions of the ops of each kernel. */
  const groups = signal<Groups | null>(null);
  /** Sizes that differ from their defaults. */
  const dims = signal<Readonly<Record<string, number>>>({});
  /** Empty for the graph's own. */
  const convention = signal("");
  const dtype = signal<string | null>(null);
  const past = signal<readonly Groups[]>([]);
  const future = signal<readonly Groups[]>([]);

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

  function part(next: Groups) {
    groups.value = next;
    tell("partition", next);
  }
  function setPartition(next: Partition) {
    const before = partition.value?.groups;
    if (!before || JSON.stringify(before) === JSON.stringify(next.groups)) return;
    past.value = [...past.value, before];
    future.value = [];
    part(next.groups);
  }
  function step(from: Signal<readonly Groups[]>, to: Signal<readonly Groups[]>) {
    const next = from.value.at(-1);
    const before = partition.value?.groups;
    if (!next || !before) return;
    from.value = from.value.slice(0, -1);
    to.value = [...to.value, before];
    part(next);
  }
  function setDim(name: string, value: number, how: { readonly stream?: boolean } = {}) {
    const normal = graph.value?.dims.find((dim) => dim.name === name)?.default;
    const { [name]: _, ...others } = dims.value;
    dims.value = value === normal ? others : { ...dims.value, [name]: value };
    tell("dims", dims.value, how);
  }
  function setConvention(name: string) {
    convention.value = name === graph.value?.convention ? "" : name;
    tell("convention", convention.value);
  }
  function setDtype(name: string | null) {
    dtype.value = name === graph.value?.mainDtype ? null : name;
    tell("dtype", dtype.value);
  }
  return {
    kernels,
    /** What Python sends, by trait. */
    read: {
      graph: (wire: unknown) => {
        graph.value = wire ? decodeGraph(wire) : undefined;
        past.value = [];
        future.value = [];
      },
      partition: (wire: unknown) => {
        const before = partition.peek()?.groups;
        groups.value = wire as Groups | null;
        // A change from Python can be undone too.
        if (before && wire && JSON.stringify(before) !== JSON.stringify(wire)) {
          past.value = [...past.value, before];
          future.value = [];
        }
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
      canUndo: computed(() => past.value.length > 0),
      canRedo: computed(() => future.value.length > 0),
    },
    actions: {
      setPartition,
      undo: () => step(past, future),
      redo: () => step(future, past),
      setDim,
      setConvention,
      setDtype,
    },
  };
}
