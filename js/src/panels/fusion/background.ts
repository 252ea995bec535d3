// Background work of the fusion panel: layout, presets, and the search for the best partition. The work runs in slices
// between frames.

import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { type Cost, type Forms, tally } from "../../fusion/forms.ts";
import type { Graph, Ops } from "../../fusion/graph.ts";
import { compulsory, partitionOf } from "../../fusion/partition.ts";
import { type BestPartition, costOn, fasterOf, type Light, lightOf, searchBoth } from "../../fusion/search.ts";
import { probeOf } from "../../roofline/bound.ts";
import type { Store } from "../../state/store.ts";
import { MAX_OPS_AT_ONCE, type Workload } from "../../state/workload.ts";
import { inSlices, type Work } from "../../ui/slices.ts";
import { everyRow } from "../../wire/columns.ts";
import type { Chip } from "../../wire/types.ts";
import { chipOf } from "../hardware/chip_tab.tsx";
import { type Flow, flowing, type Room } from "./flow.ts";
import { lackingPeak } from "./merging.ts";

/** If the graph has more ops than this, the search runs only when the user asks for it. */
const MAX_SEARCHED_OPS = 2000;
/** The search starts when its input has not changed for this time, ms. */
const SEARCH_DELAY_MS = 200;

interface FusionInput {
  readonly workload: Workload;
  /** Missing if the focus chip lacks a peak: the times of partitions are then unknown, and none is the best. */
  readonly cost: Cost | undefined;
  /** Missing as the cost is. */
  readonly light: Light | undefined;
  readonly forms: Forms;
  readonly chip: Chip | undefined;
  /** The precision of the peak that the focus chip lacks. */
  readonly lacked: string | undefined;
}

/** Returns what the focus chip says of partitions: times, and which kernels fit on chip. */
export function useFusion(store: Store, workload: Workload): FusionInput {
  const { graph, values, forms } = workload;
  const roof = store.rates.focusRoof.value;
  const own = store.rates.precision.value === "auto";
  const lacked = useMemo(
    () => (roof && own ? lackingPeak(graph, values, roof) : undefined),
    [graph, values, roof, own],
  );
  const cost = useMemo(
    () => (lacked === undefined ? roof && costOn(graph, values, roof, own) : undefined),
    [graph, values, roof, own, lacked],
  );
  const light = useMemo(() => (cost && roof ? lightOf(graph, values, forms, roof, own) : undefined), [cost]);
  const chip = chipOf(store);
  return { workload, cost, light, forms, chip, lacked };
}

/**
 * Runs one job at a time. If another job starts or the input changes, the present job stops. If the input changes,
 * `dropped` is also called.
 */
export function useWork({ workload, cost }: Pick<FusionInput, "workload" | "cost">, store: Store, dropped: () => void) {
  const stop = useRef<() => void>(undefined);
  useEffect(
    () => () => {
      stop.current?.();
      dropped();
    },
    [workload, cost],
  );
  return <T>(job: Work<T>, then: (result: T) => void) => {
    stop.current?.();
    const show = (result: T) => {
      if (store.workload.graph.peek() === workload) then(result);
    };
    stop.current = inSlices(job, show, { later: true });
  };
}

/**
 * Returns whether the panel may be drawn. The panel of a large graph is delayed by one task, so that the chart is drawn
 * first.
 */
export function useNext(graph: Graph | undefined): boolean {
  const drawn = useSignal<Graph | undefined>(undefined);
  const isLarge = graph !== undefined && graph.ops.length > MAX_OPS_AT_ONCE;
  useEffect(() => {
    if (!isLarge) return;
    const timer = setTimeout(() => {
      drawn.value = graph;
    });
    return () => clearTimeout(timer);
  }, [graph, isLarge]);
  return !isLarge || drawn.value === graph;
}

/**
 * Runs a gesture's action in a task after the current frame. The action uses the state at the time of that task. No
 * action is lost.
 */
export function useSoon<Actions>(graph: Graph, actions: Actions) {
  const now = useRef<{ graph: Graph; actions: Actions } | undefined>(undefined);
  now.current = { graph, actions };
  useEffect(
    () => () => {
      now.current = undefined;
    },
    [],
  );
  return (act: (actions: Actions) => void) => {
    setTimeout(() => {
      if (now.current?.graph === graph) act(now.current.actions);
    });
  };
}

/**
 * Returns the layout. Returns undefined until the first layout is computed. If the panel gets another size, returns the
 * old layout until the new layout is computed.
 */
export function useFlow(graph: Graph, { width, height }: Room, boxes: readonly Ops[] | undefined): Flow | undefined {
  const flow = useSignal<Flow | undefined>(undefined);
  useLayoutEffect(() => {
    const show = (found: Flow) => {
      flow.value = found;
    };
    return inSlices(flowing(graph, { width, height }, boxes), show, { later: graph.ops.length > MAX_OPS_AT_ONCE });
  }, [graph, width, height, boxes]);
  return flow.value;
}

/**
 * Searches the best partition, and tells the headline above the chart how the present one compares with it. A drag of a
 * size or a rate changes the cost in every frame: the search starts only when the drag pauses.
 */
export function useSearch(store: Store, { workload, cost, light, forms }: FusionInput): void {
  const { graph, values, partition } = workload;
  const {
    workload: { best: bestPartition },
  } = store;
  useEffect(() => {
    bestPartition.value = undefined;
    if (!cost || graph.ops.length > MAX_SEARCHED_OPS) return;
    let stop = () => clearTimeout(timer);
    let isOver = false;
    const timer = setTimeout(() => {
      stop = inSlices(searchBoth(graph, forms, cost, light), (best) => {
        bestPartition.value = best;
        if (best.how === "greedy") void askPython(best.compiler);
      });
    }, SEARCH_DELAY_MS);
    /** Python searches longer, and often proves its result. */
    async function askPython(compiler: BestPartition) {
      const answer = await store.python.askBest();
      if (isOver || !answer || !cost) return;
      const partition = partitionOf(graph, answer.groups);
      const { seconds } = tally(forms, partition, cost);
      const best = fasterOf({ ...partition, seconds, how: answer.how }, compiler, light);
      bestPartition.value = { ...best, compiler, graph };
    }
    return () => {
      isOver = true;
      stop();
    };
  }, [forms, cost]);
  const found = bestPartition.value;
  const [kernels, roof] = [store.rows.kernels.value, store.rates.focusRoof.value];
  useEffect(() => {
    if (!found || !cost || !roof) return;
    const { seconds, bytes } = tally(forms, partition, cost);
    const probe = probeOf(kernels, roof);
    store.workload.setFusion({
      seconds,
      bytes,
      bestSeconds: found.seconds,
      bestKernels: found.groups.length,
      isExact: found.how === "optimal",
      kernels: partition.groups.length,
      memoryBound: everyRow(kernels).filter((row) => probe(row).regime === "memory").length,
      isUnfused: partition.groups.every((group) => group.length === 1),
      leastBytes: compulsory(graph, values),
    });
    return () => store.workload.setFusion(undefined);
  }, [workload, cost, found, kernels, roof]);
}
