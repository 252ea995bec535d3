// The clock of the focus chip as a what-if: a clock that was typed, or the clock that a power cap leaves.

import { clockOf } from "../../roofline/clock.ts";
import type { Roof } from "../../roofline/roofline.ts";
import type { Store } from "../../state/store.ts";
import { formatQuantity } from "../../text/numbers.ts";
import { readNumber } from "../../text/written.ts";
import { Fault, TypedBox, useTypedValue } from "../../ui/number_box.tsx";
import { strings, words } from "../../words/words.ts";

/** The clocks that the box takes, Hz. */
const [MIN_HZ, MAX_HZ] = [1e6, 1e11];

export function Clock({ store, roof }: { readonly store: Store; readonly roof: Roof }) {
  const sheet = roof.chip.clock;
  function set(hertz: number) {
    entry.clear();
    store.rates.useClock(hertz);
  }
  const back = () => sheet !== null && set(sheet);
  const entry = useTypedValue(parseClock, set, back);
  if (sheet === null) return null;
  const now = clockOf(roof);
  return (
    <>
      <div class="rw-row" data-rw="clock">
        <span>{words.clock}</span>
        <TypedBox
          entry={entry}
          label={words.clockTyped}
          shown={now === undefined ? "" : formatQuantity(now, "Hz", 4)}
          hint={words.changed}
          title={words.clockTitle}
          lock={store.lesson.lockNote("peak_flops") ?? store.lesson.lockNote("bandwidth")}
          reset={{ label: strings.reset, done: now === sheet, act: back }}
        />
      </div>
      <Fault entry={entry} />
    </>
  );
}

/** Reads a clock that the user typed. If it is not valid, returns a sentence that says so, with an example. */
function parseClock(typed: string): number | string {
  const example = formatQuantity(1.2e9, "Hz");
  const found = readNumber(typed, "Hz", example);
  return typeof found === "number" && found >= MIN_HZ && found <= MAX_HZ
    ? found
    : strings.noNumber(typed.trim(), example);
}
