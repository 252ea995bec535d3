// Which ops each kernel has, for those who hear the graph: its bands and boxes are drawn only.

import { useMemo } from "preact/hooks";
import type { Graph } from "../../fusion/graph.ts";
import type { Partition } from "../../fusion/legality.ts";
import { fusionWords as words } from "../../words/words.ts";

/** Of more kernels than this it says how many there are. */
const MOST = 100;

export function Members({ graph, partition }: { readonly graph: Graph; readonly partition: Partition }) {
  const names = useMemo(
    () => partition.groups.slice(0, MOST).map((group) => group.map((op) => graph.ops[op]?.name).join(" + ")),
    [graph, partition],
  );
  const more = partition.groups.length - names.length;
  return (
    <ol class="roofwidget-spoken roofwidget-members" aria-label={words.members}>
      {names.map((name) => (
        <li key={name}>{name}</li>
      ))}
      {more > 0 && <li>{words.more(more)}</li>}
    </ol>
  );
}
