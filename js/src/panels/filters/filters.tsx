// The filter bar: which kernels are shown, and how many kernels pass.

import { useComputed } from "@preact/signals";
import type { Theme } from "../../chart/theme.ts";
import { isInfeed, UNFILTERED } from "../../roofline/filters.ts";
import { boundsOf } from "../../state/filters.ts";
import type { Store } from "../../state/store.ts";
import type { Scope } from "../../state/sync.ts";
import { bindingWord, categoryName } from "../../text/describe.ts";
import { formatPercent } from "../../text/numbers.ts";
import { Button } from "../../ui/button.tsx";
import { focusNeighbour } from "../../ui/focus.ts";
import { Fold, Section } from "../../ui/fold.tsx";
import { LiveText } from "../../ui/live_text.tsx";
import { type Option, Select } from "../../ui/select.tsx";
import { Slider } from "../../ui/slider.tsx";
import { Tick } from "../../ui/tick.tsx";
import type { ReadAs } from "../../wire/types.ts";
import { numerals, strings, filterWords as words } from "../../words/words.ts";
import { CategoryBar, ColourBy } from "./categories.tsx";

/** A table with at most this many measured kernels needs no filters. */
const HANDFUL = 5;
const TOP_CHOICES = [10, 30, 100, 300, 1000];

interface FiltersProps {
  readonly store: Store;
  readonly theme: Theme;
  /** The available width, px. */
  readonly width: number;
}

export function Filters({ store, theme, width }: FiltersProps) {
  const { n, totalTime, program, warnings, readAs } = store.kernels.value;
  const { kernels } = store.totals.value;
  const isProfile = (n > HANDFUL && totalTime > 0) || program !== null || warnings.length > 0;
  if (!isProfile && kernels === n) return readAs && <HowRead readAs={readAs} />;
  const isOfKernels = !store.showsTotals.value;
  return (
    <Section name="filters" class="roofwidget-filters" title={words.title} note={counted(store)}>
      <div class="roofwidget-filter-row">
        <LiveText class="roofwidget-counted" text={counted(store)} dragging={store.isInDrag()} />
        {isOfKernels && <Controls store={store} />}
        {isOfKernels && totalTime > 0 && <ColourBy store={store} />}
        {program && (
          <Select
            label={words.scope}
            value={store.scope.value}
            lock={store.lockNote("filters")}
            options={Object.entries(words.scopes)}
            choose={(scope) => store.setScope(scope as Scope)}
          />
        )}
        {store.isFiltered.value && <Clear store={store} />}
      </div>
      {isOfKernels && <CategoryBar store={store} theme={theme} width={width} />}
      {warnings.length > 0 && (
        <Fold title={words.remarks(warnings.length)} note="">
          <ul class="roofwidget-remarks">
            {warnings.map((warning) => (
              <li key={warning}>{warning}</li>
            ))}
          </ul>
        </Fold>
      )}
      {readAs && <HowRead readAs={readAs} />}
    </Section>
  );
}

/** For each field of the file: how many rows have a value, and the column or rule behind it. */
function HowRead({ readAs: { format, fields } }: { readAs: ReadAs }) {
  return (
    <Fold title={words.readAs} note={words.readAsNote(format)}>
      <div class="roofwidget-read-as">
        <table>
          <thead>
            <tr>
              {words.readAsColumns.map((head) => (
                <th key={head} scope="col">
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {fields.map(([field, known, rule]) => (
              <tr key={field}>
                <th scope="row">{field}</th>
                <td>{known}</td>
                <td>{rule}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Fold>
  );
}

/** Message on the chart if no kernel passes the filters. */
export function Emptied({ store }: { store: Store }) {
  const { kernels, all } = store.totals.value;
  if (kernels > 0 || all === 0 || store.showsTotals.value) return null;
  return (
    <p class="roofwidget-emptied">
      {words.counted(kernels, all)} <Clear store={store} />
    </p>
  );
}

function Clear({ store }: { store: Store }) {
  const lock = store.lockNote("filters");
  return (
    <Button
      title={lock}
      aria-disabled={lock !== undefined}
      onClick={({ currentTarget }) => {
        if (lock) return;
        focusNeighbour(currentTarget);
        store.clearFilters();
      }}
    >
      {words.clear}
    </Button>
  );
}

function counted(store: Store): string {
  const { kernels, all, share } = store.totals.value;
  const time = Number.isNaN(share) ? "" : ` · ${words.ofTime(formatPercent(share))}`;
  if (store.showsTotals.value) return words.totals(store.drawnRows.value.length);
  const { notDrawn } = store.points.value;
  const missing = notDrawn > 0 ? ` · ${strings.notDrawnShort(numerals.whole(notDrawn))}` : "";
  return words.counted(kernels, all) + time + missing;
}

function Controls({ store }: { store: Store }) {
  const { n, precision, totalTime } = store.kernels.value;
  const categories = store.byCategory.value;
  const lock = store.lockNote("filters");
  // Whether there is a kernel whose binding limit is unknown. Uses the roof from before the drag. With very many
  // kernels, the computation takes too long for each frame of a drag.
  const isUnknown = useComputed(() => boundsOf(store.kernels.value, store.restedRoof.value).values.includes("unknown"));
  // The options are joined into one text. While a roof is dragged, the text stays equal, so the select is not redrawn.
  const answers = useComputed(() => answersOf(store, isUnknown.value ? ["unknown"] : []).join("\n"));
  return (
    <>
      <input
        type="search"
        class="roofwidget-search"
        data-lm-suppress-shortcuts="true"
        aria-label={words.search}
        placeholder={words.searchHint}
        title={lock}
        disabled={lock !== undefined}
        value={store.search.value}
        onInput={(event) => store.setSearch(event.currentTarget.value, { stream: true })}
      />
      <Choice
        label={store.kernels.value.series ? strings.series : words.category}
        lock={lock}
        chosen={store.categories.value}
        offered={categories.map(({ name, share }) => {
          const said = categoryName(name);
          return [name, Number.isNaN(share) ? said : `${said} · ${formatPercent(share)}`];
        })}
        choose={store.setCategories}
      />
      <Choice
        label={words.boundBy}
        lock={lock}
        chosen={store.bounds.value}
        offered={answers.value.split("\n").map((word) => [word, bindingWord(word)])}
        choose={store.setBounds}
      />
      <Choice
        label={words.precision}
        lock={lock}
        chosen={store.precisions.value}
        offered={precision.values.map((word) => [word ?? "", word || words.notTold])}
        choose={store.setPrecisions}
      />
      {totalTime > 0 && <TimeShare store={store} />}
      {n > (TOP_CHOICES[0] as number) && <Top store={store} all={n} />}
      {(!store.infeed.value || categories.some(({ name }) => isInfeed(name))) && (
        <Tick
          checked={store.infeed.value}
          onChange={() => store.setInfeed(!store.infeed.value)}
          label={words.infeed}
          title={lock}
          disabled={lock !== undefined}
        />
      )}
    </>
  );
}

function TimeShare({ store }: { store: Store }) {
  const share = store.timeShare.value;
  const text = formatPercent(share);
  return (
    <span class="roofwidget-share" title={words.longest(text)}>
      <span class="roofwidget-muted">{words.timeShare}</span>
      <Slider
        label={words.longest(text)}
        min={1}
        max={100}
        step={1}
        lock={store.lockNote("filters")}
        shown={() => [share * 100, text]}
        start={store.dragTimeShare}
        slide={(position, isDragged) => store.setTimeShare(position / 100, { stream: isDragged })}
      />
      <span class="roofwidget-percent">{text}</span>
    </span>
  );
}

function Top({ store, all }: { store: Store; all: number }) {
  const top = store.top.value;
  const counts = [...new Set([...TOP_CHOICES, top ?? all])].filter((count) => count < all).sort((a, b) => a - b);
  // If the number of kernels is not larger than the default limit, the limit has no effect.
  const unlimited = UNFILTERED.top !== null && UNFILTERED.top >= all ? UNFILTERED.top : null;
  return (
    <Select
      label={words.top}
      lock={store.lockNote("filters")}
      value={top === null || top >= all ? "" : String(top)}
      options={[["", words.all], ...counts.map(String)]}
      choose={(count) => store.setTop(count === "" ? unlimited : Number(count))}
    />
  );
}

/** Returns the options of the filter: all limits that can bind a kernel on the focus chip. */
function answersOf(store: Store, unknown: readonly string[]): readonly string[] {
  const roof = store.focusRoof.value;
  const levels = roof?.levels.map(({ name }) => name) ?? [];
  const isSent = [...store.kernels.value.bytes.keys()].some((level) => level.toLowerCase() === "network");
  const overhead = store.launchOverhead.value > 0 ? ["overhead"] : [];
  return ["compute", ...levels, ...(isSent ? ["network"] : []), ...overhead, ...unknown];
}

interface ChoiceProps {
  readonly label: string;
  readonly chosen: readonly string[] | null;
  /** The options to choose from: the value and the label of each option. */
  readonly offered: readonly Option[];
  /** Says why nothing can be chosen. */
  readonly lock?: string | undefined;
  choose(chosen: readonly string[] | null): void;
}

/**
 * The values of the two additional options. ALL means no filter. OTHERS means a choice that is not among the options.
 */
const [ALL, OTHERS] = ["all", "others"];

export function Choice({ label, chosen, offered, lock, choose }: ChoiceProps) {
  if (offered.length < 2 && chosen === null) return null;
  const at = chosen?.length === 1 ? offered.findIndex(([word]) => word === chosen[0]) : -1;
  const options = offered.map(([, text], index): Option => [String(index), text]);
  // The option OTHERS. It is added if the chosen value is not among the options, or if several values are chosen.
  const others: Option[] = chosen && at < 0 ? [[OTHERS, chosen.join(", ") || words.chosen(0)]] : [];
  return (
    <Select
      label={label}
      lock={lock}
      value={chosen === null ? ALL : at < 0 ? OTHERS : String(at)}
      options={[[ALL, words.all], ...options, ...others]}
      choose={(value) => {
        const word = offered[Number(value)]?.[0];
        if (value === ALL) choose(null);
        else if (word !== undefined) choose([word]);
      }}
    />
  );
}
