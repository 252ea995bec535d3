// Layout of a graph: ops in layers from top to bottom, and edges in lanes between the boxes.

import type { Graph } from "../../fusion/graph.ts";
import { finish, type Work } from "../../ui/slices.ts";

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** The box of an op, given by its centre. */
export interface OpBox extends Point {
  readonly width: number;
}

/** All tensors that one op reads from another op. */
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
  /** The ops of each layer, from left to right. */
  readonly layers: readonly (readonly number[])[];
  /** The box of each op, by the op's index in the graph. */
  readonly boxes: readonly OpBox[];
  readonly edges: readonly Edge[];
}

/** Height of a box, px. A row consists of a box and the space below the box. */
export const BOX_HEIGHT = 24;
export const ROW_HEIGHT = 56;
const BOX_GAP = 10;
export const MARGIN = 14;
const LANE_GAP = 4;
const [MIN_BOX_WIDTH, MAX_BOX_WIDTH] = [56, 112];
/** An edge that spans more layers than this is drawn as a straight line behind the boxes. */
const MAX_ROUTED_LAYERS = 40;
const SWEEPS = 4;
/** How many layers or edges are placed between two pause points. */
const ITEMS_PER_PAUSE = 64;

/**
 * Returns the layer of each op: the length of the longest path to the op. An op that reads only graph inputs is placed
 * just above its first reader.
 */
export function layersOf(graph: Graph): number[] {
  const layer: number[] = [];
  for (const before of graph.before) layer.push(Math.max(-1, ...before.map((op) => layer[op] as number)) + 1);
  graph.before.forEach((before, op) => {
    const after = graph.after[op] as readonly number[];
    if (before.length === 0 && after.length > 0) layer[op] = Math.min(...after.map((to) => layer[to] as number)) - 1;
  });
  return layer;
}

/**
 * The nodes of the layout. The first nodes are ops. Every other node is a place where edges pass a layer. Edges from
 * the same op share these places.
 */
interface Nodes {
  readonly rows: number[][];
  readonly up: number[][];
  readonly down: number[][];
  readonly routes: { readonly from: number; readonly to: number; readonly via: readonly number[] }[];
}

function nodesOf(graph: Graph): Nodes {
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
    const place = low <= high ? Math.max(low, Math.min(high, sum / count)) : sum / count;
    for (let at = 0; at < count; at++) places.push(place + (offsets[places.length] as number));
  }
  return places;
}

/** Returns the layout for a panel of this width. The layout is wider than the panel if a layer has many ops. */
export const flowOf = (graph: Graph, room: number): Flow => finish(flowing(graph, room));

export function* flowing(graph: Graph, room: number): Work<Flow> {
  const n = graph.ops.length;
  const { rows, up, down, routes } = nodesOf(graph);
  const layers = rows.map((row) => row.filter((node) => node < n));
  const widths: number[] = up.map(() => LANE_GAP);
  rows.forEach((row, at) => {
    const ops = layers[at] as number[];
    const left = room - 2 * MARGIN - (row.length - ops.length) * (LANE_GAP + BOX_GAP) - (ops.length - 1) * BOX_GAP;
    const width = Math.max(MIN_BOX_WIDTH, Math.min(MAX_BOX_WIDTH, Math.floor(left / ops.length)));
    for (const op of ops) widths[op] = width;
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
    const wanted = row.map((node) => wish[node] as number);
    spread(wanted, apart, room / 2 - MARGIN).forEach((place, at) => {
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
  const width = Math.max(room, right - left + 2 * MARGIN);
  const y: number[] = [];
  rows.forEach((row, at) => {
    for (const node of row) y[node] = MARGIN + at * ROW_HEIGHT + BOX_HEIGHT / 2;
  });
  const shift = (width - left - right) / 2;
  const place = (node: number): Point => ({ x: (x[node] as number) + shift, y: y[node] as number });
  const edges: Edge[] = [];
  for (const { from, to, via } of routes) {
    if (edges.length % ITEMS_PER_PAUSE === 0) yield;
    const tensors = (graph.makes[from] ?? []).filter((tensor) => graph.reads[to]?.includes(tensor));
    edges.push({ from, to, tensors, points: pointsOf([from, ...via, to].map(place)) });
  }
  return {
    width,
    height: Math.max(0, rows.length * ROW_HEIGHT - (ROW_HEIGHT - BOX_HEIGHT)) + 2 * MARGIN,
    layers: rows.map((row) => row.filter((node) => node < n)),
    boxes: graph.ops.map((_, op) => ({ ...place(op), width: widths[op] as number })),
    edges,
  };
}

function mean(nodes: readonly number[], x: readonly number[]): number | undefined {
  if (nodes.length === 0) return undefined;
  let sum = 0;
  for (const node of nodes) sum += x[node] as number;
  return sum / nodes.length;
}

/**
 * Returns the points of an edge. The edge goes from the lower side of its first box to the upper side of its last box.
 * In the layers between these boxes, the edge goes straight down.
 */
const pointsOf = (middles: readonly Point[]): Point[] =>
  middles.flatMap(({ x, y }, at) => [
    ...(at > 0 ? [{ x, y: y - BOX_HEIGHT / 2 }] : []),
    ...(at < middles.length - 1 ? [{ x, y: y + BOX_HEIGHT / 2 }] : []),
  ]);
