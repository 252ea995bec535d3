// What one picture of the chart shows, worked out from the state: every layer draws from it.

import type { SubRoof } from "../roofline/ceilings.ts";
import { MEASURED, type Points } from "../roofline/points.ts";
import type { Level, Roof } from "../roofline/roofline.ts";
import { isProgram, isTotal } from "../roofline/totals.ts";
import type { Store } from "../state/store.ts";
import { memoize } from "../ui/memoize.ts";
import type { Kernels } from "../wire/columns.ts";
import { type Units, unitsOf } from "./axis_units.ts";
import type { Join } from "./paths.ts";
import { isMeasured } from "./points/painter.ts";
import type { Scales } from "./scales.ts";
import type { Theme } from "./theme.ts";

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
  /** How its axes count. */
  readonly units: Units;
  readonly theme: Theme;
  /** Rows that get a name where there is room, the most important first. */
  readonly named: readonly number[];
  /** Rows that matter now: hovered, then selected; of very many selected ones none. */
  readonly marked: readonly number[];
  /** Rows beside which all others fade; with none, none does. */
  readonly selected: ReadonlySet<number>;
}

/** More kernels than this are never named at once. */
export const MAX_NAMED_KERNELS = 40;
/** More selected kernels than this stand out by what fades around them alone. */
const MAX_MARKED_KERNELS = 50;
/** With more points than this, lines that tie marks together would hide the chart. */
const MAX_POINTS_WITH_TIES = 400;

/** Of the rows that are drawn, in the order of drawing, those that are named where there is room. */
export function heaviestRows(rows: Int32Array, kernels: Kernels): number[] {
  const totals: number[] = [];
  const own: number[] = [];
  for (const row of rows) {
    if (isTotal(kernels, row)) totals.push(row);
    else if (own.length < MAX_NAMED_KERNELS) own.push(row);
  }
  return [...totals.sort((a, b) => a - b), ...own].slice(0, MAX_NAMED_KERNELS);
}

const memoUnits = memoize<Units>();

/** How the axes count: by the cycles of the focus chip, where its clock is known. */
export function unitsIn({ axes }: Store, focus: Roof | undefined): Units {
  const { rateUnit, word, xAxis, tickBase } = axes;
  const counted = { rateUnit: rateUnit.value, word: word.value, xAxis: xAxis.value, tickBase: tickBase.value };
  const clock = focus?.chip.clock ?? null;
  return memoUnits(axes, [...Object.values(counted), clock], () => unitsOf(counted, clock));
}

const sets = memoize<ReadonlySet<number>>();

/** What is pointed at and selected. */
export function selectionOf(store: Store): Pick<Scene, "marked" | "selected"> {
  const [pointed, rows] = [store.pointed.value, store.selected.value];
  const few = rows.length > MAX_MARKED_KERNELS ? [] : rows;
  const marked = [...new Set(pointed === null ? few : [pointed, ...few])];
  return { marked, selected: sets(rows, [], () => new Set(rows)) };
}

/** The colours of categories, for measured kernels, of totals, and of chips, for marks on their roofs. */
export function pointColours(scene: Scene) {
  const { points, roofs, colours, theme, kernels, levels, selected } = scene;
  const chips = roofs.map((roof) => colours.get(roof.chip.id) ?? theme.text);
  const hues = theme.categories.length;
  return {
    colours: [...theme.categories, theme.text, theme.muted, ...chips],
    colour: colour(points.row, [kernels, points.roof, hues], () => colourOf(scene, hues)),
    hollow: hollow(points.binds, [levels.length > 0], () => hollowOf(scene)),
    faded: faded(points.row, [kernels, selected], () => fadedOf(scene)),
  };
}

// While a roof is dragged measured points keep their columns, and these.
const [colour, hollow, faded] = [memoize<Uint16Array>(), memoize<Uint8Array>(), memoize<Uint8Array>()];

function colourOf({ kernels, points: { row, roof } }: Scene, hues: number): Uint16Array {
  const colour = new Uint16Array(row.length);
  const { codes } = kernels.category;
  for (let index = 0; index < row.length; index++) {
    const one = row[index] as number;
    const on = roof[index] as number;
    if (on !== MEASURED) colour[index] = hues + 2 + on;
    else if (isTotal(kernels, one)) colour[index] = isProgram(kernels, one) ? hues : hues + 1;
    else colour[index] = (codes[one] ?? 0) % hues;
  }
  return colour;
}

/** In hierarchical mode a kernel's points are hollow but for the one at the level that binds. */
function hollowOf({ points: { binds }, levels }: Scene): Uint8Array {
  return levels.length > 0 ? binds.map((is) => 1 - is) : new Uint8Array(binds.length);
}

/** What is not selected while something is; the program's total is no kernel beside others. */
function fadedOf({ kernels, points, selected }: Scene): Uint8Array {
  const { row } = points;
  const faded = new Uint8Array(row.length);
  for (let index = 0; index < row.length && selected.size > 0; index++) {
    faded[index] = selected.has(row[index] as number) || isTotal(kernels, row[index] as number) ? 0 : 1;
  }
  return faded;
}

/** Whether a place lies in the plot, or of what has no FLOPs and so no intensity in the strip beside it, px. */
export function isInSight({ plot }: Scales, ai: number, x: number, y: number): boolean {
  return (ai === 0 || (x >= plot.left && x <= plot.right)) && y >= plot.top && y <= plot.bottom;
}

/** All points of a row: one when it was measured, else one on each roof. They follow one another, up to the one that stands for it. */
export function indicesOf({ points: { row: rows, home } }: Scene, row: number): number[] {
  const found: number[] = [];
  for (let index = home[row] ?? -1; rows[index] === row; index--) found.push(index);
  return found.reverse();
}

/** Where lines tie an unmeasured kernel's marks on several roofs together, px. */
export function tiesOf({ points, at, levels, scales }: Scene): number[] {
  const xs = new Set<number>();
  const few = points.n <= MAX_POINTS_WITH_TIES && levels.length === 0;
  for (let index = 0; index < points.n && few; index++) {
    const x = at.x[index] as number;
    const isWithin = x >= scales.plot.left && x <= scales.plot.right;
    if (!isMeasured(points, index) && points.x[index] !== 0 && isWithin) xs.add(Math.round(x));
  }
  return [...xs];
}

/** In hierarchical mode what joins the points of each kernel; of very many kernels only of those that are marked. */
export function joinsOf({ points, at, levels, marked }: Scene): Join[] {
  if (levels.length === 0) return [];
  const joins = new Map<number, Join>();
  const few = points.n <= MAX_POINTS_WITH_TIES * levels.length;
  for (let index = 0; index < points.n; index++) {
    const row = points.row[index] as number;
    if (points.x[index] === 0 || !(few || marked.includes(row))) continue;
    const [x, y] = [at.x[index] as number, at.y[index] as number];
    const join = joins.get(row) ?? { row, from: x, to: x, y };
    joins.set(row, { ...join, from: Math.min(join.from, x), to: Math.max(join.to, x) });
  }
  return [...joins.values()].filter(({ from, to }) => from < to);
}
