// Which axes a tensor's tile must have whole on chip, because the kernel's reductions reduce these axes.
// roofwidget/workloads/axes.py has the same functions and explains the rules.

import { memoize } from "../ui/memoize.ts";
import { allOf, type Graph, listOf, makerOf, type Ops, opName, reached } from "./graph.ts";

/** A bit set that contains all axes. */
const ALL_AXES = -1;

/**
 * The ops before a reduction in the graph, and the ops after this reduction. Each mask has one entry per op of the
 * graph: 1 if the op belongs to the set, otherwise 0.
 */
interface Reach {
  readonly before: Uint8Array;
  readonly after: Uint8Array;
}

const reachByGraph = memoize<(Reach | undefined)[]>();

function reachOf(graph: Graph, op: number): Reach {
  const known = reachByGraph(graph, [], () => []);
  known[op] ??= { before: reached(graph, op, graph.before), after: reached(graph, op, graph.after) };
  return known[op];
}

const axesByGraph = memoize<Int32Array>();

/**
 * Returns for each op a bit set of the axes that the op reduces. Bit 0 is the last axis of the first input, bit 1 the
 * axis before the last. The bit set is 0 if the op reduces no axis.
 */
const axesOf = (graph: Graph): Int32Array =>
  axesByGraph(graph, [], () =>
    Int32Array.from(graph.ops, ({ kind, inputs, axes }) => {
      const rank = rankOf(graph, inputs[0]);
      // A notebook of version 0.1.0 has no axes. Its reductions reduce the last axis.
      const given = axes ?? (kind === "reduction" && rank > 0 ? [rank - 1] : []);
      return given.reduce((bits, axis) => bits | (1 << (rank - 1 - axis)), 0);
    }),
  );

/** Returns the bit sets of the axes that the graph's reductions reduce, each bit set once. */
export const reducedAxes = (graph: Graph): Iterable<number> => new Set(axesOf(graph).filter((axes) => axes !== 0));

const rankOf = (graph: Graph, tensor: number | undefined) => graph.tensors[tensor ?? -1]?.shape.length ?? 0;
function reductionsOf(graph: Graph, ops: Ops): number[] {
  const axes = axesOf(graph);
  return ops.filter((op) => axes[op] !== 0);
}
const moversOf = (graph: Graph, ops: Ops) => ops.filter((op) => graph.ops[op]?.kind === "injective");

/** A reduction as messages show it: the name of the op, and the axes that the op reduces, counted from 0. */
export interface ReducingOp {
  readonly name: string;
  readonly axes: readonly number[];
}

export function reducingOp(graph: Graph, op: number): ReducingOp {
  const rank = rankOf(graph, graph.ops[op]?.inputs[0]);
  const axes = Array.from({ length: rank }, (_, axis) => axis);
  const isReduced = (axis: number) => (((axesOf(graph)[op] as number) >> (rank - 1 - axis)) & 1) === 1;
  return { name: opName(graph, op), axes: axes.filter(isReduced) };
}

/** Whether an op moves elements before one of the two reductions, but not before the other reduction. */
const areMovedApart = (graph: Graph, movers: Ops, one: number, other: number) =>
  movers.some((op) => reachOf(graph, one).before[op] !== reachOf(graph, other).before[op]);

/** Returns two reductions of a kernel that need different tiles; null if the kernel has no such pair of reductions. */
export function clashingReductions(graph: Graph, ops: Ops): readonly [number, number] | null {
  const reductions = reductionsOf(graph, ops);
  if (reductions.length < 2) return null;
  const [first = 0, ...others] = reductions.sort((a, b) => a - b);
  const [axes, movers] = [axesOf(graph), moversOf(graph, ops)];
  const other = others.find((op) => axes[op] !== axes[first] || areMovedApart(graph, movers, first, op));
  return other === undefined ? null : [first, other];
}

/** What the reductions of a kernel need on chip. */
interface ReductionTiles {
  /** Returns a bit set of the axes that the tile of a tensor has whole; 0 if the tile has no axis whole. */
  readonly wholeAxes: (tensor: number) => number;
  /**
   * Returns the tensors from main memory that stay on chip between ops of the kernel, because a reduction and another
   * op need them.
   */
  readonly entering: () => Ops;
}

/** Returns what the reductions of a kernel need on chip; undefined if the kernel has no reduction. */
export function reductionTiles(graph: Graph, ops: Ops): ReductionTiles | undefined {
  const reductions = reductionsOf(graph, ops);
  const [first] = reductions;
  if (first === undefined) return undefined;
  const [axes, inside] = [axesOf(graph), new Set(ops)];
  const readersOf = (tensor: number) => listOf(graph.consumers, tensor).filter((op) => inside.has(op));
  const movers = moversOf(graph, ops);
  const isClashing = clashingReductions(graph, ops) !== null;
  const areMoved = reductions.some((op) => areMovedApart(graph, movers, first, op));
  const all = areMoved ? ALL_AXES : reductions.reduce((bits, op) => bits | (axes[op] as number), 0);
  function wholeAxes(tensor: number): number {
    const readers = readersOf(tensor);
    const held = reductions.reduce(
      (bits, op) => bits | (holds(graph, op, tensor, { inside, readers }) ? (axes[op] as number) : 0),
      0,
    );
    if (!isClashing) return held;
    const touches = (op: number) => graph.producer[tensor] === op || readers.includes(op);
    return held !== 0 || reductions.some(touches) ? all : 0;
  }
  return {
    wholeAxes,
    entering() {
      const read = new Set(allOf(graph.reads, ops));
      return [...read].filter(
        (tensor) => !inside.has(makerOf(graph, tensor)) && readersOf(tensor).length > 1 && wholeAxes(tensor) !== 0,
      );
    },
  };
}

interface Kernel {
  readonly inside: ReadonlySet<number>;
  readonly readers: Ops;
}

/** Returns whether the tile of a tensor must have the axes whole that `reduction` reduces. */
function holds(graph: Graph, reduction: number, tensor: number, { inside, readers }: Kernel): boolean {
  const { inputs = [], outputs = [] } = graph.ops[reduction] ?? {};
  const isKept = (output: number) => rankOf(graph, output) >= rankOf(graph, inputs[0]);
  const maker = makerOf(graph, tensor);
  const { before, after } = reachOf(graph, reduction);
  if (maker === reduction) {
    // The output's tile has the reduced axes whole, unless the input's tile is on chip with these axes whole.
    const input = inputs[0] as number;
    const isReadLater = listOf(graph.consumers, input).some((op) => inside.has(op) && after[op]);
    return isKept(tensor) && !inside.has(makerOf(graph, input)) && !isReadLater;
  }
  if (!readers.some((op) => op === reduction || before[op])) return false;
  const readsTwice = inside.has(maker) && readers.includes(reduction) && outputs.some(isKept);
  return readsTwice || readers.some((op) => after[op]);
}

/**
 * Returns two ops of the kernel: a reduction that needs the tensor, and an op that reads the tensor after the
 * reduction. Returns null if the kernel does not have these two ops.
 */
export function readAgain(graph: Graph, ops: Ops, tensor: number): readonly [number, number] | null {
  const inside = new Set(ops);
  const readers = listOf(graph.consumers, tensor).filter((op) => inside.has(op));
  for (const reduction of reductionsOf(graph, ops)) {
    if (graph.producer[tensor] === reduction || !holds(graph, reduction, tensor, { inside, readers })) continue;
    const reader = readers.find((op) => reachOf(graph, reduction).after[op]);
    if (reader !== undefined) return [reduction, reader];
  }
  return null;
}
