// Layout of a graph: boxes in layers from top to bottom, and edges in lanes between the boxes. A box is an op, or a
// kernel whose ops are folded into one box.

import { clamp } from "../../chart/scales.ts";
import { allOf, type Graph, listOf, numbersOf, type Ops } from "../../fusion/graph.ts";
import type { Partition } from "../../fusion/legality.ts";
import { total } from "../../fusion/partition.ts";
import type { Work } from "../../ui/slices.ts";

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** A box, given by its centre, with the ops in it. */
export interface Box extends Point {
  readonly width: number;
  readonly ops: Ops;
}

/** The visible part of the panel, px. */
export interface Room {
  readonly width: number;
  readonly height: number;
}

/** All tensors that the ops of one box read from another box. */
export interface Edge {
  readonly from: number;
  readonly to: number;
  readonly tensors: readonly number[];
  /**
   * The ends of the edge's sections, from the first box to the last box. A curve between two layers and a straight line
   * past the boxes of a layer alternate.
   */
  readonly points: readonly Point[];
}

export interface Flow {
  readonly width: number;
  readonly height: number;
  /** The height of every box, and the distance from one layer to the next, px. */
  readonly boxHeight: number;
  readonly pitch: number;
  /** The boxes of each layer, from left to right. */
  readonly layers: readonly (readonly number[])[];
  readonly boxes: readonly Box[];
  /** The box of each op, by the op's index in the graph. */
  readonly boxOf: Int32Array;
  readonly edges: readonly Edge[];
}

/** A graph with more ops than this has lower boxes, and its kernels are folded. */
export const MAX_LARGE_BOXES = 12;
/** Heights of boxes, px: of a graph with few ops, and of a graph with many ops. */
const [LARGE_BOX_HEIGHT, SMALL_BOX_HEIGHT] = [40, 28];
/** The space between two layers, px. It grows with the height of the panel. Between low boxes there may be less. */
const [MIN_LAYER_GAP, MAX_LAYER_GAP, LOW_LAYER_GAP] = [34, 86, 20];
const BOX_GAP = 20;
/** The space beside the boxes, and the space above and below the boxes, for the inputs and outputs of the graph, px. */
export const [MARGIN, END_HEIGHT] = [14, 28];
const LANE_GAP = 4;
/** The room right of the edges of a chain, px, for what a click on an edge would do. */
export const PILL_PX = 212;
const [MIN_BOX_WIDTH, MAX_BOX_WIDTH] = [120, 196];
/** An edge that spans more layers than this is drawn as a straight line behind the boxes. */
const MAX_ROUTED_LAYERS = 40;
const SWEEPS = 4;
/** How many layers or edges are placed between two pause points. */
const ITEMS_PER_PAUSE = 64;

/**
 * Returns the layer of each op: the length of the longest path to the op. An op that reads only graph inputs is placed
 * just above its first reader.
 */
export function layersOf(graph: Pick<Graph, "before" | "after">): number[] {
  const layer: number[] = [];
  for (const before of graph.before) layer.push(Math.max(-1, ...numbersOf(layer, before)) + 1);
  graph.before.forEach((before, op) => {
    const after = listOf(graph.after, op);
    if (before.length === 0 && after.length > 0) layer[op] = Math.min(...numbersOf(layer, after)) - 1;
  });
  return layer;
}

/** What the layout needs to know of a graph whose ops are the boxes. */
type Links = Pick<Graph, "before" | "after" | "makes" | "reads">;

/**
 * Returns the ops of each box. A kernel is one box if `isFolded` says so. Otherwise each of its ops has its own box. A
 * box follows all boxes that it reads from, because the groups of a partition are in execution order.
 */
export const boxesOf = ({ groups }: Partition, isFolded: (group: Ops) => boolean): readonly Ops[] =>
  groups.flatMap((group) => (isFolded(group) ? [group] : group.map((op) => [op])));

function linksOf({ before, after, makes, reads }: Graph, boxes: readonly Ops[], boxOf: Int32Array): Links {
  const around = (lists: Graph["before"]) =>
    boxes.map((ops, box) => [...new Set(numbersOf(boxOf, allOf(lists, ops)).filter((at) => at !== box))]);
  const tensors = (lists: Graph["makes"]) => boxes.map((ops) => [...new Set(allOf(lists, ops))]);
  return { before: around(before), after: around(after), makes: tensors(makes), reads: tensors(reads) };
}

/**
 * The nodes of the layout. The first nodes are boxes. Every other node is a place where edges pass a layer. Edges from
 * the same op share these places.
 */
interface Nodes {
  readonly rows: number[][];
  readonly up: number[][];
  readonly down: number[][];
  readonly routes: { readonly from: number; readonly to: number; readonly via: readonly number[] }[];
}

function nodesOf(graph: Links): Nodes {
  const layer = layersOf(graph);
  const rows: number[][] = Array.from({ length: Math.max(-1, ...layer) + 1 }, () => []);
  layer.forEach((row, op) => {
    rows[row]?.push(op);
  });
  const [up, down] = [layer.map((): number[] => []), layer.map((): number[] => [])];
  const routes: Nodes["routes"] = [];
  graph.after.forEach((readers, from) => {
    const lane = [from];
    for (const to of readers) {
      const span = (layer[to] as number) - (layer[from] as number);
      if (span > MAX_ROUTED_LAYERS) {
        routes.push({ from, to, via: [] });
        continue;
      }
      while (lane.length < span) {
        const above = lane.at(-1) as number;
        const node = up.push([above]) - 1;
        down.push([]);
        down[above]?.push(node);
        rows[(layer[from] as number) + lane.length]?.push(node);
        lane.push(node);
      }
      down[lane[span - 1] as number]?.push(to);
      up[to]?.push(lane[span - 1] as number);
      routes.push({ from, to, via: lane.slice(1, span) });
    }
  });
  return { rows, up, down, routes };
}

/**
 * Returns positions that are as near as possible to the wanted positions. The returned positions keep their order and
 * their minimum distances. `apart` contains the minimum distance from each position to the previous position. If there
 * is room, all positions are between `-limit` and `limit`. The first and the last position then also keep their minimum
 * distances from these limits.
 */
export function spread(
  wanted: readonly number[],
  apart: readonly number[],
  limit = Number.POSITIVE_INFINITY,
): number[] {
  // Overlapping positions are merged into pools. A pool is placed at the mean of the positions that its members want.
  // Offsets are relative to the first position.
  const offsets: number[] = [];
  const pools: { sum: number; count: number }[] = [];
  let offset = 0;
  for (let at = 0; at < wanted.length; at++) {
    offset += apart[at] as number;
    offsets.push(offset);
    const pool = { sum: (wanted[at] as number) - offset, count: 1 };
    for (let last = pools.at(-1); last && last.sum / last.count >= pool.sum / pool.count; last = pools.at(-1)) {
      pool.sum += last.sum;
      pool.count += last.count;
      pools.pop();
    }
    pools.push(pool);
  }
  // A pool outside the limits is moved to the nearer limit. The pools are sorted, so the result is still as near as
  // possible.
  const [low, high] = [-limit, limit - offset - (apart[wanted.length] ?? 0)];
  const places: number[] = [];
  for (const { sum, count } of pools) {
    const place = low <= high ? clamp(sum / count, low, high) : sum / count;
    for (let at = 0; at < count; at++) places.push(place + (offsets[places.length] as number));
  }
  return places;
}

/** Computes the layout for a panel of this size. The layout is wider than the panel if a layer has many boxes. */
export function* flowing(graph: Graph, room: Room, boxes: readonly Ops[] = graph.ops.map((_, op) => [op])): Work<Flow> {
  const n = boxes.length;
  const boxOf = new Int32Array(graph.ops.length);
  boxes.forEach((ops, box) => {
    for (const op of ops) boxOf[op] = box;
  });
  const links = linksOf(graph, boxes, boxOf);
  // Kernels that wait for each other have no layers.
  if (links.before.some((others, box) => others.some((other) => other > box))) return yield* flowing(graph, room);
  const { rows, up, down, routes } = nodesOf(links);
  const layers = rows.map((row) => row.filter((node) => node < n));
  const widths: number[] = up.map(() => LANE_GAP);
  rows.forEach((row, at) => {
    const inner = layers[at] as number[];
    const left =
      room.width - 2 * MARGIN - (row.length - inner.length) * (LANE_GAP + BOX_GAP) - (inner.length - 1) * BOX_GAP;
    const width = clamp(Math.floor(left / inner.length), MIN_BOX_WIDTH, MAX_BOX_WIDTH);
    for (const box of inner) widths[box] = width;
  });
  const x: number[] = up.map(() => 0);
  const half = (node: number | undefined) => (node === undefined ? 0 : (widths[node] as number) / 2);
  const wish: number[] = up.map(() => 0);
  const settle = (row: number[], near: readonly (readonly number[])[]) => {
    for (const node of row) wish[node] = mean(near[node] ?? [], x) ?? (x[node] as number);
    if (row.length > 1) row.sort((a, b) => (wish[a] as number) - (wish[b] as number));
    const apart = [half(row[0])];
    for (let at = 1; at < row.length; at++) apart.push(half(row[at]) + half(row[at - 1]) + BOX_GAP);
    apart.push(half(row.at(-1)));
    const wanted = numbersOf(wish, row);
    spread(wanted, apart, room.width / 2 - MARGIN).forEach((place, at) => {
      x[row[at] as number] = place;
    });
  };
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const [ordered, near] = sweep % 2 === 0 ? [rows, up] : [[...rows].reverse(), down];
    for (const [at, row] of ordered.entries()) {
      if (at % ITEMS_PER_PAUSE === 0) yield;
      settle(row, near);
    }
  }
  const ends = (side: 1 | -1) => x.map((place, node) => place + side * half(node));
  const left = ends(-1).reduce((a, b) => Math.min(a, b), 0);
  const right = ends(1).reduce((a, b) => Math.max(a, b), 0);
  const width = Math.max(room.width, right - left + 2 * MARGIN);
  const gapBetween = (height: number) =>
    Math.floor((room.height - 2 * END_HEIGHT - rows.length * height) / Math.max(1, rows.length - 1));
  // Low boxes show a graph whole that high boxes would not.
  const fitsLow = gapBetween(LARGE_BOX_HEIGHT) < MIN_LAYER_GAP && gapBetween(SMALL_BOX_HEIGHT) >= LOW_LAYER_GAP;
  const boxHeight = graph.ops.length > MAX_LARGE_BOXES || fitsLow ? SMALL_BOX_HEIGHT : LARGE_BOX_HEIGHT;
  const leastGap = fitsLow ? LOW_LAYER_GAP : MIN_LAYER_GAP;
  const pitch = boxHeight + clamp(gapBetween(boxHeight), leastGap, MAX_LAYER_GAP);
  const y: number[] = [];
  rows.forEach((row, at) => {
    for (const node of row) y[node] = END_HEIGHT + at * pitch + boxHeight / 2;
  });
  const middle = (width - left - right) / 2;
  const isChain = layers.every((layer) => layer.length === 1);
  const slack = Math.max(0, middle + left - MARGIN);
  const shift = middle - (isChain ? Math.min(slack, Math.max(0, PILL_PX - width / 2)) : 0);
  const place = (node: number): Point => ({ x: (x[node] as number) + shift, y: y[node] as number });
  const edges: Edge[] = [];
  for (const { from, to, via } of routes) {
    if (edges.length % ITEMS_PER_PAUSE === 0) yield;
    const tensors = (links.makes[from] ?? []).filter((tensor) => links.reads[to]?.includes(tensor));
    edges.push({ from, to, tensors, points: pointsOf([from, ...via, to].map(place), boxHeight) });
  }
  return {
    width,
    height: Math.max(0, (rows.length - 1) * pitch + boxHeight) + 2 * END_HEIGHT,
    boxHeight,
    pitch,
    layers: rows.map((row) => row.filter((node) => node < n)),
    boxes: boxes.map((ops, box) => ({ ...place(box), width: widths[box] as number, ops })),
    boxOf,
    edges,
  };
}

function mean(nodes: readonly number[], x: readonly number[]): number | undefined {
  return nodes.length === 0 ? undefined : total(x, nodes) / nodes.length;
}

/**
 * Returns the points of an edge. The edge goes from the lower side of its first box to the upper side of its last box.
 * In the layers between these boxes, the edge goes straight down.
 */
const pointsOf = (middles: readonly Point[], boxHeight: number): Point[] =>
  middles.flatMap(({ x, y }, at) => [
    ...(at > 0 ? [{ x, y: y - boxHeight / 2 }] : []),
    ...(at < middles.length - 1 ? [{ x, y: y + boxHeight / 2 }] : []),
  ]);
