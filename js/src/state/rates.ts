// The what-if rates of the focus chip, and the control that holds one: until it is let go, Python's word on it waits.

import { type Signal, signal } from "@preact/signals";
import type { Roof } from "../roofline/roofline.ts";
import type { Chip, Quantity, WhatIf } from "../wire/types.ts";
import { isEqual } from "./entries.ts";
import type { History } from "./history.ts";
import type { Outbox } from "./outbox.ts";
import { type Rate, withRate } from "./what_if.ts";

interface Asked {
  readonly stream?: boolean;
}

interface Parts {
  /** Whether a control is being dragged. */
  readonly dragging: Signal<boolean>;
  readonly outbox: Outbox;
  readonly history: History;
  /** What Python says. */
  told(): WhatIf;
  focusRoof(): Roof | undefined;
}

/** A rate that a control takes hold of. */
export interface RateKey {
  readonly quantity: Quantity;
  /** Of a bandwidth: another level than the roof's. */
  readonly level?: string | undefined;
}

export function createRates({ dragging, outbox, history, told, focusRoof }: Parts) {
  const whatIf = signal<WhatIf>({});
  let known: readonly Chip[] = [];
  let isFirst = true;
  const among = (entry: WhatIf): WhatIf =>
    Object.fromEntries(Object.entries(entry).filter(([id]) => known.some((chip) => chip.id === id)));
  const mine = history.add({
    here: () => whatIf.value,
    isSame: isEqual,
    restore: (entry: WhatIf) => {
      whatIf.value = among(entry);
      outbox.put("what_if", whatIf.value);
    },
  });
  let grip: { readonly rates: readonly Rate[]; readonly moved: boolean } | undefined;

  function rateOf(quantity: Quantity, level?: string, rate?: number): Rate | undefined {
    const roof = focusRoof();
    if (!roof) return undefined;
    const memory = roof.levels.find(({ name }) => name === (level ?? roof.level));
    const [key, now, sheet] =
      quantity === "peak_flops"
        ? [roof.precision, roof.peak, roof.sheetPeak]
        : [memory?.name ?? roof.level, memory?.bandwidth ?? roof.bandwidth, memory?.sheet ?? roof.sheetBandwidth];
    return { chip: roof.chip.id, quantity, key, rate: rate ?? now, sheet };
  }
  const withAll = (start: WhatIf, rates: readonly Rate[]) => rates.reduce(withRate, start);
  /** Change rates of the focus chip; at its data sheet's the what-if is gone. */
  function setRates(wanted: readonly (RateKey & { readonly rate: number })[], { stream = true }: Asked = {}) {
    const rates = wanted.flatMap(({ quantity, level, rate }) => rateOf(quantity, level, rate) ?? []);
    if (rates.length === 0) return;
    if (grip) grip = { rates, moved: true };
    const change = () => {
      whatIf.value = withAll(whatIf.value, rates);
    };
    const word = rates.map(({ chip, quantity, key }) => `${chip} ${quantity} ${key}`).join();
    history.change(change, stream ? word : undefined);
    outbox.tell("what_if", whatIf.value, { stream });
  }
  function holdRates(wanted: readonly RateKey[]) {
    const rates = wanted.flatMap(({ quantity, level }) => rateOf(quantity, level) ?? []);
    if (rates.length === 0) return;
    grip = { rates, moved: false };
    history.hold();
    dragging.value = true;
  }
  function release() {
    const moved = grip?.moved;
    grip = undefined;
    dragging.value = false;
    history.release();
    outbox.send();
    if (!moved) whatIf.value = told();
  }
  return {
    whatIf,
    take: (wire: WhatIf) => {
      const next = withAll(wire, grip?.rates ?? []);
      const change = () => {
        whatIf.value = next;
      };
      // What a model starts with is no change; what was told from here comes back, and would have all drawn again.
      if (isFirst) change();
      else if (!isEqual(next, whatIf.value)) history.change(change);
      isFirst = false;
    },
    /** A control of a chip that is gone holds nothing, and there is nothing of it to undo. */
    keepAmong: (chips: readonly Chip[]) => {
      known = chips;
      mine.revise(among);
      const gone = grip?.rates[0]?.chip;
      if (gone === undefined || chips.some(({ id }) => id === gone)) return;
      outbox.drop("what_if");
      grip = undefined;
      dragging.value = false;
      whatIf.value = told();
      history.release();
    },
    actions: {
      setRates,
      holdRates,
      release,
      /** One rate. */
      setRate: (quantity: Quantity, rate: number, { stream = false, level }: Asked & Partial<RateKey> = {}) =>
        setRates([{ quantity, rate, level }], { stream }),
      hold: (quantity: Quantity, level?: string) => holdRates([{ quantity, level }]),
    },
  };
}
