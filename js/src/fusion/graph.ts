// A graph of operations: decoded from Python's message, and evaluated for given dimensions, counting convention and
// dtype.

import { lookUp } from "../ui/keys.ts";
import type { Work } from "../ui/slices.ts";
import type { WireCondition, WireExpression, WireGraph, WireOp, WireTensor } from "../wire/types.ts";
import { type Compiled, compile, type Lookup } from "./expressions.ts";

/** Indices of ops. */
export type Ops = readonly number[];

export interface Dim {
  readonly name: string;
  readonly low: number;
  readonly high: number;
  readonly default: number;
}

/** Ops and tensors are numbered from 0. If op b reads a tensor that op a writes, b has a higher number than a. */
export interface Graph {
  readonly name: string;
  readonly dims: readonly Dim[];
  readonly conditions: readonly Condition[];
  readonly ops: readonly WireOp[];
  readonly tensors: readonly WireTensor[];
  readonly outputs: readonly number[];
  readonly convention: string;
  /** For each counting convention, the values of its symbols (such as "@fma"). */
  readonly conventions: ReadonlyMap<string, Readonly<Record<string, number>>>;
  /** The number of bits of each dtype. */
  readonly dtypes: ReadonlyMap<string, number>;
  /**
   * The dtype that an override replaces: the graph's most frequent floating-point dtype. Null if the graph has none.
   */
  readonly mainDtype: string | null;
  /** For each op: the tensors that the op reads, each once. */
  readonly reads: readonly (readonly number[])[];
  /** For each op: the tensors that the op writes. */
  readonly makes: readonly (readonly number[])[];
  /** For each op: the tensors that the op reads or writes. */
  readonly touches: readonly (readonly number[])[];
  /** For each op: the ops that write the tensors that this op reads. */
  readonly before: readonly (readonly number[])[];
  /** For each op: the ops that read the tensors that this op writes. */
  readonly after: readonly (readonly number[])[];
  /** For each tensor: the op that writes the tensor; -1 for a graph input. */
  readonly producer: Int32Array;
  /** For each tensor: the ops that read the tensor. */
  readonly consumers: readonly (readonly number[])[];
  /** For each tensor: whether the tensor is a graph output. */
  readonly isOutput: Uint8Array;
  /** The classes of FLOPs that occur in the graph's ops. */
  readonly classes: readonly string[];
  /** The position of each symbol in an environment. */
  readonly symbols: ReadonlyMap<string, number>;
  readonly counts: Counts;
}

/**
 * The counts of a graph. `distinct` has each distinct count, compiled once. All other fields contain indices into
 * `distinct`.
 */
export interface Counts {
  readonly distinct: readonly Compiled[];
  readonly bytes: Int32Array;
  readonly extra: Int32Array;
  readonly flops: readonly Int32Array[];
  /** For each tensor: one index per dimension. */
  readonly shapes: readonly Int32Array[];
}

/**
 * A condition on the sizes of dimensions. `count` must be a multiple of `divisor`. If `divisor` is 0, `count` must be
 * at least 1.
 */
export interface Condition {
  readonly whose: string;
  readonly count: WireExpression;
  readonly divisor: WireExpression;
  readonly countAt: Compiled;
  readonly divisorAt: Compiled;
}

export interface Settings {
  /** Sizes of dimensions that differ from their defaults. */
  readonly dims?: Readonly<Record<string, number>>;
  readonly convention?: string;
  /** Counts bytes as if tensors of the main dtype had this dtype. */
  readonly dtype?: string | null;
}

export interface Environment {
  readonly values: Float64Array;
  readonly dtype: string | null;
}

/** The values of a graph's counts in one environment. */
export interface GraphValues {
  /** For each tensor: the bytes of the tensor. */
  readonly bytes: Float64Array;
  /** For each op: bytes moved in addition to the bytes of its tensors. */
  readonly extra: Float64Array;
  /** One column per FLOP class, with one number per op. A multiply-add counts 2, as in peak rates. */
  readonly flops: readonly Float64Array[];
  /** Returns an op's FLOPs over all classes, counted by the graph's convention. */
  readonly own: (op: number) => number;
  /** Returns the sizes of a tensor's dimensions. */
  readonly shape: (tensor: number) => readonly number[];
  readonly dtype: string | null;
}

/** Returns the values of all symbols: dimensions, symbols of the counting convention, and bits of dtypes. */
export function environment(graph: Graph, { dims = {}, convention, dtype = null }: Settings = {}): Environment {
  const values = new Float64Array(graph.symbols.size).fill(Number.NaN);
  const put = (symbol: string, value: number) => {
    values[graph.symbols.get(symbol) as number] = value;
  };
  for (const dim of graph.dims) put(dim.name, lookUp(dims, dim.name) ?? dim.default);
  for (const [name, bits] of graph.dtypes) put(`@${name}`, bits);
  if (dtype !== null && graph.mainDtype !== null) put(`@${graph.mainDtype}`, graph.dtypes.get(dtype) ?? Number.NaN);
  const words = graph.conventions.get(convention ?? graph.convention) ?? {};
  for (const [word, value] of Object.entries(words)) put(word, value);
  return { values, dtype };
}

/** Returns a function that looks up symbols for formulas with numbers. */
export const lookup =
  (graph: Graph, { values }: Environment): Lookup =>
  (symbol) => {
    const at = graph.symbols.get(symbol);
    return at === undefined ? undefined : values[at];
  };

/** The number of FLOPs that peak rates count for a multiply-add. */
export const PEAK_FMA = 2;

export function evaluate({ counts, symbols }: Graph, { values, dtype }: Environment): GraphValues {
  const fma = symbols.get("@fma");
  // A negative value means that the FLOPs of a multiply-add are unknown. Such a value is not replaced.
  const asPeaks = values.map((value, at) => (at === fma && value >= 0 ? PEAK_FMA : value));
  const numbers = counts.distinct.map((count) => count(asPeaks));
  const column = (which: Int32Array) => {
    const filled = new Float64Array(which.length);
    for (let row = 0; row < which.length; row++) filled[row] = numbers[which[row] as number] as number;
    return filled;
  };
  return {
    bytes: column(counts.bytes),
    extra: column(counts.extra),
    flops: counts.flops.map(column),
    own: (op) => counts.flops.reduce((sum, which) => sum + (counts.distinct[which[op] ?? -1]?.(values) ?? 0), 0),
    shape: (tensor) => [...column(counts.shapes[tensor] as Int32Array)],
    dtype,
  };
}

/**
 * Returns a mask of all ops downstream of an op if `along` is `graph.after`. If `along` is `graph.before`, returns a
 * mask of all ops upstream of the op.
 */
export function reached(graph: Graph, op: number, along: Graph["after"]): Uint8Array {
  const seen = new Uint8Array(graph.ops.length);
  const left = [op];
  for (let at = left.pop(); at !== undefined; at = left.pop()) {
    for (const next of listOf(along, at)) {
      if (!seen[next]) left.push(next);
      seen[next] = 1;
    }
  }
  return seen;
}

/** Returns the list of an op, a tensor or a group. */
export const listOf = (lists: readonly Ops[], of: number): Ops => lists[of] as Ops;

/** Returns the lists of some ops or groups, one after another. */
export function allOf(lists: readonly Ops[], of: Ops): number[] {
  // Not flatMap, which takes more than twice as long.
  const all: number[] = [];
  for (const one of of) for (const other of listOf(lists, one)) all.push(other);
  return all;
}

/** Returns the entries of a column for some ops, tensors or groups. */
export const numbersOf = (numbers: ArrayLike<number>, of: Ops): number[] => of.map((one) => numbers[one] as number);

/** Returns the op that writes a tensor; -1 for a graph input. */
export const makerOf = ({ producer }: Graph, tensor: number): number => producer[tensor] as number;

export const opName = ({ ops }: Graph, op: number): string => ops[op]?.name ?? "";
export const opNames = (graph: Graph, ops: Ops): string[] => ops.map((op) => opName(graph, op));
/** Returns the name of a group, such as "a + b". */
export const groupName = (graph: Graph, ops: Ops): string => opNames(graph, ops).join(" + ");

/** Returns the dtype of a tensor after the override. */
export function dtypeOf(graph: Graph, { dtype }: { readonly dtype: string | null }, tensor: number): string {
  const own = graph.tensors[tensor]?.dtype ?? "";
  return dtype !== null && own === graph.mainDtype ? dtype : own;
}

export const isFloating = (dtype: string) => !/^(?:int|bool)/.test(dtype);

/**
 * Returns the most frequent floating-point dtype. If several dtypes are equally frequent, it returns the first of them.
 * Returns null if there is no floating-point dtype.
 */
export function mainOf(dtypes: readonly string[]): string | null {
  const votes = new Map<string, number>();
  for (const dtype of dtypes.filter(isFloating)) votes.set(dtype, (votes.get(dtype) ?? 0) + 1);
  const most = Math.max(...votes.values());
  return [...votes].find(([, count]) => count === most)?.[0] ?? null;
}

const CLASSES = ["tensor", "vector", "transcendental"];

/** How many ops or tensors are decoded between two pause points. */
const ITEMS_PER_PAUSE = 256;

export function* decoding(wire: unknown): Work<Graph> {
  const { name, dims, conditions = [], convention, ops, tensors, outputs, dtypes, conventions } = wire as WireGraph;
  const reads = ops.map(({ inputs }) => [...new Set(inputs)]);
  const makes = ops.map((op) => op.outputs);
  const producer = new Int32Array(tensors.length).fill(-1);
  const consumers: number[][] = tensors.map(() => []);
  ops.forEach((op, at) => {
    for (const tensor of op.outputs) producer[tensor] = at;
    for (const tensor of reads[at] as number[]) consumers[tensor]?.push(at);
  });
  yield;
  const before = reads.map((read) => [...new Set(numbersOf(producer, read))].filter((p) => p >= 0));
  const after = makes.map((made) => [...new Set(made.flatMap((tensor) => consumers[tensor] as number[]))]);
  yield;
  const isOutput = new Uint8Array(tensors.length);
  for (const tensor of outputs) isOutput[tensor] = 1;
  const words = Object.values(conventions).flatMap((one) => Object.keys(one));
  const names = [...dims.map(([dim]) => dim), ...words, ...Object.keys(dtypes).map((dtype) => `@${dtype}`)];
  const symbols = new Map([...new Set(names)].map((symbol, at) => [symbol, at]));
  const classes = CLASSES.filter((word) => ops.some(({ flops }) => Object.hasOwn(flops, word)));
  return {
    name,
    dims: dims.map(([dim, low, high, initial]) => ({ name: dim, low, high, default: initial })),
    conditions: conditions.map((condition) => conditionOf(condition, symbols)),
    ops,
    tensors,
    outputs,
    convention,
    conventions: new Map(Object.entries(conventions)),
    dtypes: new Map(Object.entries(dtypes)),
    mainDtype: mainOf(tensors.map(({ dtype }) => dtype)),
    reads,
    makes,
    touches: makes.map((made, op) => [...(reads[op] as number[]), ...made]),
    before,
    after,
    producer,
    consumers,
    isOutput,
    classes,
    symbols,
    counts: yield* compiling({ ops, tensors }, classes, symbols),
  };
}

const conditionOf = ([whose, count, divisor]: WireCondition, symbols: ReadonlyMap<string, number>): Condition => ({
  ...{ whose, count, divisor },
  countAt: compile(count, symbols),
  divisorAt: compile(divisor, symbols),
});

/** The layers of a model repeat a few counts, so each distinct count is compiled only once. */
function* compiling(
  { ops, tensors }: Pick<Graph, "ops" | "tensors">,
  classes: readonly string[],
  symbols: ReadonlyMap<string, number>,
): Work<Counts> {
  const distinct: Compiled[] = [];
  const known = new Map<string, number>();
  const numbered = (wire: WireExpression) => {
    const key = typeof wire === "number" ? `${wire}` : JSON.stringify(wire);
    let at = known.get(key);
    if (at === undefined) {
      at = distinct.push(compile(wire, symbols)) - 1;
      known.set(key, at);
    }
    return at;
  };
  function* column<T>(rows: readonly T[], wireOf: (row: T) => WireExpression): Work<Int32Array> {
    const filled = new Int32Array(rows.length);
    for (const [at, row] of rows.entries()) {
      if (at % ITEMS_PER_PAUSE === ITEMS_PER_PAUSE - 1) yield;
      filled[at] = numbered(wireOf(row));
    }
    return filled;
  }
  const bytes = yield* column(tensors, (tensor) => tensor.bytes);
  const extra = yield* column(ops, (op) => op.extra);
  const flops: Int32Array[] = [];
  for (const word of classes) flops.push(yield* column(ops, (op) => op.flops[word] ?? 0));
  const shapes: Int32Array[] = [];
  for (const { shape } of tensors) {
    if (shapes.length % ITEMS_PER_PAUSE === ITEMS_PER_PAUSE - 1) yield;
    shapes.push(Int32Array.from(shape, numbered));
  }
  return { distinct, bytes, extra, flops, shapes };
}
