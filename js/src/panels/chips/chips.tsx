// The bar: a pill for each of a few chips, grouped by vendor in the order of generations; the picker has the others.

import { useRef } from "preact/hooks";
import { chipColours, type Theme } from "../../chart/theme.ts";
import type { Store } from "../../state/store.ts";
import { shortNames } from "../../text/names.ts";
import { reasonOf, shortReasonOf } from "../../text/reasons.ts";
import { Button } from "../../ui/button.tsx";
import { useDisclosure } from "../../ui/disclosure.ts";
import type { Chip } from "../../wire/types.ts";
import { strings, words } from "../../words/words.ts";
import { Choices } from "./choices.tsx";
import { Picker } from "./picker.tsx";
import { byGeneration, groupBy, pillsOf } from "./picking.ts";

export function Chips({ store, theme }: { store: Store; theme: Theme }) {
  const chips = store.chips.value;
  const shown = store.shown.value;
  const before = useRef<readonly string[]>([]);
  const pills = pillsOf(chips, shown, store.focusChip.value, before.current);
  before.current = pills.map(({ id }) => id);
  const picker = useDisclosure();
  const colours = chipColours(chips, theme, shown);
  const names = shortNames(chips);
  const hidden = chips.length - pills.length;
  return (
    <>
      <div class="roofwidget-bar">
        <fieldset class="roofwidget-chips" aria-label={strings.chips}>
          {byVendor(pills).map(([vendor, group]) => (
            <div class="roofwidget-vendor" key={vendor}>
              <span class="roofwidget-muted">{vendor}</span>
              {group.map((chip) => (
                <Pill
                  key={chip.id}
                  chip={chip}
                  name={names.get(chip.id) ?? chip.name}
                  store={store}
                  colour={colours.get(chip.id) ?? theme.text}
                />
              ))}
            </div>
          ))}
          {hidden > 0 && (
            <button type="button" class="roofwidget-button" data-lm-suppress-shortcuts="true" {...picker.button}>
              {words.more(hidden)}
            </button>
          )}
        </fieldset>
        <Choices store={store} />
      </div>
      {hidden > 0 && picker.isOpen && <Picker opened={picker.opened} store={store} close={picker.close} />}
    </>
  );
}

interface PillProps {
  readonly chip: Chip;
  readonly name: string;
  readonly store: Store;
  readonly colour: string;
}

function Pill({ chip, name, store, colour }: PillProps) {
  const missing = store.lacking.value.get(chip.id);
  const on = store.shown.value.includes(chip.id);
  const isFocus = store.focusChip.value === chip.id;
  const reason = missing && reasonOf(chip, missing);
  return (
    <span
      class={`roofwidget-pill${isFocus ? " roofwidget-focus" : ""}${missing ? " roofwidget-lacking" : ""}`}
      title={reason}
      style={{ borderColor: isFocus && !missing ? colour : undefined }}
    >
      <Button
        look="name"
        aria-current={isFocus}
        title={reason ?? strings.focus(chip.name)}
        onClick={() => store.focus(chip.id)}
      >
        {name}
        {missing && <small> {shortReasonOf(missing)}</small>}
      </Button>
      <Button
        look="toggle"
        data-chip={chip.id}
        aria-pressed={on}
        aria-label={strings.show(chip.name)}
        onClick={() => store.toggle(chip.id)}
      >
        <svg width={16} height={16} aria-hidden="true">
          <circle cx={8} cy={8} r={6} fill={on && !missing ? colour : "none"} stroke={colour} stroke-width={2} />
        </svg>
      </Button>
    </span>
  );
}

function byVendor(chips: readonly Chip[]): [vendor: string, chips: readonly Chip[]][] {
  const other = chips.some(({ vendor }) => vendor) ? strings.otherVendor : "";
  return groupBy(chips, ({ vendor }) => vendor || other).map(([vendor, group]) => [vendor, byGeneration(group)]);
}
