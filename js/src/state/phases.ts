// The phases of a workload: graphs by name, of which one is in force.

import { firstBroken } from "../fusion/conditions.ts";
import { decoding } from "../fusion/decode_graph.ts";
import { environment, type Graph } from "../fusion/graph.ts";
import { finish, type Work } from "../ui/slices.ts";

export interface Phase {
  readonly name: string;
  readonly wire: unknown;
  /** How many ops it has. */
  readonly size: number;
  /** Decoded at once, unless it has been. */
  readonly graph: () => Graph;
  /** Decodes it little by little. */
  readonly decode: () => Work<void>;
}

/** Those that are as they were `before` stay the same objects. */
export const phasesOf = (wire: unknown, before: readonly Phase[]): readonly Phase[] =>
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

/** Those sizes that a graph has too, within its limits and not at its defaults; none if they do not agree. */
export function keptSizes(graph: Graph, sizes: Readonly<Record<string, number>>): Readonly<Record<string, number>> {
  const fits = (name: string, size: number) =>
    graph.dims.some((dim) => dim.name === name && dim.low <= size && size <= dim.high && size !== dim.default);
  const kept = Object.fromEntries(Object.entries(sizes).filter(([name, size]) => fits(name, size)));
  return firstBroken(graph.conditions, environment(graph, { dims: kept }).values) === null ? kept : {};
}
