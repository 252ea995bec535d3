// Converts numbers to text and text to numbers. Mirrors roofwidget/units.py: the tests compare both files with the same
// golden file.

import { lookUp } from "../ui/keys.ts";
import { numerals, strings, workWords } from "../words/words.ts";

export type Unit = RateUnit | "FLOP" | "OP" | "B" | "s" | "Hz" | "IPS" | "J/FLOP" | "J/B";
export type RateUnit = "FLOP/s" | "OP/s" | "B/s";

const PREFIXES = ["p", "n", "µ", "m", "", "k", "M", "G", "T", "P", "E", "Z", "Y"];
const EXPONENTS: Record<string, number> = { "": 0, k: 3, K: 3, M: 6, G: 9, T: 12, P: 15, E: 18, Z: 21, Y: 24 };
const BINARY: Record<string, number> = { Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40, Pi: 2 ** 50, Ei: 2 ** 60 };
const OPERATIONS = "(?:[Ff][Ll][Oo][Pp][Ss]?|[Oo][Pp][Ss]?)(?:/[Ss](?:ec)?)?";
const SPELLINGS: Record<RateUnit, string> = {
  "FLOP/s": OPERATIONS,
  "OP/s": OPERATIONS,
  "B/s": "(?:B/s(?:ec)?|bytes?/s(?:ec)?|Bytes?/s|Bps)",
};
const WORK = "(?:FLOPs?|flops?|Flops?|OPs?)";
/** The units of typed work and of answers to questions. */
const ANSWER_SPELLINGS: Readonly<Record<string, string>> = {
  ...SPELLINGS,
  FLOP: WORK,
  OP: WORK,
  B: "(?:B|[Bb]ytes?)",
  s: "(?:s|sec|seconds?)",
  "FLOP/B": "(?:FLOPs?/B(?:yte)?|flops?/b(?:yte)?|FLOPs?/byte)",
  Hz: "(?:Hz|[Hh]ertz)",
  W: "(?:W|[Ww]atts?)",
};
const SMALL: Readonly<Record<string, number>> = { m: -3, u: -6, µ: -6, n: -9, p: -12 };
const NUMBER = /^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?/;

/** Formats a number with at most `digits` significant digits, without trailing zeros and without prefix. */
export function formatSignificant(value: number, digits = 3): string {
  return signed(value, digits, () => 0);
}

/** Formats a quantity with SI prefix and unit, such as "3.35 TB/s". */
export function formatQuantity(value: number, unit: Unit | `${string}/${string}`, digits = 3): string {
  const thousands = (exponent: number) => {
    const small = unit === "s" || unit === "J/FLOP" || unit === "J/B";
    const clamped = Math.max(small ? -12 : 0, Math.min(24, 3 * Math.floor(exponent / 3)));
    return unit === "s" ? Math.min(0, clamped) : clamped;
  };
  return signed(value, digits, thousands, unit);
}

/**
 * Formats an arithmetic intensity in FLOP/B, or another ratio. A number up to 9,999 has no prefix. A larger number has
 * an SI prefix.
 */
export function formatIntensity(value: number, digits = 3, unit = "FLOP/B"): string {
  return signed(value, digits, (exponent) => (exponent < 4 ? 0 : Math.min(24, 3 * Math.floor(exponent / 3))), unit);
}

/**
 * Formats a positive number in powers of 1024. A number up to 9,999 has no prefix. A larger number has a binary prefix.
 */
export function formatBinary(value: number): string {
  const steps = value < 1e4 ? 0 : Math.min(6, Math.floor(Math.log2(value) / 10));
  return formatSignificant(value / 1024 ** steps, 4) + ["", ...Object.keys(BINARY)][steps];
}

/**
 * Formats bytes of a memory: "80 GiB" or "50 MiB". A whole number of megabytes, as a user writes "64 GB", keeps its
 * decimal prefix.
 */
export function formatCapacity(value: number): string {
  const steps = value < 1024 ? 0 : Math.min(6, Math.floor(Math.log2(value) / 10));
  if (steps === 0 || value % 1e6 === 0) return formatQuantity(value, "B", 4);
  return `${formatSignificant(value / 1024 ** steps, 4)} ${Object.keys(BINARY)[steps - 1]}B`;
}

/**
 * If a share differs from 1 by at most this tolerance, the share is shown as "100 %", because the difference may come
 * from rounding.
 */
const HUNDRED_PERCENT_TOLERANCE = 1e-9;

/**
 * Formats a share in percent. From 10 % up, shows no decimals. Below 10 %, shows two significant digits, or as many as
 * are asked for. If a share near 100 % would be rounded to "100 %", shows more digits.
 */
export function formatPercent(share: number, digits = 2): string {
  if (Number.isNaN(share)) return strings.unknown;
  if (Math.abs(share - 1) <= HUNDRED_PERCENT_TOLERANCE) return "100 %";
  let text = formatRatio(share * 100, digits);
  while (text === "100") text = formatRatio(share * 100, ++digits);
  return `${text} %`;
}

/** Formats the change from one amount to another as a percentage, such as "−25 %". */
export function formatChange(from: number, to: number): string {
  const change = to === from ? 0 : to / from - 1;
  if (!Number.isFinite(change)) return strings.unknown;
  return `${change < 0 ? "−" : change > 0 ? "+" : "±"}${formatPercent(Math.abs(change))}`;
}

/**
 * Formats a factor. A factor near 1 has three significant digits, such as "1.04", because two digits would show no
 * change.
 */
export function formatFactor(factor: number): string {
  return factor > 0.9 && factor < 1.1 ? formatSignificant(factor) : formatRatio(factor);
}

/** The largest number of digits with which two times are told apart. */
const MAX_TIME_DIGITS = 6;

/**
 * Formats two times and the factor between them, so that they agree. If the factor is "1", both times look like the
 * second. Otherwise they have at least three digits, and as many more as they need to look different.
 */
export function formatSpeedUp(before: number, now: number): { before: string; now: string; factor: string } {
  const factor = formatFactor(before / now);
  let digits = 3;
  const written = (time: number) => formatQuantity(time, "s", digits);
  if (factor === "1") return { before: written(now), now: written(now), factor };
  while (digits < MAX_TIME_DIGITS && written(before) === written(now)) digits += 1;
  return { before: written(before), now: written(now), factor };
}

/**
 * Returns the smallest number with this many significant digits that is at least `value`. With three digits, 1.231
 * becomes 1.24.
 */
export function roundUp(value: number, digits: number): number {
  const power = Math.floor(Math.log10(value)) - digits + 1;
  return Number(`${Math.ceil((value / 10 ** power) * (1 - 1e-12))}e${power}`);
}

/** Formats a ratio with at least `digits` significant digits. From 10 up, shows all digits before the decimal mark. */
export function formatRatio(ratio: number, digits = 2): string {
  const size = Math.abs(ratio);
  const whole = Number(size.toExponential().split("e")[1]) + 1;
  return formatSignificant(ratio, Math.max(digits, Math.min(whole, 15)));
}

/** Formats a ratio of at least 1 with exactly one decimal, such as "4.0". */
export function formatTenths(ratio: number): string {
  const text = formatRatio(ratio, Math.floor(ratio).toString().length + 1);
  return text.includes(numerals.mark) ? text : `${text}${numerals.mark}0`;
}

/** Formats the label of an axis tick, such as 1e-4, 0.1, 1, 2.5, 100, 1k or 20k. */
export function formatTick(value: number): string {
  if (value < 1e-3) {
    const [mantissa, exponent] = value.toExponential(2).split("e");
    return `${formatSignificant(Number(mantissa))}e${exponent}`;
  }
  return value < 1000 ? formatSignificant(value) : signed(value, 3, (exponent) => 3 * Math.floor(exponent / 3), "", "");
}

/**
 * The smallest number that is accepted without a unit. If a number without a unit is smaller, the user probably meant
 * another unit, such as TB/s, because the rates of all chips are larger numbers in FLOP/s and B/s.
 */
const MIN_BARE_RATE = 1e6;

/**
 * The smallest and the largest rate that the widget accepts, in FLOP/s or B/s. The limits are far outside the rates of
 * real hardware. Python has the same limits.
 */
export const [MIN_RATE, MAX_RATE] = [1e-3, 1e24] as const;

/**
 * Reads a rate that the user typed: a number in base units, a number with a unit, or a multiple of `current` such as
 * "×1.5". If the text is not valid, returns a sentence that says so, with an example.
 */
export function parseRate(text: string, unit: RateUnit, current: number): number | string {
  const example = formatQuantity(unit === "B/s" ? 3.35e12 : 2e15, unit);
  const typed = numerals.read(text.trim());
  const factor = /^[×x*]\s*(.+)$/.exec(typed);
  if (factor?.[1] && NUMBER.exec(factor[1])?.[0] === factor[1])
    return possible(current * Number(factor[1]), unit, example);
  const found = numberIn(typed);
  if (!found) return strings.noNumber(text.trim(), example);
  const [digits, suffix] = found;
  if (suffix === "" && Number(digits) > 0 && Number(digits) < MIN_BARE_RATE)
    return strings.unitMissing(text.trim(), example);
  const scale = scaleOf(suffix, unit);
  return scale ? possible(scaled(digits, scale), unit, example) : strings.notAUnit(suffix, unit, example);
}

/** Returns the number at the beginning of a text, and the unit after it. */
function numberIn(typed: string): readonly [digits: string, suffix: string] | undefined {
  const digits = NUMBER.exec(typed)?.[0];
  return digits === undefined ? undefined : [digits, typed.slice(digits.length).trim()];
}

/** A power of ten and another factor. */
export type Factors = readonly [exponent: number, multiple: number];

export function scaled(digits: string, [exponent, multiple]: Factors): number {
  const [mantissa, own = "0"] = digits.toLowerCase().split("e");
  // Add the exponents before the text becomes a number. So 3.35 TB/s becomes the floating-point number nearest to
  // 3.35e12. A product, such as 3.35 * 1e12, could be rounded twice.
  return Number(`${mantissa}e${Number(own) + exponent}`) * multiple;
}

/**
 * Reads an amount of operations or bytes that the user typed: a number in base units, or a number with a unit or a prefix. If
 * the text is not valid, returns a sentence that says so, with an example.
 */
export function parseAmount(text: string, unit: "FLOP" | "OP" | "B", most: number): number | string {
  const example = formatQuantity(unit === "B" ? 1e10 : 4e12, unit);
  const found = numberIn(numerals.read(text.trim()));
  if (!found) return strings.noNumber(text.trim(), example);
  const [digits, suffix] = found;
  const prefixed = suffix.replace(/^[gtp]/, (letter) => letter.toUpperCase());
  const exponent = lookUp(EXPONENTS, prefixed);
  const scale: Factors | undefined =
    exponent === undefined
      ? answerScale(prefixed.replace(/^([kKMGTPEZY]i?)b$/, "$1B"), unit, ANSWER_SPELLINGS[unit] as string)
      : [exponent, 1];
  if (!scale) return strings.notAUnit(suffix, unit, example);
  const value = scaled(digits, scale);
  if (value < 0) return workWords.negative(example);
  return value <= most ? value : workWords.tooMuch(formatQuantity(most, unit), example);
}

/**
 * Returns what the unit after a number stands for: the unit that is asked for with a prefix, or a prefix alone. Undefined
 * for another unit.
 */
export function answerFactors(suffix: string, unit: string): Factors | undefined {
  if (unit === "FLOP/s" || unit === "OP/s" || unit === "B/s") return scaleOf(suffix, unit);
  const spelled = lookUp(ANSWER_SPELLINGS, unit);
  if (spelled === undefined) return undefined;
  const exponent = unit === "s" || suffix === "" ? undefined : lookUp(EXPONENTS, suffix);
  return exponent === undefined ? answerScale(suffix, unit, spelled) : [exponent, 1];
}

function answerScale(suffix: string, unit: string, spelled: string): Factors | undefined {
  const found = new RegExp(`^([KMGTPE]i|[kKMGTPEZYmuµnp])?${spelled}$`).exec(suffix);
  return found ? factorsOf(found[1] ?? "", unit) : undefined;
}

/** Returns what a prefix stands for. Only seconds have small prefixes, and only bytes have binary ones. */
function factorsOf(prefix: string, unit: string): Factors | undefined {
  const binary = lookUp(BINARY, prefix);
  if (binary !== undefined) return unit.startsWith("B") ? [0, binary] : undefined;
  const exponent = lookUp(EXPONENTS, prefix) ?? (unit === "s" ? lookUp(SMALL, prefix) : undefined);
  return exponent === undefined ? undefined : [exponent, 1];
}

/** Formats a number of a question in its unit. */
export function formatAnswer(value: number, unit: string, digits = 4): string {
  if (unit === "") return formatSignificant(value, digits);
  if (unit === "FLOP/B") return formatIntensity(value, digits);
  return Object.hasOwn(ANSWER_SPELLINGS, unit)
    ? formatQuantity(value, unit as Unit, digits)
    : `${formatSignificant(value, digits)} ${unit}`;
}

function possible(value: number, unit: RateUnit, example: string): number | string {
  if (!(value > 0)) return strings.notAboveZero(example);
  if (value >= MIN_RATE && value <= MAX_RATE) return value;
  return strings.noHardware(formatQuantity(MIN_RATE, unit), formatQuantity(MAX_RATE, unit), example);
}

function scaleOf(typed: string, unit: RateUnit): Factors | undefined {
  // Small letters are prefixes too, except m and e: m means milli, and e begins an exponent.
  const suffix = typed.replace(/^[gtpzy]/, (letter) => letter.toUpperCase());
  const exponent = lookUp(EXPONENTS, suffix);
  if (exponent !== undefined) return [exponent, 1];
  const spelled = new RegExp(`^([KMGTPE]i|[kKMGTPEZY])?${SPELLINGS[unit]}$`).exec(suffix);
  return spelled ? factorsOf(spelled[1] ?? "", unit) : undefined;
}

function special(value: number): string | undefined {
  if (Number.isNaN(value)) return strings.unknown;
  if (value === Number.POSITIVE_INFINITY) return "∞";
  return value === Number.NEGATIVE_INFINITY ? "-∞" : undefined;
}

function signed(value: number, digits: number, thousands: (e: number) => number, unit?: string, space = " "): string {
  const word = special(value);
  if (word !== undefined) return unit === undefined || word === strings.unknown ? word : `${word} ${unit}`;
  const { figures, exponent } = round(Math.abs(value), digits);
  const shift = thousands(exponent);
  const text = (value < 0 ? "-" : "") + place(figures, exponent - shift);
  return unit === undefined ? text : `${text}${space}${PREFIXES[shift / 3 + 4]}${unit}`;
}

/**
 * Returns the significant figures without trailing zeros, and the exponent. If a value is halfway between two rounded
 * values, it is rounded to the even digit: with one digit, 2.5 becomes "2". `toExponential` rounds it to "3".
 */
function round(value: number, digits: number): { figures: string; exponent: number } {
  const split = (text: string) => {
    const [mantissa = "", power = "0"] = text.split("e");
    return { figures: mantissa.replace(".", ""), exponent: Number(power) };
  };
  const nearest = split(value.toExponential(digits - 1));
  // A value can be halfway only if the digit after its last kept digit is 5. A hundred digits show whether only zeros
  // follow the 5.
  const halfway = value.toExponential(digits).split("e")[0]?.endsWith("5") && split(value.toExponential(100));
  const down = halfway && /^50*$/.test(halfway.figures.slice(digits)) && Number(halfway.figures[digits - 1]) % 2 === 0;
  const { figures, exponent } = down ? { ...halfway, figures: halfway.figures.slice(0, digits) } : nearest;
  return { figures: figures.replace(/0+$/, ""), exponent };
}

/**
 * Inserts the decimal mark into `figures`. `figures` has the digits of a number d.ddd times 10^exponent. With the
 * exponent 1, "125" becomes "12.5".
 */
function place(figures: string, exponent: number): string {
  if (exponent < 0) return `0${numerals.mark}${"0".repeat(-exponent - 1)}${figures}`;
  const whole = figures.slice(0, exponent + 1).padEnd(exponent + 1, "0");
  const fraction = figures.slice(exponent + 1);
  return fraction ? whole + numerals.mark + fraction : whole;
}

export function spokenRate(value: number, unit: RateUnit): string {
  const [number = "", written = ""] = formatQuantity(value, unit, 4).split(" ");
  return numerals.spoken(number, written.slice(0, -unit.length), unit);
}
