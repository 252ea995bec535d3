// What one picture of the chart shows, worked out from the state: every layer draws from it.

import { flatsOf, type SubRoof } from "../ceilings.ts";
import { shortNames } from "../names.ts";
import type { Points } from "../points.ts";
import type { Level, Roof } from "../roofline.ts";
import { chartHeight, type LogScale, project, type Scales, sameScales, scalesOf } from "../scales.ts";
import type { Store } from "../store.ts";
import { chipColours, type Theme } from "../theme.ts";
import { isProgram, isTotal } from "../totals.ts";
import type { Kernels } from "../wire.ts";
import { gutterOf } from "./column.ts";
import type { Join } from "./gaps.tsx";
import { isMeasured } from "./kernels.ts";

export interface Scene {
  readonly kernels: Kernels;
  readonly points: Points;
  readonly at: { readonly x: Float32Array; readonly y: Float32Array };
  readonly roofs: readonly Roof[];
  readonly focus: Roof | undefined;
  /** In hierarchical mode, the levels of the focus chip that have a roof; else none. */
  readonly levels: readonly Level[];
  readonly subRoofs: readonly SubRoof[];
  readonly colours: ReadonlyMap<string, string>;
  readonly names: ReadonlyMap<string, string>;
  readonly scales: Scales;
  readonly theme: Theme;
  /** Rows that get a name where there is room, the most important first. */
  readonly named: readonly number[];
  /** Rows that matter now: hovered, then selected; of very many selected ones none. */
  readonly marked: readonly number[];
  /** Rows beside which all others fade; with none, none does. */
  readonly selected: ReadonlySet<number>;
}

/** More kernels than this are never named at once. */
const MOST_NAMES = 40;
/** More selected kernels than this stand out by what fades around them alone. */
const MOST_MARKED = 50;
/** With more points than this, lines that tie marks together would hide the chart. */
const MOST_TIES = 400;

/** Of the rows that are drawn, in the order of drawing, those that are named where there is room. */
export function heaviestRows(rows: Int32Array, kernels: Kernels): number[] {
  const totals: number[] = [];
  const own: number[] = [];
  for (const row of rows) {
    if (isTotal(kernels, row)) totals.push(row);
    else if (own.length < MOST_NAMES) own.push(row);
  }
  return [...totals.sort((a, b) => a - b), ...own].slice(0, MOST_NAMES);
}

/** The scene now, with room for the `parts` of what was merged. With the scales of the `last` one where they are the same: what hangs on them need not be redrawn. */
export function sceneOf(
  store: Store,
  points: Points,
  heaviest: readonly number[],
  width: number,
  theme: Theme,
  last: Scene | undefined,
  parts?: Points,
): Scene {
  const roofs = store.shownRoofs.value;
  const focus = roofs.find((roof) => roof === store.focusRoof.value);
  const names = shortNames(store.chips.value);
  const drawn = store.subRoofs.value;
  const subRoofs = focus ? [...drawn, ...flatsOf(store.drawn.value, focus, drawn)] : [];
  const size = { width, height: chartHeight(width) };
  const gutter = (y: LogScale) => gutterOf({ roofs, focus, subRoofs, names }, width, y);
  // While a control is held nothing that was in the picture makes it smaller by leaving: the hand would lose its place.
  const before = last?.scales.width === width && store.held.value ? last.scales : undefined;
  const next = scalesOf(size, roofs, points, focus, gutter, parts, before);
  const scales = last && sameScales(last.scales, next) ? last.scales : next;
  return {
    kernels: store.drawn.value,
    points,
    at: project(points, scales),
    roofs,
    focus,
    levels: focus && focus.levels.length > 1 ? store.shownLevels.value : [],
    subRoofs,
    colours: chipColours(store.chips.value, theme, store.shown.value),
    names,
    scales,
    theme,
    named: [...rowsAbove(points), ...heaviest],
    ...chosenIn(store),
  };
}

/** What is pointed at and selected. */
export function chosenIn(store: Store): Pick<Scene, "marked" | "selected"> {
  const [pointed, selected] = [store.pointed.value, store.selected.value];
  const few = selected.length > MOST_MARKED ? [] : selected;
  return { marked: [...new Set(pointed === null ? few : [pointed, ...few])], selected: new Set(selected) };
}

/** The colours of chips, for marks on their roofs, of categories, for measured kernels, and of totals. */
export function pointColours(scene: Scene) {
  const { kernels, points, roofs, colours, theme } = scene;
  const chips = roofs.map((roof) => colours.get(roof.chip.id) ?? theme.text);
  const colour = new Uint16Array(points.n);
  for (let index = 0; index < points.n; index++) {
    const row = points.row[index] as number;
    const hue = (kernels.category.codes[row] ?? 0) % theme.categories.length;
    const own = isTotal(kernels, row) ? theme.categories.length + (isProgram(kernels, row) ? 0 : 1) : hue;
    colour[index] = isMeasured(points, index) ? chips.length + own : (points.roof[index] as number);
  }
  return {
    colours: [...chips, ...theme.categories, theme.text, theme.muted],
    colour,
    hollow: hollowOf(scene),
    faded: fadedOf(scene),
  };
}

/** In hierarchical mode a kernel's points are hollow but for the one at the level that binds. */
function hollowOf({ points, levels }: Scene): Uint8Array {
  const hollow = new Uint8Array(points.n);
  for (let index = 0; index < points.n && levels.length > 0; index++) {
    hollow[index] = points.binds[index] ? 0 : 1;
  }
  return hollow;
}

/** What is not selected while something is; the program's total is no kernel beside others. */
function fadedOf({ kernels, points, selected }: Scene): Uint8Array {
  const faded = new Uint8Array(points.n);
  for (let index = 0; index < points.n && selected.size > 0; index++) {
    const row = points.row[index] as number;
    faded[index] = selected.has(row) || isTotal(kernels, row) ? 0 : 1;
  }
  return faded;
}

/** All points of a row: one when it was measured, else one on each roof. */
export function indicesOf({ points }: Scene, row: number): number[] {
  const found: number[] = [];
  for (let index = 0; index < points.n; index++) if (points.row[index] === row) found.push(index);
  return found;
}

/** Where lines tie an unmeasured kernel's marks on several roofs together, px. */
export function tiesOf({ points, at, levels }: Scene): number[] {
  const xs = new Set<number>();
  const few = points.n <= MOST_TIES && levels.length === 0;
  for (let index = 0; index < points.n && few; index++) {
    if (!isMeasured(points, index) && points.x[index] !== 0) xs.add(Math.round(at.x[index] as number));
  }
  return [...xs];
}

/** In hierarchical mode what joins the points of each kernel; of very many kernels only of those that are marked. */
export function joinsOf({ points, at, levels, marked }: Scene): Join[] {
  if (levels.length === 0) return [];
  const joins = new Map<number, Join>();
  const few = points.n <= MOST_TIES * levels.length;
  for (let index = 0; index < points.n; index++) {
    const row = points.row[index] as number;
    if (points.x[index] === 0 || !(few || marked.includes(row))) continue;
    const [x, y] = [at.x[index] as number, at.y[index] as number];
    const join = joins.get(row) ?? { row, from: x, to: x, y };
    joins.set(row, { ...join, from: Math.min(join.from, x), to: Math.max(join.to, x) });
  }
  return [...joins.values()].filter(({ from, to }) => from < to);
}

/** Rows that beat their roof: what is wrong is named first. */
function rowsAbove({ aboveRoof, row, n }: Points): number[] {
  const rows: number[] = [];
  for (let index = 0; index < n && rows.length < MOST_NAMES; index++) {
    if (aboveRoof[index]) rows.push(row[index] as number);
  }
  return rows;
}
