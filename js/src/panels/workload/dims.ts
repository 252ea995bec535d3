// A dimension on its slider: where its values stand, what keys and typed texts make of them; and an op's counts.

import { compile, formula, withNumbers } from "../../fusion/expressions.ts";
import { type Dim, type Environment, type Graph, type GraphValues, lookup } from "../../fusion/graph.ts";
import { groupBytes } from "../../fusion/partition.ts";
import { formatIntensity, formatQuantity } from "../../text/numbers.ts";
import type { WireExpression } from "../../wire/types.ts";
import { numerals, strings, workloadWords } from "../../words/words.ts";

/** A range that is wider than this is shown by its octaves. */
const WIDEST = 32;
/** A dragged value this near to a round one takes it: a share of the track, and on a log track octaves. */
const SNAP = 0.012;
const SNAP_OCTAVES = 0.1;
/** The parts into which an arrow key and PageUp divide the track, and on a log track an octave. */
const PARTS = { arrow: [64, 32], page: [8, 1] } as const;

export const isLog = ({ low, high }: Dim) => high / low > WIDEST;

/** Where a value stands on the track: octaves on a log track. */
export function positionOf(dim: Dim, value: number): number {
  const inside = clamp(dim, value);
  return isLog(dim) ? Math.log2(inside) : inside;
}

/** The share of the track that lies left of a value. */
export function shareOf(dim: Dim, value: number): number {
  const low = positionOf(dim, dim.low);
  const length = positionOf(dim, dim.high) - low;
  return length > 0 ? (positionOf(dim, value) - low) / length : 0;
}

/** The whole number at a place of the track; `snapped`: the default or, on a log track, a power of two that is near. */
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
  return snapped && found !== undefined ? found : clamp(dim, Math.round(log ? 2 ** position : position));
}

/** The next value up or down: a multiple of a power of two, so that walking up and down meets the same values. */
function stepped(dim: Dim, value: number, up: boolean, parts: readonly [linear: number, log: number]): number {
  const size = isLog(dim) ? (up ? value : value - 1) / parts[1] : (dim.high - dim.low) / parts[0];
  const step = size >= 1 ? 2 ** Math.floor(Math.log2(size)) : 1;
  return clamp(dim, up ? (Math.floor(value / step) + 1) * step : (Math.ceil(value / step) - 1) * step);
}

/** What a key makes of a value; undefined for keys that mean nothing to a slider. */
export function keyed(dim: Dim, value: number, key: string): number | undefined {
  if (key === "ArrowRight" || key === "ArrowUp") return stepped(dim, value, true, PARTS.arrow);
  if (key === "ArrowLeft" || key === "ArrowDown") return stepped(dim, value, false, PARTS.arrow);
  if (key === "PageUp" || key === "PageDown") return stepped(dim, value, key === "PageUp", PARTS.page);
  return key === "Home" ? dim.low : key === "End" ? dim.high : undefined;
}

const clamp = ({ low, high }: Dim, value: number) => Math.max(low, Math.min(high, value));

const SIZE = /^([×x*])?\s*(\d{1,3}(?:[, _]\d{3})+|\d+(?:\.\d+)?|\.\d+)\s*(?:([kKMG])(i)?)?$/;

/** What a person typed: a whole number of the range, with a prefix if it likes, or "×2" of `current`; else a sentence. */
export function parseSize(text: string, dim: Dim, current: number): number | string {
  const [, times, digits = "", prefix = "", binary] = SIZE.exec(numerals.readWhole(text.trim())) ?? [];
  if (digits === "") return strings.noNumber(text.trim(), String(dim.default));
  const thousands = prefix === "" ? 0 : " KMG".indexOf(prefix.toUpperCase());
  const number = Number(digits.replace(/[, _]/g, "")) * (binary ? 1024 : 1000) ** thousands;
  const value = Math.round(times ? number * current : number);
  // A decimal fraction times its prefix may miss the whole number by a rounding.
  if (!times && Math.abs(number - value) > 1e-9 * number) return workloadWords.notWhole(text.trim(), dim.default);
  return value >= dim.low && value <= dim.high ? value : workloadWords.outside(dim.name, dim.low, dim.high);
}

/** What an op counts to by its convention as a kernel of its own: FLOPs and bytes, and their ratio unless both are 0. */
export function figuresOf(graph: Graph, values: GraphValues, op: number): readonly [counts: string, intensity: string] {
  const flops = values.own(op);
  const bytes = groupBytes(graph, values, [op]);
  const counts = `${formatQuantity(flops, "FLOP")} · ${formatQuantity(bytes, "B")}`;
  return [counts, flops === 0 && bytes === 0 ? "" : formatIntensity(flops / bytes)];
}

/** One count of an op: what it is, with names, with their numbers where that says more, and its amount. */
export interface CountLine {
  readonly name: string;
  readonly formula: string;
  readonly numbers: string;
  readonly amount: string;
}

/** The FLOPs of an op by class, its bytes, and then the terms that its FLOPs come from. */
export function derivation(graph: Graph, env: Environment, op: number): { counts: CountLine[]; terms: CountLine[] } {
  const names = lookup(graph, env);
  const line = (name: string, wire: WireExpression, unit: "FLOP" | "B"): CountLine => {
    const [symbols, numbers] = [formula(wire, names), withNumbers(wire, names)];
    const amount = formatQuantity(compile(wire, graph.symbols)(env.values), unit);
    return { name, formula: symbols, numbers: numbers === symbols ? "" : numbers, amount };
  };
  const { flops = {}, extra = 0, terms = [] } = graph.ops[op] ?? {};
  const classes = Object.entries(flops);
  // A single term is the whole count: its name goes there.
  const only = classes.length === 1 && terms.length === 1 ? terms[0]?.[0] : undefined;
  const bytes = (graph.touches[op] ?? []).map((tensor) => graph.tensors[tensor]?.bytes ?? 0);
  return {
    counts: [
      ...classes.map(([word, wire]) =>
        line(workloadWords.flops(classes.length > 1 ? word : (only ?? "")), wire, "FLOP"),
      ),
      line(workloadWords.bytes, ["+", 0, ...bytes, extra], "B"),
    ],
    terms: (only === undefined ? terms : []).map(([name, wire]) => line(name, wire, "FLOP")),
  };
}
