// The names, units and values of columns as text.

import type { Operation } from "../roofline/operations.ts";
import { tableWords as words } from "../words/words.ts";
import { formatIntensity, formatQuantity, formatSignificant, type Unit as Quantity } from "./numbers.ts";

/** The unit of a column. "plain" is a number whose unit is unknown. */
export type Unit = "FLOP" | "B" | "s" | "FLOP/s" | "B/s" | "FLOP/B" | "plain";

const UNIT = /\s*\((FLOP|B|s|FLOP\/s|B\/s|FLOP\/B)\)$/;
/** The units of the table's own columns that can give points their colours. */
const OWN = { category: "", precision: "", time: "s", self_time: "s", count: "plain", flops: "FLOP" } as const;

/** Returns the title and the unit of a column of the file. If its name ends with a unit, the column has this unit. */
export function titleAndUnit(name: string): readonly [title: string, unit: Unit] {
  const unit = UNIT.exec(name);
  return [unit ? name.slice(0, unit.index) : name, (unit?.[1] as Unit | undefined) ?? "plain"];
}

/** Returns the title and the unit of a column that gives points their colours. */
export function colourTitle(key: string): readonly [title: string, unit: Unit] {
  if (!Object.hasOwn(OWN, key)) return titleAndUnit(key);
  const own = key as keyof typeof OWN;
  return [words.heads[own], OWN[own] || "plain"];
}

/** Formats a value of a column. `operation` is what the text has for FLOP. */
export function formatValue(value: number, unit: Unit, digits?: number, operation: Operation = "FLOP"): string {
  if (unit === "FLOP/B") return formatIntensity(value, 3, `${operation}/B`);
  // A whole number without a unit may be an identifier, so it is not rounded.
  if (unit === "plain") return Number.isSafeInteger(value) ? String(value) : formatSignificant(value, 4);
  return formatQuantity(value, unit.replace("FLOP", operation) as Quantity, digits);
}
