// The drawn parts of a layout, and which box the pointer or an arrow key selects.

import { startOf } from "../../chart/labels/box_index.ts";
import { clamp } from "../../chart/scales.ts";
import { allOf, type Graph, numbersOf, type Ops, opNames } from "../../fusion/graph.ts";
import type { Partition } from "../../fusion/legality.ts";
import { total } from "../../fusion/partition.ts";
import { formatQuantity } from "../../text/numbers.ts";
import { type Box, type Edge, END_HEIGHT, type Flow, type Point } from "./flow.ts";
import { sharedInputPairs } from "./merging.ts";

interface VisiblePart {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** An op is split from its group if it is dropped further than this from the group, in px. */
const OUT = 20;
/** How far the outline of a kernel is from the boxes of its ops, px. */
export const AROUND_PX = 7;

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

/** Returns the middle of an edge, or of its middle section. */
export function middleOf({ points }: Edge): Point {
  const at = points.length / 2;
  const [one, other] = [points[at - 1] as Point, points[at] as Point];
  return { x: (one.x + other.x) / 2, y: (one.y + other.y) / 2 };
}

/** Widths of edges, px: of few bytes and of very many bytes. An edge grows by a px for each factor of ten. */
const [MIN_EDGE_PX, MAX_EDGE_PX, EDGE_OF_ONE_BYTE_PX] = [3, 10, -2.7];

export const thickness = (bytes: number) =>
  clamp(Math.log10(Math.max(1, bytes)) + EDGE_OF_ONE_BYTE_PX, MIN_EDGE_PX, MAX_EDGE_PX);

/** The widths of letters and digits in the graph, px: of bold names and of other texts. */
const [NAME_LETTER_PX, LETTER_PX] = [7.2, 6.4];

export const textPx = (text: string) => text.length * LETTER_PX;
export const namePx = (name: string) => name.length * NAME_LETTER_PX;

/**
 * Shortens a name to a width in px. If the name contains a dot, it is a path, and its beginning is dropped. Otherwise its
 * middle is dropped.
 */
export function shortened(name: string, width: number): string {
  const room = Math.floor(width / NAME_LETTER_PX);
  if (name.length <= room) return name;
  const head = name.includes(".") ? 0 : Math.floor(room / 2);
  return `${name.slice(0, head)}…${name.slice(name.length - room + head + 1)}`;
}

/** Returns the boxes and edges in the visible part. */
export function seen({ boxes, edges, pitch }: Flow, { left, top, right, bottom }: VisiblePart) {
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
    boxes: [...boxes.keys()].filter((at) => {
      const { x, y, width } = boxes[at] as Box;
      return isIn(x - width / 2, x + width / 2, y - pitch / 2, y + pitch / 2);
    }),
    edges: edges.filter(isSeen),
  };
}

function sidesOf({ boxes, boxHeight }: Flow, at: number): VisiblePart {
  const { x, y, width } = boxes[at] as Box;
  return { left: x - width / 2, right: x + width / 2, top: y - boxHeight / 2, bottom: y + boxHeight / 2 };
}

/** Returns whether a point is in a box, or within `near` px of the box. */
const isAt = ({ boxHeight }: Flow, { x, y, width }: Box, point: Point, near = 0) =>
  Math.abs(x - point.x) <= width / 2 + near && Math.abs(y - point.y) <= boxHeight / 2 + near;

/** Returns the box that contains a point. */
export function boxAt(flow: Flow, point: Point): number | undefined {
  const box = flow.boxes.findIndex((one) => isAt(flow, one, point));
  return box < 0 ? undefined : box;
}

/**
 * Returns the op that a key selects, starting at `op`. Left and right arrows: the next box in the layer. Up and down
 * arrows: the nearest box in the layer above or below. Home and End: the first and the last box. If there is no such
 * box, returns `op`.
 */
export function stepFrom({ layers, boxes, boxOf }: Flow, op: number, key: string): number {
  const from = boxOf[op] as number;
  const row = layers.findIndex((layer) => layer.includes(from));
  const beside = (by: number) => layers[row]?.[(layers[row]?.indexOf(from) ?? 0) + by];
  const nearest = (by: number) => {
    const away = (other: number) => Math.abs((boxes[other]?.x as number) - (boxes[from]?.x as number));
    return layers[row + by]?.reduce((a, b) => (away(b) < away(a) ? b : a));
  };
  const steps: Readonly<Record<string, () => number | undefined>> = {
    ArrowLeft: () => beside(-1),
    ArrowRight: () => beside(1),
    ArrowUp: () => nearest(-1),
    ArrowDown: () => nearest(1),
    Home: () => layers[0]?.[0],
    End: () => layers.at(-1)?.at(-1),
  };
  const to = steps[key]?.() ?? from;
  return to === from ? op : (boxes[to]?.ops[0] ?? op);
}

/** Returns whether a point is further than `OUT` px from all boxes of a group. */
export const isOut = (flow: Flow, group: Ops, point: Point) =>
  !group.some((op) => isAt(flow, flow.boxes[flow.boxOf[op] as number] as Box, point, OUT));

/**
 * Returns the graph inputs that a box reads and the graph outputs that it writes. `shared` says for each side of the box
 * whether edges also end at this side.
 */
export function endsOf({ before, after, reads, makes, producer, consumers, isOutput }: Graph, ops: Ops) {
  const inside = new Set(ops);
  const hasOther = (lists: Graph["before"]) => ops.some((op) => lists[op]?.some((other) => !inside.has(other)));
  const each = (lists: Graph["reads"]) => [...new Set(allOf(lists, ops))];
  const read = each(reads).filter((tensor) => (producer[tensor] as number) < 0);
  const made = each(makes).filter((tensor) => isOutput[tensor] || consumers[tensor]?.length === 0);
  const ends = [
    { side: -1, tensors: read, shared: hasOther(before) },
    { side: 1, tensors: made, shared: hasOther(after) },
  ];
  return ends.filter(({ tensors }) => tensors.length > 0);
}

/** The outline of a kernel: a rectangle, or a band over its boxes and inner edges where a rectangle would hold others. */
export interface Outline {
  readonly d: string;
  readonly isBand: boolean;
}

/** Returns the outline of a group of several boxes; undefined for a group in one box. */
export function outlineOf(flow: Flow, graph: Graph, group: Ops): Outline | undefined {
  const { boxes, boxOf, boxHeight, edges } = flow;
  const own = [...new Set(numbersOf(boxOf, group))];
  if (own.length < 2) return undefined;
  const inside = new Set(own);
  const sides = own.map((at) => sidesOf(flow, at));
  const left = Math.min(...sides.map((one) => one.left)) - AROUND_PX;
  const right = Math.max(...sides.map((one) => one.right)) + AROUND_PX;
  const top = Math.min(...sides.map((one) => one.top)) - AROUND_PX;
  const bottom = Math.max(...sides.map((one) => one.bottom)) + AROUND_PX;
  const isHeld = ({ x, y, width }: Box) =>
    x + width / 2 > left && x - width / 2 < right && y + boxHeight / 2 > top && y - boxHeight / 2 < bottom;
  if (!boxes.some((box, at) => !inside.has(at) && isHeld(box))) {
    return { d: roundedRect(left, top, right, bottom), isBand: false };
  }
  const over = own.map((at) => {
    const { x, y, width } = boxes[at] as Box;
    return `M${x - (width - boxHeight) / 2} ${y}h${width - boxHeight}`;
  });
  const place = (op: number) => {
    const { x, y } = boxes[boxOf[op] as number] as Box;
    return `${x} ${y}`;
  };
  const pairs = sharedInputPairs(graph, group).map(([a, b]) => `M${place(a)}L${place(b)}`);
  const inner = edges.filter(({ from, to }) => inside.has(from) && inside.has(to)).map(({ points }) => pathOf(points));
  return { d: [...over, ...pairs, ...inner].join(""), isBand: true };
}

/** The radius of the corners of an outline, px. */
const CORNER_PX = 12;

function roundedRect(left: number, top: number, right: number, bottom: number): string {
  const [r, across, down] = [CORNER_PX, right - left - 2 * CORNER_PX, bottom - top - 2 * CORNER_PX];
  return `M${left + r} ${top}h${across}q${r} 0 ${r} ${r}v${down}q0 ${r} ${-r} ${r}h${-across}q${-r} 0 ${-r} ${-r}v${-down}q0 ${-r} ${r} ${-r}z`;
}

/** Returns the outlines of all kernels of several boxes. */
export const outlinesOf = (flow: Flow, graph: Graph, { groups }: Partition): (Outline & { readonly group: number })[] =>
  groups.flatMap((ops, group) => {
    const outline = outlineOf(flow, graph, ops);
    return outline ? [{ ...outline, group }] : [];
  });

/** A text beside an edge, or at an input or output of the graph. */
interface SideText {
  readonly key: string;
  readonly text: string;
  readonly x: number;
  readonly y: number;
  readonly anchor: "middle" | "end";
}

/** The distance from a text to its edge, and the height of a line of text, px. */
const [BESIDE_PX, LINE_PX] = [14, 14];
/** The least space between two texts, px. */
const GAP_PX = 6;

/** Where an input ends or an output starts: above or below its box, beside the edges if there are some. */
export const endPlace = ({ boxes, boxHeight }: Flow, at: number, side: number, isShared: boolean): Point => {
  const { x, y, width } = boxes[at] as Box;
  return { x: x - (isShared ? width / 3 : 0), y: y + (side * boxHeight) / 2 };
};

/** The length of the line of an input or output, px. */
export const END_PX = 10;

/**
 * Returns the names and bytes of edges, inputs and outputs; without `bytes` their names. A text that would cover a box
 * or another text has the name alone, or is left out: the tooltip of the line has it.
 */
export function sideTexts(
  flow: Flow,
  shown: ReturnType<typeof seen>,
  graph: Graph,
  bytes: Float64Array | undefined,
): SideText[] {
  const amount = (tensors: Ops) => (bytes ? formatQuantity(total(bytes, tensors), "B") : "");
  const named = (name: string, tensors: Ops, hasAmount = true) =>
    [name, hasAmount ? amount(tensors) : ""].filter(Boolean).join(" · ");
  const opsIn = (at: number) => (flow.boxes[at] as Box).ops;
  const wanted = [
    ...shown.boxes.flatMap((at) =>
      endsOf(graph, opsIn(at)).map(({ side, tensors, shared }): SideText => {
        const { x, y } = endPlace(flow, at, side, shared);
        const name = endName(graph, opsIn(at), tensors);
        const text = named(name, tensors, name !== "" || side > 0);
        const key = `${at} ${side}`;
        if (shared) return { key, text, x: x - BESIDE_PX, y: y + side * END_PX, anchor: "end" };
        return { key, text, x, y: y + side * (END_PX + (END_HEIGHT - END_PX) / 2), anchor: "middle" };
      }),
    ),
    ...shown.edges.map((edge): SideText => {
      const { x, y } = middleOf(edge);
      const text = named(endName(graph, opsIn(edge.from), edge.tensors), edge.tensors);
      return { key: `${edge.from}-${edge.to}`, text, x: x - BESIDE_PX, y, anchor: "end" };
    }),
  ].filter(({ text }) => text !== "");
  const taken: VisiblePart[] = shown.boxes.map((at) => sidesOf(flow, at));
  const isFree = ({ text, x, y, anchor }: SideText) => {
    const width = textPx(text);
    const left = startOf(x, anchor, width);
    const box = { left, right: left + width, top: y - LINE_PX / 2, bottom: y + LINE_PX / 2 };
    const fits =
      left >= 0 &&
      taken.every(
        (one) => one.left >= box.right || one.right <= box.left || one.top >= box.bottom || one.bottom <= box.top,
      );
    if (fits) taken.push({ ...box, left: left - GAP_PX, right: box.right + GAP_PX });
    return fits;
  };
  return wanted.flatMap((one) => [one, { ...one, text: one.text.split(" · ")[0] ?? "" }].filter(isFree).slice(0, 1));
}

/** The maximum width of a tensor's name, px. */
const MAX_NAME_PX = 72;

/**
 * Returns the first tensor name that does not begin with the name of an op of the box. If two more names do not, "+2"
 * follows: "weight +2".
 */
function endName(graph: Graph, ops: Ops, tensors: Ops): string {
  const own = opNames(graph, ops);
  const names = tensors
    .map((tensor) => graph.tensors[tensor]?.name ?? "")
    .filter((name) => !own.some((op) => name.startsWith(op)));
  const more = names.length > 1 ? ` +${names.length - 1}` : "";
  return names.length > 0 ? `${shortened(names[0] as string, MAX_NAME_PX)}${more}` : "";
}

/** Returns names and sizes of tensors, for a tooltip; without `bytes` their names. */
export const titleOf = (graph: Graph, tensors: Ops, bytes: Float64Array | undefined) =>
  tensors
    .map((tensor) => {
      const name = graph.tensors[tensor]?.name ?? "";
      return bytes ? `${name}: ${formatQuantity(bytes[tensor] as number, "B")}` : name;
    })
    .join(", ");
