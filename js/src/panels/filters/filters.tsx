// The filters of the kernels: the search, the menu of the other filters, and a token for each filter that is set.

import { useComputed } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { isInfeed, UNFILTERED } from "../../roofline/filters.ts";
import { boundsOf, type Part } from "../../state/filters.ts";
import type { Store } from "../../state/store.ts";
import type { Scope } from "../../state/traits.ts";
import { bindingWord, categoryName } from "../../text/describe.ts";
import { formatPercent } from "../../text/numbers.ts";
import { Button, lockedBy, Sign } from "../../ui/button.tsx";
import { focusNeighbour } from "../../ui/focus.ts";
import { OWN_KEYS } from "../../ui/keys.ts";
import { LiveText } from "../../ui/live_text.tsx";
import { PopoverButton } from "../../ui/popover.tsx";
import { type Option, Select } from "../../ui/select.tsx";
import { Slider } from "../../ui/slider.tsx";
import { Tick } from "../../ui/tick.tsx";
import { numerals, strings, filterWords as words, workloadWords } from "../../words/words.ts";

/** A table with at most this many kernels needs no filters. */
const HANDFUL = 5;
const TOP_CHOICES = [10, 30, 100, 300, 1000];
/** The maximum height of the menu, px. */
const MENU_PX = 320;

/** Whether the kernels are so many that they can be filtered, or some are left out. */
export const hasFilters = ({ rows: { kernels, isFiltered } }: Store) =>
  kernels.value.n > HANDFUL || kernels.value.program !== null || isFiltered.value;

/** The search box, the menu of filters, and a token for each filter that is set. */
export function FilterRow({ store, children }: { readonly store: Store; readonly children?: ComponentChildren }) {
  const { program } = store.rows.kernels.value;
  const tokens = tokensOf(store);
  const lock = store.lesson.lockNote("filters");
  const isOfKernels = !store.rows.showsTotals.value;
  return (
    <>
      <div class="rw-searching">
        {isOfKernels && (
          <input
            type="search"
            class="rw-search"
            {...OWN_KEYS}
            aria-label={words.search}
            placeholder={words.search}
            title={lock ?? words.searchHint}
            disabled={lock !== undefined}
            value={store.view.search.value}
            onInput={(event) => store.view.setSearch(event.currentTarget.value, { stream: true })}
          />
        )}
        <span class="rw-opener">
          <PopoverButton
            label={words.title}
            name={words.menu(tokens.length).replace(" · ", ", ")}
            text={
              <>
                {words.menu(tokens.length)}
                <Sign>{" ▾"}</Sign>
              </>
            }
            room={MENU_PX}
            place="rw-at-end"
          >
            {isOfKernels && <Controls store={store} />}
            {program && (
              <Select
                row
                label={words.scope}
                value={store.view.scope.value}
                lock={lock}
                options={Object.entries(words.scopes)}
                choose={(scope) => store.view.setScope(scope as Scope)}
              />
            )}
            {children}
          </PopoverButton>
        </span>
      </div>
      <div class="rw-tokens">
        {/* What passes is spoken when it changes, and shown while it is not all. */}
        <LiveText
          class={store.rows.isFiltered.value || !isOfKernels ? "rw-counted" : "rw-spoken"}
          text={counted(store)}
          dragging={store.view.isInDrag()}
        />
        {tokens.map(([text, remove]) => (
          <Button
            key={text}
            look="token"
            {...lockedBy(lock, words.remove(text))}
            aria-label={words.remove(text)}
            onClick={({ currentTarget }) => {
              focusNeighbour(currentTarget, ".rw-token", ".rw-search");
              remove();
            }}
          >
            {text} ×
          </Button>
        ))}
        {store.rows.isFiltered.value && <Clear store={store} />}
      </div>
    </>
  );
}

const givenWord = (word: string | null) => word || words.notTold;

type Token = readonly [text: string, remove: () => void];

/** Returns a token for each filter that is set, except for the search. */
function tokensOf(store: Store): Token[] {
  const {
    rows: { kernels, only: onlyRows },
    view: { categories, bounds, precisions, phases, timeShare, top, infeed, scope },
  } = store;
  const { n, series } = kernels.value;
  const list = (label: string, chosen: readonly string[] | null, name: (word: string) => string, clear: () => void) =>
    chosen ? [[`${label}: ${chosen.map(name).join(", ") || words.chosen(0)}`, clear] as const] : [];
  const when = (is: boolean, text: string, remove: () => void): Token[] => (is ? [[text, remove]] : []);
  const only = onlyRows.value;
  return [
    ...when(only !== null, words.only(only?.length ?? 0), () => store.rows.setOnly(null)),
    ...list(series ? strings.series : words.category, categories.value, categoryName, () =>
      store.view.setCategories(null),
    ),
    ...list(words.boundBy, bounds.value, bindingWord, () => store.view.setBounds(null)),
    ...list(words.precision, precisions.value, givenWord, () => store.view.setPrecisions(null)),
    ...list(workloadWords.phase, phases.value, givenWord, () => store.view.setPhases(null)),
    ...when(timeShare.value < 1, `${words.timeShare}: ${formatPercent(timeShare.value)}`, () =>
      store.view.setTimeShare(1),
    ),
    ...when(top.value !== null && top.value < n, `${words.top} ${numerals.whole(top.value ?? 0)}`, () =>
      store.view.setTop(null),
    ),
    ...when(!infeed.value, words.noInfeed, () => store.view.setInfeed(true)),
    ...when(
      scope.value !== "kernels" && kernels.value.program !== null,
      `${words.scope}: ${words.scopes.program}`,
      () => store.view.setScope("kernels"),
    ),
  ];
}

/** Message on the chart if no kernel passes the filters. */
export function Emptied({ store }: { store: Store }) {
  const { kernels, all } = store.rows.totals.value;
  // Where a lesson hides the filters, it has set them.
  const isHidden = store.view.hiddenPanels.value.includes("filters");
  if (kernels > 0 || all === 0 || isHidden || store.rows.showsTotals.value) return null;
  return (
    <p class="rw-emptied">
      {words.counted(kernels, all)} <Clear store={store} />
    </p>
  );
}

function Clear({ store }: { store: Store }) {
  const lock = store.lesson.lockNote("filters");
  return (
    <Button
      {...lockedBy(lock)}
      onClick={({ currentTarget }) => {
        if (lock) return;
        focusNeighbour(currentTarget);
        store.view.clearFilters();
      }}
    >
      {words.clear}
    </Button>
  );
}

function counted(store: Store): string {
  const { kernels, all, share } = store.rows.totals.value;
  const time = Number.isNaN(share) ? "" : ` · ${words.ofTime(formatPercent(share))}`;
  if (store.rows.showsTotals.value) return words.totals(store.rows.drawnRows.value.length);
  return words.counted(kernels, all) + time;
}

function Controls({ store }: { store: Store }) {
  const { n, precision, totalTime } = store.rows.kernels.value;
  const categories = store.rows.byCategory.value;
  const lock = store.lesson.lockNote("filters");
  // Whether there is a kernel whose binding limit is unknown. Uses the roof from before the drag. With very many
  // kernels, the computation takes too long for each frame of a drag.
  const isUnknown = useComputed(() =>
    boundsOf(store.rows.kernels.value, store.rates.restedRoof.value).values.includes("unknown"),
  );
  // The options are joined into one text. While a roof is dragged, the text stays equal, so the select is not redrawn.
  const answers = useComputed(() => answersOf(store, isUnknown.value ? ["unknown"] : []).join("\n"));
  return (
    <>
      <Choice
        label={store.rows.kernels.value.series ? strings.series : words.category}
        lock={lock}
        chosen={store.view.categories.value}
        offered={offeredParts(categories, categoryName)}
        choose={store.view.setCategories}
      />
      <Choice
        label={words.boundBy}
        lock={lock}
        chosen={store.view.bounds.value}
        offered={answers.value.split("\n").map((word) => [word, bindingWord(word)])}
        choose={store.view.setBounds}
      />
      <Choice
        label={words.precision}
        lock={lock}
        chosen={store.view.precisions.value}
        offered={precision.values.map((word) => [word ?? "", givenWord(word)])}
        choose={store.view.setPrecisions}
      />
      <Choice
        label={workloadWords.phase}
        lock={lock}
        chosen={store.view.phases.value}
        offered={offeredParts(store.rows.byPhase.value, givenWord)}
        choose={store.view.setPhases}
      />
      {totalTime > 0 && <TimeShare store={store} />}
      {n > (TOP_CHOICES[0] as number) && <Top store={store} all={n} />}
      {(!store.view.infeed.value || categories.some(({ name }) => isInfeed(name))) && (
        <Tick
          checked={store.view.infeed.value}
          onChange={() => store.view.setInfeed(!store.view.infeed.value)}
          label={words.infeed}
          title={lock}
          disabled={lock !== undefined}
        />
      )}
    </>
  );
}

function TimeShare({ store }: { store: Store }) {
  const share = store.view.timeShare.value;
  const text = formatPercent(share);
  return (
    <span class="rw-row rw-share" title={words.longest(text)}>
      <span>{words.timeShare}</span>
      <Slider
        label={words.longest(text)}
        min={1}
        max={100}
        step={1}
        lock={store.lesson.lockNote("filters")}
        shown={() => [share * 100, text]}
        start={store.view.dragTimeShare}
        slide={(position, isDragged) => store.view.setTimeShare(position / 100, { stream: isDragged })}
      />
      <span class="rw-percent">{text}</span>
    </span>
  );
}

function Top({ store, all }: { store: Store; all: number }) {
  const top = store.view.top.value;
  const counts = [...new Set([...TOP_CHOICES, top ?? all])].filter((count) => count < all).sort((a, b) => a - b);
  // If the number of kernels is not larger than the default limit, the limit has no effect.
  const unlimited = UNFILTERED.top !== null && UNFILTERED.top >= all ? UNFILTERED.top : null;
  return (
    <Select
      row
      label={words.top}
      lock={store.lesson.lockNote("filters")}
      value={top === null || top >= all ? "" : String(top)}
      options={[["", words.all], ...counts.map(String)]}
      choose={(count) => store.view.setTop(count === "" ? unlimited : Number(count))}
    />
  );
}

/** Returns the options of the filter: all limits that can bind a kernel on the focus chip. */
function answersOf(store: Store, unknown: readonly string[]): readonly string[] {
  const roof = store.rates.focusRoof.value;
  const levels = roof?.levels.map(({ name }) => name) ?? [];
  const isSent = [...store.rows.kernels.value.bytes.keys()].some((level) => level.toLowerCase() === "network");
  const overhead = store.rates.launchOverhead.value > 0 ? ["overhead"] : [];
  return ["compute", ...levels, ...(isSent ? ["network"] : []), ...overhead, ...unknown];
}

/** Returns the options of a filter by parts of the table, with their shares of the time. */
const offeredParts = (parts: readonly Part[], nameOf: (name: string) => string) =>
  parts.map(
    ({ name, share }): Option => [
      name,
      Number.isNaN(share) ? nameOf(name) : `${nameOf(name)} · ${formatPercent(share)}`,
    ],
  );

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
      row
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
