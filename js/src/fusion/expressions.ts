// Counts as expressions over named integers. The page evaluates the expressions at every step of a slider, and prints
// them as formulas.

import type { Sign, WireExpression } from "../wire/types.ts";

export type Compiled = (env: Float64Array) => number;
/** Returns the value of a symbol; undefined if unknown. */
export type Lookup = (symbol: string) => number | undefined;

const DIGITS = /^-?\d+$/;

/** Compiles an expression to a function of the symbols' values; `index` gives each symbol's position. */
export function compile(wire: WireExpression, index: ReadonlyMap<string, number>): Compiled {
  if (typeof wire === "number" || (typeof wire === "string" && DIGITS.test(wire))) {
    const number = Number(wire);
    return () => number;
  }
  if (typeof wire === "string") {
    const at = index.get(wire);
    if (at === undefined) throw new Error(`no value for '${wire}'`);
    return (env) => env[at] as number;
  }
  const [sign, ...rest] = wire;
  const [first, ...others] = rest.map((part) => compile(part, index)) as [Compiled, ...Compiled[]];
  if (sign === "touched") {
    const [total, picked, times] = others as [Compiled, Compiled, Compiled];
    return (env) => touched(first(env), total(env), picked(env), times(env));
  }
  const join = JOIN[sign];
  return (env) => {
    let value = first(env);
    for (const other of others) value = join(value, other(env));
    return value;
  };
}

const JOIN: Readonly<Record<Exclude<Sign, "touched">, (a: number, b: number) => number>> = {
  "+": (a, b) => a + b,
  "*": (a, b) => a * b,
  // If two integers are at most 2^53 and their quotient is not whole, the quotient is not rounded to a whole number.
  // Therefore `ceil` returns the exact result.
  "/": (a, b) => Math.ceil(a / b),
  min: Math.min,
  max: Math.max,
};

/**
 * Returns the average number of items that are picked at least once, times `factor`, rounded to a whole number. There
 * are `total` items and `times` draws. Each draw picks `picked` different items. The power is computed by repeated
 * squaring, as in Python, because the digits of `Math.pow` differ between engines.
 */
function touched(factor: number, total: number, picked: number, times: number): number {
  let [missed, power] = [1, (total - picked) / total];
  for (let left = times; left > 0; left = Math.floor(left / 2)) {
    if (left % 2 === 1) missed *= power;
    power *= power;
  }
  return Math.floor(factor * total * (1 - missed) + 0.5);
}

/**
 * Returns the formula as text, such as `2·M·N·K`. `lookup` gives values for the symbols that start with "@" (dtypes and
 * the counting convention). Other symbols stay as names.
 */
export const formula = (wire: WireExpression, lookup: Lookup = () => undefined): string =>
  print(
    polynomial(wire, (symbol) => (symbol.startsWith("@") ? lookup(symbol) : undefined)),
    (name) => name,
  );

/** Returns the formula with all symbols replaced by numbers, such as `2·4096·4096·512`. */
export const withNumbers = (wire: WireExpression, lookup: Lookup): string =>
  print(
    polynomial(wire, (symbol) => (symbol.startsWith("@") ? lookup(symbol) : undefined), lookup),
    (name) => String(lookup(name) ?? name),
  );

/**
 * A sum in which like terms are merged. A term is the product of a number and some factors. A factor is a symbol, a
 * division, a minimum or a maximum.
 */
type Polynomial = ReadonlyMap<string, Term>;
interface Term {
  readonly number: bigint;
  readonly factors: readonly Factor[];
}

interface Factor {
  /**
   * Equal factors have the same key. The order of the parts of a sum, product, minimum or maximum does not matter. For
   * example, min(a, b) and min(b, a) have the same key.
   */
  readonly key: string;
  readonly text: string;
  /** The parts of a minimum or maximum. */
  readonly extreme?: { readonly sign: Sign; readonly parts: readonly Polynomial[] };
}

const term = (number: bigint, ...factors: Factor[]) => sum([{ number, factors }]);
const constant = (a: Polynomial) => (a.size === 0 ? 0n : a.size === 1 ? a.get("")?.number : undefined);
const sorted = (keys: readonly string[], apart: string) => [...keys].sort().join(apart);
const keyOf = (factors: readonly Factor[]) =>
  sorted(
    factors.map(({ key }) => key),
    "·",
  );
const keyOfSum = (a: Polynomial) =>
  sorted(
    [...a].map(([key, { number }]) => `${number}·${key}`),
    "+",
  );

/**
 * Adds terms one by one. Like Python, drops a term as soon as its number becomes 0. If a later term has the same
 * factors, that term is added at the end of the sum.
 */
function sum(terms: Iterable<Term>): Polynomial {
  const merged = new Map<string, Term>();
  for (const { number, factors } of terms) {
    const key = keyOf(factors);
    const total = number + (merged.get(key)?.number ?? 0n);
    if (total === 0n) merged.delete(key);
    else merged.set(key, { number: total, factors: merged.get(key)?.factors ?? factors });
  }
  return merged;
}

/** Multiplies two sums. Like Python, first adds all terms and then drops the terms whose number is 0. */
function times(a: Polynomial, b: Polynomial): Polynomial {
  const merged = new Map<string, Term>();
  for (const one of a.values()) {
    for (const other of b.values()) {
      const factors = [...one.factors, ...other.factors];
      const key = keyOf(factors);
      const before = merged.get(key);
      const number = one.number * other.number + (before?.number ?? 0n);
      merged.set(key, { number, factors: before?.factors ?? factors });
    }
  }
  return new Map([...merged].filter(([, { number }]) => number !== 0n));
}

function polynomial(wire: WireExpression, known: Lookup, shown: Lookup = () => undefined): Polynomial {
  if (typeof wire === "number") return term(BigInt(wire));
  if (typeof wire === "string") {
    if (DIGITS.test(wire)) return term(BigInt(wire));
    const value = known(wire);
    return Number.isInteger(value) ? term(BigInt(value as number)) : term(1n, { key: wire, text: wire });
  }
  const [sign, ...rest] = wire;
  const parts = rest.map((part) => polynomial(part, known, shown)) as [Polynomial, ...Polynomial[]];
  if (sign === "+") return sum(parts.flatMap((part) => [...part.values()]));
  if (sign === "*") return parts.reduce(times);
  const text = (part: Polynomial) => print(part, (name) => String(shown(name) ?? name));
  if (sign === "touched") return touchedTerm(parts, text);
  return sign === "/" ? divide(parts[0], parts[1] as Polynomial, text) : extreme(sign, parts, text);
}

/** Returns the value of `touched` if all parts are numbers. Otherwise, returns a term with the formula. */
function touchedTerm(parts: readonly Polynomial[], text: (part: Polynomial) => string): Polynomial {
  const numbers = parts.map(constant).filter((number) => number !== undefined);
  if (numbers.length === parts.length) {
    return term(BigInt(touched(...(numbers.map(Number) as [number, number, number, number]))));
  }
  const isSingle = ({ number, factors }: Term) => factors.length === 0 || (number === 1n && factors.length === 1);
  const texts = parts.map((part, at) => {
    const isBare = part.size <= 1 && (at === 0 || [...part.values()].every(isSingle));
    return isBare ? text(part) : `(${text(part)})`;
  });
  const [factor, total, picked, times] = texts;
  return term(1n, {
    key: `touched(${parts.map(keyOfSum).join(", ")})`,
    text: `⌊${factor}·${total}·(1 - (1 - ${picked}/${total})^${times})⌉`,
  });
}

/** Returns a minimum or maximum as a term. Merges nested minima and maxima: min(a, min(b, c)) becomes min(a, b, c). */
function extreme(sign: "min" | "max", counts: readonly Polynomial[], text: (part: Polynomial) => string): Polynomial {
  const flat = new Map<string, Polynomial>();
  for (const count of counts) {
    for (const part of partsOf(count, sign) ?? [count]) if (!flat.has(keyOfSum(part))) flat.set(keyOfSum(part), part);
  }
  const numbers = [...flat.values()].map(constant).filter((number) => number !== undefined);
  const best = numbers.reduce((a, b) => (a < b === (sign === "min") ? a : b), numbers[0] ?? 0n);
  const parts = [...flat.values()].filter((part) => [undefined, best].includes(constant(part)));
  const [only] = parts;
  if (only && parts.length === 1) return only;
  const key = `${sign}(${sorted(parts.map(keyOfSum), ", ")})`;
  return term(1n, { key, text: `${sign}(${parts.map(text).join(", ")})`, extreme: { sign, parts } });
}

/**
 * Returns the parts of a minimum or maximum if the sum `a` consists only of this minimum or maximum. Otherwise, returns
 * undefined.
 */
function partsOf(a: Polynomial, sign: Sign): readonly Polynomial[] | undefined {
  const [only, ...others] = a.values();
  const [factor] = only?.factors ?? [];
  const isOnly = others.length === 0 && only?.number === 1n && only.factors.length === 1;
  return isOnly && factor?.extreme?.sign === sign ? factor.extreme.parts : undefined;
}

/**
 * Divides the terms that are divisible. Cancels common factors of the other terms, and writes them as a quotient that
 * is rounded up.
 */
function divide(a: Polynomial, b: Polynomial, text: (part: Polynomial) => string): Polynomial {
  const by = constant(b);
  const wrap = (part: Polynomial, isWrapped: boolean) => (isWrapped ? `(${text(part)})` : text(part));
  const isProduct = (part: Polynomial) =>
    part.size > 1 ||
    [...part.values()].some(
      ({ number, factors }) => new Set(factors.map(({ key }) => key)).size > (number === 1n ? 1 : 0),
    );
  const quotient = (upper: Polynomial, lower: Polynomial) =>
    term(1n, {
      key: `⌈${keyOfSum(upper)} / ${keyOfSum(lower)}⌉`,
      text: `⌈${wrap(upper, upper.size > 1)} / ${wrap(lower, isProduct(lower))}⌉`,
    });
  if (by === undefined) return a.size === 0 ? a : (exactQuotient(a, b) ?? quotient(a, b));
  const whole: Term[] = [];
  const rest: Term[] = [];
  for (const { number, factors } of a.values()) {
    if (number % by === 0n) whole.push({ number: number / by, factors });
    else rest.push({ number, factors });
  }
  if (rest.length === 0) return sum(whole);
  const top = constant(sum(rest));
  if (top !== undefined) return sum([...whole, { number: top / by + (top > 0n ? 1n : 0n), factors: [] }]);
  const common = rest.reduce((divisor, { number }) => gcd(divisor, number), by);
  const upper = sum(rest.map(({ number, factors }) => ({ number: number / common, factors })));
  return sum([...whole, ...quotient(upper, term(by / common)).values()]);
}

/**
 * Returns a / b if a is not a constant, and b is a single term that divides each term of a. Otherwise, returns
 * undefined.
 */
function exactQuotient(a: Polynomial, b: Polynomial): Polynomial | undefined {
  const [divisor, ...others] = b.values();
  if (!divisor || others.length > 0 || constant(a) !== undefined) return undefined;
  const terms: Term[] = [];
  for (const { number, factors } of a.values()) {
    const left = [...factors];
    for (const { key } of divisor.factors) {
      const at = left.findIndex((factor) => factor.key === key);
      if (at < 0) return undefined;
      left.splice(at, 1);
    }
    if (number % divisor.number !== 0n) return undefined;
    terms.push({ number: number / divisor.number, factors: left });
  }
  return sum(terms);
}

const abs = (n: bigint) => (n < 0n ? -n : n);
const gcd = (a: bigint, b: bigint): bigint => (b === 0n ? abs(a) : gcd(b, a % b));
const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/** Prints a sum. A constant term comes last. Factors keep the order in which they first occur. */
function print(a: Polynomial, name: (factor: string) => string): string {
  const terms = [...a.values()].sort(
    (one, other) => Number(one.factors.length === 0) - Number(other.factors.length === 0),
  );
  const order = new Map<string, string>();
  for (const { key, text: written } of terms.flatMap(({ factors }) => factors)) {
    if (!order.has(key)) order.set(key, written);
  }
  let text = "";
  for (const { number, factors } of terms) {
    const parts = [...order].flatMap(([key, written]) => {
      const power = factors.filter((factor) => factor.key === key).length;
      return power > 0 ? [name(written) + (power > 1 ? raised(power) : "")] : [];
    });
    if (abs(number) !== 1n || parts.length === 0) parts.unshift(String(abs(number)));
    text += (text === "" ? (number < 0n ? "-" : "") : number < 0n ? " - " : " + ") + parts.join("·");
  }
  return text || "0";
}

const raised = (power: number) => String(power).replace(/\d/g, (digit) => SUPERSCRIPTS[Number(digit)] as string);
