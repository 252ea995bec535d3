// What a link, a session or a page may hold. What comes from elsewhere is checked before the widget sees it.

import { TRAIT_NAMES, TRAITS, wireName } from "../state/traits.ts";
import { MAX_RATE, MIN_RATE } from "../text/numbers.ts";
import { lookUp } from "../ui/keys.ts";
import type { WireGraph } from "../wire/types.ts";
import type { Values } from "./local_model.ts";
import { isObject } from "./records.ts";

const MAX_LETTERS = 10_000;
const MAX_ITEMS = 10_000;
const MAX_OPS = 5000;
const MAX_DEPTH = 40;

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === "string" && value.length <= MAX_LETTERS;
const isFlag: Check = (value) => typeof value === "boolean";
const isNumber: Check = (value) => typeof value === "number" && Number.isFinite(value);
const isWhole: Check = (value) => Number.isInteger(value) && (value as number) >= 0;
const isAbove0: Check = (value) => isNumber(value) && (value as number) > 0;
const within =
  (low: number, high: number): Check =>
  (value) =>
    isNumber(value) && (value as number) >= low && (value as number) <= high;
const isShare = within(0, 1);
const isShareBelow1: Check = (value) => isShare(value) && value !== 1;
const oneOf =
  (...values: readonly unknown[]): Check =>
  (value) =>
    values.includes(value);
const orNull =
  (check: Check): Check =>
  (value) =>
    value === null || check(value);
const listOf =
  (check: Check, least = 0): Check =>
  (value) =>
    Array.isArray(value) && value.length >= least && value.length <= MAX_ITEMS && value.every(check);
const mapOf =
  (check: Check, keys?: readonly string[]): Check =>
  (value) =>
    isObject(value) && Object.entries(value).every(([key, one]) => (keys?.includes(key) ?? isText(key)) && check(one));

/** The figures of what-ifs, as Python limits them. */
const WHAT_IF: Readonly<Record<string, Check>> = {
  peak_flops: mapOf(within(MIN_RATE, MAX_RATE)),
  bandwidth: mapOf(within(MIN_RATE, MAX_RATE)),
  latency: mapOf(within(1e-15, 1e6)),
};
const isWhatIf: Check = (value) =>
  isObject(value) && Object.entries(value).every(([quantity, rates]) => lookUp(WHAT_IF, quantity)?.(rates));
/** The limits of axes: no chart draws more than sixty decades. */
const isZoom: Check = (value) => {
  if (!listOf(within(1e-30, 1e30), 4)(value)) return false;
  const [left, right, bottom, top, ...more] = value as readonly number[];
  return more.length === 0 && Number(left) < Number(right) && Number(bottom) < Number(top);
};
const isMoves: Check = (value) =>
  mapOf(mapOf(isAbove0, ["bytes", "time"]))(value) &&
  Object.keys(value as object).every((row) => /^(?:0|[1-9][0-9]{0,8})$/.test(row));

/** The traits that a link holds, by their names on the wire, each with the values that it may have. */
const LINKED: Readonly<Record<string, Check>> = {
  title: isText,
  dims: mapOf(isWhole),
  convention: isText,
  dtype: orNull(isText),
  partition: orNull(listOf(listOf(isWhole, 1))),
  shown: listOf(isText),
  focus_chip: isText,
  precision: isText,
  memory: isText,
  link: isText,
  what_if: mapOf(isWhatIf),
  exposed_roofs: listOf(isShareBelow1),
  ceilings: orNull(listOf(isText)),
  all_levels: isFlag,
  launch_overhead: (value) => isNumber(value) && (value as number) >= 0,
  exposed_comm: isShareBelow1,
  moves: isMoves,
  search: isText,
  categories: orNull(listOf(isText)),
  bounds: orNull(listOf(isText)),
  precisions: orNull(listOf(isText)),
  time_share: (value) => isShare(value) && value !== 0,
  top: orNull((value) => isWhole(value) && value !== 0),
  scope: oneOf("kernels", "program"),
  sort_by: isText,
  columns: orNull(listOf(isText)),
  colour_by: isText,
  view: oneOf("roofline", "time", "network", "instructions"),
  topology: oneOf("ring", "switch", "in-network"),
  time_scale: oneOf("log", "linear"),
  zoom: orNull(isZoom),
  rate_unit: oneOf("FLOP/s", "FLOP/cycle"),
  word: oneOf(0, 2, 4, 8),
  x_axis: oneOf("intensity", "balance"),
  tick_base: oneOf(10, 2),
  frame: oneOf("points", "chip"),
  rulers: isFlag,
};

/** Returns those of the values that a link holds, without those of another form. */
export const linkedValues = (given: unknown): Values =>
  isObject(given)
    ? Object.fromEntries(Object.entries(given).filter(([name, value]) => lookUp(LINKED, name)?.(value)))
    : {};

const isIndex =
  (count: number): Check =>
  (value) =>
    isWhole(value) && (value as number) < count;

/** Whether a value is a count: a number, a text, or a sign followed by counts. */
function isExpression(value: unknown, depth = 0): boolean {
  if (!Array.isArray(value)) return isNumber(value) || isText(value);
  const [sign, ...parts] = value;
  const isSign = oneOf("+", "*", "/", "min", "max", "touched")(sign);
  return (
    isSign && depth < MAX_DEPTH && parts.length <= MAX_ITEMS && parts.every((part) => isExpression(part, depth + 1))
  );
}
const isCount: Check = (value) => isExpression(value);
const isCondition: Check = (value) =>
  Array.isArray(value) && value.length === 3 && isText(value[0]) && isCount(value[1]) && isCount(value[2]);
const isDim: Check = (value) =>
  Array.isArray(value) && value.length === 4 && isText(value[0]) && value.slice(1).every(isNumber);
const isTerm: Check = (value) => Array.isArray(value) && value.length === 2 && isText(value[0]) && isCount(value[1]);
const isTensor: Check = (value) =>
  isObject(value) &&
  isText(value["name"]) &&
  isText(value["dtype"]) &&
  listOf(isCount)(value["shape"]) &&
  isCount(value["bytes"]);

/** Whether a value is a graph as Python sends it: ops in an order in which each reads what others wrote before. */
export function isGraph(value: unknown): value is WireGraph {
  if (!isObject(value) || !isText(value["name"]) || !isText(value["convention"])) return false;
  const { ops, tensors, dims, conditions, outputs, dtypes, conventions } = value;
  if (!listOf(isTensor)(tensors) || !Array.isArray(ops) || ops.length === 0 || ops.length > MAX_OPS) return false;
  const isPlace = isIndex((tensors as readonly unknown[]).length);
  const written = new Set<unknown>();
  const everWritten = new Set<unknown>(
    ops.flatMap((op) => (isObject(op) && Array.isArray(op["outputs"]) ? op["outputs"] : [])),
  );
  for (const op of ops) {
    if (!isOp(op, isPlace)) return false;
    // What no op writes is an input of the graph.
    if ((op["inputs"] as readonly unknown[]).some((tensor) => everWritten.has(tensor) && !written.has(tensor)))
      return false;
    for (const tensor of op["outputs"] as readonly unknown[]) {
      if (written.has(tensor)) return false;
      written.add(tensor);
    }
  }
  return (
    [listOf(isDim)(dims), listOf(isCondition)(conditions ?? []), listOf(isPlace, 1)(outputs)].every(Boolean) &&
    mapOf(isNumber)(dtypes) &&
    mapOf(mapOf(isNumber))(conventions)
  );
}

function isOp(op: unknown, isPlace: Check): op is Readonly<Record<string, unknown>> {
  if (!isObject(op)) return false;
  const kinds = ["elementwise", "broadcast", "injective", "reduction", "scan", "matmul", "opaque"];
  return (
    isText(op["name"]) &&
    kinds.includes(op["kind"] as string) &&
    listOf(isPlace)(op["inputs"]) &&
    listOf(isPlace, 1)(op["outputs"]) &&
    mapOf(isCount)(op["flops"]) &&
    isCount(op["extra"]) &&
    listOf(isTerm)(op["terms"] ?? []) &&
    listOf(isWhole)(op["axes"] ?? []) &&
    orNull(isText)(op["index"] ?? null) &&
    orNull(isText)(op["precision"] ?? null)
  );
}

/** Whether a value is the graphs of a model: pairs of a phase and a graph. */
export const areGraphs = (value: unknown): value is readonly (readonly [phase: string, graph: WireGraph])[] =>
  listOf((one) => Array.isArray(one) && one.length === 2 && isText(one[0]) && isGraph(one[1]))(value);

/** Returns the values of traits of a saved page. Throws an error if the widget could not read them. */
export function checkedState(given: unknown): Values {
  if (!isObject(given)) throw new Error("it has no state");
  const names = TRAIT_NAMES.map((name) => [name, wireName(name)] as const).filter(([, wire]) =>
    Object.hasOwn(given, wire),
  );
  for (const [name, wire] of names) TRAITS[name].decode(given[wire]);
  if (!areGraphs(given["graphs"] ?? [])) throw new Error("a graph has another form");
  for (const name of ["kernels", "chips", "shown"]) if (!(name in given)) throw new Error(`it has no ${name}`);
  return Object.fromEntries(names.map(([, wire]) => [wire, given[wire]]));
}
