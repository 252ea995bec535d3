// Which colour is which category: measured kernels wear no other sign of it.

import type { Theme } from "../../chart/theme.ts";
import type { Kernels } from "../../wire/columns.ts";
import { strings } from "../../words/words.ts";

interface LegendProps {
  readonly kernels: Kernels;
  readonly theme: Theme;
}

export function Legend({ kernels, theme }: LegendProps) {
  const names = kernels.category.values;
  if (names.length < 2) return null;
  return (
    <p class="roofwidget-legend">
      {names.slice(0, theme.categories.length).map((name, code) => (
        <span key={name}>
          <svg width={12} height={12} aria-hidden="true">
            <circle cx={5} cy={7} r={4} fill={theme.categories[code]} />
          </svg>
          {name ?? strings.noCategory}
        </span>
      ))}
      {names.length > theme.categories.length && (
        <span>{strings.moreCategories(names.length - theme.categories.length)}</span>
      )}
    </p>
  );
}
