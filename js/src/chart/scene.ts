// What one picture of the chart shows, worked out from the state: every layer draws from it.

import { shortNames } from "../names.ts";
import { type Points, rowsByWeight } from "../points.ts";
import type { Roof } from "../roofline.ts";
import { chartHeight, project, type Scales, sameScales, scalesOf } from "../scales.ts";
import type { Store } from "../store.ts";
import { chipColours, type Theme } from "../theme.ts";
import type { Kernels } from "../wire.ts";
import { isMeasured } from "./kernels.ts";

export interface Scene {
  readonly kernels: Kernels;
  readonly points: Points;
  readonly at: { readonly x: Float32Array; readonly y: Float32Array };
  readonly roofs: readonly Roof[];
  readonly focus: Roof | undefined;
  readonly colours: ReadonlyMap<string, string>;
  readonly names: ReadonlyMap<string, string>;
  readonly scales: Scales;
  readonly theme: Theme;
  /** Rows that get a name where there is room, the most important first. */
  readonly named: readonly number[];
  /** Rows that matter now: hovered, then selected. */
  readonly marked: readonly number[];
}

/** More kernels than this are never named at once. */
const MOST_NAMES = 40;
/** With more points than this, lines that tie marks together would hide the chart. */
const MOST_TIES = 400;

export const heaviestRows = (kernels: Kernels) => rowsByWeight(kernels, MOST_NAMES);

/** The scene now. With the scales of the `last` one where they are the same: what hangs on them need not be redrawn. */
export function sceneOf(
  store: Store,
  points: Points,
  heaviest: readonly number[],
  width: number,
  theme: Theme,
  last: Scene | undefined,
): Scene {
  const roofs = store.shownRoofs.value;
  const focus = roofs.find((roof) => roof === store.focusRoof.value);
  const next = scalesOf({ width, height: chartHeight(width) }, roofs, points, focus);
  const scales = last && sameScales(last.scales, next) ? last.scales : next;
  const hovered = store.hovered.value;
  return {
    kernels: store.kernels.value,
    points,
    at: project(points, scales),
    roofs,
    focus,
    colours: chipColours(store.chips.value, theme),
    names: shortNames(store.chips.value),
    scales,
    theme,
    named: [...rowsAbove(points), ...heaviest],
    marked: [...new Set([...(hovered === null ? [] : [hovered]), ...store.selected.value])],
  };
}

/** The colours of chips, for marks on their roofs, and of categories, for measured kernels. */
export function pointColours({ kernels, points, roofs, colours, theme }: Scene) {
  const chips = roofs.map((roof) => colours.get(roof.chip.id) ?? theme.text);
  const colour = new Uint16Array(points.n);
  for (let index = 0; index < points.n; index++) {
    const category = (kernels.category.codes[points.row[index] as number] ?? 0) % theme.categories.length;
    colour[index] = isMeasured(points, index) ? chips.length + category : (points.roof[index] as number);
  }
  return { colours: [...chips, ...theme.categories], colour };
}

/** All points of a row: one when it was measured, else one on each roof. */
export function indicesOf({ points }: Scene, row: number): number[] {
  const found: number[] = [];
  for (let index = 0; index < points.n; index++) if (points.row[index] === row) found.push(index);
  return found;
}

/** Where lines tie an unmeasured kernel's marks together, px. */
export function tiesOf({ points, at }: Scene): number[] {
  const xs = new Set<number>();
  for (let index = 0; index < points.n && points.n <= MOST_TIES; index++) {
    if (!isMeasured(points, index) && points.x[index] !== 0) xs.add(Math.round(at.x[index] as number));
  }
  return [...xs];
}

/** Precisions of kernels whose peak on the focus chip is another than the one shown. */
export function otherPrecisions({ kernels, focus }: Scene): string[] {
  if (!focus) return [];
  const own = [...kernels.precision.values, ...kernels.flops.keys()];
  return [...new Set(own)].filter(
    (precision): precision is string => !!precision && (focus.peaks.get(precision) ?? focus.peak) !== focus.peak,
  );
}

/** Rows that beat their roof: what is wrong is named first. */
function rowsAbove({ aboveRoof, row, n }: Points): number[] {
  const rows: number[] = [];
  for (let index = 0; index < n && rows.length < MOST_NAMES; index++) {
    if (aboveRoof[index]) rows.push(row[index] as number);
  }
  return rows;
}
