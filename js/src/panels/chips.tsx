// The chips: one pill each, grouped by vendor in the order of generations; and which precision and memory are meant.

import { shortNames } from "../names.ts";
import type { Missing } from "../roofline.ts";
import type { Store } from "../store.ts";
import { strings } from "../strings.ts";
import { chipColours, type Theme } from "../theme.ts";
import type { Chip } from "../wire.ts";

export function Chips({ store, theme }: { store: Store; theme: Theme }) {
  const chips = store.chips.value;
  const colours = chipColours(chips, theme);
  const names = shortNames(chips);
  return (
    <div class="roofwidget-bar">
      <fieldset class="roofwidget-chips" aria-label={strings.chips}>
        {byVendor(chips).map(([vendor, group]) => (
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
      </fieldset>
      <Choices store={store} />
    </div>
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
      <button
        type="button"
        class="roofwidget-name"
        data-lm-suppress-shortcuts="true"
        aria-current={isFocus}
        title={reason ?? strings.focus(chip.name)}
        onClick={() => store.focus(chip.id)}
      >
        {name}
        {missing && <small> {shortReasonOf(missing)}</small>}
      </button>
      <button
        type="button"
        class="roofwidget-toggle"
        data-lm-suppress-shortcuts="true"
        data-chip={chip.id}
        aria-pressed={on}
        aria-label={strings.show(chip.name)}
        onClick={() => store.toggle(chip.id)}
      >
        <svg width={16} height={16} aria-hidden="true">
          <circle cx={8} cy={8} r={6} fill={on && !missing ? colour : "none"} stroke={colour} stroke-width={2} />
        </svg>
      </button>
    </span>
  );
}

function Choices({ store }: { store: Store }) {
  const chips = store.chips.value;
  const precisions = distinct(chips.flatMap((chip) => [...chip.peaks.keys()]));
  const mains = distinct(chips.flatMap((chip) => [...chip.memories.keys()].slice(0, 1)));
  const levels = distinct(
    chips.flatMap((chip) => [...chip.memories].flatMap(([level, rate]) => (rate === null ? [] : [level]))),
  );
  // Where "main" is one level for all, that level needs no entry of its own.
  const memories = levels.filter((level) => mains.length > 1 || level !== mains[0] || level === store.memory.value);
  const automatic = strings.auto(distinct(chips.map((chip) => chip.precision)));
  const main = strings.main(mains);
  return (
    <div class="roofwidget-choices">
      <label>
        <span class="roofwidget-muted">{strings.precision}</span>
        <select
          data-lm-suppress-shortcuts="true"
          value={store.precision.value}
          onChange={(event) => store.choosePrecision(event.currentTarget.value)}
        >
          <option value="auto">{automatic}</option>
          {precisions.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span class="roofwidget-muted">{strings.memory}</span>
        <select
          data-lm-suppress-shortcuts="true"
          value={store.memory.value}
          onChange={(event) => store.chooseMemory(event.currentTarget.value)}
        >
          <option value="main">{main}</option>
          {memories.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      </label>
    </div>
  );
}

function byVendor(chips: readonly Chip[]): [vendor: string, chips: Chip[]][] {
  const groups = new Map<string, Chip[]>();
  for (const chip of chips) {
    const vendor = chip.vendor || (chips.some((other) => other.vendor) ? strings.otherVendor : "");
    groups.set(vendor, [...(groups.get(vendor) ?? []), chip]);
  }
  return [...groups].map(([vendor, group]) => [vendor, group.sort((a, b) => a.generation - b.generation)]);
}

export function reasonOf(chip: Chip, missing: Missing): string {
  return missing.quantity === "peak_flops"
    ? strings.lacksPeakReason(chip.name, missing.name)
    : strings.lacksBandwidthReason(chip.name, missing.name);
}

const shortReasonOf = (missing: Missing) =>
  missing.quantity === "peak_flops" ? strings.lacksPeak(missing.name) : strings.lacksBandwidth(missing.name);
const distinct = (names: readonly string[]) => [...new Set(names)];
