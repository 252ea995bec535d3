// The categories of the kernels: a bar of the categories' shares of the time, and a legend of their colours.

import { legendOf } from "../../chart/caption.ts";
import { CategoryDot } from "../../chart/layers/points.tsx";
import { PATTERN_COUNT, patternPath, patternWidth } from "../../chart/points/shapes.ts";
import { categoryColour } from "../../chart/scene.ts";
import type { Theme } from "../../chart/theme.ts";
import type { Store } from "../../state/store.ts";
import { formatPercent } from "../../text/numbers.ts";
import type { Kernels } from "../../wire/columns.ts";
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
  const large = all.filter(({ share }) => share >= SMALL);
  const small = all.slice(large.length);
  return (
    <fieldset class="roofwidget-categories" aria-label={words.byCategory} title={words.byCategory}>
      {large.map(({ name, share, kernels, code }) => {
        const on = chosen === null || chosen.includes(name);
        const text = words.part(name || strings.noCategory, formatPercent(share), kernels);
        const background = categoryColour(theme, code);
        const part = { title: text, style: { flexGrow: share } };
        const paint = (
          <span style={{ background, opacity: on ? 1 : 0.25 }}>
            <svg width={12} height={12} aria-hidden="true">
              <path
                d={patternPath([6, 6], 6, code % PATTERN_COUNT)}
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

export function Legend({ kernels, theme }: { kernels: Kernels; theme: Theme }) {
  const entries = legendOf(kernels, theme);
  if (entries.length === 0) return null;
  return (
    <p class="roofwidget-legend">
      {entries.map(({ name, colour, code }) => (
        <span key={name}>
          {colour && (
            <svg width={12} height={12} aria-hidden="true">
              <CategoryDot colour={colour} category={code} x={6} y={6} outline={theme.background} />
            </svg>
          )}
          {name}
        </span>
      ))}
    </p>
  );
}
