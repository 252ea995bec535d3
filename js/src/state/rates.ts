// The what-if rates of the focus chip, and the drags that change these rates.

import { computed } from "@preact/signals";
import { measuredRates, type Peaks, peaksInUse } from "../roofline/measured_rates.ts";
import { isRoof } from "../roofline/roofline.ts";
import { MAX_RATE, MIN_RATE } from "../text/numbers.ts";
import type { Chip, Quantity, WhatIf } from "../wire/types.ts";
import type { Derived } from "./derived.ts";
import type { Locks } from "./locks.ts";
import { type ChangeOptions, type Gesture, isEqual, type Sync } from "./sync.ts";

/** Identifies a rate of the focus chip. */
export interface RateKey {
  readonly quantity: Quantity;
  /** The memory level of a bandwidth. Given only if this level differs from the level of the roof. */
  readonly level?: string | undefined;
}

interface ChangedRate {
  readonly chip: string;
  readonly quantity: Quantity;
  /** The precision of a peak, or the memory level of a bandwidth. */
  readonly key: string;
  readonly rate: number;
  readonly sheet: number;
}

/** The rates that a learner may set. */
export interface RateLimits {
  readonly low: number;
  readonly high: number;
  /** The only rates, in ascending order. Empty if each rate from `low` to `high` is allowed. */
  readonly stops: readonly number[];
}

const UNLIMITED: RateLimits = { low: MIN_RATE, high: MAX_RATE, stops: [] };

export function createRates(
  sync: Sync,
  { focusRoof, roofs }: Pick<Derived, "focusRoof" | "roofs">,
  { isLocked }: Pick<Locks, "isLocked">,
) {
  const { whatIf, chips, shown, ranges, snap } = sync.signals;
  const shownChips = computed(() => chips.value.filter(({ id }) => shown.value.includes(id)));
  /** The current rates of the active drag. */
  let dragged: readonly ChangedRate[] = [];
  const amongChips = (entry: WhatIf): WhatIf =>
    Object.fromEntries(Object.entries(entry).filter(([id]) => chips.value.some((chip) => chip.id === id)));

  function rateOf({ quantity, level }: RateKey, rate?: number): ChangedRate | undefined {
    const roof = focusRoof.value;
    if (!roof) return undefined;
    const memory = roof.levels.find(({ name }) => name === (level ?? roof.level));
    const [key, now, sheet] =
      quantity === "peak_flops"
        ? [roof.precision, roof.peak, roof.sheetPeak]
        : [memory?.name ?? roof.level, memory?.bandwidth ?? roof.bandwidth, memory?.sheet ?? roof.sheetBandwidth];
    return { chip: roof.chip.id, quantity, key, rate: rate ?? now, sheet };
  }
  function rateLimits(key: RateKey): RateLimits {
    const { quantity } = key;
    const isLimited = quantity === "peak_flops" || rateOf(key)?.key === focusRoof.value?.level;
    return isLimited ? limitsOf(quantity) : UNLIMITED;
  }
  function limitsOf(quantity: Quantity): RateLimits {
    const [low = MIN_RATE, high = MAX_RATE] = ranges.value[quantity] ?? [];
    return { low, high, stops: (snap.value[quantity] ?? []).filter((stop) => low <= stop && stop <= high) };
  }
  const allowedRate = (key: RateKey, rate: number) => nearestRate(rateLimits(key), rate);
  /** Returns the allowed rate that is nearest to a measured or printed rate of a chip. */
  function allowedRateOf(chip: Chip, { quantity, key }: Pick<ChangedRate, "quantity" | "key">, rate: number): number {
    const roof = roofs.value.get(chip.id);
    const isLimited = quantity === "peak_flops" || (roof && isRoof(roof) && roof.level === key);
    return isLimited ? nearestRate(limitsOf(quantity), rate) : rate;
  }
  function nearestRate({ low, high, stops }: RateLimits, rate: number): number {
    const within = Math.max(low, Math.min(high, rate));
    const away = (stop: number) => Math.abs(Math.log(stop / within));
    return stops.reduce((best, stop) => (away(stop) < away(best) ? stop : best), stops[0] ?? within);
  }
  /**
   * Changes those rates of the focus chip that are not locked, to allowed rates. If a rate equals the rate of the data
   * sheet, the rate is removed from the what-ifs.
   */
  function setRates(wanted: readonly (RateKey & { readonly rate: number })[], { stream = true }: ChangeOptions = {}) {
    const free = wanted.filter(({ quantity }) => !isLocked(quantity));
    const rates = free.flatMap((one) => rateOf(one, allowedRate(one, one.rate)) ?? []);
    if (rates.length === 0) return;
    dragged = rates;
    const series = rates.map(({ chip, quantity, key }) => `${chip} ${quantity} ${key}`).join();
    sync.set({ whatIf: withRates(whatIf.value, rates) }, { stream, series });
  }
  return {
    /** Undo must not restore the what-if of a chip that the model no longer has. */
    restorable: amongChips,
    /**
     * Handles changed chips. Drops the what-ifs of chips that the model no longer has, and ends a drag of the rates of
     * these chips.
     */
    forgetChips() {
      sync.reviseHistory("whatIf", amongChips);
      const isGone = !chips.value.some(({ id }) => id === dragged[0]?.chip);
      if (sync.isDragged("whatIf") && isGone) sync.replace({ whatIf: sync.received("whatIf") });
    },
    peaksInUse: computed(() => peaksInUse(shownChips.value, whatIf.value)),
    actions: {
      usePeaks(peaks: Peaks) {
        if (isLocked("peak_flops") || isLocked("bandwidth")) return;
        const rates = chips.value.flatMap((chip) =>
          measuredRates(chip).map((one) => ({
            ...one,
            chip: chip.id,
            rate: allowedRateOf(chip, one, peaks === "printed" ? one.sheet : one.rate),
          })),
        );
        sync.set({ whatIf: withRates(whatIf.value, rates) }, { stream: false });
      },
      rateNow: (key: RateKey) => rateOf(key)?.rate,
      rateLimits,
      allowedRate,
      setRate: (quantity: Quantity, rate: number, { stream = false, level }: ChangeOptions & Partial<RateKey> = {}) =>
        setRates([{ quantity, rate, level }], { stream }),
      dragRates(...keys: RateKey[]): Gesture<readonly number[]> {
        const start = keys.flatMap((key) => (isLocked(key.quantity) ? [] : (rateOf(key) ?? [])));
        dragged = start;
        return sync.startGesture({
          traits: start.length > 0 ? ["whatIf"] : [],
          move: (rates) => setRates(keys.map((key, at) => ({ ...key, rate: rates[at] as number }))),
          merge: (fromPython) => withRates(fromPython, dragged),
          restore: () => (start.length > 0 ? { whatIf: withRates(whatIf.value, start) } : {}),
        });
      },
    },
  };
}

/** Returns the what-ifs with these rates changed. As in Python, the result contains no empty mappings. */
const withRates = (whatIf: WhatIf, rates: readonly ChangedRate[]) => rates.reduce(withRate, whatIf);

function withRate(whatIf: WhatIf, { chip, quantity, key, rate, sheet }: ChangedRate): WhatIf {
  const { [chip]: ofChip = {}, ...otherChips } = whatIf;
  const { [quantity]: ofQuantity = {}, ...otherQuantities } = ofChip;
  const { [key]: _, ...otherRates } = ofQuantity;
  const rates = rate === sheet ? otherRates : { ...otherRates, [key]: rate };
  const quantities = isEqual(rates, {}) ? otherQuantities : { ...otherQuantities, [quantity]: rates };
  return isEqual(quantities, {}) ? otherChips : { ...otherChips, [chip]: quantities };
}
