// The drawn parts of a layout, and which op the pointer or an arrow key selects.

import type { Graph } from "../../fusion/graph.ts";
import type { Workload } from "../../state/graph.ts";
import { formatQuantity } from "../../text/numbers.ts";
import { BOX_HEIGHT, type Edge, type Flow, type OpBox, type Point, ROW_HEIGHT } from "./flow.ts";
import { sharedInputPairs } from "./merging.ts";

export interface VisiblePart {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** An op is split from its group if it is dropped further than this from the group, in px. */
const OUT = 20;

/**
 * Returns the `d` attribute of an edge. The edge has curves between layers and straight lines past the boxes of a
 * layer.
 */
export function pathOf([start, ...points]: readonly Point[]): string {
  let last = start as Point;
  const steps = points.map((point, at) => {
    const half = (last.y + point.y) / 2;
    const bend = `C${last.x} ${half} ${point.x} ${half} ${point.x} ${point.y}`;
    last = point;
    return at % 2 === 0 ? bend : `L${point.x} ${point.y}`;
  });
  return `M${start?.x} ${start?.y}${steps.join("")}`;
}

/** Returns the width of an edge in px. The width grows with the logarithm of the edge's bytes. */
export const thickness = (bytes: number) => (bytes > 0 ? Math.max(1, Math.min(9, 0.4 * Math.log2(bytes) - 4)) : 1);

/**
 * Shortens a name to fit a box. If the name contains a dot, it is a path, and its beginning is dropped. Otherwise its
 * middle is dropped.
 */
export function shortened(name: string, box: number): string {
  const room = Math.floor((box - 8) / 6.8);
  if (name.length <= room) return name;
  const head = name.includes(".") ? 0 : Math.floor(room / 2);
  return `${name.slice(0, head)}…${name.slice(name.length - room + head + 1)}`;
}

/** Returns the boxes and edges in the visible part. */
export function seen({ boxes, edges }: Flow, { left, top, right, bottom }: VisiblePart) {
  const isIn = (x0: number, x1: number, y0: number, y1: number) =>
    x1 >= left && x0 <= right && y1 >= top && y0 <= bottom;
  const isSeen = ({ points }: Edge) => {
    const { x, y } = points[0] as Point;
    let [x0, x1, y0, y1] = [x, x, y, y];
    for (const point of points) {
      [x0, x1] = [Math.min(x0, point.x), Math.max(x1, point.x)];
      [y0, y1] = [Math.min(y0, point.y), Math.max(y1, point.y)];
    }
    return isIn(x0, x1, y0, y1);
  };
  return {
    ops: [...boxes.keys()].filter((op) => {
      const { x, y, width } = boxes[op] as OpBox;
      return isIn(x - width / 2, x + width / 2, y - ROW_HEIGHT / 2, y + ROW_HEIGHT / 2);
    }),
    edges: edges.filter(isSeen),
  };
}

/** Returns whether a point is in a box, or within `near` px of the box. */
export const isAt = ({ x, y, width }: OpBox, point: Point, near = 0) =>
  Math.abs(x - point.x) <= width / 2 + near && Math.abs(y - point.y) <= BOX_HEIGHT / 2 + near;

/** Returns the op whose box contains a point. */
export function opAt({ boxes }: Flow, point: Point): number | undefined {
  const op = boxes.findIndex((box) => isAt(box, point));
  return op < 0 ? undefined : op;
}

/**
 * Returns the op that a key selects, starting at `op`. Left and right arrows: the next op in the layer. Up and down
 * arrows: the nearest op in the layer above or below. Home and End: the first and the last op. If there is no such op,
 * returns `op`.
 */
export function stepFrom({ layers, boxes }: Flow, op: number, key: string): number {
  const row = layers.findIndex((layer) => layer.includes(op));
  const beside = (by: number) => layers[row]?.[(layers[row]?.indexOf(op) ?? 0) + by] ?? op;
  const nearest = (by: number) => {
    const away = (other: number) => Math.abs((boxes[other]?.x as number) - (boxes[op]?.x as number));
    return layers[row + by]?.reduce((a, b) => (away(b) < away(a) ? b : a)) ?? op;
  };
  if (key === "ArrowLeft") return beside(-1);
  if (key === "ArrowRight") return beside(1);
  if (key === "ArrowUp") return nearest(-1);
  if (key === "ArrowDown") return nearest(1);
  if (key === "Home") return layers[0]?.[0] ?? op;
  return key === "End" ? (layers.at(-1)?.at(-1) ?? op) : op;
}

/** Returns whether a point is further than `OUT` px from all ops of a group. */
export const isOut = ({ boxes }: Flow, group: readonly number[], point: Point) =>
  !group.some((op) => isAt(boxes[op] as OpBox, point, OUT));

/**
 * Returns the graph inputs that an op reads and the graph outputs that it writes. `shared` says for each side of the
 * op's box whether edges also end at this side.
 */
export function endsOf({ before, after, reads, makes, producer, consumers, isOutput }: Graph, op: number) {
  const read = reads[op]?.filter((tensor) => (producer[tensor] as number) < 0) ?? [];
  const made = makes[op]?.filter((tensor) => isOutput[tensor] || consumers[tensor]?.length === 0) ?? [];
  const ends = [
    { side: -1, tensors: read, shared: before[op]?.length !== 0 },
    { side: 1, tensors: made, shared: after[op]?.length !== 0 },
  ];
  return ends.filter(({ tensors }) => tensors.length > 0);
}

/** Returns the outlines of groups of several ops. An outline is a band over the group's boxes and inner edges. */
export function bandsOf(
  { boxes, edges }: Flow,
  { graph, partition }: Pick<Workload, "graph" | "partition">,
): { group: number; d: string }[] {
  const { groups, groupOf } = partition;
  const paths = groups.map((group) => {
    if (group.length < 2) return [];
    const over = group.map((op) => {
      const { x, y, width } = boxes[op] as OpBox;
      return `M${x - (width - BOX_HEIGHT) / 2} ${y}h${width - BOX_HEIGHT}`;
    });
    const pair = (a: number, b: number) => `M${boxes[a]?.x} ${boxes[a]?.y}L${boxes[b]?.x} ${boxes[b]?.y}`;
    return [...over, ...sharedInputPairs(graph, group).map(([a, b]) => pair(a, b))];
  });
  for (const { from, to, points } of edges) {
    if (groupOf[from] === groupOf[to]) paths[groupOf[from] as number]?.push(pathOf(points));
  }
  return paths.flatMap((path, group) => (path.length > 0 ? [{ group, d: path.join("") }] : []));
}

/** Returns names and sizes of tensors, for a tooltip. */
export const titleOf = (graph: Graph, tensors: readonly number[], bytes: Float64Array) =>
  tensors
    .map((tensor) => `${graph.tensors[tensor]?.name ?? ""}: ${formatQuantity(bytes[tensor] as number, "B")}`)
    .join(", ");
