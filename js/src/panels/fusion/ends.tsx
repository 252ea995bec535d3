// Where a graph of the fusion panel begins and ends: what its ops read of the inputs, and make for the outputs.

import type { Graph } from "../../fusion/graph.ts";
import type { Workload } from "../../state/graph.ts";
import { BOX, type Box, type Flow, MARGIN } from "./flow.ts";
import { endsOf, shortened, thickness, titleOf } from "./flow_parts.ts";

/** Room of a tensor's name beside its end, px. */
const NAMED = 72;

interface EndsProps {
  readonly flow: Flow;
  readonly workload: Workload;
  readonly ops: readonly number[];
}

export function Ends({ flow, workload: { graph, values }, ops }: EndsProps) {
  const bytesOf = (tensors: readonly number[]) =>
    tensors.reduce((sum, tensor) => sum + (values.bytes[tensor] as number), 0);
  return ops.flatMap((op) =>
    endsOf(graph, op).map(({ side, tensors, shared }) => {
      const { x, y, width } = flow.boxes[op] as Box;
      const [left, top] = [x - (shared ? width / 3 : 0), y + (side * BOX) / 2];
      return (
        <g key={`${op} ${side}`}>
          <title>{titleOf(graph, tensors, values.bytes)}</title>
          <path
            d={`M${left} ${top}v${side * (MARGIN - 2)}`}
            stroke-width={thickness(bytesOf(tensors))}
            class="roofwidget-edge"
          />
          <text x={left - 8} y={top + (side * MARGIN) / 2} class="roofwidget-end">
            {nameOf(graph, op, tensors)}
          </text>
        </g>
      );
    }),
  );
}

/** The first of an op's tensors that is not called after it, and how many more there are. */
function nameOf(graph: Graph, op: number, tensors: readonly number[]): string {
  const own = graph.ops[op]?.name ?? "";
  const names = tensors.map((tensor) => graph.tensors[tensor]?.name ?? "").filter((name) => !name.startsWith(own));
  const more = names.length > 1 ? ` +${names.length - 1}` : "";
  return names.length > 0 ? `${shortened(names[0] as string, NAMED)}${more}` : "";
}
