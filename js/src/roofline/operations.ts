// The units of operations: operations of integers are no FLOPs. Mirrors roofwidget/kernels/operations.py: the tests
// compare both files with the same golden file.

import { memoize } from "../ui/memoize.ts";
import { type Kernels, textAt } from "../wire/columns.ts";
import { CLASSES } from "./roofline.ts";

/** "FLOP", or "OP" if operations of integers are among the operations. */
export type Operation = "FLOP" | "OP";

/** Returns the unit of operations of a precision, such as "OP" for "int8" and "int32_vector". */
export const operationIn = (precision: string): Operation => (/^u?int\d/.test(precision) ? "OP" : "FLOP");

/** Whether the operations under a key of `Kernels.flops` have the precision of their kernel. */
const isPlain = (key: string) => key === "" || CLASSES.includes(key);

/** Returns the unit of a kernel's operations. `asked` is the precision of kernels that have none of their own. */
export function operationOf(kernels: Kernels, row: number, asked: string): Operation {
  const own = textAt(kernels.precision, row) || asked;
  const keys = [...kernels.flops].flatMap(([key, column]) => ((column[row] as number) > 0 ? [key] : []));
  const units = (keys.length > 0 ? keys : [""]).map((key) => operationIn(isPlain(key) ? own : key));
  return units.includes("OP") ? "OP" : "FLOP";
}

/**
 * The kinds of operations in a table. `key` is the precision or class of the operations. `own` is the precision of the
 * kernel that has these operations.
 */
type FlopKinds = readonly (readonly [key: string, own: string | null])[];
const flopKinds = memoize<FlopKinds>();

export const flopKindsOf = (kernels: Kernels): FlopKinds =>
  flopKinds(kernels, [], () => {
    const { values, codes } = kernels.precision;
    return [...kernels.flops].flatMap(([key, column]) => {
      const has = new Set<number>();
      for (let row = 0; row < kernels.n; row++) if ((column[row] as number) > 0) has.add(codes[row] as number);
      return [...has].map((code) => [key, values[code] ?? null] as const);
    });
  });

/** Returns the units of the operations of all kernels. Without operations, the set is empty. */
export const operationsOf = (kernels: Kernels, asked: string): ReadonlySet<Operation> =>
  new Set(flopKindsOf(kernels).map(([key, own]) => operationIn(isPlain(key) ? own || asked : key)));

/** Returns the unit of a sum over all kernels. */
export const commonOperation = (kernels: Kernels, asked: string): Operation =>
  operationsOf(kernels, asked).has("OP") ? "OP" : "FLOP";
