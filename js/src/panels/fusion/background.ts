// Work of the fusion panel that goes on between frames: layout, presets, and the search of the best partition.

import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { Graph } from "../../fusion/graph.ts";
import type { Fits } from "../../fusion/legality.ts";
import type { Cost } from "../../fusion/partition.ts";
import { type BestPartition, searching } from "../../fusion/search.ts";
import { MAX_OPS_AT_ONCE, type Workload } from "../../state/graph.ts";
import type { Store } from "../../state/store.ts";
import { inSlices, type Work } from "../../ui/slices.ts";
import { type Flow, flowing } from "./flow.ts";

/** Of graphs with more ops than this the best is not looked for unasked. */
const MAX_SEARCHED_OPS = 2000;
/** The best is looked for once nothing has changed for this long, ms. */
const SEARCH_DELAY_MS = 200;

interface FusionInput {
  readonly workload: Workload;
  readonly cost: Cost | undefined;
  readonly fits: Fits | undefined;
}

/** Starts work; it is abandoned for other work, and once what it works on has changed, of which `dropped` tells. */
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

/** Whether the panel of a graph may be drawn: that of a large one a task after its chart. */
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

/** Does what a gesture asks for in a task of its own, after its frame, by what is in force then; none is lost. */
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

/** The layout, once it is known; of a panel that grows wider the old one until then. */
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

/** The best partition, once it is known. */
export function useBest({ workload: { graph, values }, cost, fits }: FusionInput): BestPartition | undefined {
  const found = useSignal<BestPartition | undefined>(undefined);
  // A size or a rate that is dragged changes the cost with every frame: the search waits for it to rest.
  useEffect(() => {
    found.value = undefined;
    if (!cost || graph.ops.length > MAX_SEARCHED_OPS) return;
    let stop = () => clearTimeout(timer);
    const timer = setTimeout(() => {
      stop = inSlices(searching(graph, values, cost, fits), (best) => {
        found.value = best;
      });
    }, SEARCH_DELAY_MS);
    return () => stop();
  }, [graph, values, cost, fits]);
  return found.value;
}
