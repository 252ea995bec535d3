// The ticks of an axis: powers of ten or of two. If few powers are in sight, there are also ticks at multiples of the
// powers.

import type { Scale } from "./scales.ts";

/** A tick. `value` is in base units, `shown` is the number on the axis. */
export interface Tick {
  readonly value: number;
  readonly shown: number;
}

/**
 * How an axis converts its values. `fromBase` converts from base units, and `toBase` converts to base units. For a
 * reciprocal axis such as the balance (B/FLOP), both functions are decreasing.
 */
export interface Counting {
  readonly fromBase: (base: number) => number;
  readonly toBase: (counted: number) => number;
}

export const PLAIN: Counting = { fromBase: (base) => base, toBase: (counted) => counted };

/** An axis with fewer ticks than this also gets ticks at multiples of the powers. */
const MIN_TICKS = 3;
/** Multiples of a power, from coarse to fine. */
const MULTIPLES = {
  10: [[1], [1, 2, 5], steps(1, 10, 1), steps(1, 10, 0.5), steps(1, 10, 0.2)],
  2: [[1], [1, 1.5], [1, 1.25, 1.5, 1.75]],
};

/** The ticks of a linear axis, at multiples of 1, 2 or 5 times a power of ten. */
function evenTicks(scale: Scale, room: number): Tick[] {
  const [low, high] = scale.domain;
  const least = room / Math.abs(scale(1) - scale(0));
  const power = Number(`1e${Math.floor(Math.log10(least))}`);
  const step = [1, 2, 5].map((by) => tidy(by * power)).find((wide) => wide >= least * (1 - 1e-9)) ?? tidy(10 * power);
  const [first, last] = [Math.ceil(low / step - 1e-9), Math.floor(high / step + 1e-9)];
  return Array.from({ length: last - first + 1 }, (_, k) => tidy((first + k) * step)).map((value) => ({
    value,
    shown: value,
  }));
}

/** Returns the lowest and the highest number of an axis, as its ticks count. */
export function endsOf({ domain }: Scale, { fromBase }: Counting): [low: number, high: number] {
  const ends = domain.map(fromBase);
  return [Math.min(...ends), Math.max(...ends)];
}

/**
 * Returns ticks that are at least `room` px apart. On a logarithmic axis the ticks are powers of `base`. If there are
 * fewer than MIN_TICKS such ticks, multiples of the powers are added.
 */
export function ticksOf(scale: Scale, room: number, base: 10 | 2 = 10, counting: Counting = PLAIN): Tick[] {
  if (scale.isLinear) return evenTicks(scale, room);
  const [low, high] = endsOf(scale, counting);
  const at = (shown: number) => scale(counting.toBase(shown));
  const put = (values: readonly number[]) =>
    values.filter((shown) => shown >= low * (1 - 1e-9) && shown <= high * (1 + 1e-9));
  // Products with powers of two are exact. These products need no rounding.
  const multiple = (by: number, exponent: number) =>
    base === 2 ? by * 2 ** exponent : tidy(by * Number(`1e${exponent}`));
  const log = base === 2 ? Math.log2 : Math.log10;
  const [first, last] = [Math.floor(log(low)), Math.ceil(log(high))];
  const exponents = Array.from({ length: last - first + 1 }, (_, k) => first + k);
  const pixels = Math.abs(at(base) - at(1));
  const needed = Math.max(1, Math.ceil(room / pixels - 1e-9));
  const step = base === 2 ? ([1, 2, 5, 10, 20, 50, 100].find((wide) => wide >= needed) ?? needed) : needed;
  let best: number[] = [];
  for (const multiples of MULTIPLES[base]) {
    if (multiples.length > 1 && step > 1) break;
    const some = put(
      exponents
        .filter((exponent) => exponent % step === 0)
        .flatMap((exponent) => multiples.map((by) => multiple(by, exponent))),
    );
    const places = some.map(at).sort((a, b) => a - b);
    if (multiples.length > 1 && places.some((place, index) => place - (places[index - 1] ?? -1e9) < room)) continue;
    if (some.length > best.length) best = some;
    if (best.length >= MIN_TICKS) break;
  }
  return best.map((shown) => ({ shown, value: counting.toBase(shown) }));
}

/** Rounds away the error of floating-point arithmetic. */
function tidy(value: number): number {
  return Number(value.toPrecision(12));
}

function steps(from: number, to: number, by: number): number[] {
  return Array.from({ length: Math.round((to - from) / by) }, (_, k) => tidy(from + k * by));
}
