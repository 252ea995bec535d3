// A what-if mapping with one rate changed: as Python would write it, without empty parts.

import type { Quantity, WhatIf } from "../wire/types.ts";

export interface Rate {
  readonly chip: string;
  readonly quantity: Quantity;
  /** The precision or the memory level. */
  readonly key: string;
  readonly rate: number;
  readonly sheet: number;
}

export function withRate(whatIf: WhatIf, { chip, quantity, key, rate, sheet }: Rate): WhatIf {
  const chips = new Map(Object.entries(whatIf));
  const quantities = new Map(Object.entries(chips.get(chip) ?? {}));
  const rates = new Map(Object.entries(quantities.get(quantity) ?? {}));
  if (rate === sheet) rates.delete(key);
  else rates.set(key, rate);
  if (rates.size > 0) quantities.set(quantity, Object.fromEntries(rates));
  else quantities.delete(quantity);
  if (quantities.size > 0) chips.set(chip, Object.fromEntries(quantities));
  else chips.delete(chip);
  return Object.fromEntries(chips);
}
