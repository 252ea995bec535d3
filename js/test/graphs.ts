// Graphs for tests: written as text, and drawn at random.

import { type Cost, type Forms, formsOn, isForm } from "../src/fusion/forms.ts";
import { decoding, environment, evaluate, type Graph, type GraphValues, type Ops } from "../src/fusion/graph.ts";
import { fuseLikeXla, mergeGreedily, pairOps } from "../src/fusion/greedy.ts";
import { broken, linked, type Partition, type RefusalCode, wayBack } from "../src/fusion/legality.ts";
import { partitionOf } from "../src/fusion/partition.ts";
import { searchPartition } from "../src/fusion/search.ts";
import { finish, type Work } from "../src/ui/slices.ts";
import type { OpKind, Share, WireOp } from "../src/wire/types.ts";
import { seeded, several } from "./helpers.ts";

export type Groups = readonly (readonly number[])[];

export const valuesOf = (graph: Graph): GraphValues => evaluate(graph, environment(graph));

export const at = (graph: Graph, groups: Groups): Partition => partitionOf(graph, groups);

const KINDS: Record<string, OpKind> = {
  "": "elementwise",
  "+": "broadcast",
  "~": "injective",
  "!": "reduction",
  "*": "matmul",
  "?": "opaque",
};

/** Bits of the dtypes that written graphs may have. */
const BITS = { fp32: 32, bf16: 16, fp8: 8, int8: 8, int4: 4 };

interface Written {
  readonly shapes?: Readonly<Record<string, readonly number[]>>;
  /** The size of each loop; 64 if there is none. */
  readonly sizes?: Readonly<Record<string, number>>;
  readonly outputs?: readonly string[];
  readonly dtypes?: Readonly<Record<string, keyof typeof BITS>>;
  /** What the ops have beyond their kinds, by name. */
  readonly ops?: Readonly<Record<string, Partial<WireOp>>>;
}

/**
 * A graph written as "a: x y > z; …", with a sign before an op's name for its kind. Tensors are 1,000 bf16 elements, or
 * as `shapes` says; "x[mk]" names the loops of a tensor, one for each axis; with `sizes` they are
 * dimensions of the graph. Each op computes one FLOP of class vector an
 * element, a matmul 1,000 of class tensor. A reduction reduces the last axis. What nothing reads is an output, and so are
 * those tensors named in `outputs`.
 */
export function written(text: string, given: Written = {}): Graph {
  const { shapes = {}, sizes, outputs = [], dtypes = {}, ops = {} } = given;
  const loops = new Map<string, string>();
  const tensors = (part: string | undefined) =>
    [...(part ?? "").matchAll(/(\w+)(?:\[([^\]]+)\])?/g)].map(([, name = "", axes]) => {
      if (axes !== undefined) loops.set(name, axes);
      return name;
    });
  const steps = text.split(";").map((step) => {
    const [, sign, name = "", read, made] = step.match(/^\s*(\W?)(\w+):([^>]*)>(.*)$/) as RegExpMatchArray;
    return { kind: KINDS[sign ?? ""] as OpKind, name, inputs: tensors(read), outputs: tensors(made) };
  });
  const names = [...new Set(steps.flatMap((step) => [...step.inputs, ...step.outputs]))];
  const index = (tensor: string) => names.indexOf(tensor);
  const shape = (tensor = ""): readonly (string | number)[] =>
    shapes[tensor] ?? (sizes && [...(loops.get(tensor) ?? "")]) ?? [1000];
  const elements = (tensor: string | undefined) =>
    sizes ? ["*", 1, ...shape(tensor)] : shape(tensor).reduce<number>((total, size) => total * Number(size), 1);
  const read = new Set(steps.flatMap((step) => step.inputs));
  const made = steps.flatMap((step) => step.outputs);
  /** Without names, axes are aligned from the last. How an injective op moves elements is then unknown. */
  const loopsOf = (tensor: string) => loops.get(tensor) ?? "abcd".slice(4 - shape(tensor).length);
  const indexOf = ({ kind, inputs, outputs: results }: (typeof steps)[number]) =>
    kind === "opaque" || (kind === "injective" && ![...inputs, ...results].every((tensor) => loops.has(tensor)))
      ? null
      : [inputs, results].map((side) => side.map(loopsOf).join()).join("->");
  return decodeGraph({
    name: text,
    dims: sizes ? [..."abmnkdeghjopqrst"].map((loop) => [loop, 1, 2 ** 24, sizes[loop] ?? 64]) : [],
    convention: "textbook",
    ops: steps.map((step) => ({
      ...step,
      inputs: step.inputs.map(index),
      outputs: step.outputs.map(index),
      flops:
        step.kind === "matmul"
          ? { tensor: sizes ? ["*", 1000, elements(step.outputs[0])] : 1000 * Number(elements(step.outputs[0])) }
          : { vector: elements(step.outputs[0]) },
      extra: 0,
      terms: [],
      axes: step.kind === "reduction" && step.inputs.length > 0 ? [shape(step.inputs[0]).length - 1] : [],
      index: indexOf(step),
      ...ops[step.name],
    })),
    tensors: names.map((name) => ({
      name,
      shape: shape(name),
      dtype: dtypes[name] ?? "bf16",
      bytes: ["/", ["*", elements(name), `@${dtypes[name] ?? "bf16"}`], 8],
    })),
    outputs: made.filter((tensor) => !read.has(tensor) || outputs.includes(tensor)).map(index),
    dtypes: BITS,
    conventions: { textbook: { "@fma": 2 } },
  });
}

/** Draws a graph of so many ops. All axes of a size have the loop of a letter. */
function draw(seed: number, count: number): Graph {
  const random = seeded(seed);
  const one = <T>(items: readonly T[]) => items[Math.floor(random() * items.length)] as T;
  const sizes = Object.fromEntries([..."mnkd"].map((loop) => [loop, one([1, 16, 64, 100, 512, 4096])]));
  const loops = new Map([["x", one(["mk", "nk"])]]);
  const some = () => one([...loops.keys()].slice(random() < 0.6 ? -3 : 0));
  const added = (axes: string) => {
    const name = `t${loops.size}`;
    loops.set(name, axes);
    return `${name}[${axes}]`;
  };
  const steps = several(count, (at) => {
    const first = some();
    const axes = loops.get(first) as string;
    const others = [...loops.keys()].filter((name) => name !== first && axes.includes(loops.get(name) as string));
    const next = one([..."mnkd"].filter((loop) => !axes.includes(loop)));
    const kind = one(axes.length === 1 ? ["", "+", "?"] : ["", "", "+", "~", "!", "!", "sum", "*", "*", "*", "?"]);
    const read = `${first}[${axes}]`;
    const kept = random() < 0.1 ? added(axes) : "";
    if (kind === "*") return `*o${at}: ${read} ${added(`${axes[1]}${next}`)} > ${added(`${axes[0]}${next}`)}`;
    if (kind === "sum") return `!o${at}: ${read} > ${added(axes[0] as string)}`;
    if (kind === "~") return `~o${at}: ${read} > ${added(`${axes[1]}${axes[0]}`)}`;
    const other = kind === "?" || others.length === 0 ? "" : one(others);
    return `${kind}o${at}: ${read} ${other} > ${added(axes)} ${kept}`;
  });
  const ops = Object.fromEntries(several(count, (at) => [`o${at}`, random() < 0.2 ? { rescale: false } : {}]));
  return written(steps.join("; "), { sizes, ops });
}

/** Graphs of one to seven ops, drawn at random. */
export const drawn: readonly Graph[] = several(140, (at) => draw(at, 1 + (at % 7)));

// The work of the front end, all at once.

export function decodeGraph(wire: unknown): Graph {
  return finish(decoding(wire));
}

/** The cost of bytes alone. */
export const byBytes: Cost = (_, bytes) => bytes;

interface Room extends Partial<Omit<Share, "level">> {
  readonly cost?: Cost;
  readonly values?: GraphValues;
}

/** What kernels can do on a chip whose units hold so many bytes each. Without a number of bytes, all fit. */
export const formsIn = (graph: Graph, { cost = byBytes, values = valuesOf(graph), bytes, ...room }: Room = {}): Forms =>
  formsOn(graph, values, bytes === undefined ? null : { level: "SMEM", bytes, units: 1, ...room }, cost);

export const best = (graph: Graph, cost: Cost = byBytes, forms = formsIn(graph, { cost })) =>
  finish(searchPartition(graph, forms, cost));

export const greedy = (graph: Graph, cost: Cost = byBytes, forms = formsIn(graph, { cost })): Partition =>
  finish(mergeGreedily(graph, forms, cost, (ops) => isForm(forms.formOf(ops))));

export const pairs = (graph: Graph, forms = formsIn(graph)): Partition =>
  finish(pairOps(graph, valuesOf(graph), forms));

export const likeXla = (graph: Graph, cost: Cost = byBytes, forms = formsIn(graph, { cost })): Partition =>
  finish(fuseLikeXla(graph, forms, cost));

/** The number of pause points of some work. */
export function pausesOf(work: Work<unknown>): number {
  let pauses = 0;
  while (!work.next().done) pauses++;
  return pauses;
}

/** The first rule that groups break as a whole partition, or null: group by group, in the order of their first ops. */
export function faultOf(graph: Graph, groups: readonly Ops[]): RefusalCode | null {
  const sorted = [...groups].sort((a, b) => Math.min(...a) - Math.min(...b));
  for (const group of sorted) {
    if (linked(graph, group).length > 1) return "not-connected";
    const refusal = broken(graph, group);
    if (refusal) return refusal.code;
  }
  const partition = {
    groups,
    groupOf: Int32Array.from(graph.ops, (_, op) => groups.findIndex((group) => group.includes(op))),
  };
  return groups.some((group) => wayBack(graph, group, partition)) ? "cycle" : null;
}
