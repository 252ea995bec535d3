// Background work of the fusion panel: layout, presets, and the search for the best partition. The work runs in slices
// between frames.

import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { Graph } from "../../fusion/graph.ts";
import type { Fits } from "../../fusion/legality.ts";
import { type Cost, compulsory, tally } from "../../fusion/partition.ts";
import { type BestPartition, searchPartition } from "../../fusion/search.ts";
import { probeOf } from "../../roofline/bound.ts";
import { MAX_OPS_AT_ONCE, type Workload } from "../../state/graph.ts";
import type { Store } from "../../state/store.ts";
import { inSlices, type Work } from "../../ui/slices.ts";
import { everyRow } from "../../wire/columns.ts";
import { type Flow, flowing } from "./flow.ts";

/** If the graph has more ops than this, the search runs only when the user asks for it. */
const MAX_SEARCHED_OPS = 2000;
/** The search starts when its input has not changed for this time, ms. */
const SEARCH_DELAY_MS = 200;

interface FusionInput {
  readonly workload: Workload;
  readonly cost: Cost | undefined;
  readonly fits: Fits | undefined;
}

/**
 * Runs one job at a time. If another job starts or the input changes, the present job stops. If the input changes,
 * `dropped` is also called.
 */
export function useWork({ workload, cost, fits }: FusionInput, store: Store, dropped: () => void) {
  const stop = useRef<() => void>(undefined);
  useEffect(
    () => () => {
      stop.current?.();
      dropped();
    },
    [workload, cost, fits],
  );
  return <T>(job: Work<T>, then: (result: T) => void) => {
    stop.current?.();
    const show = (result: T) => {
      if (store.workload.peek() === workload) then(result);
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
 * Returns the layout. Returns undefined until the first layout is computed. If the panel gets wider, returns the old
 * layout until the new layout is computed.
 */
export function useFlow(graph: Graph, room: number): Flow | undefined {
  const flow = useSignal<Flow | undefined>(undefined);
  useLayoutEffect(() => {
    const show = (found: Flow) => {
      flow.value = found;
    };
    return inSlices(flowing(graph, room), show, { later: graph.ops.length > MAX_OPS_AT_ONCE });
  }, [graph, room]);
  return flow.value;
}

/** Tells the headline above the chart how the partition compares with the best one, once the best one is found. */
export function useVerdict({ workload, cost }: FusionInput, found: BestPartition | undefined, store: Store) {
  const [kernels, roof] = [store.kernels.value, store.focusRoof.value];
  useEffect(() => {
    if (!found || !cost || !roof) return;
    const { graph, values, partition } = workload;
    const { seconds, bytes } = tally(graph, values, partition, cost);
    const probe = probeOf(kernels, roof);
    store.setFusion({
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
    return () => store.setFusion(undefined);
  }, [workload, cost, found, kernels, roof]);
}

/** Returns the best partition. Returns undefined until the best partition is found. */
export function useBest({ workload: { graph, values }, cost, fits }: FusionInput): BestPartition | undefined {
  const found = useSignal<BestPartition | undefined>(undefined);
  // A drag of a size or a rate changes the cost in every frame. The search starts only when the drag pauses.
  useEffect(() => {
    found.value = undefined;
    if (!cost || graph.ops.length > MAX_SEARCHED_OPS) return;
    let stop = () => clearTimeout(timer);
    const timer = setTimeout(() => {
      stop = inSlices(searchPartition(graph, values, cost, fits), (best) => {
        found.value = best;
      });
    }, SEARCH_DELAY_MS);
    return () => stop();
  }, [graph, values, cost, fits]);
  return found.value;
}
