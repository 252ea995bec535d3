// What undo and redo have changed, in words.

import { NETWORK } from "../roofline/roofline.ts";
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
  const names = shortNames(chips);
  const changed = [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((id) => {
    const of = (quantity: Quantity) => [before[id]?.[quantity] ?? {}, after[id]?.[quantity] ?? {}] as const;
    // What-ifs of the network are those of the first link.
    const link = chips.find((chip) => chip.id === id)?.links[0]?.name;
    return (["peak_flops", "bandwidth", "latency"] as const).flatMap((quantity) => {
      const [old, now] = of(quantity);
      const keys = Object.keys({ ...old, ...now }).filter((key) => old[key] !== now[key]);
      return keys.map((key) => words.rateOf[quantity]((key === NETWORK && link) || (names.get(id) ?? id)));
    });
  });
  const [first, ...others] = new Set(changed);
  return first === undefined || others.length > 0 ? words.rates : first;
}
