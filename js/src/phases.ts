// The phases of a workload: graphs by name, of which one is in force.

import { faultIn } from "./conditions.ts";
import { decodeGraph, environment, type Graph } from "./graph.ts";

export interface Phase {
  readonly name: string;
  readonly wire: unknown;
  /** Decoded when it is first asked for. */
  readonly graph: () => Graph;
}

/** Those that are as they were `before` stay the same objects. */
export const phasesOf = (wire: unknown, before: readonly Phase[]): readonly Phase[] =>
  (wire as readonly [string, unknown][]).map(([name, graph]) => {
    const known = before.find((phase) => phase.name === name);
    return known && JSON.stringify(known.wire) === JSON.stringify(graph) ? known : phase(name, graph);
  });

function phase(name: string, wire: unknown): Phase {
  let decoded: Graph | undefined;
  return {
    name,
    wire,
    graph: () => {
      decoded ??= decodeGraph(wire);
      return decoded;
    },
  };
}

/** Those sizes that a graph has too, within its limits and not at its defaults; none if they do not agree. */
export function keptSizes(graph: Graph, sizes: Readonly<Record<string, number>>): Readonly<Record<string, number>> {
  const fits = (name: string, size: number) =>
    graph.dims.some((dim) => dim.name === name && dim.low <= size && size <= dim.high && size !== dim.default);
  const kept = Object.fromEntries(Object.entries(sizes).filter(([name, size]) => fits(name, size)));
  return faultIn(graph.conditions, environment(graph, { dims: kept }).values) === null ? kept : {};
}
