// The slice of the workload: the graph of the current phase. The counts of the graph depend on the chosen sizes, counting
// convention and dtype. The partition groups the ops of the graph into kernels.

import { computed, type Signal, signal } from "@preact/signals";
import { firstBroken } from "../fusion/conditions.ts";
import { type Forms, formsOn } from "../fusion/forms.ts";
import { decoding, type Environment, environment, evaluate, type Graph, type GraphValues } from "../fusion/graph.ts";
import { type Grouped, kernelsOf, namesOf } from "../fusion/group_kernels.ts";
import type { Partition } from "../fusion/legality.ts";
import { partitionOf, unfused } from "../fusion/partition.ts";
import { costOn } from "../fusion/search.ts";
import { isRoof, roofOf } from "../roofline/roofline.ts";
import { isEqual } from "../ui/equal.ts";
import { finish, inSlices, type Work } from "../ui/slices.ts";
import { changed } from "./changes.ts";
import type { ChangeOptions, Edits, Gesture, Receivers } from "./edits.ts";
import type { Entry } from "./history.ts";
import { type Changes, isOfGraph, type KernelGroups, type TraitName, type TraitValues } from "./traits.ts";

export interface Workload {
  readonly graph: Graph;
  readonly values: GraphValues;
  readonly partition: Partition;
  readonly dims: Readonly<Record<string, number>>;
  readonly convention: string;
  readonly dtype: string | null;
  readonly env: Environment;
  /** What kernels can do on the focus chip. */
  readonly forms: Forms;
}

/** One phase of a workload: a graph and its name. */
interface Phase {
  readonly name: string;
  readonly wire: unknown;
  /** Number of ops in the graph. */
  readonly size: number;
  /** Returns the graph. Decodes it on the first call. */
  readonly graph: () => Graph;
  /** Decodes the graph in slices. */
  readonly decode: () => Work<void>;
}

/** The traits of a graph. */
export type GraphTraits = Pick<TraitValues, "phase" | "dims" | "convention" | "dtype"> & {
  readonly partition: KernelGroups;
};

/** If a graph has more ops than this, the page prepares the graph in slices, and draws frames between the slices. */
export const MAX_OPS_AT_ONCE = 200;

/** The state of the graph and the actions that change it. */
export function createWorkload(edits: Edits) {
  const { kernels: given, phase, partition: groups, dims, convention, dtype, chips, focusChip } = edits.signals;
  const phases = signal(phasesOf(edits.signals.graphs.value, []));
  /** Whether a large new graph is still being prepared. */
  const arriving = signal(false);
  let abandon = () => {};
  const phaseOf = (name: string) => phases.value.find((one) => one.name === name);
  const graph = computed(() => phaseOf(phase.value)?.graph());
  /** The kernel groups that a phase had when the user left the phase. */
  const groupsOfLeft = new WeakMap<Phase, KernelGroups>();

  const partition = computed(() => {
    const now = graph.value;
    if (!now) return undefined;
    const chosen = groups.value;
    // Python may send groups of the old graph after the new graph. The page ignores such groups.
    const ops = now.ops.length;
    const fits =
      ops === chosen?.reduce((sum, group) => sum + group.length, 0) &&
      chosen?.every((group) => group.every((op) => op < ops));
    return chosen && fits && chosen.length < ops ? partitionOf(now, chosen) : unfused(now);
  });
  /** The counts do not depend on the partition. Therefore a merge does not compute the counts again. */
  const counted = computed(() => {
    const now = graph.value;
    if (!now) return undefined;
    const settings = { dims: dims.value, convention: convention.value || now.convention, dtype: dtype.value };
    const env = environment(now, settings);
    return { graph: now, values: evaluate(now, env), env, ...settings };
  });
  const chip = computed(() => chips.value.find(({ id }) => id === focusChip.value));
  const forms = computed(() => {
    const [now, on] = [counted.value, chip.value];
    if (!now) return undefined;
    const sheet = on && roofOf(on, "auto", "main", {});
    const cost = sheet && isRoof(sheet) ? costOn(now.graph, now.values, sheet) : (_: unknown, bytes: number) => bytes;
    return formsOn(now.graph, now.values, on?.share, cost);
  });
  const names = computed(() => graph.value && partition.value && namesOf(graph.value, partition.value));
  let before: Grouped | undefined;
  const grouped = computed(() => {
    const [now, parted, name, loads] = [counted.value, partition.value, names.value, forms.value];
    if (!now || !parted || !loads) return undefined;
    const kernels = kernelsOf(now.graph, parted, now.values, loads, { name, before });
    before = { kernels, partition: parted, forms: loads };
    return before;
  });
  const workload = computed<Workload | undefined>(() => {
    if (arriving.value) return undefined;
    const [now, parted, loads] = [counted.value, partition.value, forms.value];
    return now && parted && loads && { ...now, partition: parted, forms: loads };
  });
  /** The kernels of the partition if there is a graph. Otherwise, the kernels that Python sent. */
  const kernels = computed(() => (workload.value && grouped.value?.kernels) ?? given.value);

  /** Prepares a large graph in slices. Until the graph is ready, the chart shows its previous content. */
  function* working(shown: Phase): Work<void> {
    yield* shown.decode();
    for (const each of [partition, counted, names, forms, grouped]) {
      each.peek();
      yield;
    }
  }
  function arrive() {
    abandon();
    const shown = phaseOf(phase.value);
    arriving.value = shown !== undefined && shown.size > MAX_OPS_AT_ONCE;
    if (!shown || !arriving.value) return;
    const show = () => {
      arriving.value = false;
    };
    abandon = inSlices(working(shown), show, { later: true });
  }

  function graphNow(): GraphTraits | undefined {
    const parted = arriving.value ? undefined : partition.value;
    if (!parted) return undefined;
    const settings = { dims: dims.value, convention: convention.value, dtype: dtype.value };
    return { phase: phase.value, partition: parted.groups, ...settings };
  }
  /**
   * Shows another phase. The help text of the trait `phase` in Python says which sizes, counting convention and dtype
   * the new phase gets.
   */
  function enter(name: string) {
    const [old, parted] = [phaseOf(phase.value), partition.value];
    if (old && parted) groupsOfLeft.set(old, parted.groups);
    phase.value = name;
    const now = graph.value;
    if (!now) return;
    dims.value = keptSizes(now, dims.value);
    if (!now.conventions.has(convention.value) || convention.value === now.convention) convention.value = "";
    if (dtype.value === now.mainDtype) dtype.value = null;
    groups.value = groupsOfLeft.get(phaseOf(name) as Phase) ?? unfused(now).groups;
  }
  /**
   * Shows a graph with these traits. If it is of another phase, all traits are sent with the phase: otherwise, Python
   * would derive the others from the phase, and send the derived ones later.
   */
  function restore(entry: Entry) {
    const before = graphNow();
    if (!before) return;
    if (entry.phase !== undefined && entry.phase !== before.phase) {
      // When the user leaves a phase, Python stores the state of this phase. Therefore the queued changes of the old
      // phase must be sent before the new phase.
      edits.send();
      edits.separate();
      edits.put({ ...before, ...entry } as Changes, true);
      return edits.send();
    }
    const changes = changed<Changes>(entry, before);
    edits.put(changes);
    edits.send({ later: "partition" in changes });
  }
  function setPhase(name: string) {
    if (!graphNow() || name === phase.value || !phaseOf(name)) return;
    edits.edit(() => {
      enter(name);
      edits.put(graphNow() as GraphTraits, true);
    });
  }
  function setPartition({ groups: next }: Partition) {
    const before = graphNow();
    if (before && !isEqual(before.partition, next)) edits.set({ partition: next }, { later: true });
  }
  function setDim(name: string, value: number, how: ChangeOptions = {}) {
    const normal = graph.value?.dims.find((dim) => dim.name === name)?.default;
    const next = withSize(dims.value, name, value === normal ? undefined : value);
    edits.set({ dims: next }, { ...how, series: name });
  }
  /** Returns a function that restores the size that a dimension has now. */
  function keptSize(name: string) {
    const size = dims.value[name];
    return () => ({ dims: withSize(dims.value, name, size) });
  }
  /**
   * Until Python has sent the partition of a new graph, a changed setting belongs to the new graph. Until then, a
   * changed setting makes no undo entry.
   */
  const setting = (signal: Signal) => (value: unknown, accept: () => void) => {
    if (groups.value === null) signal.value = value;
    else accept();
  };
  arrive();
  return {
    kernels,
    receivers: {
      graphs: (wire) => {
        const before = phases.value;
        const was = phaseOf(phase.value);
        phases.value = phasesOf(wire, before);
        const stays = (name: string) => before.some((one) => one.name === name && phases.value.includes(one));
        const isKept = ([name]: [string, unknown]) => !isOfGraph(name as TraitName);
        edits.history.revise((entry) =>
          entry.phase === undefined || stays(entry.phase)
            ? entry
            : Object.fromEntries(Object.entries(entry).filter(isKept)),
        );
        phase.value = (phaseOf(phase.value) ?? phases.value[0])?.name ?? "";
        // If the graph is the same, nothing else changes. If it is another graph, Python sends the partition and the
        // settings in its next messages.
        if (phaseOf(phase.value) === was) return;
        groups.value = null;
        arrive();
      },
      phase: (name) => {
        // Drops unsent changes, because they belong to the previous phase.
        edits.drop("partition", "dims", "convention", "dtype");
        if (groups.value === null) {
          phase.value = name;
          arrive();
        } else edits.history.change(() => enter(name));
      },
      partition: (next, accept) => {
        // Setting the same groups again would remove the trails of the last merge.
        if (groups.value && next && isEqual(groups.value, next)) return;
        if (groups.value && next) accept();
        else groups.value = next;
      },
      dims: setting(dims),
      convention: setting(convention),
      dtype: setting(dtype),
    } satisfies Receivers,
    graph: workload,
    graphNow,
    restore,
    /** Returns whether each row will still be the same kernel after the next undo (if `isBack` is true) or redo. */
    keepsRows(isBack: boolean) {
      const [next, before] = [edits.history.next(isBack), graphNow()];
      return next?.phase === undefined || isEqual([next.phase, next.partition], [before?.phase, before?.partition]);
    },
    phases: computed(() => phases.value.map(({ name }) => name)),
    actions: {
      setPartition,
      setPhase,
      setDim,
      dragDim: (name: string): Gesture<number> =>
        edits.startGesture({
          traits: ["dims"],
          move: (value) => setDim(name, value, { stream: true }),
          merge: (fromPython) => withSize(fromPython, name, dims.value[name]),
          restore: keptSize(name),
        }),
      setConvention: (name: string) => edits.set({ convention: name === graph.value?.convention ? "" : name }),
      setDtype: (name: string | null) => edits.set({ dtype: name === graph.value?.mainDtype ? null : name }),
    },
  };
}

/** Makes the phases from Python's message. A phase that has not changed stays the same object. */
const phasesOf = (wire: unknown, before: readonly Phase[]): readonly Phase[] =>
  (wire as readonly [string, unknown][]).map(([name, graph]) => {
    const known = before.find((phase) => phase.name === name);
    return known && JSON.stringify(known.wire) === JSON.stringify(graph) ? known : phase(name, graph);
  });

function phase(name: string, wire: unknown): Phase {
  let decoded: Graph | undefined;
  function* decode() {
    decoded ??= yield* decoding(wire);
  }
  function graph() {
    finish(decode());
    return decoded as Graph;
  }
  return { name, wire, size: (wire as Pick<Graph, "ops">).ops.length, graph, decode };
}

/**
 * Returns the sizes that another graph keeps. A size is kept if the other graph has the dimension, the size is within
 * that graph's limits, and the size differs from its default. Returns no sizes if the kept sizes break a condition of
 * the other graph.
 */
export function keptSizes(graph: Graph, sizes: Readonly<Record<string, number>>): Readonly<Record<string, number>> {
  const fits = (name: string, size: number) =>
    graph.dims.some((dim) => dim.name === name && dim.low <= size && size <= dim.high && size !== dim.default);
  const kept = Object.fromEntries(Object.entries(sizes).filter(([name, size]) => fits(name, size)));
  return firstBroken(graph.conditions, environment(graph, { dims: kept }).values) === null ? kept : {};
}

/** Returns the sizes with a new size of one dimension. If `size` is undefined, the dimension gets its default size. */
function withSize(sizes: Readonly<Record<string, number>>, name: string, size: number | undefined) {
  const { [name]: _, ...others } = sizes;
  return size === undefined ? others : { ...sizes, [name]: size };
}
