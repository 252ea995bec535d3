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
  const join = JOIN[sign];
  return (env) => {
    let value = first(env);
    for (const other of others) value = join(value, other(env));
    return value;
  };
}

const JOIN: Readonly<Record<Sign, (a: number, b: number) => number>> = {
  "+": (a, b) => a + b,
  "*": (a, b) => a * b,
  // Up to 2^53, the rounded quotient of two integers never passes the nearest integer, so `ceil` is exact.
  "/": (a, b) => Math.ceil(a / b),
  min: Math.min,
  max: Math.max,
};

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
 * A sum in which like terms are merged. A term is the product of a number and some factors. A factor is a symbol, or
 * the text of a division, min or max.
 */
type Polynomial = ReadonlyMap<string, Term>;
interface Term {
  readonly number: bigint;
  readonly factors: readonly string[];
}

const term = (number: bigint, ...factors: string[]) => sum([{ number, factors }]);
const constant = (a: Polynomial) => (a.size === 0 ? 0n : a.size === 1 ? a.get("")?.number : undefined);
const times = (a: Polynomial, b: Polynomial) =>
  sum(
    [...a.values()].flatMap((one) =>
      [...b.values()].map((other) => ({
        number: one.number * other.number,
        factors: [...one.factors, ...other.factors],
      })),
    ),
  );

function sum(terms: Iterable<Term>): Polynomial {
  const merged = new Map<string, Term>();
  for (const { number, factors } of terms) {
    const key = [...factors].sort().join("·");
    const total = number + (merged.get(key)?.number ?? 0n);
    merged.set(key, { number: total, factors: merged.get(key)?.factors ?? factors });
  }
  return new Map([...merged].filter(([, { number }]) => number !== 0n));
}

function polynomial(wire: WireExpression, known: Lookup, shown: Lookup = () => undefined): Polynomial {
  if (typeof wire === "number") return term(BigInt(wire));
  if (typeof wire === "string") {
    if (DIGITS.test(wire)) return term(BigInt(wire));
    const value = known(wire);
    return Number.isInteger(value) ? term(BigInt(value as number)) : term(1n, wire);
  }
  const [sign, ...rest] = wire;
  const parts = rest.map((part) => polynomial(part, known, shown)) as [Polynomial, ...Polynomial[]];
  if (sign === "+") return sum(parts.flatMap((part) => [...part.values()]));
  if (sign === "*") return parts.reduce(times);
  const text = (part: Polynomial) => print(part, (name) => String(shown(name) ?? name));
  if (sign === "/") return divide(parts[0], parts[1] as Polynomial, text);
  const numbers = parts.map(constant).filter((number) => number !== undefined);
  const extreme = numbers.reduce((a, b) => (a < b === (sign === "min") ? a : b), numbers[0] ?? 0n);
  const texts = new Set(
    parts.filter((part) => [undefined, extreme].includes(constant(part))).map((part) => text(part)),
  );
  if (texts.size > 1) return term(1n, `${sign}(${[...texts].join(", ")})`);
  return numbers.length > 0 ? term(extreme) : parts[0];
}

/**
 * Divides the terms that are divisible. Cancels common factors of the other terms, and writes them as a quotient that
 * is rounded up.
 */
function divide(a: Polynomial, b: Polynomial, text: (part: Polynomial) => string): Polynomial {
  const by = constant(b);
  const wrap = (part: Polynomial, isWrapped: boolean) => (isWrapped ? `(${text(part)})` : text(part));
  const isProduct = (part: Polynomial) =>
    part.size > 1 || [...part.values()].some(({ number, factors }) => new Set(factors).size > (number === 1n ? 1 : 0));
  const quotient = (upper: Polynomial, lower: Polynomial) =>
    term(1n, `⌈${wrap(upper, upper.size > 1)} / ${wrap(lower, isProduct(lower))}⌉`);
  if (by === undefined) return a.size === 0 ? a : quotient(a, b);
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

const abs = (n: bigint) => (n < 0n ? -n : n);
const gcd = (a: bigint, b: bigint): bigint => (b === 0n ? abs(a) : gcd(b, a % b));
const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/** Prints a sum. A constant term comes last. Factors keep the order in which they first occur. */
function print(a: Polynomial, name: (factor: string) => string): string {
  const terms = [...a.values()].sort(
    (one, other) => Number(one.factors.length === 0) - Number(other.factors.length === 0),
  );
  const order = [...new Set(terms.flatMap(({ factors }) => factors))];
  let text = "";
  for (const { number, factors } of terms) {
    const parts = order.flatMap((factor) => {
      const power = factors.filter((other) => other === factor).length;
      return power > 0 ? [name(factor) + (power > 1 ? raised(power) : "")] : [];
    });
    if (abs(number) !== 1n || parts.length === 0) parts.unshift(String(abs(number)));
    text += (text === "" ? (number < 0n ? "-" : "") : number < 0n ? " - " : " + ") + parts.join("·");
  }
  return text || "0";
}

const raised = (power: number) => String(power).replace(/\d/g, (digit) => SUPERSCRIPTS[Number(digit)] as string);
