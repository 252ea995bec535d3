// Kernels of unknown work by name: what a rule of work is written for.

import { everyRow, type Kernels, textAt } from "../wire/columns.ts";
import { busyTime } from "./positions.ts";
import { rowsWithoutWork } from "./typed_work.ts";

/** From this share of kernel time, unknown work is worth a rule. */
const MIN_SHARE = 0.01;
/** The columns of a file that Python adds: what is missing, and a proposed rule. Python has the same names. */
const [MISSING, PROPOSED] = ["missing for FLOPs", "proposed rule"];

/** The kernels of a name whose work is unknown, or is known by a rule for this name; none for another rule in force. */
export interface Unknown {
  readonly name: string;
  readonly rows: readonly number[];
  /** Seconds of all calls, and their share of kernel time. */
  readonly time: number;
  readonly share: number;
  readonly calls: number;
  /** The sizes and the dtypes of the longest row, what is missing, and a proposed rule; "" if unknown. */
  readonly sizes: string;
  readonly missing: string;
  readonly proposed: string;
}

/** Returns names of unknown work, longest time first. `rules` are in force, by name. */
export function unknownWorks(kernels: Kernels, rules: Readonly<Record<string, string>>): readonly Unknown[] {
  if (!(kernels.totalTime > 0)) return [];
  const rowsOf = new Map<string, number[]>();
  const without = new Set(rowsWithoutWork(kernels, everyRow({ n: kernels.own })).filter(staysOnChip(kernels)));
  for (let row = 0; row < kernels.own; row++) {
    const name = textAt(kernels.name, row) ?? "";
    if (!without.has(row) && !Object.hasOwn(rules, name)) continue;
    const rows = rowsOf.get(name);
    if (rows) rows.push(row);
    else rowsOf.set(name, [row]);
  }
  // A pattern of a file of rules may be no name.
  for (const name of Object.keys(rules)) if (!rowsOf.has(name)) rowsOf.set(name, []);
  const whole = busyTime(kernels);
  const seconds = (row: number) => kernels.selfTime[row] || 0;
  return [...rowsOf]
    .map(([name, rows]): Unknown => {
      rows.sort((a, b) => seconds(b) - seconds(a));
      const time = rows.reduce((sum, row) => sum + seconds(row), 0);
      const calls = rows.reduce((sum, row) => sum + (kernels.count[row] as number), 0);
      const text = (key: string) => extraText(kernels, key, rows[0] ?? -1);
      const sizes = [text("shape"), text("dtype")].filter(Boolean).join(" · ");
      const proposed = text(PROPOSED) || `${JSON.stringify(name)} = { flops = "?", bytes = "?" }`;
      return { name, rows, time, share: time / whole, calls, sizes, missing: text(MISSING), proposed };
    })
    .sort((a, b) => b.time - a.time);
}

/** Whether unknown work takes enough of kernel time that a rule for it is worth while. */
export const isWorthRules = (unknown: readonly Unknown[]) =>
  unknown.reduce((sum, { share }) => sum + share, 0) >= MIN_SHARE;

/** The keys of a rule whose value is still open. */
export const openKeys = (rule: string): readonly string[] =>
  [...rule.matchAll(/(\w+)\s*=\s*"\?"/g)].map(([, key]) => key as string);

/** Bytes that cross a link have no place under a memory roof. */
const staysOnChip =
  ({ totalFlops, bytes }: Kernels) =>
  (row: number) =>
    Number.isNaN(totalFlops[row]) || ![...bytes.values()].some((column) => (column[row] as number) > 0);

function extraText({ extra }: Kernels, key: string, row: number): string {
  const column = extra.get(key);
  return column && "codes" in column ? (textAt(column, row) ?? "") : "";
}
