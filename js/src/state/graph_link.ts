// A graph with its kernels, a chip and a title as the end of an address: "#g=" and base64url text of compressed JSON. Mirrors
// roofwidget/export/graph_link.py. What comes in a link is not trusted: sizes are limited, and names are text.

import { type Cost, type Forms, formsOn, tally } from "../fusion/forms.ts";
import { decoding, environment, evaluate, type Graph, type GraphValues } from "../fusion/graph.ts";
import { broken } from "../fusion/legality.ts";
import { partitionOf, unfused } from "../fusion/partition.ts";
import { passesOf } from "../fusion/passes.ts";
import { costOn } from "../fusion/search.ts";
import { isRoof, roofOf } from "../roofline/roofline.ts";
import { formatSignificant } from "../text/numbers.ts";
import { finish } from "../ui/slices.ts";
import { linkLetters, linkValue } from "../wire/link.ts";
import type { Chip, Question, Story, WireGraph, WireOp } from "../wire/types.ts";
import { graphLinkWords as words } from "../words/words.ts";
import type { Workload } from "./workload.ts";

const MARK = "#g=";
const VERSION = 1;
const MAX_LETTERS = 2000;
const MAX_JSON_BYTES = 20_000;
const MAX_OPS = 64;
const [MAX_TITLE_LETTERS, MAX_NAME_LETTERS, MAX_AXES] = [120, 60, 8];
const PHASE = "graph";
const KINDS = ["elementwise", "broadcast", "injective", "reduction", "scan", "matmul", "opaque"];
const CLASSES = ["tensor", "vector", "transcendental"];

type Described = readonly [name: string, shape: readonly number[], dtype: string];

interface LinkedOp {
  readonly n: string;
  readonly k: WireOp["kind"];
  readonly in: readonly string[];
  readonly out: readonly Described[];
  readonly flops: Readonly<Record<string, number>>;
  /** Extra bytes, precision, reduced axes, loops; whether a reduction must be complete, and its numbers for each result. */
  readonly x?: number;
  readonly p?: string;
  readonly axes?: readonly number[];
  readonly i?: string;
  readonly once?: 1;
  readonly stats?: number;
}

export interface Linked {
  readonly v: number;
  readonly chip: string;
  readonly title: string;
  readonly ins: readonly Described[];
  readonly ops: readonly LinkedOp[];
  readonly groups: readonly (readonly number[])[];
  readonly outs: readonly string[];
}

/** A link that cannot be shown, with a sentence for the reader. */
export class LinkError extends Error {}

const fail = (): never => {
  throw new LinkError(words.damaged);
};
const isText = (value: unknown, most = MAX_NAME_LETTERS): value is string =>
  typeof value === "string" && value.length <= most;
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
const isList = (value: unknown, most: number): value is readonly unknown[] =>
  Array.isArray(value) && value.length <= most;

/** Whether the address has a graph. */
export const hasGraph = (hash: string) => hash.startsWith(MARK);

/** Returns what a link holds, with all parts checked. */
export async function readLink(hash: string): Promise<Linked> {
  if (hash.length > MAX_LETTERS) fail();
  let linked: Linked;
  try {
    linked = (await linkValue(hash.slice(MARK.length), MAX_JSON_BYTES)) as Linked;
  } catch {
    return fail();
  }
  if (Number.isInteger(linked?.v) && linked.v > VERSION) throw new LinkError(words.newer);
  if (!isLinked(linked)) fail();
  return linked;
}

const isTensor = (value: unknown): value is Described =>
  isList(value, 3) &&
  isText(value[0]) &&
  isList(value[1], MAX_AXES) &&
  value[1].every(isCount) &&
  isText(value[2]) &&
  isCount(value[1].reduce((product: number, size) => product * (size as number), 8));

function isOp(op: LinkedOp): boolean {
  return (
    isText(op.n) &&
    op.n !== "" &&
    KINDS.includes(op.k) &&
    isList(op.in, MAX_OPS) &&
    isList(op.out, MAX_OPS) &&
    op.out.length > 0 &&
    op.out.every(isTensor) &&
    Object.entries(op.flops).every(([word, count]) => CLASSES.includes(word) && isCount(count)) &&
    isCount(op.x ?? 0) &&
    (op.p === undefined || isText(op.p)) &&
    isList(op.axes ?? [], MAX_AXES) &&
    (op.axes ?? []).every(isCount) &&
    (op.i === undefined || /^[a-z1*(),]*->[a-z1*(),]*$/i.test(op.i)) &&
    isCount(op.stats ?? 1)
  );
}

function isLinked(linked: Linked): boolean {
  try {
    const { v, chip, title, ins, ops, groups, outs } = linked;
    const all = groups.flat();
    return (
      v === VERSION &&
      isText(chip) &&
      isText(title, MAX_TITLE_LETTERS) &&
      isList(ins, 4 * MAX_OPS) &&
      ins.every(isTensor) &&
      isList(ops, MAX_OPS) &&
      ops.length > 0 &&
      ops.every(isOp) &&
      isList(outs, MAX_OPS) &&
      all.length === ops.length &&
      groups.every((group) => group.length > 0) &&
      ops.every((_, op) => all.includes(op))
    );
  } catch {
    return false;
  }
}

/** Returns the graph as Python would send it. `known` has the dtypes and counting conventions. */
export function wireOf({ ins, ops, outs }: Linked, known: Pick<WireGraph, "dtypes" | "conventions" | "convention">) {
  const places = new Map<string, number>();
  const tensors: WireGraph["tensors"] = [];
  function place(name: string): number {
    return places.get(name) ?? fail();
  }
  function add([name, shape, dtype]: Described): number {
    const bits = Object.hasOwn(known.dtypes, dtype) ? (known.dtypes[dtype] as number) : fail();
    if (places.has(name)) fail();
    places.set(name, tensors.length);
    const bytes = Math.ceil((shape.reduce((product, size) => product * size, 1) * bits) / 8);
    return tensors.push({ name, shape, dtype, bytes }) - 1;
  }
  for (const tensor of ins) add(tensor);
  const names = new Set(ops.map(({ n }) => n));
  if (names.size < ops.length) fail();
  const wired = ops.map((op): WireOp => {
    const inputs = op.in.map(place);
    const outputs = op.out.map(add);
    // An index has the axes of all tensors.
    const ranks = op.i
      ?.split("->")
      .flatMap((side) => side.split(",").map((text) => text.match(/\(\w*\)|./g)?.length ?? 0));
    if (ranks && String(ranks) !== String([...inputs, ...outputs].map((at) => tensors[at]?.shape.length))) fail();
    return {
      ...{ name: op.n, kind: op.k, inputs, outputs, flops: op.flops, extra: op.x ?? 0, terms: [] },
      ...{ precision: op.p ?? null, axes: op.axes ?? [], index: op.i ?? null },
      ...{ rescale: op.once === undefined, stats: op.stats ?? 1 },
    };
  });
  const { dtypes, conventions, convention } = known;
  return { name: "", dims: [], convention, dtypes, conventions, outputs: outs.map(place), tensors, ops: wired };
}

interface Counted {
  readonly graph: Graph;
  readonly values: GraphValues;
  readonly forms: Forms;
}

/** Returns how many passes become how many, and how many times faster the kernels are. */
function gainOf(counted: Counted, groups: Linked["groups"], cost: Cost) {
  const { graph, forms } = counted;
  const [apart, merged] = [unfused(graph), partitionOf(graph, groups)];
  const count = (of: Linked["groups"]) => of.reduce((sum, group) => sum + passesOf(counted, group).length, 0);
  const times = tally(forms, apart, cost).seconds / tally(forms, merged, cost).seconds;
  return { before: count(apart.groups), after: count(merged.groups), times };
}

/** Returns the traits of a widget that shows a linked graph: a prediction of its gain, then its kernels. */
export function traitsOf(linked: Linked, known: WireGraph, chip: Chip): ReadonlyMap<string, unknown> {
  const wire = wireOf(linked, known);
  const graph = finish(decoding(wire));
  const values = evaluate(graph, environment(graph));
  const roof = roofOf(chip, "auto", "main", {});
  if (!isRoof(roof)) return fail();
  const cost = costOn(graph, values, roof);
  const forms = formsOn(graph, values, chip.share, cost);
  const groups = linked.groups.map((group) => [...group].sort((a, b) => a - b));
  const isLegal = groups.every((group) => group.length === 1 || !(broken(graph, group) || forms.refusalOf(group)));
  const { before, after, times } = gainOf({ graph, values, forms }, groups, cost);
  if (!isLegal || !(times > 0) || !Number.isFinite(times)) fail();
  const apart = unfused(graph).groups;
  const question: Question = {
    ...{ key: "gain", kind: "number", prompt: [["p", words.ask]], answer: times, unit: words.times },
    ...{
      tolerance: Math.log2(1.05),
      options: [],
      explanation: [["p", words.gain(before, after, formatSignificant(times))]],
    },
    ...{ on: null, kernel: null, graph: null, source: "" },
  };
  const caption = [
    ["p", ["strong", linked.title]],
    ["p", words.asSent],
  ] as const;
  const story: Story = {
    base: { phase: PHASE, partition: apart, dims: {}, convention: "", dtype: null },
    steps: [
      // The title may tell the gain.
      { caption: [], changes: {}, question, hides: false },
      { caption, changes: { partition: groups }, question: null, hides: false },
    ],
  };
  return new Map<string, unknown>(
    Object.entries({
      ...{
        graphs: [[PHASE, wire]],
        phase: PHASE,
        partition: apart,
        dims: {},
        convention: "",
        dtype: null,
      },
      ...{ story, step: 0, answers: {}, focus_chip: chip.id, shown: [chip.id], precision: "auto", memory: "main" },
      ...{ title: "", selected: [], what_if: {}, moves: {}, zoom: null, search: "", view: "roofline" },
      ...{ locks: [], hidden_panels: [], ranges: {}, snap: {} },
    }),
  );
}

/** Returns the title that a link is proposed to have. */
export function titleOf(workload: Workload): string {
  const { graph, partition, forms } = workload;
  const { before, after, times } = gainOf(workload, partition.groups, forms.cost);
  if (partition.groups.length === graph.ops.length) return graph.name;
  return `${words.gain(before, after, formatSignificant(times))} ${words.yours}`;
}

/** Returns the address of the graph that a page shows, or undefined if it is too long. */
export async function linkOf(
  { graph, values, partition }: Workload,
  chip: string,
  title: string,
): Promise<string | undefined> {
  const described = (at: number): Described => {
    const { name, dtype } = graph.tensors[at] as Graph["tensors"][number];
    return [name, values.shape(at), dtype];
  };
  const named = (at: number) => graph.tensors[at]?.name ?? "";
  const inputs = [...graph.tensors.keys()].filter((at) => (graph.producer[at] as number) < 0);
  const linked: Linked = {
    ...{ v: VERSION, chip, title: title.slice(0, MAX_TITLE_LETTERS), ins: inputs.map(described) },
    ops: graph.ops.map(({ name, kind, inputs: read, outputs, precision, axes, index, rescale, stats }, op) => ({
      ...{ n: name, k: kind, in: read.map(named), out: outputs.map(described) },
      flops: Object.fromEntries(
        graph.classes.flatMap((word, at) => (values.flops[at]?.[op] ? [[word, values.flops[at][op]] as const] : [])),
      ),
      ...(values.extra[op] && { x: values.extra[op] }),
      ...(precision && { p: precision }),
      ...(axes?.length && { axes }),
      ...(index && { i: index }),
      ...(rescale === false && { once: 1 as const }),
      ...(stats !== undefined && stats !== 1 && { stats }),
    })),
    groups: partition.groups,
    outs: graph.outputs.map(named),
  };
  const link = MARK + (await linkLetters(linked));
  return link.length > MAX_LETTERS ? undefined : link;
}
