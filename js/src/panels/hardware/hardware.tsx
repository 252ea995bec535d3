// The hardware panel: the focus chip's sliders, ceilings and levels, and the kernels with what-ifs.

import { operationIn } from "../../roofline/operations.ts";
import { isRoof, levelOf } from "../../roofline/roofline.ts";
import type { Store } from "../../state/store.ts";
import { reasonOf } from "../../text/reasons.ts";
import { Button } from "../../ui/button.tsx";
import { useDisclosure } from "../../ui/disclosure.ts";
import { focusNeighbour } from "../../ui/focus.ts";
import { Section } from "../../ui/fold.tsx";
import type { Chip } from "../../wire/types.ts";
import { moveWords, strings, words } from "../../words/words.ts";
import { Card } from "../chips/card.tsx";
import { Device } from "./device.tsx";
import { Limits } from "./limits.tsx";
import { Peaks } from "./peaks.tsx";
import { Rate } from "./rate.tsx";
import { Snapshots } from "./snapshots.tsx";

/** `hasRates`: whether the panel contains the sliders of the rates. Otherwise they are directly under the chart. */
export function Hardware({ store, hasRates }: { store: Store; hasRates: boolean }) {
  const card = useDisclosure();
  const chip = store.chips.value.find(({ id }) => id === store.focusChip.value);
  const roof = store.roofs.value.get(store.focusChip.value);
  if (!chip || !roof) return null;
  return (
    <Section name="hardware" class="roofwidget-hardware" title={chip.name}>
      <div class="roofwidget-row roofwidget-heading">
        <h3>{chip.name}</h3>
        <button
          type="button"
          class="roofwidget-button"
          data-lm-suppress-shortcuts="true"
          aria-label={words.detailsOf(chip.name)}
          {...card.button}
        >
          {words.details}
        </button>
      </div>
      {card.isOpen && <Card opened={card.opened} chip={chip} />}
      {isRoof(roof) ? (
        <>
          <Peaks store={store} />
          {hasRates && <Rates store={store} />}
          <Device store={store} roof={roof} />
          <MovedKernels store={store} />
          <Limits store={store} />
          <Snapshots store={store} />
        </>
      ) : (
        <p class="roofwidget-muted">{strings.noSliders(reasonOf(chip, roof))}</p>
      )}
    </Section>
  );
}

/** The sliders for the peak and the bandwidths of the focus chip. */
export function Rates({ store }: { store: Store }) {
  const roof = store.roofs.value.get(store.focusChip.value);
  if (!roof || !isRoof(roof)) return null;
  const { chip } = roof;
  const roofs = store.shownRoofs.value;
  const all = store.memory.value === "all";
  const levels = all
    ? store.shownLevels.value
    : [{ name: roof.level, bandwidth: roof.bandwidth, sheet: roof.sheetBandwidth }];
  const main = chip.memories.keys().next().value;
  return (
    <>
      <Rate
        key={`${chip.id} ${roof.precision}`}
        store={store}
        quantity="peak_flops"
        unit={`${operationIn(roof.precision)}/s`}
        label={strings.peak(roof.precision)}
        spoken={strings.peak(roof.precision)}
        value={roof.peak}
        sheet={roof.sheetPeak}
        marks={roofs.map((other) => [other.chip.name, other.sheetPeak])}
        reach={store.chips.value.flatMap((other) => [...other.peaks.values()])}
      />
      {levels.map((level) => {
        // If all levels are shown, each level has a slider. The marks of the slider are the bandwidths of the levels
        // with the same name on other chips. For the main memory, the marks are the bandwidths of all main memories,
        // even if their names differ.
        const meant = !all ? store.memory.value : level.name === main ? "main" : level.name;
        return (
          <Rate
            key={`${chip.id} at ${level.name}`}
            store={store}
            quantity="bandwidth"
            level={all ? level.name : undefined}
            unit="B/s"
            label={level.name}
            spoken={strings.bandwidth(level.name)}
            value={level.bandwidth}
            sheet={level.sheet}
            marks={roofs.flatMap((other) => marksOf(other.chip, meant))}
            reach={store.chips.value.flatMap((other) => marksOf(other, meant).map(([, rate]) => rate))}
          />
        );
      })}
    </>
  );
}

/**
 * Returns one pair: the chip's name and its bandwidth at the chosen memory. Returns an empty list if the bandwidth is
 * unknown.
 */
function marksOf(chip: Chip, memory: string): [chip: string, rate: number][] {
  const rate = chip.memories.get(levelOf(chip, memory) ?? "") ?? null;
  return rate === null ? [] : [[chip.name, rate]];
}

export function MovedKernels({ store }: { store: Store }) {
  const count = store.moved.value?.rows.length ?? 0;
  const lock = store.lockNote("moves");
  if (count === 0) return null;
  return (
    <p class="roofwidget-row roofwidget-moved">
      {moveWords.moved(count)}
      <Button
        aria-label={moveWords.resetAll(count)}
        title={lock}
        aria-disabled={lock !== undefined}
        onClick={({ currentTarget }) => {
          if (lock) return;
          focusNeighbour(currentTarget);
          store.resetMoves();
        }}
      >
        {moveWords.back}
      </Button>
    </p>
  );
}
