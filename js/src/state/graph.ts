// The graph of a model in force: which phase it is of, its counts at the sizes, convention and dtype chosen, and which
// ops are one kernel.

import { computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { type Environment, environment, evaluate, type Graph, type Values } from "../fusion/graph.ts";
import { type Grouped, kernelsOf, namesOf } from "../fusion/group_kernels.ts";
import type { Partition } from "../fusion/legality.ts";
import { partitionOf, unfused } from "../fusion/partition.ts";
import { inSlices, type Work } from "../ui/slices.ts";
import type { Kernels } from "../wire/columns.ts";
import { type Entry, type Groups, isEqual, isSame, isSameGrouping } from "./entries.ts";
import type { History } from "./history.ts";
import { keptSizes, type Phase, phasesOf } from "./phases.ts";

export interface Workload {
  readonly graph: Graph;
  readonly values: Values;
  readonly partition: Partition;
  readonly dims: Readonly<Record<string, number>>;
  readonly convention: string;
  readonly dtype: string | null;
  readonly env: Environment;
}

type Tell = (
  changes: Readonly<Record<string, unknown>>,
  how?: { readonly stream?: boolean; readonly later?: boolean },
) => void;

/** What is shown of a graph of more ops than this is worked out between frames. */
export const LARGE = 200;

/** The state of a graph and what changes it; `given` are Python's kernels, `tell` tells Python. */
export function createWorkload(given: ReadonlySignal<Kernels>, tell: Tell, history: History) {
  const phases = signal<readonly Phase[]>([]);
  const phase = signal("");
  /** Whether a graph has come and is still being worked out. */
  const arriving = signal(false);
  let leave = () => {};
  const phaseOf = (name: string) => phases.value.find((one) => one.name === name);
  const graph = computed(() => phaseOf(phase.value)?.graph());
  /** The positions of the ops of each kernel. */
  const groups = signal<Groups | null>(null);
  /** Those that a phase was left with. */
  const left = new WeakMap<Phase, Groups>();
  /** Sizes that differ from their defaults. */
  const dims = signal<Readonly<Record<string, number>>>({});
  /** Empty for the graph's own. */
  const convention = signal("");
  const dtype = signal<string | null>(null);

  const partition = computed(() => {
    const now = graph.value;
    if (!now) return undefined;
    const chosen = groups.value;
    // Groups of another graph, on their way while this one came, are no partition of it.
    const ops = now.ops.length;
    const fits =
      ops === chosen?.reduce((sum, group) => sum + group.length, 0) &&
      chosen?.every((group) => group.every((op) => op < ops));
    return chosen && fits && chosen.length < ops ? partitionOf(now, chosen) : unfused(now);
  });
  /** A merge leaves this as it is, and what hangs on it. */
  const counted = computed(() => {
    const now = graph.value;
    if (!now) return undefined;
    const settings = { dims: dims.value, convention: convention.value || now.convention, dtype: dtype.value };
    const env = environment(now, settings);
    return { graph: now, values: evaluate(now, env), env, ...settings };
  });
  const names = computed(() => graph.value && partition.value && namesOf(graph.value, partition.value));
  let before: Grouped | undefined;
  const grouped = computed(() => {
    const [now, parted, name] = [counted.value, partition.value, names.value];
    if (!now || !parted) return undefined;
    const kernels = kernelsOf(now.graph, parted, now.values, { name, before });
    before = { kernels, partition: parted, values: now.values };
    return before;
  });
  const workload = computed<Workload | undefined>(() => {
    if (arriving.value) return undefined;
    const [now, parted] = [counted.value, partition.value];
    return now && parted && { ...now, partition: parted };
  });
  /** Those of the partition, and without a graph those that Python gave. */
  const kernels = computed(() => (workload.value && grouped.value?.kernels) ?? given.value);

  /** Works out what is shown of the graph: a large one's frames are drawn meanwhile, of what was there before. */
  function* working(shown: Phase): Work<void> {
    yield* shown.decode();
    for (const each of [partition, counted, names, grouped]) {
      each.peek();
      yield;
    }
  }
  function arrive() {
    leave();
    const shown = phaseOf(phase.value);
    arriving.value = shown !== undefined && shown.size > LARGE;
    if (!shown || !arriving.value) return;
    const show = () => {
      arriving.value = false;
    };
    leave = inSlices(working(shown), show, { later: true });
  }

  function here(): Entry | undefined {
    const parted = arriving.value ? undefined : partition.value;
    if (!parted) return undefined;
    const settings = { dims: dims.value, convention: convention.value, dtype: dtype.value };
    return { phase: phase.value, groups: parted.groups, ...settings };
  }
  const mine = history.add({ here, isSame, restore });
  /** Show another phase; what depends on the graph follows by the rule that Python's `phase` states. */
  function enter(name: string) {
    const [old, parted] = [phaseOf(phase.value), partition.value];
    if (old && parted) left.set(old, parted.groups);
    phase.value = name;
    const now = graph.value;
    if (!now) return;
    dims.value = keptSizes(now, dims.value);
    if (!now.conventions.has(convention.value) || convention.value === now.convention) convention.value = "";
    if (dtype.value === now.mainDtype) dtype.value = null;
    groups.value = left.get(phaseOf(name) as Phase) ?? unfused(now).groups;
  }
  /** What Python would conclude from a phase is told with it: it need not answer, which would come late. */
  const tellAll = ({ groups: partition, ...settings }: Entry) => tell({ ...settings, partition });
  function restore(entry: Entry) {
    const before = here();
    // Python keeps each phase as it was left: what still waits to be told of it goes first.
    if (before?.phase !== entry.phase) tell({});
    phase.value = entry.phase;
    dims.value = entry.dims;
    convention.value = entry.convention;
    dtype.value = entry.dtype;
    groups.value = entry.groups;
    if (before?.phase !== entry.phase) return tellAll(entry);
    const { groups: partition, ...settings } = entry;
    const isNew = ([name, value]: [string, unknown]) => !isEqual(value, before[name as keyof Entry]);
    const changes = Object.fromEntries(Object.entries(settings).filter(isNew));
    if (isSameGrouping(before.groups, partition)) tell(changes);
    else tell({ ...changes, partition }, { later: true });
  }
  function setPhase(name: string) {
    if (!here() || name === phase.value || !phaseOf(name)) return;
    history.change(() => enter(name));
    tellAll(here() as Entry);
  }
  function setPartition(next: Partition) {
    const before = here();
    if (!before || isSameGrouping(before.groups, next.groups)) return;
    history.change(() => {
      groups.value = next.groups;
    });
    tell({ partition: groups.value }, { later: true });
  }
  function setDim(name: string, value: number, how: { readonly stream?: boolean } = {}) {
    const normal = graph.value?.dims.find((dim) => dim.name === name)?.default;
    const { [name]: _, ...others } = dims.value;
    const change = () => {
      dims.value = value === normal ? others : { ...dims.value, [name]: value };
    };
    history.change(change, how.stream ? name : undefined);
    tell({ dims: dims.value }, how);
  }
  function setConvention(name: string) {
    history.change(() => {
      convention.value = name === graph.value?.convention ? "" : name;
    });
    tell({ convention: convention.value });
  }
  function setDtype(name: string | null) {
    history.change(() => {
      dtype.value = name === graph.value?.mainDtype ? null : name;
    });
    tell({ dtype: dtype.value });
  }
  /** What Python sends of a setting can be undone too, but for what it starts with. */
  function heard<T>(setting: Signal<T>) {
    let isFirst = true;
    return (wire: unknown) => {
      const take = () => {
        setting.value = wire as T;
      };
      if (isFirst || groups.value === null) take();
      else if (!isEqual(wire, setting.value)) history.change(take);
      isFirst = false;
    };
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
        mine.revise((entry) => (stays(entry) ? entry : undefined));
        phase.value = (phaseOf(phase.value) ?? phases.value[0])?.name ?? "";
        // Of another graph Python tells the rest.
        if (phaseOf(phase.value) === was) return;
        groups.value = null;
        arrive();
      },
      // A change from Python can be undone too, once there was something before it.
      phase: (wire: unknown) => {
        if (groups.value === null) {
          phase.value = wire as string;
          arrive();
        } else history.change(() => enter(wire as string));
      },
      /** Whether rows are others now than there were. */
      partition: (wire: unknown): boolean => {
        const before = groups.value;
        const take = () => {
          groups.value = wire as Groups | null;
        };
        // Said again it would drop what hangs on the partition.
        if (before && wire && isSameGrouping(before, wire as Groups)) return false;
        if (before && wire) history.change(take);
        else take();
        return before !== null;
      },
      dims: heard(dims),
      convention: heard(convention),
      dtype: heard(dtype),
    },
    state: {
      workload,
      phase,
      /** Their names. */
      phases: computed(() => phases.value.map(({ name }) => name)),
    },
    actions: {
      setPartition,
      setPhase,
      /** Whether rows stay what they are in the next step. */
      keepsRows(isBack: boolean) {
        const [next, before] = [mine.next(isBack), here()];
        return !next || (next.phase === before?.phase && isEqual(next.groups, before.groups));
      },
      setDim,
      setConvention,
      setDtype,
    },
  };
}
