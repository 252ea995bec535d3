// The colours of the widget, in a light and a dark theme. On the host's background, text has a contrast of at least
// 4.5:1 and marks of at least 3:1.

import { SCALE_STEPS, type TextColouring } from "../roofline/colouring.ts";
import { IDLE } from "../roofline/positions.ts";
import { familyOf } from "../roofline/verdict.ts";
import { categories, dark, darkCategories, darkChips, light, lightCategories, lightChips } from "../tokens.json";
import { memoize } from "../ui/memoize.ts";
import type { DictColumn } from "../wire/columns.ts";
import type { Chip } from "../wire/types.ts";

export interface Theme {
  readonly dark: boolean;
  readonly background: string;
  readonly text: string;
  readonly muted: string;
  /** The roofs of other chips while the categories have the hues. */
  readonly other: string;
  readonly grid: string;
  readonly line: string;
  readonly alert: string;
  /** The area under the focus roof. */
  readonly wash: string;
  /**
   * The hues of chips or vendors. The hues are similar to the colours of Okabe and Ito, but their lightness makes text
   * legible.
   */
  readonly chips: readonly string[];
  /** The hues of categories, in the order of the known categories. The last is for all further categories. */
  readonly categories: readonly string[];
  /** The colours of a scale of numbers, lowest number first. */
  readonly scale: readonly string[];
  /** Whether the user asks for more contrast than hues have. The points then have shapes and patterns. */
  readonly isPatterned: boolean;
}

/**
 * Returns the colours of a scale through these stops. The stops have equal distances in OKLab (Björn Ottosson, 2020), so
 * all steps look equal. Their lightness only falls or only rises, so the scale can be read in grey too.
 */
const scaleThrough = (stops: readonly string[]) =>
  Array.from({ length: SCALE_STEPS }, (_, step) => {
    const place = (step / (SCALE_STEPS - 1)) * (stops.length - 1);
    const at = Math.min(Math.floor(place), stops.length - 2);
    return mix(stops[at] as string, stops[at + 1] as string, place - at);
  });

const rolesOf = ({ bg, ink, muted, other, grid, line, alert, wash }: typeof light) => ({
  ...{ background: bg, text: ink, muted, other, grid, line, alert, wash, isPatterned: false },
});

export const LIGHT: Theme = {
  dark: false,
  ...rolesOf(light),
  ...{ chips: lightChips, categories: lightCategories },
  scale: scaleThrough(["#d17a0a", "#ce5a39", "#c8334b", "#a92960", "#872070", "#651573", "#411561", "#1e0f50"]),
};

export const DARK: Theme = {
  dark: true,
  ...rolesOf(dark),
  ...{ chips: darkChips, categories: darkCategories },
  scale: scaleThrough(["#6154be", "#9556bd", "#c455b9", "#d66f9c", "#ea8479", "#f99f64", "#fcc571", "#fcea7f"]),
};

const hues = memoize<readonly number[]>();
/** These texts take no free hue. */
const UNCOLOURED = ["other", IDLE];

/**
 * Returns which hue each text of a column has, as an index into `Theme.categories`. A known category has the same hue in
 * every file. Other texts take the free hues in alphabetical order, and series in their own order. When no hue is free, a
 * text has the last hue.
 */
export const huesOf = ({ key, column, isSeries }: TextColouring): readonly number[] =>
  hues(column, [key, isSeries], () => (isSeries ? column.values.map((_, at) => at) : findHues(column)));

function findHues({ values }: DictColumn): readonly number[] {
  const known = values.map((value) => categories.indexOf(familyOf(value) ?? ""));
  const free = categories.flatMap((_, hue) => (known.includes(hue) ? [] : [hue]));
  const unknown = values.filter((value, at) => known[at] === -1 && value && !UNCOLOURED.includes(value.toLowerCase()));
  const sorted = unknown.sort((a, b) => (a as string).localeCompare(b as string, "en", { numeric: true }));
  return values.map((value, at) => {
    const hue = known[at] as number;
    return hue >= 0 ? hue : (free[sorted.indexOf(value)] ?? categories.length);
  });
}

/** Returns the colour of a text of a column. */
export const categoryColour = ({ categories: all }: Theme, colouring: TextColouring, code: number) =>
  all[Math.min(huesOf(colouring)[code] ?? categories.length, categories.length)] as string;

/**
 * Returns the theme for two colours that the user forces on all pages. The hues of chips and categories are made
 * legible.
 */
export function forcedTheme(background: string, text: string): Theme {
  const base = luminance(background) < luminance(text) ? DARK : LIGHT;
  const read = (hue: string) => legible(hue, background, text);
  return {
    ...base,
    ...{ background, text, muted: text, other: text, line: text, grid: mix(background, text, 0.25) },
    ...{ alert: read(base.alert), wash: background, isPatterned: true },
    chips: base.chips.map(read),
    categories: base.categories.map(read),
    scale: base.scale.map((_, step) => mix(legible(background, background, text), text, step / (SCALE_STEPS - 1))),
  };
}

/** Mixes a hue with the text colour until it is legible. */
function legible(hue: string, background: string, text: string): string {
  const shares = Array.from({ length: 11 }, (_, tenths) => tenths / 10);
  return shares.map((share) => mix(hue, text, share)).find((colour) => contrast(colour, background) >= 4.5) ?? text;
}

/** Returns the contrast of two colours, from 1 to 21, as the Web Content Accessibility Guidelines 2.2 define it. */
function contrast(one: string, other: string): number {
  const [low = 0, high = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

function luminance(hex: string): number {
  const [r = 0, g = 0, b = 0] = channels(hex).map((value) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/**
 * Returns a colour for each chip id. If there are enough hues, each chip has its own hue, because steps of one hue are
 * hard to distinguish. If there are more chips than hues, each vendor has a hue, and the vendor's generations are steps
 * of this hue.
 */
export function chipColours(
  chips: readonly Chip[],
  theme: Theme,
  shown: readonly string[] = chips.map(({ id }) => id),
): Map<string, string> {
  const hue = (index: number) => theme.chips[index % theme.chips.length] as string;
  // If there are enough hues, the colour of a chip does not depend on the chips in view. If not, only the chips in view
  // get different colours.
  const pool = chips.length <= theme.chips.length ? chips : chips.filter(({ id }) => shown.includes(id));
  const vendors = [...new Set([...pool, ...chips].map(({ vendor }) => vendor))];
  const familyOf = ({ vendor }: Chip) => pool.filter((other) => other.vendor === vendor);
  const hueEach = pool.length <= theme.chips.length;
  return new Map(
    chips.map((chip) => {
      if (hueEach && pool.includes(chip)) return [chip.id, hue(pool.indexOf(chip))];
      const family = familyOf(chip);
      // Chips of the same generation stay in order, so that each of these chips has its own step.
      const rank = Math.max(0, [...family].sort((a, b) => b.generation - a.generation).indexOf(chip));
      const step = Math.min(0.28, MAX_SHADE / Math.max(1, family.length - 1));
      return [chip.id, mix(hue(vendors.indexOf(chip.vendor)), theme.text, rank * step)];
    }),
  );
}

/**
 * The maximum share of the text colour in a chip's colour. The chips of a vendor's oldest generation have this share.
 */
const MAX_SHADE = 0.66;

export function mix(from: string, to: string, share: number): string {
  const goal = channels(to);
  return hexOf(channels(from).map((value, at) => Math.round(value * (1 - share) + (goal[at] as number) * share)));
}

function channels(hex: string): number[] {
  return [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));
}

/** Returns a hex colour from three channels of 0 to 255. For example, 255, 0, 0 becomes "#ff0000". */
export function hexOf(rgb: readonly number[]): string {
  return `#${rgb.map((value) => value.toString(16).padStart(2, "0")).join("")}`;
}
