// The measured rates of a chip that can replace figures of its data sheet. Mirrors `achievable_rates` and `with_peaks`
// of `state/rates.py`.

import type { Chip, Quantity, WhatIf } from "../wire/types.ts";

export type Peaks = "printed" | "achievable";

/** A rate of a chip that replaces one of its data sheet. */
export interface ChipRate {
  readonly quantity: Quantity;
  /** The precision of a peak, or the memory level of a bandwidth. */
  readonly key: string;
  readonly rate: number;
  readonly sheet: number;
}

/** Returns the fastest measured rate under each peak and each published bandwidth. */
export function measuredRates(chip: Chip): readonly ChipRate[] {
  const fastest = new Map<string, ChipRate>();
  for (const { memory, precision, rate, measured } of chip.ceilings) {
    const quantity: Quantity = memory === null ? "peak_flops" : "bandwidth";
    const key = memory ?? precision ?? chip.precision;
    const sheet = (memory === null ? chip.peaks : chip.memories).get(key) ?? null;
    const place = `${quantity} ${key}`;
    if (!measured || sheet === null || rate < (fastest.get(place)?.rate ?? 0)) continue;
    fastest.set(place, { quantity, key, rate, sheet });
  }
  return [...fastest.values()];
}

/**
 * Returns which rates are in force where chips have measured rates: undefined if no chip has one, "changed" if neither
 * all printed nor all measured rates are in force.
 */
export function peaksInUse(chips: readonly Chip[], whatIf: WhatIf): Peaks | "changed" | undefined {
  const rates = chips.flatMap((chip) =>
    measuredRates(chip).map(({ quantity, key, rate, sheet }) => {
      const now = whatIf[chip.id]?.[quantity]?.[key] ?? sheet;
      return { isMeasured: now === rate, isPrinted: now === sheet };
    }),
  );
  if (rates.length === 0) return undefined;
  if (rates.every(({ isPrinted }) => isPrinted)) return "printed";
  return rates.every(({ isMeasured }) => isMeasured) ? "achievable" : "changed";
}
