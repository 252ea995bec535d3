// What undo and redo have changed, in words.

import type { Chip, Quantity, WhatIf } from "../wire/types.ts";
import { toolWords as words } from "../words/words.ts";
import { shortNames } from "./names.ts";

/** The rates before and after a step. */
type Rates = readonly [before: WhatIf, after: WhatIf];

/** Returns what a step has changed. `parts`: the names of the parts of the state that have changed. */
export function changedText(parts: readonly string[], rates: Rates, chips: readonly Chip[]): string {
  const [part] = parts.filter((name) => name === "whatIf" || Object.hasOwn(words.parts, name));
  if (part === "whatIf") return rateText(rates, chips);
  return part === undefined ? words.parts.view : words.parts[part as keyof typeof words.parts];
}

function rateText([before, after]: Rates, chips: readonly Chip[]): string {
  const isChanged = (id: string, quantity: Quantity) =>
    JSON.stringify(before[id]?.[quantity] ?? {}) !== JSON.stringify(after[id]?.[quantity] ?? {});
  const names = shortNames(chips);
  const changed = [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((id) =>
    (["peak_flops", "bandwidth"] as const)
      .filter((quantity) => isChanged(id, quantity))
      .map((quantity) => words.rateOf[quantity](names.get(id) ?? id)),
  );
  return changed.length === 1 ? (changed[0] as string) : words.rates;
}
