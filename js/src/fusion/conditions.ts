// What must hold of a graph's dimensions beside their ranges: the mirror of roofwidget/workloads/conditions.py.

import { workloadWords } from "../words/words.ts";
import { compile, formula, type Wire } from "./expressions.ts";
import type { Dim, Environment, Graph } from "./graph.ts";

/** `count` must be a multiple of `divisor`, or at least 1 where that is 0. */
export interface Condition {
  readonly whose: string;
  readonly count: Wire;
  readonly divisor: Wire;
  /** What is wrong with it, for people; null where nothing is. */
  readonly fault: (values: Float64Array) => string | null;
}

export type WireCondition = readonly [whose: string, count: Wire, divisor: Wire];

/** As far from a value one that is legal is looked for. */
const FAR = 4096;

export function conditionOf([whose, count, divisor]: WireCondition, symbols: ReadonlyMap<string, number>): Condition {
  const [top, bottom] = [compile(count, symbols), compile(divisor, symbols)];
  const told = (wire: Wire, value: number) => (typeof wire === "number" ? `${value}` : `${formula(wire)} = ${value}`);
  const fault = (values: Float64Array) => {
    const [size, by] = [top(values), bottom(values)];
    if (divisor === 0) return size >= 1 ? null : workloadWords.tooSmall(whose, told(count, size));
    return by >= 1 && size % by === 0 ? null : workloadWords.noMultiple(whose, told(count, size), told(divisor, by));
  };
  return { whose, count, divisor, fault };
}

/** What is wrong with a size of a dimension beside the others that are in force; null where nothing is. */
export function faultAt(
  { conditions, symbols }: Graph,
  { values }: Environment,
  dim: Dim,
  size: number,
): string | null {
  if (conditions.length === 0) return null;
  const there = values.slice();
  there[symbols.get(dim.name) as number] = size;
  return faultIn(conditions, there);
}

export function faultIn(conditions: readonly Condition[], values: Float64Array): string | null {
  for (const { fault } of conditions) {
    const found = fault(values);
    if (found !== null) return found;
  }
  return null;
}

/** The legal size that is nearest to a wanted one, of two the smaller; with `toward` only those beyond it that way. */
export function nearestSize(
  graph: Graph,
  env: Environment,
  dim: Dim,
  wanted: number,
  toward: -1 | 0 | 1 = 0,
): number | undefined {
  const isLegal = (size: number) => size >= dim.low && size <= dim.high && faultAt(graph, env, dim, size) === null;
  for (let away = 0; away < FAR; away++) {
    if (toward <= 0 && isLegal(wanted - away)) return wanted - away;
    if (toward >= 0 && isLegal(wanted + away)) return wanted + away;
  }
  return undefined;
}
