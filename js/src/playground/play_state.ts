// What the playground shows, as a link and as a session hold it, and as values of the model.

import { decoding } from "../fusion/graph.ts";
import { broken } from "../fusion/legality.ts";
import { type Linked, wireOf } from "../state/graph_link.ts";
import { finish } from "../ui/slices.ts";
import type { WireChip, WireGraph, WireKernels } from "../wire/types.ts";
import { areGraphs, linkedValues } from "./checks.ts";
import type { Values } from "./local_model.ts";
import { chipRecord, isObject, isSameChip, KERNEL_PARTS, kernelRecord, wireChips, wireKernels } from "./records.ts";

/** The version of the form of links. A newer version is refused. */
const LINK_VERSION = 1;
const MAX_NAMED = 5;
/** As roofwidget/export/session.py has it. */
const SESSION = { format: "roofwidget session", version: 1 } as const;

/** A graph to play with, which Python made. */
export interface ExampleGraph {
  readonly title: string;
  readonly graph: WireGraph;
}
/** What the page holds beside the widget. */
export interface Stock {
  /** The values of an empty widget. */
  readonly empty: Values;
  readonly graphs: Readonly<Record<string, ExampleGraph>>;
  chip(id: string): WireChip | undefined;
}
/** A link or a session of a newer version. */
export class NewerError extends Error {}

const graphsOf = (values: Values) => values["graphs"] as readonly (readonly [string, WireGraph])[];

/** Returns the key of the example that is shown; undefined if none is. */
export function exampleOf(values: Values, { graphs }: Stock): string | undefined {
  const [first, ...others] = graphsOf(values);
  if (!first || others.length > 0) return undefined;
  const shown = JSON.stringify(first[1]);
  return Object.keys(graphs).find((key) => JSON.stringify(graphs[key]?.graph) === shown);
}

/** Returns the values that show a graph, each of its ops as a kernel of its own. */
export const graphValues = (graph: WireGraph | undefined): Values => ({
  graphs: graph ? [["", graph]] : [],
  phase: "",
  partition: graph ? graph.ops.map((_, op) => [op]) : null,
});

/** Returns the values that differ from those of an empty widget, of those that a link holds. */
function changedValues(values: Values, { empty }: Stock): Values {
  const isChanged = ([name, value]: [string, unknown]) => JSON.stringify(value) !== JSON.stringify(empty[name]);
  return Object.fromEntries(Object.entries(linkedValues(values)).filter(isChanged));
}

/** Returns the chips: ids of the catalogue, and records of others. A link holds shares, which a session has not. */
function chipsOf(values: Values, stock: Stock, withShares: boolean): readonly unknown[] {
  return (values["chips"] as readonly WireChip[]).map((chip) => {
    if (isSameChip(chip, stock.chip(chip.id))) return chip.id;
    const share = withShares && chip.share ? { share: [...chip.share, chip.shared ?? null] } : {};
    return { ...chipRecord(chip), ...share };
  });
}

/** Returns what a link holds. */
export function linkOf(values: Values, stock: Stock): unknown {
  const kernels = values["kernels"] as WireKernels;
  const graphs = graphsOf(values);
  const chips = chipsOf(values, stock, true);
  const traits = changedValues(values, stock);
  return {
    v: LINK_VERSION,
    ...(chips.length > 0 && { chips }),
    ...(kernels.n > 0 && { kernels: kernelRecord(kernels) }),
    ...(graphs.length > 0 && { graphs: exampleOf(values, stock) ?? graphs, phase: values["phase"] }),
    ...(Object.keys(traits).length > 0 && { traits }),
  };
}

/** Returns the values of a link. Throws an error if the link is damaged, and a NewerError if it is newer. */
export function linkedState(link: unknown, stock: Stock): Values {
  if (!isObject(link) || typeof link["v"] !== "number") throw new Error("it has no version");
  if (link["v"] > LINK_VERSION) throw new NewerError();
  const { graphs } = link;
  const example = typeof graphs === "string" && Object.hasOwn(stock.graphs, graphs) ? stock.graphs[graphs] : undefined;
  const found = example ? [["", example.graph] as const] : (graphs ?? []);
  if (!areGraphs(found)) throw new Error("a graph has another form");
  const phase = found.some(([name]) => name === link["phase"]) ? link["phase"] : (found[0]?.[0] ?? "");
  return {
    ...stateOf(link["chips"], link["kernels"], link["traits"], stock),
    ...withGraphs(found, phase, link["traits"]),
  };
}

/** Returns the chips of a link or a session that the catalogue lacks, as what is not taken. */
export function missingChips(chips: unknown, stock: Stock): readonly string[] {
  const { unknown } = wireChips(chips, stock.chip);
  return unknown.length > 0 ? [`chips that this catalogue lacks (${unknown.slice(0, MAX_NAMED).join(", ")})`] : [];
}

/** Returns the values of a link to a graph of the course; see graph_link.ts. */
export function lessonState(linked: Linked, stock: Stock): Values {
  const known = Object.values(stock.graphs)[0]?.graph;
  if (!known || !stock.chip(linked.chip)) throw new Error("the catalogue has no such chip");
  const traits = { title: linked.title, partition: linked.groups };
  return {
    ...stateOf([linked.chip], undefined, traits, stock),
    ...withGraphs([["", wireOf(linked, known)]], "", traits),
  };
}

function withGraphs(graphs: readonly (readonly [string, WireGraph])[], phase: unknown, traits: unknown): Values {
  const graph = graphs.find(([name]) => name === phase)?.[1];
  const chosen = linkedValues(traits)["partition"] as readonly (readonly number[])[] | null | undefined;
  const ops = chosen?.flat() ?? [];
  const count = graph?.ops.length ?? 0;
  const fits = ops.length === count && new Set(ops).size === count && ops.every((op) => op < count);
  return {
    ...graphValues(graph),
    graphs,
    phase,
    ...(graph && chosen && fits && isLegal(graph, chosen) && { partition: chosen }),
  };
}

/** Whether each group can be a kernel on some chip. */
function isLegal(wire: WireGraph, groups: readonly (readonly number[])[]): boolean {
  const graph = finish(decoding(wire));
  return groups.every((group) => group.length === 1 || !broken(graph, group));
}

/** Returns values with chips, kernels and traits as a link or a session has them. */
function stateOf(chips: unknown, kernels: unknown, traits: unknown, stock: Stock): Values {
  const { own, added } = wireChips(chips, stock.chip);
  const all = [...own, ...added.flatMap((id) => ({ ...(stock.chip(id) as WireChip), added: true }))];
  const ids = all.map(({ id }) => id);
  const known = linkedValues(traits);
  const shown = (known["shown"] as readonly string[] | undefined)?.filter((id) => ids.includes(id)) ?? ids;
  const focus = [known["focus_chip"], ...shown].find((id) => shown.includes(id as string)) ?? "";
  const table = kernels === undefined ? stock.empty["kernels"] : wireKernels(kernels);
  return { ...stock.empty, ...known, chips: all, added_chips: added, shown, focus_chip: focus, kernels: table };
}

/** Returns the text of a session, from which Python makes the model again. */
export function sessionText(values: Values, stock: Stock): string {
  const chips = chipsOf(values, stock, false);
  const records = chips.filter(isObject);
  const { what_if: whatIf = {}, dims: _, partition: __, ...traits } = changedValues(values, stock);
  const session = {
    ...SESSION,
    chips: Object.fromEntries(records.map((record) => [record["id"], record])),
    kernels: kernelRecord(values["kernels"] as WireKernels),
    series: false,
    baseline: null,
    graphs: {},
    partitions: {},
    what_if: whatIf,
    snapshots: [],
    traits: { ...traits, added_chips: chips.filter((chip) => typeof chip === "string") },
  };
  return `${JSON.stringify(session, null, 2)}\n`;
}

/** Returns the values of a session, and what of it is not taken. Throws an error if it is damaged or newer. */
export function sessionState(session: unknown, stock: Stock): { readonly values: Values; readonly notTaken: string[] } {
  if (!isObject(session) || session["format"] !== SESSION.format) throw new Error("it is no session");
  if (typeof session["version"] !== "number" || session["version"] > SESSION.version) throw new NewerError();
  const { chips = {}, kernels = {}, what_if, traits, baseline, graphs, snapshots, series } = session;
  if (!isObject(chips) || !isObject(kernels) || !isObject(traits ?? {}))
    throw new Error("'chips', 'kernels' or 'traits' has another form");
  const { added_chips: added = [], story } = (traits ?? {}) as Values;
  const records = Object.values(chips).map((record) => {
    const { own } = wireChips([record], stock.chip);
    const [chip] = own as [WireChip];
    return isSameChip(chip, stock.chip(chip.id)) ? chip.id : record;
  });
  const isFilled = (part: unknown) =>
    Array.isArray(part) ? part.length > 0 : isObject(part) && Object.keys(part).length > 0;
  const more = Object.keys(kernels).filter((part) => !KERNEL_PARTS.includes(part));
  const ids = Array.isArray(added) ? added : [];
  const notTaken = [
    ...missingChips(ids, stock),
    ...(isFilled(baseline) ? ["the earlier run"] : []),
    ...(isFilled(graphs) ? ["graphs"] : []),
    ...(isFilled(snapshots) ? ["snapshots"] : []),
    ...(series === true ? ["the series"] : []),
    ...(isFilled(story) ? ["the story"] : []),
    ...(more.length > 0 ? [`of the kernels: ${more.join(", ")}`] : []),
  ];
  const {
    partition: _,
    dims: __,
    convention: ___,
    dtype: ____,
    ...known
  } = { ...linkedValues(traits), ...linkedValues({ what_if }) };
  const values = stateOf([...records, ...ids], kernels, known, stock);
  return { values, notTaken };
}
