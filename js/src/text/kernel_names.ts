// The displayed names of kernels: short, and different for each kernel. `roofwidget/kernels/names.py` has the same rules.
// Tests compare both files with the golden file `tests/golden/kernel_names.json`.

import { IDLE } from "../roofline/positions.ts";
import { memoize } from "../ui/memoize.ts";
import { type Kernels, textAt } from "../wire/columns.ts";
import { strings } from "../words/words.ts";
import { withoutControls } from "./controls.ts";

/** Matches the names of columns that contain operand shapes, and of columns with the file's own numbers of kernels. */
export const SHAPE_COLUMN = /\b(?:shapes?|dims?)\b/i;
const NUMBER_COLUMN = /^(?:kernel |launch )?id$/i;
/** If a table has more kernels than this, equal names stay equal, because comparing them takes too long. */
const MAX_COMPARED = 10_000;
/** A namespace is left out if at least this share of the kernels is in it. */
const MIN_NAMESPACE_SHARE = 0.8;

/** Returns the name of a kernel in its file. */
export function nameOf(kernels: Kernels, row: number): string {
  return withoutControls(textAt(kernels.name, row)?.trim() || strings.unnamed(row));
}

/** Returns the displayed name of a kernel. */
export function shortNameOf(kernels: Kernels, row: number): string {
  const { name, short, category, own, same, extra } = kernels;
  const { namespace, distinct } = known(name, [short, category, own, same, extra], () => findNames(kernels));
  return distinct.get(row) ?? withoutNamespace(plainName(kernels, row), namespace);
}

interface Names {
  /** The namespace that most kernels share, such as "aten::". Empty if there is none. */
  readonly namespace: string;
  /** The names of the rows whose name another kernel has too. Each of these names has an addition. */
  readonly distinct: ReadonlyMap<number, string>;
}

const known = memoize<Names>();

function findNames(kernels: Kernels): Names {
  const namespace = namespaceOf(kernels);
  return { namespace, distinct: kernels.own > MAX_COMPARED ? new Map() : distinctNames(kernels, namespace) };
}

const plainName = (kernels: Kernels, row: number): string => {
  const short = textAt(kernels.short, row)?.trim();
  return short ? withoutControls(short) : nameOf(kernels, row);
};

const withoutNamespace = (name: string, namespace: string) =>
  namespace && name.startsWith(namespace) && name.length > namespace.length ? name.slice(namespace.length) : name;

/** Returns the namespace that most kernels share. */
function namespaceOf(kernels: Kernels): string {
  const { own, short, name } = kernels;
  const counts = new Map<string, number>();
  const found = new Map<number, string>();
  let all = 0;
  for (let row = 0; row < own; row++) {
    if (isIdle(kernels, row)) continue;
    all++;
    // The two columns together have one key for each pair of codes.
    const key = (short.codes[row] as number) * (name.values.length + 1) + (name.codes[row] as number);
    const namespace = found.get(key) ?? /^(?:[A-Za-z_]\w*::)+/.exec(plainName(kernels, row))?.[0] ?? "";
    found.set(key, namespace);
    if (namespace) counts.set(namespace, (counts.get(namespace) ?? 0) + 1);
  }
  return [...counts].find(([, count]) => count >= MIN_NAMESPACE_SHARE * all)?.[0] ?? "";
}

const isIdle = ({ category }: Kernels, row: number) => textAt(category, row)?.toLowerCase() === IDLE;

function distinctNames(kernels: Kernels, namespace: string): ReadonlyMap<number, string> {
  const full = new Map<number, string>();
  const { own, same: numbers } = kernels;
  // A kernel of several series has one name.
  const firsts = new Map<number, number>();
  for (let row = 0; row < own; row++) {
    const number = numbers?.[row] ?? row;
    if (!firsts.has(number)) firsts.set(number, row);
  }
  const rows = [...firsts.values()];
  const names = new Map(rows.map((row) => [row, withoutNamespace(plainName(kernels, row), namespace)]));
  const taken = new Set(names.values());
  for (const twins of groupsOf(rows, (row) => names.get(row) as string)) {
    if (twins.length < 2) continue;
    const shapes = shapesOf(kernels, twins);
    const name = (row: number) => names.get(row) + (shapes.get(row) ?? "");
    for (const same of groupsOf(twins, name)) {
      const text = name(same[0] as number);
      if (same.length === 1 && !taken.has(text)) {
        full.set(same[0] as number, text);
        continue;
      }
      const ids = numbersOf(kernels, same);
      let place = 1;
      for (const row of same) {
        // A number that another kernel has in its name is skipped.
        while (taken.has(`${text} (${place})`)) place++;
        full.set(row, ids ? `${text} #${ids.get(row)}` : `${text} (${place++})`);
      }
    }
  }
  for (let row = 0; numbers && row < own; row++) {
    const first = full.get(firsts.get(numbers[row] as number) as number);
    if (first !== undefined) full.set(row, first);
  }
  return full;
}

/** Groups rows by their text, in the order of the rows. */
function groupsOf(rows: readonly number[], textOf: (row: number) => string): number[][] {
  const groups = new Map<string, number[]>();
  for (const row of rows) {
    const group = groups.get(textOf(row));
    if (group) group.push(row);
    else groups.set(textOf(row), [row]);
  }
  return [...groups.values()];
}

/**
 * Returns the shape of the operand that differs most among kernels, such as " 512×2048". The first of several operands
 * that differ equally. Empty if the shapes are equal or unknown.
 */
function shapesOf(kernels: Kernels, rows: readonly number[]): ReadonlyMap<number, string> {
  const columns = [...kernels.extra].flatMap(([name, values]) =>
    SHAPE_COLUMN.test(name) && !(values instanceof Float64Array) ? [values] : [],
  );
  for (const column of columns) {
    const operands = rows.map((row) => operandsOf(textAt(column, row) ?? ""));
    const count = Math.max(...operands.map(({ length }) => length));
    const different = (at: number) => new Set(operands.map((each) => each[at] ?? "")).size;
    const best = [...Array(count).keys()].reduce((most, at) => (different(at) > different(most) ? at : most), 0);
    if (count > 0 && different(best) > 1) {
      return new Map(rows.map((row, at) => [row, operands[at]?.[best] ? ` ${operands[at][best]}` : ""]));
    }
  }
  return new Map();
}

/**
 * Returns the shapes in a text such as "[1, 141, 512], [512]": "141×512" and "512". Leading dimensions of 1 are left out,
 * and so are numbers in the names of types, such as "f32".
 */
const operandsOf = (text: string): string[] =>
  (text.match(/\[[^[\]]*\]/g) ?? text.split(/[,;]/)).map((shape) =>
    (shape.match(/(?<![A-WYZa-wyz\d])\d+/g) ?? []).join("×").replace(/^(?:1×)+/, ""),
  );

/** Returns the file's own numbers of kernels. Undefined if the file has no numbers, or equal numbers for some of them. */
function numbersOf(kernels: Kernels, rows: readonly number[]): ReadonlyMap<number, string> | undefined {
  for (const [name, values] of kernels.extra) {
    if (!NUMBER_COLUMN.test(name)) continue;
    const found = new Map(
      rows.map((row) => [row, values instanceof Float64Array ? String(values[row]) : (textAt(values, row) ?? "")]),
    );
    if (new Set(found.values()).size === rows.length && [...found.values()].every((text) => /^\d+$/.test(text)))
      return found;
  }
  return undefined;
}
