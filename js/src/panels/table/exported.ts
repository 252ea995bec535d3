// The columns of a file: those shown, and beside them all that it takes to read the kernels again.

import type { Roof } from "../../roofline/roofline.ts";
import { SHAPE } from "../../text/disambiguate.ts";
import type { Kernels } from "../../wire/columns.ts";
import type { Column } from "./columns.ts";
import type { Written } from "./csv.ts";

/** Names of columns in a file: in no language, for it is read again. */
const [JUDGING, RAN] = ["chip", "measured on"];
const NEEDED = /^(?:name|category|precision|count|time|self_time|flops|flops:.*|bytes:.*)$/;

/** Those shown, in their order, then those needed; the chip that judges, and the one they ran on. */
export function exportedColumns(
  columns: readonly Column[],
  shown: readonly Column[],
  { flops, chip }: Kernels,
  roof: Roof | undefined,
): Written[] {
  const isNeeded = ({ key, ofFile }: Column) => (ofFile ? SHAPE.test(key) || key === RAN : NEEDED.test(key));
  const chips = [
    [JUDGING, roof?.chip.name],
    [RAN, chip?.name],
  ] as const;
  const ours = chips.flatMap(([key, name]) => (name === undefined ? [] : [{ key, at: () => name }]));
  const plain = flops.get("");
  const all = [...shown, ...columns.filter((column) => isNeeded(column) && !shown.includes(column))];
  const told = all.flatMap((column): Written[] => {
    if (ours.some(({ key }) => key === column.key)) return [];
    // Beside FLOPs by precision their sum would be read as others.
    if (column.key !== "flops" || flops.size <= 1) return [column];
    return plain ? [{ key: "flops", at: (row) => plain[row] as number }] : [];
  });
  return [...told, ...ours];
}
