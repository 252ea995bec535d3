// What stands in a cell of the table, and what is said of it when it is pointed at.

import { formatIntensity, formatPercent, formatQuantity, formatSignificant } from "../../text/numbers.ts";
import { type Kernels, textAt } from "../../wire/columns.ts";
import { tableWords as words } from "../../words/words.ts";
import type { Column } from "./columns.ts";

/** A share below this is not told apart from others. */
const LEAST = 1e-4;

export function cellText(column: Column, row: number): string {
  if (column.kind === "text") return (column.shown?.(row) ?? column.at(row)) || words.unknown;
  const value = column.at(row);
  if (Number.isNaN(value)) return words.unknown;
  switch (column.kind) {
    case "share":
      return value > 0 && value < LEAST ? words.less(formatPercent(LEAST)) : formatPercent(value);
    case "FLOP/B":
      return formatIntensity(value);
    case "plain":
      // A number without a unit may be an identifier: whole ones are not rounded.
      return Number.isSafeInteger(value) ? String(value) : formatSignificant(value, 4);
    default:
      return formatQuantity(value, column.kind);
  }
}

/** The whole text, or where the number came from. */
export function cellTitle(column: Column, row: number, kernels: Kernels): string {
  const parts = originsOf(column, row, kernels);
  // The name may be cut short in its cell; what binds it has a word in each language.
  const whole = column.kind === "text" && (column.key === "bound_by" ? column.shown?.(row) : column.at(row));
  if (column.kind === "text") return [whole ?? "", ...parts].filter(Boolean).join("\n");
  if (Number.isNaN(column.at(row))) return [words.unknownTitle, ...parts].join("\n");
  return parts.join("\n");
}

/** A field stands for its parts too: "flops" for "flops:fp16". */
function originsOf(column: Column, row: number, { origin }: Kernels): string[] {
  const isFrom = (key: string) => column.from.some((field) => key === field || key.startsWith(`${field}:`));
  return [...origin].flatMap(([key, texts]) => {
    const text = isFrom(key) ? textAt(texts, row) : null;
    return text ? [`${key}: ${text}`] : [];
  });
}

/** Whether a cell tells of a kernel that beats its roof. */
export const isAlarming = (column: Column, row: number) =>
  column.key === "utilization" && column.kind !== "text" && column.at(row) > 1 + 1e-9;
