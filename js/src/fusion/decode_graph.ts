// The graph that Python sends, as the front end has it: a large one takes long enough that frames are drawn meanwhile.

import { finish, type Work } from "../ui/slices.ts";
import type { WireExpression, WireGraph } from "../wire/types.ts";
import { conditionOf } from "./conditions.ts";
import { mainOf } from "./dtypes.ts";
import { type Compiled, compile } from "./expressions.ts";
import type { Counts, Graph } from "./graph.ts";

const CLASSES = ["tensor", "vector", "transcendental"];

/** How many ops or tensors are looked at before the work may pause. */
const PAUSE = 256;

export const decodeGraph = (wire: unknown): Graph => finish(decoding(wire));

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
  const before = reads.map((read) =>
    [...new Set(read.map((tensor) => producer[tensor] as number))].filter((p) => p >= 0),
  );
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

/** The layers of a model repeat the same few counts: each is evaluated once. */
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
      if (at % PAUSE === PAUSE - 1) yield;
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
    if (shapes.length % PAUSE === PAUSE - 1) yield;
    shapes.push(Int32Array.from(shape, numbered));
  }
  return { distinct, bytes, extra, flops, shapes };
}
