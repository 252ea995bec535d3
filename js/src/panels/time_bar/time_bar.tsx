// The bar of the time above the chart: how long the chip was idle, and which kernels took the rest. Below it is the legend
// of the colours, whose entries filter the kernels.

import { useComputed } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { hasLegend, titleOf } from "../../chart/caption.ts";
import { FONT_PX, textWidth } from "../../chart/labels/text_fitting.ts";
import { ColourScale, SCALE_HEIGHT_PX, scaleWidth, ticksOfScale } from "../../chart/layers/colour_scale.tsx";
import { CategoryDot } from "../../chart/layers/points.tsx";
import { isPatternedIn } from "../../chart/scene.ts";
import { categoryColour, type Theme } from "../../chart/theme.ts";
import {
  type ColourPart,
  colouringOf,
  colourKeys,
  familyText,
  partsOf,
  type TextColouring,
} from "../../roofline/colouring.ts";
import { commonOperation } from "../../roofline/operations.ts";
import { busyTime } from "../../roofline/positions.ts";
import type { Store } from "../../state/store.ts";
import { categoryName } from "../../text/describe.ts";
import { formatPercent, formatQuantity } from "../../text/numbers.ts";
import { Button, lockedBy, Sign } from "../../ui/button.tsx";
import { PopoverButton } from "../../ui/popover.tsx";
import { type Option, Select } from "../../ui/select.tsx";
import type { Kernels } from "../../wire/columns.ts";
import { numerals, strings, filterWords as words } from "../../words/words.ts";

/** If the hatch of the idle time is narrower than this, px, its text is below the bar. */
const MIN_HATCH_PX = 120;
/** The space that an entry of the legend takes beside its text, px: its dot, and the gap after it. */
const ENTRY_PX = 34;
/** The maximum height of the list of further entries, px. */
const MORE_PX = 320;

interface TimeBarProps {
  readonly store: Store;
  readonly theme: Theme;
  /** The width of the bar, px. */
  readonly width: number;
  readonly narrow: boolean;
}

export function TimeBar({ store, theme, width, narrow }: TimeBarProps) {
  const kernels = store.rows.kernels.value;
  const colouring = colouringOf(kernels, store.view.colourBy.value);
  const parts = useMemo(() => (colouring.kind === "text" ? partsOf(kernels, colouring) : []), [kernels, colouring]);
  const keys = useMemo(() => colourKeys(kernels), [kernels]);
  const isShown = useComputed(() => hasLegend(store));
  const idle = kernels.totalTime > 0 ? 1 - busyTime(kernels) / kernels.totalTime : 0;
  const isDivided = parts.length > 1 || colouring.kind === "number";
  if (!isShown.value || !(isDivided || idle > 0 || keys.length > 1)) return null;
  const text = idle > 0 ? words.idle(formatPercent(idle), formatQuantity(idle * kernels.totalTime, "s")) : "";
  const isOnHatch = idle * width >= MIN_HATCH_PX;
  return (
    <div data-rw="time-bar" class="rw-time">
      {colouring.kind === "text" && kernels.totalTime > 0 && (isDivided || idle > 0) && (
        <div class="rw-timebar" aria-hidden="true">
          {idle > 0 && (
            <i class="rw-idle" style={{ flexGrow: 100 * idle }}>
              {isOnHatch && <span>{text}</span>}
            </i>
          )}
          {parts.map(({ codes, seconds }) => (
            <i
              key={codes[0]}
              style={{
                flexGrow: (100 * seconds) / kernels.totalTime,
                background: colourOf(theme, colouring, codes[0] as number),
              }}
              title={nameOf(colouring, codes)}
            />
          ))}
        </div>
      )}
      <div class="rw-legend" data-rw="legend">
        {/* The bar is not spoken, because it only repeats the legend. */}
        {text && <span class="rw-spoken">{text.replace(" · ", ", ")}</span>}
        {text && !isOnHatch && <span aria-hidden="true">{text}</span>}
        {colouring.kind === "text" ? (
          isDivided && (
            <Entries {...{ store, theme, colouring, parts, narrow }} room={width - reserved(store, text, isOnHatch)} />
          )
        ) : (
          <Scale store={store} theme={theme} />
        )}
        {keys.length > 1 && <ColourBy store={store} keys={keys} />}
      </div>
    </div>
  );
}

const colourOf = (theme: Theme, colouring: TextColouring | undefined, code: number) =>
  code < 0 || !colouring ? theme.muted : categoryColour(theme, colouring, code);
const nameOf = (colouring: TextColouring, codes: readonly number[]) => {
  if ((codes[0] as number) < 0) return words.notTold;
  const text = familyText(colouring, codes);
  return colouring.key === "category" ? categoryName(text) : (text ?? "");
};
const headOf = (kernels: Kernels, isCompared: boolean, isTimed: boolean) =>
  !isTimed ? titleOf(kernels, "category") : isCompared ? words.kernelTimeNow : words.kernelTime;

/** Returns the width that the other parts of the row take, px. */
function reserved({ rows: { kernels }, view: { colourBy } }: Store, idle: string, isOnHatch: boolean): number {
  const texts = [words.kernelTime, `${words.colourBy}: ${titleOf(kernels.value, colourBy.value)} ▾`];
  return [...texts, isOnHatch ? "" : idle].reduce((sum, text) => sum + textWidth(text) + ENTRY_PX, 0);
}

interface EntriesProps {
  readonly store: Store;
  readonly theme: Theme;
  readonly colouring: TextColouring;
  readonly parts: readonly ColourPart[];
  readonly narrow: boolean;
  /** The width for the entries, px. */
  readonly room: number;
}

/** The entries of the legend. Those that do not fit in the row are in a list of their own. */
function Entries({ store, theme, colouring, parts, narrow, room }: EntriesProps) {
  const kernels = store.rows.kernels.value;
  const busy = busyTime(kernels);
  const entries = parts.map(({ codes, kernels: count, seconds }) => {
    const code = codes[0] as number;
    const unknown = code < 0 ? ` (${numerals.whole(count)})` : "";
    const share = busy > 0 ? formatPercent(seconds / busy) : "";
    const values = codes.map((each) => colouring.column.values[each] ?? "");
    return { code, share, name: nameOf(colouring, codes) + unknown, values };
  });
  let left = room;
  const fits = entries.findIndex(({ name, share }) => {
    left -= textWidth(`${name} ${share}`) + ENTRY_PX;
    return left < (narrow ? Number.NEGATIVE_INFINITY : 0);
  });
  const shown = fits < 0 ? entries : entries.slice(0, Math.max(1, fits));
  const more = entries.slice(shown.length);
  const isCategory = colouring.key === "category";
  const draw = (some: typeof entries) =>
    some.map((entry) => <Entry key={entry.code} {...entry} {...{ store, theme, colouring, isCategory }} />);
  return (
    <fieldset
      class="rw-entries"
      aria-label={
        isCategory && !kernels.series ? words.byCategory : `${words.colourBy} ${titleOf(kernels, colouring.key)}`
      }
    >
      <span class="rw-muted" aria-hidden="true">
        {isCategory ? headOf(kernels, store.rows.runs.value !== undefined, busy > 0) : titleOf(kernels, colouring.key)}
      </span>
      {draw(shown)}
      {more.length > 0 && (
        <span class="rw-opener">
          <PopoverButton
            look="word"
            label={words.moreEntries(more.length)}
            text={
              <>
                {words.moreEntries(more.length)}
                <Sign>{" ▾"}</Sign>
              </>
            }
            room={MORE_PX}
          >
            {draw(more)}
          </PopoverButton>
        </span>
      )}
    </fieldset>
  );
}

interface EntryProps {
  readonly store: Store;
  readonly theme: Theme;
  readonly code: number;
  readonly name: string;
  readonly share: string;
  /** The categories that the entry filters. */
  readonly values: readonly string[];
  /** Undefined for a scale, whose only entry is that of unknown values. */
  readonly colouring?: TextColouring;
  readonly isCategory: boolean;
}

function Entry({ store, theme, colouring, code, name, share, values, isCategory }: EntryProps) {
  const chosen = store.view.categories.value;
  const isShown = !isCategory || chosen === null || values.some((value) => chosen.includes(value));
  const content = (
    <>
      <svg width={12} height={12} aria-hidden="true">
        <CategoryDot
          {...{ x: 6, y: 6, colour: colourOf(theme, colouring, code), outline: theme.background }}
          category={isShown ? code : -1}
          isPatterned={isPatternedIn(store, theme)}
        />
      </svg>
      {name}
      {share && <span class="rw-muted"> {share}</span>}
    </>
  );
  if (!isCategory) return <span class="rw-entry">{content}</span>;
  const lock = store.lesson.lockNote("filters");
  return (
    <Button
      look="entry"
      data-category={values[0]}
      aria-pressed={isShown}
      {...lockedBy(lock, words.toggle)}
      onClick={({ shiftKey, ctrlKey, metaKey }) =>
        store.view.setCategories(chosenAfter(chosen, values, shiftKey || ctrlKey || metaKey))
      }
    >
      {content}
    </Button>
  );
}

/**
 * Returns the chosen categories after a click on the categories `names`. If `joins` is true, the click adds or removes
 * `names`. Otherwise the click chooses only `names`. Returns null (no filter) if the click removes the last chosen
 * categories or clicks the only chosen categories.
 */
export function chosenAfter(
  chosen: readonly string[] | null,
  names: readonly string[],
  joins: boolean,
): readonly string[] | null {
  const others = (chosen ?? []).filter((other) => !names.includes(other));
  const isChosen = names.some((name) => chosen?.includes(name));
  if (!joins) return isChosen && others.length === 0 ? null : names;
  const next = isChosen ? others : [...others, ...names];
  return next.length > 0 ? next : null;
}

/** The scale of a column of numbers, with its lowest, middle and highest number. */
function Scale({ store, theme }: { readonly store: Store; readonly theme: Theme }) {
  const kernels = store.rows.kernels.value;
  const colouring = colouringOf(kernels, store.view.colourBy.value);
  if (colouring.kind !== "number") return null;
  const title = titleOf(kernels, colouring.key);
  const ticks = ticksOfScale(colouring, commonOperation(kernels, store.rates.askedPrecision.value));
  return (
    <div class="rw-entries">
      <span class="rw-muted">{title}</span>
      <svg
        width={scaleWidth(ticks)}
        height={SCALE_HEIGHT_PX}
        font-size={FONT_PX}
        role="img"
        aria-label={strings.scale(title, ticks)}
      >
        <ColourScale ticks={ticks} theme={theme} />
      </svg>
      {colouring.unknown > 0 && (
        <Entry
          {...{ store, theme, code: -1, share: "", values: [], isCategory: false }}
          name={`${words.notTold} (${numerals.whole(colouring.unknown)})`}
        />
      )}
    </div>
  );
}

/** The choice of the column that gives points their colours. */
function ColourBy({ store, keys }: { readonly store: Store; readonly keys: readonly string[] }) {
  const {
    rows: { kernels },
    view: { colourBy },
  } = store;
  const { key } = colouringOf(kernels.value, colourBy.value);
  const all = keys.includes(key) ? keys : [key, ...keys];
  return (
    <span class="rw-colour">
      <Select
        label={words.colourBy}
        value={key}
        options={all.map((one): Option => [one, titleOf(kernels.value, one)])}
        choose={store.view.setColourBy}
      />
    </span>
  );
}
