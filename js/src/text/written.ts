// Numbers as people write them: fractions, powers of ten, thousands, decimal commas, units in words. Mirrors
// roofwidget/teaching/written.py.

import { numerals, storyWords as words } from "../words/words.ts";
import { answerFactors, scaled } from "./numbers.ts";

/** Units of other quantities are recognised in this order. */
const UNITS = ["FLOP/s", "B/s", "FLOP", "B", "s", "FLOP/B", "Hz", "W"] as const;
type NamedUnit = (typeof UNITS)[number];
const isNamed = (unit: string): unit is NamedUnit => (UNITS as readonly string[]).includes(unit);

const MAX_LETTERS = 300;
const [SUPERSCRIPTS, DIGITS] = ["⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-"];
const RAISED = /(?<=10)[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+/g;
const SUPERSCRIPT = /[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]/g;
/** A name before the number, as in "N = 766", and a full stop behind it. */
const AROUND = /^(?:[A-Za-z][A-Za-z0-9_]{0,19})?\s*[=≈~]\s*|\s*\.$/g;
const PREFIXES = "nano micro milli kilo mega giga tera peta".split(" ");
const PREFIX = new RegExp(`^(${PREFIXES.join("|")})(?=[a-z])`, "i");
const SPACES = /[\u00a0\u2009\u202f]/g;
const POWER = /\s*[·*x×]\s*10(?:\^|\*\*)([+-]?[0-9]{1,3})(?![0-9])/g;
/** Groups of three digits with one separator, of which none follows a zero: 516,096 but not 0,250. */
const THOUSANDS = /(?<![0-9.,_'])([1-9][0-9]{0,2})(([,_' ])[0-9]{3}(?:\3[0-9]{3})*)(?![0-9])/g;
const DECIMAL_COMMA = /(?<=[0-9]),(?=[0-9]+(?![0-9,]))/;
const NUMBER = "[+-]?(?:[0-9]+(?:\\.[0-9]*)?|\\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?";
const WRITTEN = new RegExp(`^(${NUMBER})(?:\\s*/\\s*(${NUMBER}))?\\s*([^]*)$`);

/** Returns a text with one way of writing powers, thousands and decimal marks. */
function plain(text: string): string {
  const isDecimal = text.split(",").length === 2;
  return (isDecimal ? numerals.read(text) : text)
    .replace(SPACES, " ")
    .replaceAll("−", "-")
    .replaceAll("\u03bc", "µ")
    .replace(AROUND, "")
    .replace(RAISED, "^$&")
    .replace(SUPERSCRIPT, (raised) => DIGITS[SUPERSCRIPTS.indexOf(raised)] as string)
    .replace(POWER, "e$1")
    .replace(THOUSANDS, (_, first: string, rest: string) => first + rest.replace(/[,_' ]/g, ""))
    .replace(DECIMAL_COMMA, ".");
}

/** Returns a unit in words as the other boxes of the page read it. */
const spelled = (written: string) =>
  written
    .replace(/\s+per\s+/gi, "/")
    .replace(/\/seconds?$/i, "/s")
    .replace(PREFIX, (name) => "nµmkMGTP"[PREFIXES.indexOf(name.toLowerCase())] as string)
    .replace(/^([kKMGTP]?)F\/B$/, (_, prefix: string) => `${prefix}FLOP/B`);

/**
 * Reads a number that answers a question, in base units of the unit that is asked for. If the text is no such number,
 * returns a sentence that says so, with `example`. A comma between groups of exactly three digits separates thousands;
 * another single comma is a decimal mark. In German a single comma is always a decimal mark.
 */
export function readNumber(text: string, unit: string, example: string): number | string {
  const typed = text.trim();
  const found = typed.length <= MAX_LETTERS ? WRITTEN.exec(plain(typed)) : null;
  const [, digits, divisor = "1", rest = ""] = found ?? [];
  if (digits === undefined) return words.noNumber(typed.slice(0, MAX_LETTERS), example);
  if (Number(divisor) === 0) return words.dividedByZero(typed);
  const suffix = rest.trim();
  const factors = factorsOf(suffix, unit);
  if (!factors) {
    const other = UNITS.find((one) => answerFactors(spelled(suffix), one));
    // A single letter is a prefix, unless it is a unit.
    if (other === undefined || (suffix.length === 1 && !isNamed(suffix))) return words.noNumber(typed, example);
    const asked = isNamed(unit) ? `${words.quantities[unit]} (${unit})` : unit || words.noUnit;
    return words.wrongUnit(typed, `${words.quantities[other]} (${other})`, asked);
  }
  const number = scaled(digits, factors) / Number(divisor);
  return Number.isFinite(number) ? number : words.tooLargeToRead(typed);
}

/** Returns a typed number with its mark between thousands, such as "516 096", if the language reads it as 516.096. */
export function asThousands(typed: string): string | undefined {
  const isOpen = numerals.mark !== "." && /^\s*[1-9][0-9]{0,2}[.,][0-9]{3}(?![0-9,.])/.test(typed);
  return isOpen ? typed.trim().replace(/[.,]/, " ") : undefined;
}

function factorsOf(suffix: string, unit: string): readonly [exponent: number, multiple: number] | undefined {
  if (suffix === "" || suffix === unit) return [0, 1];
  if (suffix === "%" && unit === "") return [-2, 1];
  return answerFactors(spelled(suffix), unit);
}
