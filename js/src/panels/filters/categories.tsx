// The colours of the kernels: their legend, the choice of the column that they show, and a bar of the categories' shares
// of the time.

import { useComputed } from "@preact/signals";
import { legendOf, titleOf } from "../../chart/caption.ts";
import { FONT_PX } from "../../chart/labels/text_fitting.ts";
import { ColourScale, SCALE_HEIGHT_PX, scaleWidth } from "../../chart/layers/colour_scale.tsx";
import { CategoryDot } from "../../chart/layers/points.tsx";
import { PATTERN_COUNT, patternPath, patternWidth } from "../../chart/points/shapes.ts";
import { categoryColour, type Theme } from "../../chart/theme.ts";
import { colouringOf, colourKeys, type TextColouring } from "../../roofline/colouring.ts";
import type { Store } from "../../state/store.ts";
import { categoryName } from "../../text/describe.ts";
import { formatPercent } from "../../text/numbers.ts";
import { Button } from "../../ui/button.tsx";
import { type Option, Select } from "../../ui/select.tsx";
import { strings, filterWords as words } from "../../words/words.ts";

/** Categories with a smaller share of the time are combined into one part of the bar. */
const SMALL = 0.01;

/**
 * A part of the bar that is narrower than this, in px, is too small to click. If the bar has such a part, the user
 * clicks the list of categories instead.
 */
const TARGET = 25;
/** Space to the left and right of the bar in the panel, px. */
const PADDING = 24;

interface CategoryBarProps {
  readonly store: Store;
  readonly theme: Theme;
  /** Width of the panel, px. */
  readonly width: number;
}

export function CategoryBar({ store, theme, width }: CategoryBarProps) {
  const all = store.byCategory.value;
  if (all.length < 2 || !(store.kernels.value.totalTime > 0)) return null;
  const chosen = store.categories.value;
  const lock = store.lockNote("filters");
  // If the points have other colours, the colours of the bar would seem to belong to the points.
  const isColoured = store.colourBy.value === "category";
  const large = all.filter(({ share }) => share >= SMALL);
  const small = all.slice(large.length);
  return (
    <fieldset class="roofwidget-categories" aria-label={words.byCategory} title={words.byCategory}>
      {large.map(({ name, share, kernels, code }) => {
        const on = chosen === null || chosen.includes(name);
        const text = words.part(categoryName(name), formatPercent(share), kernels);
        const background = isColoured ? categoryColour(theme, colouringOf(store.kernels.value, "category") as TextColouring, code) : theme.line;
        const part = { title: text, style: { flexGrow: share } };
        const paint = (
          <span style={{ background, opacity: on ? 1 : 0.25 }}>
            <svg width={12} height={12} aria-hidden="true">
              <path
                d={isColoured ? patternPath([6, 6], 6, code % PATTERN_COUNT) : ""}
                stroke={theme.background}
                stroke-width={patternWidth(6)}
              />
            </svg>
          </span>
        );
        if (share * (width - PADDING) < TARGET) {
          return (
            <i key={name} {...part}>
              {paint}
            </i>
          );
        }
        return (
          <button
            type="button"
            key={name}
            data-lm-suppress-shortcuts="true"
            data-category={name}
            aria-label={text}
            aria-pressed={chosen !== null && on}
            {...part}
            aria-disabled={lock !== undefined}
            title={lock ?? text}
            onClick={({ shiftKey, ctrlKey, metaKey }) =>
              store.setCategories(chosenAfter(chosen, name, shiftKey || ctrlKey || metaKey))
            }
          >
            {paint}
          </button>
        );
      })}
      {small.length > 0 && (
        <span
          class="roofwidget-rest"
          title={words.rest(small.length)}
          style={{ flexGrow: small.reduce((sum, { share }) => sum + share, 0) }}
        />
      )}
    </fieldset>
  );
}

/**
 * Returns the chosen categories after a click on the category `name`. If `joins` is true, the click adds or removes
 * `name`. Otherwise the click chooses only `name`. Returns null (no filter) if the click removes the last chosen
 * category or clicks the only chosen category.
 */
export function chosenAfter(chosen: readonly string[] | null, name: string, joins: boolean): readonly string[] | null {
  const others = (chosen ?? []).filter((other) => other !== name);
  const isChosen = chosen?.includes(name) ?? false;
  if (!joins) return isChosen && others.length === 0 ? null : [name];
  const next = isChosen ? others : [...others, name];
  return next.length > 0 ? next : null;
}

interface LegendProps {
  readonly store: Store;
  readonly theme: Theme;
}

/** The legend of the points' colours. A category, such as a run, can be hidden and shown by its entry. */
export function Legend({ store, theme }: LegendProps) {
  const legend = legendOf(store, theme);
  if (!legend) return null;
  const { title, isTitled, ticks, entries } = legend;
  const lock = store.lockNote("filters");
  const all = store.byCategory.value.map(({ name }) => name);
  const chosen = store.categories.value ?? all;
  function toggle(value: string) {
    const others = chosen.filter((other) => other !== value);
    const next = chosen.includes(value) ? others : [...others, value];
    store.setCategories(next.length === 0 || next.length === all.length ? null : next);
  }
  return (
    <fieldset class="roofwidget-legend" aria-label={`${words.colourBy} ${title}`}>
      {isTitled && <span>{title}</span>}
      {ticks && (
        <svg
          width={scaleWidth(ticks)}
          height={SCALE_HEIGHT_PX}
          font-size={FONT_PX}
          role="img"
          aria-label={strings.scale(title, ticks)}
        >
          <ColourScale ticks={ticks} theme={theme} />
        </svg>
      )}
      {entries.map(({ name, value, colour, code }) => {
        const isShown = isTitled || value === undefined || chosen.includes(value);
        const content = (
          <>
            {colour && (
              <svg width={12} height={12} aria-hidden="true">
                <CategoryDot colour={colour} category={isShown ? code : -1} x={6} y={6} outline={theme.background} />
              </svg>
            )}
            {name}
          </>
        );
        if (isTitled || value === undefined) return <span key={name}>{content}</span>;
        return (
          <Button
            key={value}
            look="entry"
            aria-pressed={isShown}
            aria-disabled={lock !== undefined}
            title={lock ?? words.toggle}
            onClick={() => toggle(value)}
          >
            {content}
          </Button>
        );
      })}
    </fieldset>
  );
}

/** The choice of the column that gives points their colours. */
export function ColourBy({ store }: { readonly store: Store }) {
  const { kernels, colourBy } = store;
  const choices = useComputed(() => {
    const keys = colourKeys(kernels.value);
    const { key } = colouringOf(kernels.value, colourBy.value);
    return keys.includes(key) ? keys : [key, ...keys];
  });
  if (choices.value.length < 2) return null;
  return (
    <Select
      label={words.colourBy}
      value={colouringOf(kernels.value, colourBy.value).key}
      options={choices.value.map((key): Option => [key, titleOf(kernels.value, key)])}
      choose={store.setColourBy}
    />
  );
}
