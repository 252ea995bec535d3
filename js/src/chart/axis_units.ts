// The units of the axes and of the numbers along the roofs: per second or per cycle, in bytes or machine words.

import type { Operation } from "../roofline/operations.ts";
import type { Axes } from "../state/traits.ts";
import { formatBinary, formatIntensity, formatQuantity, formatSignificant, formatTick } from "../text/numbers.ts";
import type { Terms } from "../wire/types.ts";
import { axisWords as words } from "../words/words.ts";
import type { Scale } from "./scales.ts";
import { type Counting, PLAIN, type Tick, ticksOf } from "./ticks.ts";

/** Formats the quantities of the roofline plane in the chosen units, and names them. */
export interface Units {
  readonly terms: Terms;
  /** Whether ridge points have numbers. An open question can hide them. */
  readonly hasRidges: boolean;
  readonly x: Counting;
  readonly y: Counting;
  /** The counting of bandwidths: in bytes or in machine words, per second or per cycle. */
  readonly moved: Counting;
  readonly tickBase: 10 | 2;
  readonly xTitle: string;
  readonly xShort: string;
  /** The units of the vertical axis, one on each line of its title. */
  readonly yTitle: readonly string[];
  readonly movedTitle: string;
  /** The unit of operations. "OP" if some operations on the chart are of integers: a FLOP is an operation too. */
  readonly operation: Operation;
  /** Formats an intensity (or a balance) with its unit. `intensityAlone` omits the unit. */
  intensity(base: number, digits?: number, operation?: Operation): string;
  intensityAlone(base: number, digits?: number): string;
  rate(base: number, digits?: number, operation?: Operation): string;
  bandwidth(base: number, digits?: number): string;
  time(seconds: number, digits?: number): string;
}

type AxisChoices = Omit<Axes, "timeScale" | "frame">;
const ORDER: readonly Operation[] = ["FLOP", "OP"];

/** Returns the unit of the horizontal axis, such as "FLOP/B" or "B/OP". */
export const xUnitIn = (isBalance: boolean, moved: string, of: Operation) =>
  isBalance ? `${moved}/${of}` : `${of}/${moved}`;

/**
 * Builds the units. `clock` is the clock rate of the chip, Hz. If `clock` is null, rates stay per second. `operations`
 * are the units of the operations on the chart: the axes name all of them.
 */
export function unitsOf(
  { rateUnit, word, xAxis, tickBase }: AxisChoices,
  clock: number | null = null,
  terms: Terms = {},
  operations: ReadonlySet<Operation> = new Set(["FLOP"]),
): Units {
  const hertz = (rateUnit === "FLOP/cycle" && clock) || 1;
  const per = hertz === 1 ? "s" : words.cycle;
  const bytes = word || 1;
  const moved = word ? words.word : "B";
  const isBalance = xAxis === "balance";
  const operation = operations.has("OP") ? "OP" : "FLOP";
  const xUnitOf = (of: Operation) => xUnitIn(isBalance, moved, of);
  const named = ORDER.filter((of) => operations.has(of) || (of === "FLOP" && operations.size === 0));
  const xUnit = named.map(xUnitOf).join(" · ");
  const reciprocal = (value: number) => 1 / (value * bytes);
  const x: Counting = isBalance
    ? { fromBase: reciprocal, toBase: reciprocal }
    : { fromBase: (ai) => ai * bytes, toBase: (ai) => ai / bytes };
  const quantity = (value: number, unit: `${string}/${string}`, digits?: number) =>
    hertz === 1 ? formatQuantity(value, unit, digits) : formatIntensity(value, digits, unit);
  return {
    terms,
    hasRidges: true,
    x: word || isBalance ? x : PLAIN,
    y: counting(hertz),
    moved: counting(hertz * bytes),
    tickBase,
    xTitle: (isBalance ? words.balance : words.intensity)(xUnit, word, terms),
    xShort: (isBalance ? words.balance : words.intensityShort)(xUnit, word, terms),
    yTitle: named.map((of) => `${of}/${per}`),
    movedTitle: `${moved}/${per}`,
    operation,
    intensity: (ai, digits, of = operation) => formatIntensity(x.fromBase(ai), digits, xUnitOf(of)),
    intensityAlone: (ai, digits) => formatSignificant(x.fromBase(ai), digits),
    rate: (rate, digits, of = operation) => quantity(rate / hertz, `${of}/${per}`, digits),
    bandwidth: (rate, digits) => quantity(rate / hertz / bytes, `${moved}/${per}`, digits),
    time: (seconds, digits) => formatQuantity(seconds, "s", digits),
  };
}

const counting = (one: number): Counting =>
  one === 1 ? PLAIN : { fromBase: (base) => base / one, toBase: (counted) => counted * one };

/** Returns the ticks of an axis with their texts. Neighbouring ticks are at least `room` px apart. */
export function namedTicks(scale: Scale, room: number, base: 10 | 2, counting: Counting): (Tick & { text: string })[] {
  return ticksOf(scale, room, base, counting).map((tick) => ({ ...tick, text: textOf(tick.shown, base) }));
}

/**
 * Returns the text of a tick. Large powers of two have binary prefixes such as Ki, because the prefix k always means
 * 1000. Powers of two below one are fractions such as 1/4.
 */
function textOf(shown: number, base: 10 | 2): string {
  if (base === 10) return formatTick(shown);
  if (shown < 1 && Number.isInteger(1 / shown)) return `1/${formatBinary(1 / shown)}`;
  return shown < 1 ? formatTick(shown) : formatBinary(shown);
}
