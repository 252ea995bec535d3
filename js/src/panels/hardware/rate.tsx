// The slider for one rate of the focus chip, on a log scale, with a box to type a value. The slider has marks at the
// rates of the shown chips.

import { untracked } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { clamp } from "../../chart/scales.ts";
import { lockOf } from "../../state/locks.ts";
import type { RateLimits } from "../../state/rates.ts";
import type { Store } from "../../state/store.ts";
import { factorOf } from "../../text/describe.ts";
import { formatQuantity, MAX_RATE, MIN_RATE, parseRate, type RateUnit, spokenRate } from "../../text/numbers.ts";
import { readNumber } from "../../text/written.ts";
import { TypedBox, useTypedValue } from "../../ui/number_box.tsx";
import { KEY_STEPS, Slider } from "../../ui/slider.tsx";
import type { Quantity } from "../../wire/types.ts";
import { networkWords, strings } from "../../words/words.ts";
import { PeaksMenu } from "./peaks.tsx";

/** A dragged value snaps to a mark that is nearer than this share of the track. */
const SNAP = 0.012;
const DECADES_PER_STEP = 0.01;

interface RateProps {
  readonly store: Store;
  readonly quantity: Quantity;
  /** The name of the memory level whose bandwidth the slider sets. Undefined if there is only one bandwidth slider. */
  readonly level?: string | undefined;
  /** The unit of a latency is "s". */
  readonly unit: RateUnit | "s";
  readonly label: string;
  readonly spoken: string;
  readonly value: number;
  readonly sheet: number;
  /** The rates of the shown chips, with the chips' names. */
  readonly marks: readonly (readonly [chip: string, rate: number])[];
  /**
   * The rates of all chips. The track ends a decade beyond these rates, so the track does not depend on which chips are
   * shown.
   */
  readonly reach: readonly number[];
  /** Whether the chip also has a measured rate here. */
  readonly isMeasured: boolean;
  /** Says why the value cannot be changed, if a lesson does not lock it. */
  readonly fixed?: string | undefined;
}

/** Memoized by value, so that a drag of another rate does not redraw this slider. */
export function Rate(props: RateProps) {
  const { marks, reach, ...shown } = props;
  return useMemo(() => <Control {...props} />, [...Object.values(shown), ...marks.flat(), ...reach]);
}

function Control({
  store,
  quantity,
  level,
  unit,
  label,
  spoken,
  value,
  sheet,
  marks,
  reach,
  isMeasured,
  fixed,
}: RateProps) {
  const all = [...new Set([...marks.map(([, rate]) => rate), sheet])].filter((rate) => rate > 0);
  const known = [...all, ...reach.filter((rate) => rate > 0)];
  const key = { quantity, level };
  const limits = store.rates.rateLimits(key);
  const { stops } = limits;
  const isLimited = unit !== "s" && (limits.low > MIN_RATE || limits.high < MAX_RATE);
  const low = isLimited ? Math.log10(limits.low) : floorOf(known, limits.low);
  const high = isLimited ? Math.log10(limits.high) : ceilingOf(known);
  const lock = store.lesson.lockNote(lockOf(quantity)) ?? fixed;
  const isAllowed = (rate: number) => store.rates.allowedRate(key, rate) === rate;
  function titleOf(rate: number) {
    const chips = marks.filter(([, other]) => other === rate).map(([chip]) => chip);
    return [chips.join(", "), formatQuantity(rate, unit, 4)].filter(Boolean).join(": ");
  }
  const isKnown = !Number.isNaN(value);
  const shown = isKnown ? formatQuantity(value, unit, 4) : "";

  const set = (rate: number, stream = false) => {
    entry.clear();
    store.rates.setRate(quantity, rate, level === undefined ? { stream } : { stream, level });
  };
  const entry = useTypedValue(
    (typed) => (unit === "s" ? parseSeconds(typed, limits) : parseRate(typed, unit, value)),
    set,
    () => set(sheet),
  );
  const fault = entry.fault.value;
  useEffect(() => {
    if (!fault) return;
    store.view.say(fault, { isFault: true, stays: true });
    return () => store.view.say("");
  }, [fault]);
  const limited = (exponent: number) => clamp(exponent, low, high);
  /**
   * Each key steps from the present rate, so the slider follows it at once. During a drag the slider is drawn again only
   * at the pace of `value`, but with the present rate: `value` would move the thumb back.
   */
  const present = () => store.rates.rateNow(key) ?? value;

  function slide(position: number, isDragged: boolean) {
    const near = (rate: number) => Math.abs(Math.log10(rate) - position) < SNAP * (high - low);
    set((isDragged ? all.find(near) : undefined) ?? 10 ** position, isDragged);
  }
  function keyed(pressed: string) {
    const step = KEY_STEPS[pressed];
    if (step === undefined) return undefined;
    const to = () => limited(Math.log10(present()) + step * DECADES_PER_STEP);
    return () => set(stops.length > 0 ? stopAfter(stops, present(), step) : 10 ** to(), true);
  }
  const ticks = useMemo(
    () => (
      <div class="rw-marks" aria-hidden="true">
        {(stops.length > 0 ? stops : all.filter(isAllowed)).map((rate) => (
          <i
            key={rate}
            title={titleOf(rate)}
            class={rate === sheet ? "rw-mark rw-sheet" : "rw-mark"}
            style={{ left: `${((Math.log10(rate) - low) / (high - low)) * 100}%` }}
          />
        ))}
      </div>
    ),
    [...marks.flat(), sheet, low, high, ...stops],
  );

  return (
    <div class="rw-rate" data-rw="slider" data-quantity={quantity}>
      <span class="rw-rate-name" aria-hidden="true">
        {label.replaceAll("/", "/\u200b")}
      </span>
      <div class="rw-track">
        {ticks}
        <Slider
          label={spoken}
          min={low}
          max={high}
          step={stops.length > 0 ? "any" : 0.001}
          lock={lock ?? (isKnown ? undefined : networkWords.typeLatency)}
          isStepped={stops.length > 0}
          shown={() => {
            const rate = store.view.isHeld.value ? untracked(present) : present();
            const text = [formatQuantity(rate, unit), sheet > 0 && factorOf(rate, sheet)].filter(Boolean).join(" · ");
            if (Number.isNaN(rate)) return [low, networkWords.unknown];
            return [
              limited(Math.log10(rate)),
              unit === "s" ? formatQuantity(rate, unit) : spokenRate(rate, unit),
              text,
            ];
          }}
          start={() => store.rates.dragRates(key)}
          slide={slide}
          keyed={keyed}
        />
      </div>
      <TypedBox
        entry={entry}
        label={strings.typed(spoken)}
        shown={shown}
        hint={networkWords.unknown}
        title={sheet > 0 ? factorOf(value, sheet) : undefined}
        lock={lock}
        reset={{
          label: `${strings.reset}: ${spoken}`,
          title: `${strings.reset}: ${sheet > 0 ? formatQuantity(sheet, unit, 4) : networkWords.unknown}`,
          done: Object.is(value, sheet) || !(Number.isNaN(sheet) || isAllowed(sheet)),
          act: () => set(sheet),
        }}
      >
        {isMeasured && <PeaksMenu store={store} />}
      </TypedBox>
      {fault && (
        <span id={entry.faultId} class="rw-spoken">
          {fault}
        </span>
      )}
    </div>
  );
}

/** A latency that is typed without a unit is below this, s. */
const MIN_BARE_SECONDS = 1e-3;

/** Reads a latency that the user typed. If it is not valid, returns a sentence that says so, with an example. */
export function parseSeconds(typed: string, { low, high }: RateLimits): number | string {
  const example = formatQuantity(18e-6, "s");
  const found = readNumber(typed, "s", example);
  // A bare 18 means microseconds, and would be read as seconds.
  if (typeof found === "number" && found >= MIN_BARE_SECONDS && /\d$/.test(typed.trim()))
    return strings.unitMissing(typed.trim(), example);
  return typeof found === "number" && found >= low && found <= high ? found : strings.noNumber(typed.trim(), example);
}

/** The ends of the track, as exponents of ten: about a decade beyond the rates. */
const floorOf = (rates: readonly number[], least: number) =>
  Math.max(Math.log10(least), Math.floor(Math.log10(Math.min(...rates))) - 1);
const ceilingOf = (rates: readonly number[]) =>
  Math.min(Math.log10(MAX_RATE), Math.ceil(Math.log10(Math.max(...rates))) + 1);

/** Returns the next stop above `rate` if `step` is positive, otherwise the next stop below. */
function stopAfter(stops: readonly number[], rate: number, step: number): number {
  const ahead = stops.filter((stop) => (stop - rate) * step > 0);
  return (step > 0 ? ahead[0] : ahead.at(-1)) ?? rate;
}
