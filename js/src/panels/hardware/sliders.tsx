// The row of sliders under the chart: the peak and the bandwidths of the focus chip.

import { measuredRates } from "../../roofline/measured_rates.ts";
import { operationIn } from "../../roofline/operations.ts";
import { isRoof, levelOf, NETWORK } from "../../roofline/roofline.ts";
import type { Store } from "../../state/store.ts";
import type { Chip, Quantity } from "../../wire/types.ts";
import { instructionWords, networkWords, strings } from "../../words/words.ts";
import { Rate } from "./rate.tsx";

/** The sliders for the peak and the bandwidths of the focus chip, under the chart. */
export function Sliders({ store }: { readonly store: Store }) {
  if (store.view.plane.value === "network") return <NetworkSliders store={store} />;
  if (store.view.plane.value === "instructions") return <p class="rw-muted">{instructionWords.fixed}</p>;
  const roof = store.rates.roofs.value.get(store.rates.focusChip.value);
  if (!roof || !isRoof(roof)) return null;
  const { chip } = roof;
  const roofs = store.rates.shownRoofs.value;
  const all = store.rates.memory.value === "all";
  const levels = all
    ? store.rates.shownLevels.value
    : [{ name: roof.level, bandwidth: roof.bandwidth, sheet: roof.sheetBandwidth }];
  const main = chip.memories.keys().next().value;
  const measured = measuredRates(chip);
  const isMeasured = (quantity: Quantity, key: string) =>
    measured.some((one) => one.quantity === quantity && one.key === key);
  return (
    <div class="rw-rates">
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
        reach={store.rates.chips.value.flatMap((other) => [...other.peaks.values()])}
        isMeasured={isMeasured("peak_flops", roof.precision)}
      />
      {levels.map((level) => {
        // If all levels are shown, each level has a slider. The marks of the slider are the bandwidths of the levels
        // with the same name on other chips. For the main memory, the marks are the bandwidths of all main memories,
        // even if their names differ.
        const meant = !all ? store.rates.memory.value : level.name === main ? "main" : level.name;
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
            reach={store.rates.chips.value.flatMap((other) => marksOf(other, meant).map(([, rate]) => rate))}
            isMeasured={isMeasured("bandwidth", level.name)}
          />
        );
      })}
    </div>
  );
}

/** The latencies that the track shows at least, s. */
const LATENCY_REACH = [1e-6, 1e-4];

/** The sliders for the link of the focus chip and its latency. */
function NetworkSliders({ store }: { readonly store: Store }) {
  const link = store.rates.focusLink.value;
  if (!link) return null;
  const { chip, name, bandwidth, sheet, latency, sheetLatency, isFixed } = link;
  const shown = store.rates.shownRoofs.value.map((roof) => roof.chip);
  const common = { store, level: NETWORK, isMeasured: false, fixed: isFixed ? networkWords.fixed : undefined };
  const reach = store.rates.chips.value.flatMap(({ links }) => links.flatMap(({ bandwidth }) => bandwidth ?? []));
  return (
    <div class="rw-rates">
      <Rate
        {...common}
        key={`${chip.id} ${name}`}
        quantity="bandwidth"
        unit="B/s"
        label={name}
        spoken={strings.bandwidth(name)}
        value={bandwidth}
        sheet={sheet}
        marks={shown.flatMap((one): [string, number][] => (one.link === null ? [] : [[one.name, one.link]]))}
        reach={reach}
      />
      <Rate
        {...common}
        key={`${chip.id} ${name} latency`}
        quantity="latency"
        unit="s"
        label={networkWords.latency}
        spoken={networkWords.latency}
        value={latency}
        sheet={sheetLatency}
        marks={[]}
        reach={LATENCY_REACH}
      />
    </div>
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
