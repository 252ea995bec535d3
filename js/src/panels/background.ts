// Work of the fusion panel that goes on between frames: layout, presets, and the search of the best partition.

import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { Graph } from "../graph.ts";
import type { Cost } from "../greedy.ts";
import type { Fits } from "../legality.ts";
import { type Found, searching } from "../search.ts";
import type { Store } from "../store.ts";
import { inSlices, type Work } from "../work.ts";
import type { Workload } from "../workload.ts";
import { type Flow, flowing } from "./flow.ts";

/** Of graphs with more ops than this the best is not looked for unasked. */
const SEARCHED = 2000;
/** The best is looked for once nothing has changed for this long, ms. */
const CALM = 200;

interface Asked {
  readonly workload: Workload;
  readonly cost: Cost | undefined;
  readonly fits: Fits | undefined;
}

/** Starts work; it is abandoned for other work, and once what it works on has changed, of which `dropped` tells. */
export function useWork({ workload, cost, fits }: Asked, store: Store, dropped: () => void) {
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
    stop.current = inSlices(job, (result) => {
      if (store.workload.peek() === workload) then(result);
    });
  };
}

/** The layout, once it is known; of a panel that grows wider the old one until then. */
export function useFlow(graph: Graph, room: number): Flow | undefined {
  const flow = useSignal<Flow | undefined>(undefined);
  useLayoutEffect(
    () =>
      inSlices(flowing(graph, room), (found) => {
        flow.value = found;
      }),
    [graph, room],
  );
  return flow.value;
}

/** The best partition, once it is known. */
export function useBest({ workload: { graph, values }, cost, fits }: Asked): Found | undefined {
  const found = useSignal<Found | undefined>(undefined);
  // A size or a rate that is dragged changes the cost with every frame: the search waits for it to rest.
  useEffect(() => {
    found.value = undefined;
    if (!cost || graph.ops.length > SEARCHED) return;
    let stop = () => clearTimeout(timer);
    const timer = setTimeout(() => {
      stop = inSlices(searching(graph, values, cost, fits), (best) => {
        found.value = best;
      });
    }, CALM);
    return () => stop();
  }, [graph, values, cost, fits]);
  return found.value;
}
