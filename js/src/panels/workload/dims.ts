// The slider of a dimension: its position and value, its keys, and the sizes that the user types. This file also
// computes the counts of an op.

import { clamp } from "../../chart/scales.ts";
import { compile, formula, withNumbers } from "../../fusion/expressions.ts";
import { type Dim, type Environment, type Graph, type GraphValues, lookup } from "../../fusion/graph.ts";
import { groupBytes, precisionOf } from "../../fusion/partition.ts";
import { type Operation, operationIn } from "../../roofline/operations.ts";
import { formatIntensity, formatQuantity } from "../../text/numbers.ts";
import { KEY_STEPS } from "../../ui/slider.tsx";
import type { WireExpression } from "../../wire/types.ts";
import { numerals, strings, tableWords, workloadWords } from "../../words/words.ts";

/** If the largest size of a dimension is more than this many times the smallest size, the slider has a log scale. */
const WIDEST = 32;
/** A drag snaps to a round value if the round value is nearer than this share of the track. */
const SNAP = 0.012;
/** On a log scale, a drag snaps to a round value only if the round value is also nearer than this number of octaves. */
const SNAP_OCTAVES = 0.1;
/**
 * Numbers of key presses for an arrow key and for a page key. The first number is for a linear scale: the presses that
 * cross the track. The second number is for a log scale: the presses that cross an octave.
 */
const PARTS = { arrow: [64, 32], page: [8, 1] } as const;

export const isLog = ({ low, high }: Dim) => high / low > WIDEST;

/** Returns the position of a value on the track. On a log scale, the position is in octaves. */
export function positionOf(dim: Dim, value: number): number {
  const inside = within(dim, value);
  return isLog(dim) ? Math.log2(inside) : inside;
}

/** Returns the position of a value as a share of the track. */
export function shareOf(dim: Dim, value: number): number {
  const low = positionOf(dim, dim.low);
  const length = positionOf(dim, dim.high) - low;
  return length > 0 ? (positionOf(dim, value) - low) / length : 0;
}

/**
 * Returns the whole number at a position. With `snapped`, returns the default if the default is near. Otherwise, on a
 * log scale, returns the nearest power of two if this power is near.
 */
export function valueAt(dim: Dim, position: number, snapped: boolean): number {
  const [low, high] = [positionOf(dim, dim.low), positionOf(dim, dim.high)];
  if (position <= low) return dim.low;
  if (position >= high) return dim.high;
  const log = isLog(dim);
  const near = log ? Math.min(SNAP * (high - low), SNAP_OCTAVES) : SNAP * (high - low);
  const round = log ? [dim.default, 2 ** Math.round(position)] : [dim.default];
  const found = round.find((value) => {
    return value >= dim.low && value <= dim.high && Math.abs(positionOf(dim, value) - position) < near;
  });
  return snapped && found !== undefined ? found : within(dim, Math.round(log ? 2 ** position : position));
}

/**
 * Returns the next value up or down. The next value is a multiple of the step, and the step is a power of two.
 * Therefore key presses up and key presses down visit the same values.
 */
function stepped(dim: Dim, value: number, up: boolean, parts: readonly [linear: number, log: number]): number {
  const size = isLog(dim) ? (up ? value : value - 1) / parts[1] : (dim.high - dim.low) / parts[0];
  const step = size >= 1 ? 2 ** Math.floor(Math.log2(size)) : 1;
  return within(dim, up ? (Math.floor(value / step) + 1) * step : (Math.ceil(value / step) - 1) * step);
}

/** Returns the value after a key press. Returns undefined for keys that do not change the value. */
export function keyed(dim: Dim, value: number, key: string): number | undefined {
  const step = KEY_STEPS[key];
  if (step !== undefined) return stepped(dim, value, step > 0, PARTS[key.startsWith("Page") ? "page" : "arrow"]);
  return key === "Home" ? dim.low : key === "End" ? dim.high : undefined;
}

const within = ({ low, high }: Dim, value: number) => clamp(value, low, high);

const SIZE = /^([×x*])?\s*(\d{1,3}(?:[, _]\d{3})+|\d+(?:\.\d+)?|\.\d+)\s*(?:([kKMG])(i)?)?$/;

/**
 * Reads a size that the user typed. The text is a whole number within the range, with or without an SI prefix. It may
 * also be a multiple of `current` such as "×2". Returns an error sentence if it cannot read the text.
 */
export function parseSize(text: string, dim: Dim, current: number): number | string {
  const [, times, digits = "", prefix = "", binary] = SIZE.exec(numerals.readWhole(text.trim())) ?? [];
  if (digits === "") return strings.noNumber(text.trim(), String(dim.default));
  const thousands = prefix === "" ? 0 : " KMG".indexOf(prefix.toUpperCase());
  const number = Number(digits.replace(/[, _]/g, "")) * (binary ? 1024 : 1000) ** thousands;
  const value = Math.round(times ? number * current : number);
  // A rounding error may make the product of a decimal fraction and its prefix differ slightly from a whole number.
  if (!times && Math.abs(number - value) > 1e-9 * number) return workloadWords.notWhole(text.trim(), dim.default);
  return value >= dim.low && value <= dim.high ? value : workloadWords.outside(dim.name, dim.low, dim.high);
}

/** Returns the unit of the operations of an op. */
export const operationAt = (graph: Graph, values: GraphValues, op: number): Operation =>
  operationIn(precisionOf(graph, values, [op]) ?? "");

/**
 * Returns two texts. The first text has the FLOPs and bytes of an op that runs as a separate kernel. The second text
 * has the intensity of the op. It is empty if the FLOPs and the bytes are 0. The FLOPs are counted by the graph's
 * counting convention.
 */
export function figuresOf(graph: Graph, values: GraphValues, op: number): readonly [counts: string, intensity: string] {
  const flops = values.own(op);
  const bytes = groupBytes(graph, values, [op]);
  const unit = operationAt(graph, values, op);
  const counts = `${formatQuantity(flops, unit)} · ${formatQuantity(bytes, "B")}`;
  return [counts, flops === 0 && bytes === 0 ? "" : formatIntensity(flops / bytes, 3, `${unit}/B`)];
}

/**
 * One count of an op: the label, the formula with names, the formula with numbers, and the amount. The formula with
 * numbers is missing if it equals the formula with names.
 */
export interface CountLine {
  readonly name: string;
  readonly formula: string;
  readonly numbers: string;
  readonly amount: string;
}

/**
 * Returns the counts and the terms of an op. The counts are the FLOPs of each class, then the bytes. The terms are the
 * parts of the FLOPs. If a single term would repeat a count, there are no terms.
 */
export function derivation(
  graph: Graph,
  env: Environment,
  op: number,
  operation: Operation = "FLOP",
): { counts: CountLine[]; terms: CountLine[] } {
  const names = lookup(graph, env);
  const line = (name: string, wire: WireExpression, unit: Operation | "B"): CountLine => {
    const [symbols, numbers] = [formula(wire, names), withNumbers(wire, names)];
    const amount = formatQuantity(compile(wire, graph.symbols)(env.values), unit);
    return { name, formula: symbols, numbers: numbers === symbols ? "" : numbers, amount };
  };
  const { flops = {}, extra = 0, terms = [] } = graph.ops[op] ?? {};
  const classes = Object.entries(flops);
  const work = operation === "OP" ? tableWords.operations : strings.work.FLOP;
  // If there is only one term, the label of the count is the name of this term.
  const only = classes.length === 1 && terms.length === 1 ? terms[0]?.[0] : undefined;
  const bytes = (graph.touches[op] ?? []).map((tensor) => graph.tensors[tensor]?.bytes ?? 0);
  return {
    counts: [
      ...classes.map(([word, wire]) =>
        line(workloadWords.flops(classes.length > 1 ? word : (only ?? ""), work), wire, operation),
      ),
      line(workloadWords.bytes, ["+", 0, ...bytes, extra], "B"),
    ],
    terms: (only === undefined ? terms : []).map(([name, wire]) => line(name, wire, operation)),
  };
}
