// The bar above the chart: a pill per chip, ordered by vendor and generation, and the selects for precision, memory and
// view.

import { useRef } from "preact/hooks";
import { chipColours, type Theme } from "../../chart/theme.ts";
import type { Store } from "../../state/store.ts";
import type { View } from "../../state/sync.ts";
import { shortNames } from "../../text/names.ts";
import { reasonOf, shortReasonOf } from "../../text/reasons.ts";
import { Button } from "../../ui/button.tsx";
import { useDisclosure } from "../../ui/disclosure.ts";
import { type Option, Select } from "../../ui/select.tsx";
import type { Chip } from "../../wire/types.ts";
import { openWords, strings, words } from "../../words/words.ts";
import { Opening } from "../opening.tsx";
import { Picker } from "./picker.tsx";
import { byGeneration, groupBy, pillsOf } from "./picking.ts";

export function Chips({ store, theme }: { store: Store; theme: Theme }) {
  const chips = store.chips.value;
  const shown = store.shown.value;
  const before = useRef<readonly string[]>([]);
  const pills = pillsOf(chips, shown, store.focusChip.value, before.current);
  before.current = pills.map(({ id }) => id);
  const picker = useDisclosure();
  const opening = useDisclosure();
  const colours = chipColours(chips, theme, shown);
  const names = shortNames(chips);
  const hidden = chips.length - pills.length;
  const lock = store.lockNote("chips");
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
          <button
            type="button"
            class="roofwidget-button"
            data-rw="add-chip"
            data-lm-suppress-shortcuts="true"
            {...picker.button}
            title={lock}
            disabled={lock !== undefined}
          >
            {hidden > 0 ? words.more(hidden) : words.addChip}
          </button>
        </fieldset>
        <div class="roofwidget-choices">
          <Choices store={store} />
          {store.openFiles.value !== "nothing" && (
            <button type="button" class="roofwidget-button" data-lm-suppress-shortcuts="true" {...opening.button}>
              {openWords.open}
            </button>
          )}
        </div>
      </div>
      {picker.isOpen && !lock && <Picker opened={picker.opened} store={store} close={picker.close} />}
      <Opening store={store} opened={opening.opened} isOpen={opening.isOpen} close={opening.close} />
    </>
  );
}

function Pill({ chip, name, store, colour }: { chip: Chip; name: string; store: Store; colour: string }) {
  const missing = store.lacking.value.get(chip.id);
  const on = store.shown.value.includes(chip.id);
  const isFocus = store.focusChip.value === chip.id;
  const reason = missing && reasonOf(chip, missing);
  const lock = store.lockNote("chips");
  return (
    <span
      class={`roofwidget-pill${isFocus ? " roofwidget-focus" : ""}${missing ? " roofwidget-lacking" : ""}`}
      title={reason}
      style={{ borderColor: isFocus && !missing ? colour : undefined }}
    >
      <Button
        look="name"
        aria-current={isFocus}
        aria-disabled={lock !== undefined}
        title={reason ?? lock ?? strings.focus(chip.name)}
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
        aria-disabled={lock !== undefined}
        title={lock}
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

export function Choices({ store }: { store: Store }) {
  const chips = store.chips.value;
  const common = store.commonPrecision.value;
  const own = (chip: Chip) => (common !== undefined && chip.peaks.has(common) ? common : chip.precision);
  const precisions = distinct(chips.flatMap((chip) => [...chip.peaks.keys()]));
  return (
    <>
      <Select
        label={strings.precision}
        value={store.precision.value}
        lock={store.lockNote("precision")}
        options={[["auto", strings.auto(distinct(chips.map(own)))], ...precisions]}
        choose={store.choosePrecision}
      />
      <Select
        label={strings.memory}
        value={store.memory.value}
        lock={store.lockNote("memory")}
        options={memoriesOf(chips, store.memory.value)}
        choose={store.chooseMemory}
      />
      <Select
        label={words.view}
        value={store.view.value}
        lock={store.lockNote("view")}
        options={Object.entries(words.views)}
        choose={(view) => store.setView(view as View)}
      />
    </>
  );
}

/**
 * Returns the options of the memory select: the main memory, all levels, and each known level. The option "all" is
 * present only if a chip has several levels.
 */
export function memoriesOf(chips: readonly Chip[], chosen: string): readonly Option[] {
  const mains = distinct(chips.flatMap((chip) => [...chip.memories.keys()].slice(0, 1)));
  const known = chips.map((chip) => [...chip.memories].flatMap(([level, rate]) => (rate === null ? [] : [level])));
  const several = chosen === "all" || known.some((levels) => levels.length > 1);
  // If all chips have the same main level, the option for the main memory already means this level. The level then has
  // no other option.
  const levels = distinct(known.flat()).filter((level) => mains.length > 1 || level !== mains[0] || level === chosen);
  return [
    ["main", strings.main(mains)],
    ...(several ? [["all", words.allLevels] as const] : []),
    ...levels.map((name): Option => [name, name]),
  ];
}

const distinct = (names: readonly string[]) => [...new Set(names)];
