// A graph drawn as it flows: ops in layers from top to bottom, and edges in lanes between the boxes that they pass.

import type { Graph } from "../graph.ts";

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** All that one op reads of another. */
export interface Edge {
  readonly from: number;
  readonly to: number;
  readonly tensors: readonly number[];
  /** Alternately between layers and past a layer. */
  readonly points: readonly Point[];
}

export interface Flow {
  readonly width: number;
  readonly height: number;
  /** Width of every box. */
  readonly box: number;
  /** Ops from left to right, by layer. */
  readonly layers: readonly (readonly number[])[];
  /** The middle of its box, by op. */
  readonly at: readonly Point[];
  readonly edges: readonly Edge[];
}

export interface View {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** px; a row is a box and the room below it. */
export const BOX = 24;
const ROW = 56;
const GAP = 12;
const MARGIN = 16;
const LANE = 4;
const [NARROWEST, WIDEST] = [64, 112];
/** An edge past more layers than this goes straight, behind the boxes. */
const LONG = 40;
const SWEEPS = 4;

/** Layers are as low as the longest way to an op is long; what reads graph inputs only stands right above its reader. */
export function layersOf(graph: Graph): number[] {
  const layer: number[] = [];
  for (const before of graph.before) layer.push(Math.max(-1, ...before.map((op) => layer[op] as number)) + 1);
  graph.before.forEach((before, op) => {
    const after = graph.after[op] as readonly number[];
    if (before.length === 0 && after.length > 0) layer[op] = Math.min(...after.map((to) => layer[to] as number)) - 1;
  });
  return layer;
}

/** Ops are the first nodes; the others are the places where edges pass a layer, shared by edges from the same op. */
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
      if (span > LONG) {
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

/** The places nearest to those wanted, in this order and with this distance from each to the one before. */
export function spread(wanted: readonly number[], apart: readonly number[]): number[] {
  let offset = 0;
  const offsets = wanted.map((_, at) => {
    offset += apart[at] as number;
    return offset;
  });
  // Pool those that would overlap: together they stand at their mean.
  const pools: { sum: number; count: number }[] = [];
  wanted.forEach((x, at) => {
    let pool = { sum: x - (offsets[at] as number), count: 1 };
    for (let last = pools.at(-1); last && last.sum / last.count >= pool.sum / pool.count; last = pools.at(-1)) {
      pool = { sum: last.sum + pool.sum, count: last.count + pool.count };
      pools.pop();
    }
    pools.push(pool);
  });
  return pools
    .flatMap(({ sum, count }) => Array<number>(count).fill(sum / count))
    .map((x, at) => x + (offsets[at] ?? 0));
}

/** The layout in a panel of this width; wider where a layer has many ops. */
export function flowOf(graph: Graph, room: number): Flow {
  const n = graph.ops.length;
  const { rows, up, down, routes } = nodesOf(graph);
  const layers = rows.map((row) => row.filter((node) => node < n));
  const fitting = rows.map((row, at) => {
    const ops = layers[at]?.length ?? 0;
    return Math.floor((room - 2 * MARGIN - (row.length - ops) * (LANE + GAP) - (ops - 1) * GAP) / ops);
  });
  const box = Math.max(NARROWEST, Math.min(WIDEST, ...fitting));
  const x: number[] = up.map(() => 0);
  const half = (node: number | undefined) => (node === undefined ? 0 : node < n ? box / 2 : LANE / 2);
  const settle = (row: number[], near: readonly (readonly number[])[]) => {
    const wish = new Map(row.map((node) => [node, mean(near[node] ?? [], x) ?? (x[node] as number)]));
    row.sort((a, b) => (wish.get(a) as number) - (wish.get(b) as number));
    const apart = row.map((node, at) => half(node) + (at > 0 ? half(row[at - 1]) + GAP : 0));
    const places = spread(
      row.map((node) => wish.get(node) as number),
      apart,
    );
    row.forEach((node, at) => {
      x[node] = places[at] as number;
    });
  };
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    if (sweep % 2 === 0) for (const row of rows) settle(row, up);
    else for (const row of [...rows].reverse()) settle(row, down);
  }
  const ends = (side: 1 | -1) => x.map((place, node) => place + side * half(node));
  const left = ends(-1).reduce((a, b) => Math.min(a, b), 0);
  const right = ends(1).reduce((a, b) => Math.max(a, b), 0);
  const width = Math.max(room, right - left + 2 * MARGIN);
  const y: number[] = [];
  rows.forEach((row, at) => {
    for (const node of row) y[node] = MARGIN + at * ROW + BOX / 2;
  });
  const shift = (width - left - right) / 2;
  const place = (node: number): Point => ({ x: (x[node] as number) + shift, y: y[node] as number });
  return {
    width,
    height: Math.max(0, rows.length * ROW - (ROW - BOX)) + 2 * MARGIN,
    box,
    layers: rows.map((row) => row.filter((node) => node < n)),
    at: graph.ops.map((_, op) => place(op)),
    edges: routes.map(({ from, to, via }) => ({
      from,
      to,
      tensors: (graph.makes[from] ?? []).filter((tensor) => graph.reads[to]?.includes(tensor)),
      points: pointsOf([from, ...via, to].map(place)),
    })),
  };
}

function mean(nodes: readonly number[], x: readonly number[]): number | undefined {
  if (nodes.length === 0) return undefined;
  return nodes.reduce((sum, node) => sum + (x[node] as number), 0) / nodes.length;
}

/** From the lower side of the first to the upper side of the last, straight down past those between. */
const pointsOf = (middles: readonly Point[]): Point[] =>
  middles.flatMap(({ x, y }, at) => [
    ...(at > 0 ? [{ x, y: y - BOX / 2 }] : []),
    ...(at < middles.length - 1 ? [{ x, y: y + BOX / 2 }] : []),
  ]);

/** An edge as the `d` of a path: bends between layers, straight past them. */
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

/** Width in px of an edge that carries these bytes: it grows with their logarithm. */
export const thickness = (bytes: number) => (bytes > 0 ? Math.max(1, Math.min(9, 0.4 * Math.log2(bytes) - 4)) : 1);

/** A name that fits a box, its middle left out. */
export function shortened(name: string, box: number): string {
  const room = Math.floor((box - 8) / 6.8);
  if (name.length <= room) return name;
  return `${name.slice(0, Math.floor(room / 2))}…${name.slice(name.length - Math.ceil(room / 2) + 1)}`;
}

/** What is to be drawn of a flow to see this part of it. */
export function seen({ at, edges, box }: Flow, { left, top, right, bottom }: View) {
  const isSeen = (x: number, y: number) =>
    x + box / 2 + GAP >= left && x - box / 2 - GAP <= right && y + ROW >= top && y - ROW <= bottom;
  const touches = ({ points }: Edge) => {
    const [xs, ys] = [points.map(({ x }) => x), points.map(({ y }) => y)];
    const across = Math.max(...xs) + GAP >= left && Math.min(...xs) - GAP <= right;
    return across && Math.max(...ys) + ROW >= top && Math.min(...ys) - ROW <= bottom;
  };
  return {
    ops: [...at.keys()].filter((op) => isSeen(at[op]?.x as number, at[op]?.y as number)),
    edges: edges.filter(touches),
  };
}

/** The op whose box is at a point. */
export function opAt({ at, box }: Flow, { x, y }: Point): number | undefined {
  const op = at.findIndex((middle) => Math.abs(middle.x - x) <= box / 2 && Math.abs(middle.y - y) <= BOX / 2);
  return op < 0 ? undefined : op;
}

/** The op that an arrow key leads to: beside it, or the nearest in the layer above or below. */
export function stepFrom({ layers, at }: Flow, op: number, key: string): number {
  const row = layers.findIndex((layer) => layer.includes(op));
  const beside = (by: number) => layers[row]?.[(layers[row]?.indexOf(op) ?? 0) + by] ?? op;
  const nearest = (by: number) => {
    const away = (other: number) => Math.abs((at[other]?.x as number) - (at[op]?.x as number));
    return layers[row + by]?.reduce((a, b) => (away(b) < away(a) ? b : a)) ?? op;
  };
  if (key === "ArrowLeft") return beside(-1);
  if (key === "ArrowRight") return beside(1);
  if (key === "ArrowUp") return nearest(-1);
  if (key === "ArrowDown") return nearest(1);
  if (key === "Home") return layers[0]?.[0] ?? op;
  return key === "End" ? (layers.at(-1)?.at(-1) ?? op) : op;
}
