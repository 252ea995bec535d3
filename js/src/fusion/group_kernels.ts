// The kernels of a partition as a table of kernels.

import { type DictColumn, type Kernels, sumOfKnown, textAt, withoutMetadata } from "../wire/columns.ts";
import type { Forms, Load } from "./forms.ts";
import { type Graph, type GraphValues, groupName } from "./graph.ts";
import type { Partition } from "./legality.ts";
import { precisionOf } from "./partition.ts";

type Grouping = Pick<Partition, "groups">;
type Loads = Pick<Forms, "loadOf">;

/** A table of kernels, with the partition and the counts that it was made from. */
export interface Grouped {
  readonly kernels: Kernels;
  readonly partition: Partition;
  readonly forms: Loads;
}

function texts(rows: readonly (string | null)[]): DictColumn {
  const known = new Map<string | null, number>();
  const codes = new Int32Array(rows.length);
  rows.forEach((text, row) => {
    const code = known.get(text) ?? known.size;
    known.set(text, code);
    codes[row] = code;
  });
  return { values: [...known.keys()], codes };
}

/** Returns the name of each group. */
export const namesOf = (graph: Graph, { groups }: Grouping): DictColumn =>
  texts(groups.map((group) => groupName(graph, group)));

interface Reused {
  /** The names of an earlier table. The names stay valid if only sizes of dimensions have changed since then. */
  readonly name?: DictColumn | undefined;
  /**
   * An earlier table. A merge does not change the counts of the groups that are not merged, so the rows of these groups
   * are reused.
   */
  readonly before?: Grouped | undefined;
}

/** Returns the table with one kernel per group. */
export function kernelsOf(
  graph: Graph,
  { groups }: Grouping,
  values: GraphValues,
  forms: Loads,
  { name = namesOf(graph, { groups }), before }: Reused = {},
): Kernels {
  const n = groups.length;
  const rows = before?.forms === forms ? rowsAmong(before.partition, groups) : undefined;
  const loads = groups.map((group, row) => ((rows?.[row] ?? -1) < 0 ? forms.loadOf(group) : undefined));
  // A reused count may be NaN, because the code below replaces counts of 0 by NaN. Here the count becomes 0 again.
  const column = (count: (load: Load) => number, old: Float64Array | undefined) =>
    Float64Array.from(loads, (load, row) => (load ? count(load) : old?.[rows?.[row] as number] || 0));
  const old = before?.kernels;
  const ofClass = graph.classes.map((word, at) => {
    return [word, column(({ flops }) => flops[at] as number, old?.flops.get(word))] as const;
  });
  // As in Python, the column of a class has counts only for groups with FLOPs of this class. A group without any FLOPs
  // has a 0 in the column "".
  const isIdle = groups.map((_, row) => ofClass.every(([, counts]) => counts[row] === 0));
  const flops = new Map(
    ofClass
      .filter(([, counts]) => counts.some((count) => count !== 0))
      .map(([word, counts]) => [word, counts.map((count) => count || Number.NaN)]),
  );
  if (isIdle.includes(true))
    flops.set(
      "",
      Float64Array.from(isIdle, (idle) => (idle ? 0 : Number.NaN)),
    );
  const precisions = groups.map((group, row) => {
    if (isIdle[row]) return null;
    const was = rows?.[row] ?? -1;
    return was >= 0 && old ? textAt(old.precision, was) : precisionOf(graph, values, group);
  });
  return withoutMetadata({
    n,
    name,
    precision: texts(precisions),
    category: { values: [null], codes: new Int32Array(n) },
    time: new Float64Array(n).fill(Number.NaN),
    count: new Float64Array(n).fill(1),
    flops,
    bytes: new Map([["main", column(({ bytes }) => bytes, old?.bytes.get("main"))]]),
    byLevel: new Map(),
    totalFlops: sumOfKnown([...flops.values()], n),
  });
}

/** Returns the row of each group in the earlier partition; -1 for a new group. */
function rowsAmong({ groups: known, groupOf }: Partition, groups: Grouping["groups"]): Int32Array {
  return Int32Array.from(groups, (group) => {
    const row = groupOf[group[0] as number] as number;
    return known[row] === group ? row : -1;
  });
}
