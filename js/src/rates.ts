// The what-if rates of the focus chip, and the control that holds one: until it is let go, Python's word on it waits.

import { type Signal, signal } from "@preact/signals";
import type { Outbox } from "./outbox.ts";
import type { Roof } from "./roofline.ts";
import { type Rate, withRate } from "./whatif.ts";
import type { Chip, Quantity, WhatIf } from "./wire.ts";

interface Asked {
  readonly stream?: boolean;
  readonly level?: string | undefined;
}

interface Parts {
  /** Whether a control is held. */
  readonly held: Signal<boolean>;
  readonly outbox: Outbox;
  /** What Python says. */
  told(): WhatIf;
  focusRoof(): Roof | undefined;
}

export function createRates({ held, outbox, told, focusRoof }: Parts) {
  const whatIf = signal<WhatIf>({});
  let grip: (Rate & { moved: boolean }) | undefined;

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
  /** Change a rate of the focus chip, a bandwidth at another `level` too; at its data sheet's the what-if is gone. */
  function setRate(quantity: Quantity, rate: number, { stream = false, level }: Asked = {}) {
    const change = rateOf(quantity, level, rate);
    if (!change) return;
    if (grip) grip = { ...change, moved: true };
    whatIf.value = withRate(whatIf.value, change);
    outbox.tell("what_if", whatIf.value, { stream });
  }
  function hold(quantity: Quantity, level?: string) {
    const rate = rateOf(quantity, level);
    if (!rate) return;
    grip = { ...rate, moved: false };
    held.value = true;
  }
  function release() {
    const moved = grip?.moved;
    grip = undefined;
    held.value = false;
    outbox.send();
    if (!moved) whatIf.value = told();
  }
  return {
    whatIf,
    take: (wire: WhatIf) => {
      const next = grip ? withRate(wire, grip) : wire;
      // What was told from here comes back: as a change it would have all drawn again.
      if (JSON.stringify(next) !== JSON.stringify(whatIf.value)) whatIf.value = next;
    },
    /** A control of a chip that is gone holds nothing. */
    keepAmong: (chips: readonly Chip[]) => {
      const gone = grip?.chip;
      if (gone === undefined || chips.some(({ id }) => id === gone)) return;
      outbox.drop("what_if");
      grip = undefined;
      held.value = false;
      whatIf.value = told();
    },
    actions: { setRate, hold, release },
  };
}
