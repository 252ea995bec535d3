// Which precision, which memory and which view are meant.

import type { Store } from "../../state/store.ts";
import type { View } from "../../state/sync.ts";
import { type Option, Select } from "../../ui/select.tsx";
import type { Chip } from "../../wire/types.ts";
import { strings, words } from "../../words/words.ts";

export function Choices({ store }: { store: Store }) {
  const chips = store.chips.value;
  const common = store.commonPrecision.value;
  const own = (chip: Chip) => (common !== undefined && chip.peaks.has(common) ? common : chip.precision);
  const precisions = distinct(chips.flatMap((chip) => [...chip.peaks.keys()]));
  return (
    <div class="roofwidget-choices">
      <Select
        label={strings.precision}
        value={store.precision.value}
        options={[["auto", strings.auto(distinct(chips.map(own)))], ...precisions.map((name): Option => [name, name])]}
        choose={store.choosePrecision}
      />
      <Select
        label={strings.memory}
        value={store.memory.value}
        options={memoriesOf(chips, store.memory.value)}
        choose={store.chooseMemory}
      />
      <Select
        label={words.view}
        value={store.view.value}
        options={Object.entries(words.views)}
        choose={(view) => store.setView(view as View)}
      />
    </div>
  );
}

/** What the memory select offers: the main memory, all levels where a chip knows several, and each level known. */
export function memoriesOf(chips: readonly Chip[], chosen: string): readonly Option[] {
  const mains = distinct(chips.flatMap((chip) => [...chip.memories.keys()].slice(0, 1)));
  const known = chips.map((chip) => [...chip.memories].flatMap(([level, rate]) => (rate === null ? [] : [level])));
  const several = chosen === "all" || known.some((levels) => levels.length > 1);
  // Where "main" is one level for all, that level needs no entry of its own.
  const levels = distinct(known.flat()).filter((level) => mains.length > 1 || level !== mains[0] || level === chosen);
  return [
    ["main", strings.main(mains)],
    ...(several ? [["all", words.allLevels] as const] : []),
    ...levels.map((name): Option => [name, name]),
  ];
}

const distinct = (names: readonly string[]) => [...new Set(names)];
