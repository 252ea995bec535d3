// The slice of the chips and their rates: which chips are shown, which has the focus, and what-ifs of its rates.

import { computed } from "@preact/signals";
import { ratesAtClock } from "../roofline/clock.ts";
import { measuredRates, type Peaks, peaksInUse } from "../roofline/measured_rates.ts";
import { ALL_LEVELS, isRoof, NETWORK } from "../roofline/roofline.ts";
import { MAX_RATE, MIN_RATE } from "../text/numbers.ts";
import { isEqual } from "../ui/equal.ts";
import type { Chip, Quantity, WhatIf } from "../wire/types.ts";
import type { Derived } from "./derived.ts";
import type { ChangeOptions, Edits, Gesture, Receivers, Restorable } from "./edits.ts";
import { type Locks, lockOf } from "./locks.ts";

/** Identifies a rate of the focus chip. */
export interface RateKey {
  readonly quantity: Quantity;
  /**
   * The memory level of a bandwidth. Given only if this level differs from the level of the roof. "network" is the link,
   * which alone has a latency.
   */
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
/** The latencies that the widget accepts, s. Python has the same limits. */
const LATENCIES: RateLimits = { low: 1e-15, high: 1e6, stops: [] };

export function createRates(
  edits: Edits,
  { focusRoof, focusLink, roofs, shownRoofs }: Pick<Derived, "focusRoof" | "focusLink" | "roofs" | "shownRoofs">,
  { isLocked, guard }: Pick<Locks, "isLocked" | "guard">,
) {
  const { signals, edit, put } = edits;
  const { whatIf, chips, addedChips, shown, focusChip, ranges, snap } = signals;
  const shownChips = computed(() => chips.value.filter(({ id }) => shown.value.includes(id)));
  /** The current rates of the active drag. */
  let dragged: readonly ChangedRate[] = [];
  const amongChips = (entry: WhatIf): WhatIf =>
    Object.fromEntries(Object.entries(entry).filter(([id]) => chips.value.some((chip) => chip.id === id)));

  function rateOf({ quantity, level }: RateKey, rate?: number): ChangedRate | undefined {
    if (level === NETWORK) {
      const one = focusLink.value;
      if (!one || one.isFixed) return undefined;
      const [now, sheet] = quantity === "latency" ? [one.latency, one.sheetLatency] : [one.bandwidth, one.sheet];
      return { chip: one.chip.id, quantity, key: NETWORK, rate: rate ?? now, sheet };
    }
    const roof = focusRoof.value;
    if (!roof) return undefined;
    const memory = roof.levels.find(({ name }) => name === (level ?? roof.level));
    const [key, now, sheet] =
      quantity === "peak_flops"
        ? [roof.precision, roof.peak, roof.sheetPeak]
        : [memory?.name ?? roof.level, memory?.bandwidth ?? roof.bandwidth, memory?.sheet ?? roof.sheetBandwidth];
    return { chip: roof.chip.id, quantity, key, rate: rate ?? now, sheet };
  }
  // Computed, so that a drag does not render the controls whose limits it does not change.
  const focusLevel = computed(() => focusRoof.value?.level);
  function rateLimits({ quantity, level }: RateKey): RateLimits {
    if (quantity === "latency") return LATENCIES;
    const isLimited = quantity === "peak_flops" || level === undefined || level === focusLevel.value;
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
    const free = wanted.filter(({ quantity }) => !isLocked(lockOf(quantity)));
    const rates = free.flatMap((one) => rateOf(one, allowedRate(one, one.rate)) ?? []);
    if (rates.length === 0) return;
    dragged = rates;
    const series = rates.map(({ chip, quantity, key }) => `${chip} ${quantity} ${key}`).join();
    edits.set({ whatIf: withRates(whatIf.value, rates) }, { stream, series });
  }
  /**
   * If no chip has a choice, such as a precision, Python refuses the choice. Therefore undo does not restore the choice,
   * nor the what-if of a chip that the model no longer has.
   */
  const some = (has: (chip: Chip) => boolean) => chips.value.some(has);
  const sameWord = (one: string, other: string) => one.toLowerCase() === other.toLowerCase();
  const restorable: Restorable = {
    whatIf: amongChips,
    shown(ids) {
      const left = ids.filter((id) => some((chip) => chip.id === id));
      return left.length > 0 || ids.length === 0 ? left : undefined;
    },
    focusChip: (id) => (some((chip) => chip.id === id) ? id : undefined),
    precision: (name) => (name === "auto" || some(({ peaks }) => peaks.has(name)) ? name : undefined),
    memory: (name) =>
      name === "main" || name === ALL_LEVELS || some(({ memories }) => memories.has(name)) ? name : undefined,
    link: (name) =>
      name === "" || some(({ links }) => links.some((one) => one.name === name && one.bandwidth !== null))
        ? name
        : undefined,
    ceilings: (names) =>
      names?.filter((name) =>
        some(({ ceilings, peaks }) => peaks.has(name) || ceilings.some(({ key }) => sameWord(key, name))),
      ) ?? null,
  };
  /** Drops what needs chips that the model no longer has, and ends a drag of their rates. */
  function forgetChips() {
    for (const [name, usable] of Object.entries(restorable))
      edits.reviseHistory(name as "shown", usable as (entry: readonly string[]) => readonly string[] | undefined);
    const isGone = !some(({ id }) => id === dragged[0]?.chip);
    if (edits.isDragged("whatIf") && isGone) edits.replace({ whatIf: edits.received("whatIf") });
  }

  const show = (ids: readonly string[]) =>
    put({ shown: chips.value.map((chip) => chip.id).filter((id) => ids.includes(id)) });
  function giveFocus(id: string) {
    if (!shown.value.includes(id)) show([...shown.value, id]);
    put({ focusChip: id });
  }
  function toggle(id: string) {
    const on = !shown.value.includes(id);
    show(on ? [...shown.value, id] : shown.value.filter((other) => other !== id));
    const next = shown.value[0];
    if (!shown.value.includes(focusChip.value) && next !== undefined) giveFocus(next);
  }
  function addChips(ids: readonly string[], { focus: isFocus = false } = {}) {
    const last = ids.at(-1);
    if (last === undefined) return;
    edit(() => {
      const added = ids.filter((id) => !some((chip) => chip.id === id));
      if (added.length > 0) put({ addedChips: [...addedChips.value, ...added] });
      show([...shown.value, ...ids]);
      if (isFocus || !focusRoof.value || !shown.value.includes(focusChip.value)) giveFocus(last);
    });
  }
  /**
   * Chooses a precision or a memory. If the focus chip lacks the choice, a shown chip that has the choice becomes the
   * focus chip, unless the chips are locked.
   */
  const choose = (choice: { readonly precision: string } | { readonly memory: string }) =>
    edit(() => {
      put(choice);
      const able = shownRoofs.value[0];
      if (!focusRoof.value && able && !isLocked("chips")) giveFocus(able.chip.id);
    });
  return {
    restorable,
    receivers: {
      chips(_, accept) {
        accept();
        forgetChips();
      },
    } satisfies Receivers,
    slice: {
      peaksInUse: computed(() => peaksInUse(shownChips.value, whatIf.value)),
      ...guard("chips", {
        addChip: (id: string, how?: { readonly focus?: boolean }) => addChips([id], how),
        addChips,
        removeChip: (id: string) =>
          edit(() => {
            if (shown.value.includes(id)) toggle(id);
            put({ addedChips: addedChips.value.filter((other) => other !== id) });
          }),
        focus: (id: string) => edit(() => giveFocus(id)),
        toggle: (id: string) => edit(() => toggle(id)),
      }),
      ...guard("precision", { choosePrecision: (precision: string) => choose({ precision }) }),
      ...guard("memory", { chooseMemory: (memory: string) => choose({ memory }), setLink: edits.setter("link") }),
      ...guard("view", { setTopology: edits.setter("topology") }),
      setExposedRoofs: (exposedRoofs: readonly number[], { stream = false }: ChangeOptions = {}) =>
        edits.set({ exposedRoofs }, { stream, series: "exposedRoofs" }),
      dragExposedRoofs: () => edits.dragOf("exposedRoofs"),
      toggleCeiling(key: string) {
        const before = signals.ceilings.value ?? focusRoof.value?.chip.ceilings.map((ceiling) => ceiling.key) ?? [];
        const others = before.filter((other) => !sameWord(other, key));
        edits.set({ ceilings: others.length < before.length ? others : [...before, key] });
      },
      setCeilings: edits.setter("ceilings"),
      setAllLevels: edits.setter("allLevels"),
      usePeaks(peaks: Peaks) {
        if (isLocked("peak_flops") || isLocked("bandwidth")) return;
        const rates = chips.value.flatMap((chip) =>
          measuredRates(chip).map((one) => ({
            ...one,
            chip: chip.id,
            rate: allowedRateOf(chip, one, peaks === "printed" ? one.sheet : one.rate),
          })),
        );
        edits.set({ whatIf: withRates(whatIf.value, rates) }, { stream: false });
      },
      useClock(hertz: number) {
        const chip = chips.value.find(({ id }) => id === focusChip.value);
        if (!chip || isLocked("peak_flops") || isLocked("bandwidth")) return;
        const rates = ratesAtClock(chip, hertz).map((one) => ({
          ...one,
          chip: chip.id,
          rate: allowedRateOf(chip, one, one.rate),
        }));
        edits.set({ whatIf: withRates(whatIf.value, rates) }, { stream: false });
      },
      rateNow: (key: RateKey) => rateOf(key)?.rate,
      rateLimits,
      allowedRate,
      setRate: (quantity: Quantity, rate: number, { stream = false, level }: ChangeOptions & Partial<RateKey> = {}) =>
        setRates([{ quantity, rate, level }], { stream }),
      dragRates(...keys: RateKey[]): Gesture<readonly number[]> {
        const start = keys.flatMap((key) => (isLocked(lockOf(key.quantity)) ? [] : (rateOf(key) ?? [])));
        dragged = start;
        return edits.startGesture({
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
  const rates = Object.is(rate, sheet) ? otherRates : { ...otherRates, [key]: rate };
  const quantities = isEqual(rates, {}) ? otherQuantities : { ...otherQuantities, [quantity]: rates };
  return isEqual(quantities, {}) ? otherChips : { ...otherChips, [chip]: quantities };
}
