// Conditions on a graph's dimensions in addition to their ranges. Mirrors roofwidget/workloads/conditions.py.

import type { Condition, Dim, Environment, Graph } from "./graph.ts";

/** A condition that does not hold, with the present values of the count and of the divisor. */
export interface BrokenCondition {
  readonly condition: Condition;
  readonly count: number;
  readonly divisor: number;
}

/** The search for a legal size ends at this distance from the requested size. */
const MAX_SIZE_DISTANCE = 4096;

/** Returns the first condition that fails if the dimension `dim` gets the size `size`; null if all conditions hold. */
export function brokenAt(
  { conditions, symbols }: Graph,
  { values }: Environment,
  dim: Dim,
  size: number,
): BrokenCondition | null {
  if (conditions.length === 0) return null;
  const changed = values.slice();
  changed[symbols.get(dim.name) as number] = size;
  return firstBroken(conditions, changed);
}

export function firstBroken(conditions: readonly Condition[], values: Float64Array): BrokenCondition | null {
  for (const condition of conditions) {
    const [count, divisor] = [condition.countAt(values), condition.divisorAt(values)];
    const holds = condition.divisor === 0 ? count >= 1 : divisor >= 1 && count % divisor === 0;
    if (!holds) return { condition, count, divisor };
  }
  return null;
}

/**
 * Returns the legal size nearest to `wanted`; undefined if no legal size is near. If two legal sizes are equally near,
 * returns the smaller size. `toward` limits the search to one direction: -1 for smaller sizes, 1 for larger sizes.
 */
export function nearestSize(
  graph: Graph,
  env: Environment,
  dim: Dim,
  wanted: number,
  toward: -1 | 0 | 1 = 0,
): number | undefined {
  const isLegal = (size: number) => size >= dim.low && size <= dim.high && brokenAt(graph, env, dim, size) === null;
  for (let distance = 0; distance < MAX_SIZE_DISTANCE; distance++) {
    if (toward <= 0 && isLegal(wanted - distance)) return wanted - distance;
    if (toward >= 0 && isLegal(wanted + distance)) return wanted + distance;
  }
  return undefined;
}
