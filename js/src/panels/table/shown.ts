// Which of the columns are shown.

import type { Roof } from "../../roofline/roofline.ts";
import type { Kernels } from "../../wire/columns.ts";
import type { Column } from "./columns.ts";

/** Those shown when nobody has chosen: none that says nothing of any kernel. */
export function usualColumns(columns: readonly Column[], kernels: Kernels, roof: Roof | undefined): Column[] {
  const isMeasured = kernels.totalTime > 0;
  const levels = roof ? roof.levels.map(({ name }) => name) : ["main"];
  // What a narrow table cuts off is what tells least.
  const keys = [
    "name",
    ...(isMeasured ? ["self_time", "share", "utilization", "headroom"] : ["bound_time"]),
    "bound_by",
    ...(isMeasured ? ["achieved"] : []),
    "attainable",
    ...(isMeasured ? ["peak_fraction"] : []),
    ...levels.map((level) => `ai:${level}`),
    "flops",
    ...levels.map((level) => `bytes:${level}`),
    ...(kernels.category.values.some(Boolean) ? ["category"] : []),
  ];
  return picked(columns, keys);
}

/** The columns with these keys, in their order; a key that none has now may be of another chip. */
export function picked(columns: readonly Column[], keys: readonly string[]): Column[] {
  return keys.flatMap((key) => columnFor(columns, key) ?? []);
}

export const columnFor = (columns: readonly Column[], key: string) => columns.find((column) => column.key === key);

/** The keys shown once a column was switched on or off: a new one goes before the next of all that is shown. */
export function toggled(columns: readonly Column[], shown: readonly string[], key: string): string[] {
  if (shown.includes(key)) return shown.filter((other) => other !== key);
  const all = columns.map((column) => column.key);
  const later = new Set(all.slice(all.indexOf(key)));
  const at = shown.findIndex((other) => later.has(other));
  return at < 0 ? [...shown, key] : [...shown.slice(0, at), key, ...shown.slice(at)];
}
