// The pills of the toolbar: one for each chip, with a switch that shows and hides its roof.

import { computed } from "@preact/signals";
import { useMemo, useRef } from "preact/hooks";
import { roofColours } from "../../chart/scene.ts";
import type { Theme } from "../../chart/theme.ts";
import type { Store } from "../../state/store.ts";
import { shortNames } from "../../text/names.ts";
import { reasonOf, shortReasonOf } from "../../text/reasons.ts";
import { Button, lockedBy } from "../../ui/button.tsx";
import type { Chip } from "../../wire/types.ts";
import { strings } from "../../words/words.ts";
import { byGeneration, groupBy, pillsOf } from "./picking.ts";

interface PillOf {
  readonly chip: Chip;
  readonly name: string;
}

/** Returns the chips that have a pill, by vendor and generation. */
export function usePills(store: Store, hasChips: boolean): readonly PillOf[] {
  const before = useRef<readonly string[]>([]);
  const chips = store.rates.chips.value;
  if (!hasChips) return [];
  const pills = pillsOf(chips, store.rates.shown.value, store.rates.focusChip.value, before.current);
  before.current = pills.map(({ id }) => id);
  const names = shortNames(chips);
  return groupBy(pills, ({ vendor }) => vendor)
    .flatMap(([, group]) => byGeneration(group))
    .map((chip) => ({ chip, name: names.get(chip.id) ?? chip.name }));
}

interface PillsProps {
  readonly store: Store;
  readonly theme: Theme;
  readonly pills: readonly PillOf[];
  /** Returns the attributes of a button of the toolbar. */
  own(name: string): object;
}

export function Pills({ store, theme, pills, own }: PillsProps) {
  // Computed, so that a drag, which changes the roofs and the points, does not render the pills.
  const colours = useMemo(() => computed(() => roofColours(store, theme)), [store, theme]).value;
  const lock = store.lesson.lockNote("chips");
  return (
    <div class="rw-pills">
      {pills.map(({ chip, name }) => {
        const missing = store.rates.lacking.value.get(chip.id);
        const isOn = store.rates.shown.value.includes(chip.id);
        const isFocus = store.rates.focusChip.value === chip.id;
        const reason = missing && reasonOf(chip, missing);
        const colour = colours.get(chip.id) ?? theme.text;
        const looks = [isFocus && "focus", missing && "lacking", !isOn && "off"].filter(Boolean);
        return (
          <span key={chip.id} class={["rw-pill", ...looks.map((look) => `rw-${look}`)].join(" ")}>
            <Button
              {...own(`${chip.id} dot`)}
              look="toggle"
              data-chip={chip.id}
              aria-pressed={isOn}
              aria-label={strings.show(chip.name)}
              {...lockedBy(lock, strings.show(chip.name))}
              onClick={() => store.rates.toggle(chip.id)}
            >
              <svg width={12} height={12} aria-hidden="true">
                <circle
                  cx={6}
                  cy={6}
                  r={4}
                  fill={isOn && !missing ? colour : "none"}
                  stroke={colour}
                  stroke-width={1.5}
                />
              </svg>
            </Button>
            <Button
              {...own(chip.id)}
              look="name"
              aria-current={isFocus}
              aria-disabled={lock !== undefined}
              title={reason ?? lock ?? strings.focus(chip.name)}
              onClick={() => store.rates.focus(chip.id)}
            >
              {name}
              {missing && <small> {shortReasonOf(missing)}</small>}
            </Button>
          </span>
        );
      })}
    </div>
  );
}
