// The scene: everything that a picture of a plane shows. All layers draw from the scene.

import type { SubRoof } from "../roofline/ceilings.ts";
import { type Colouring, codeAt, SCALE_STEPS } from "../roofline/colouring.ts";
import { operationIn, operationsOf } from "../roofline/operations.ts";
import { MEASURED, type Points } from "../roofline/points.ts";
import type { Level, Roof } from "../roofline/roofline.ts";
import { isProgram, isTotal } from "../roofline/totals.ts";
import type { Store } from "../state/store.ts";
import type { Gaps } from "../state/view.ts";
import { memoize } from "../ui/memoize.ts";
import type { Kernels } from "../wire/columns.ts";
import { type Units, unitsOf } from "./axis_units.ts";
import type { Join } from "./paths.ts";
import { DENSE_FROM_POINTS } from "./points/dense_raster.ts";
import { isMeasured } from "./points/painter.ts";
import { MANY_POINTS, OPACITY, OPACITY_OF_MANY, PATTERN_COUNT } from "./points/shapes.ts";
import { type Scales, type Spots, spotAt } from "./scales.ts";
import { categoryColour, chipColours, type Theme } from "./theme.ts";

export interface Scene {
  readonly kernels: Kernels;
  readonly points: Points;
  readonly at: Spots;
  readonly roofs: readonly Roof[];
  readonly focus: Roof | undefined;
  /** The levels of the focus chip that have a roof, in hierarchical mode. Otherwise empty. */
  readonly levels: readonly Level[];
  readonly subRoofs: readonly SubRoof[];
  readonly colours: ReadonlyMap<string, string>;
  readonly names: ReadonlyMap<string, string>;
  readonly scales: Scales;
  /** The units of the axes, and the words of a lecturer. */
  readonly units: Units;
  readonly theme: Theme;
  /** The column that gives the points of measured kernels their colours. */
  readonly colouring: Colouring;
  /** The rows that may have a name if they take enough time: totals first, then the heaviest kernels. */
  readonly named: readonly number[];
  /** The rows to fix first, in the order of their badges. */
  readonly ranked: readonly number[];
  /** The rows of measured kernels above their roof, heaviest first. */
  readonly above: readonly number[];
  /**
   * The hovered and selected rows. If more than MAX_MARKED_KERNELS rows are selected, the selected rows are left out.
   */
  readonly marked: readonly number[];
  /** Whether the pointer is on the focus roof, or the roof is dragged. All its lines are then drawn. */
  readonly isRoofHovered: boolean;
  /** Whether shapes tell what bounds a kernel, and patterns tell its category. Otherwise all points are circles. */
  readonly isPatterned: boolean;
  /** Which kernels have gap arrows: those to fix first, all, or none. */
  readonly gaps: Gaps;
  /** Whether lines join the points of each kernel at several levels, not only those of the marked and the first one. */
  readonly allJoins: boolean;
  /** Whether a story is shown. Its author chooses the shown chips. */
  readonly isTold?: boolean;
  readonly selected: ReadonlySet<number>;
  /**
   * The rows that are not faded: the selected rows, or while two runs are compared the rows that changed most. If there
   * are none, no row is faded.
   */
  readonly emphasised: ReadonlySet<number>;
}

/**
 * Returns everything in a scene that labels and arrows depend on. Colours are left out, so that a change of the theme
 * moves no label.
 */
export const geometryOf = ({ colours, theme, colouring, isPatterned, ...geometry }: Scene): readonly unknown[] =>
  Object.values(geometry);

/** The maximum radius of a point, as a share of the width of the plot. */
const MAX_RADIUS_SHARE = 0.015;
/** Radii have steps of this, px, so that many points share one sprite. */
const RADIUS_STEP_PX = 0.5;

const [fitted, smaller] = [memoize<Points>(), memoize<Float32Array>()];

/** Returns the points with smaller radii where they would be too large for the plot. */
export function fittedPoints(points: Points, { plot }: Scales): Points {
  const most = RADIUS_STEP_PX * Math.floor((MAX_RADIUS_SHARE * (plot.right - plot.left)) / RADIUS_STEP_PX);
  const radius = smaller(points.radius, [most], () =>
    points.radius.some((own) => own > most) ? points.radius.map((own) => (own > most ? most : own)) : points.radius,
  );
  return radius === points.radius ? points : fitted(points, [radius], () => ({ ...points, radius }));
}

/** Whether no measured kernel is drawn. The chips then have the hues. Otherwise the categories have them. */
export const hasChipsAlone = ({ points }: Pick<Scene, "points">) => points.measured === 0;

/** Whether points have shapes and patterns: the user asks for them here, or for more contrast everywhere. */
export const isPatternedIn = ({ view: { patterns } }: Store, theme: Theme) => theme.isPatterned || patterns.value;

const roofHues = memoize<ReadonlyMap<string, string>>();

/** Returns the colour of the roof, the pill and the slider of each chip. */
export function roofColours(
  { rates: { chips, shown, focusRoof }, rows: { points } }: Store,
  theme: Theme,
): ReadonlyMap<string, string> {
  const all = chips.value;
  const focus = focusRoof.value?.chip.id;
  return hasChipsAlone({ points: points.value })
    ? roofHues(all, [theme, shown.value], () => chipColours(all, theme, shown.value))
    : roofHues(all, [theme, focus], () => new Map(all.map(({ id }) => [id, id === focus ? theme.text : theme.other])));
}

/** Returns the focus chip's roof, if it is among the shown roofs. */
export const shownFocus = ({ rates: { shownRoofs, focusRoof } }: Store): Roof | undefined =>
  shownRoofs.value.find((roof) => roof === focusRoof.value);

/** Returns the roof that judges kernels: the focus chip's, or the first. */
export const judgingRoof = ({ rates: { shownRoofs, focusRoof } }: Store): Roof | undefined =>
  focusRoof.value ?? shownRoofs.value[0];

/** The maximum number of heavy kernels and totals among which the chart chooses the kernels to name. */
const MAX_NAMED_KERNELS = 40;
/** If more kernels than this are selected, the selected kernels are not marked. All other kernels are still faded. */
const MAX_MARKED_KERNELS = 50;
/** If there are more points than this, lines between marks would hide the chart. */
const MAX_POINTS_WITH_TIES = 400;

/**
 * Returns the rows that may have a name: totals first, then the heaviest kernels. `rows` are the drawn rows, in
 * drawing order.
 */
export function heaviestRows(rows: Int32Array, kernels: Kernels): number[] {
  const totals: number[] = [];
  const own: number[] = [];
  for (const row of rows) {
    if (isTotal(kernels, row)) totals.push(row);
    else if (own.length < MAX_NAMED_KERNELS) own.push(row);
  }
  return [...totals.sort((a, b) => a - b), ...own].slice(0, MAX_NAMED_KERNELS);
}

const [aboves, memoUnits] = [memoize<readonly number[]>(), memoize<Units>()];
const NO_RANKS: readonly number[] = [];

/**
 * Returns which kernels may have labels. During a drag these are the kernels of the `last` scene, so that no label
 * appears, disappears or changes its width.
 */
export function namedIn(
  store: Store,
  points: Points,
  heaviest: readonly number[],
  last: Scene | undefined,
): Pick<Scene, "named" | "ranked" | "above"> {
  if (last && store.view.isInDrag()) return { named: last.named, ranked: last.ranked, above: last.above };
  const above = aboves(points.aboveRoof, [points.row, points.n], () => rowsAbove(points));
  const ranked = store.lesson.hidesHint("points") ? NO_RANKS : store.rows.ranking.value.rows;
  return { named: heaviest, ranked, above };
}

function rowsAbove({ aboveRoof, row, n }: Points): number[] {
  const rows: number[] = [];
  // `indexOf` is much faster than a loop over all points.
  for (let index = aboveRoof.indexOf(1); index >= 0 && index < n; index = aboveRoof.indexOf(1, index + 1))
    rows.push(row[index] as number);
  return rows;
}

/** Returns the units of the axes. If the focus chip's clock rate is known, rates can be per cycle of this chip. */
export function unitsIn(
  {
    view: {
      axes,
      terms: { value: terms },
    },
    rows: { drawn },
    rates: { shownRoofs },
    lesson,
  }: Store,
  focus: Roof | undefined,
): Units {
  const { rateUnit, word, xAxis, tickBase } = axes;
  const counted = { rateUnit: rateUnit.value, word: word.value, xAxis: xAxis.value, tickBase: tickBase.value };
  const clock = focus?.chip.clock ?? null;
  const ofRoofs = shownRoofs.value.map(({ precision }) => operationIn(precision));
  const operations = new Set([...ofRoofs, ...operationsOf(drawn.value, focus?.precision ?? "")]);
  const hasRidges = !lesson.hidesHint("ridge");
  const keys = [...Object.values(counted), clock, terms, operations.has("FLOP"), operations.has("OP"), hasRidges];
  return memoUnits(axes, keys, () => ({ ...unitsOf(counted, clock, terms, operations), hasRidges }));
}

const [sets, marks] = [memoize<ReadonlySet<number>>(), memoize<readonly number[]>()];

/** The hovered and selected rows. */
export function selectionOf(store: Store): Pick<Scene, "marked" | "selected" | "emphasised"> {
  const [pointed, rows] = [store.rows.pointed.value, store.rows.selected.value];
  const few = rows.length > MAX_MARKED_KERNELS ? [] : rows;
  const marked = marks(rows, [pointed], () => [...new Set(pointed === null ? few : [pointed, ...few])]);
  const selected = sets(rows, [], () => new Set(rows));
  return { marked, selected, emphasised: selected };
}

/**
 * Returns the colours of points. Measured kernels have the colour of their category, or of another column (see
 * `Colouring`). Totals have their own colour. A mark on a roof has the colour of the roof's chip.
 */
export function pointColours(scene: Scene) {
  const { points, roofs, colours, theme, kernels, levels, emphasised, colouring } = scene;
  const chips = roofs.map((roof) => colours.get(roof.chip.id) ?? theme.text);
  const own =
    colouring.kind === "number"
      ? theme.scale
      : Array.from({ length: PATTERN_COUNT }, (_, code) => categoryColour(theme, colouring, code));
  return {
    colours: [...own, theme.muted, theme.text, theme.muted, ...chips],
    patterns: scene.isPatterned ? patternsOf(colouring) : NO_PATTERNS,
    isPatterned: scene.isPatterned,
    opacity: opacityOf(points),
    colour: colour(points.row, [kernels, points.roof, colouring], () => colourOf(scene)),
    hollow: hollow(points.binds, [levels.length > 0, kernels, points.row, colouring], () => hollowOf(scene)),
    faded: faded(points.row, [kernels, emphasised], () => fadedOf(scene)),
  };
}

const patterns = memoize<readonly number[]>();

const NO_PATTERNS: readonly number[] = [];

/** Returns the opacity of points: of many points, those below others stay visible. */
const opacityOf = ({ n }: Points) => (n > DENSE_FROM_POINTS ? 1 : n > MANY_POINTS ? OPACITY_OF_MANY : OPACITY);

/** Returns the pattern of each colour of texts. Empty for numbers, and if all kernels have the same text. */
const patternsOf = (colouring: Colouring) =>
  patterns(colouring, [], () =>
    colouring.kind === "number" || colouring.column.values.length < 2 ? [] : [...Array(PATTERN_COUNT).keys()],
  );

/** The value in the column of outlines of a point whose colour is unknown. It keeps its sign above its roof. */
const UNKNOWN_COLOUR = 2;

// Memoized: while a roof is dragged, the columns of measured points do not change.
const [colour, hollow, faded] = [memoize<Uint16Array>(), memoize<Uint8Array>(), memoize<Uint8Array>()];

function colourOf({ kernels, points: { row, roof }, colouring }: Scene): Uint16Array {
  const colour = new Uint16Array(row.length);
  const own = colouring.kind === "number" ? SCALE_STEPS : PATTERN_COUNT;
  for (let index = 0; index < row.length; index++) {
    const one = row[index] as number;
    const on = roof[index] as number;
    if (on !== MEASURED) colour[index] = own + 3 + on;
    else if (isTotal(kernels, one)) colour[index] = own + (isProgram(kernels, one) ? 1 : 2);
    else {
      const code = codeAt(colouring, one);
      colour[index] = code < 0 ? own : code % own;
    }
  }
  return colour;
}

/**
 * Returns which points are outlines. In hierarchical mode only the point at the memory level that binds is filled. A
 * measured kernel whose colour is unknown is an outline.
 */
function hollowOf({ kernels, points: { binds, row, roof }, levels, colouring }: Scene): Uint8Array {
  const hollow = levels.length > 0 ? binds.map((is) => 1 - is) : new Uint8Array(binds.length);
  for (let index = 0; index < row.length && colouring.unknown > 0; index++) {
    const one = row[index] as number;
    if (roof[index] === MEASURED && !isTotal(kernels, one) && codeAt(colouring, one) < 0)
      hollow[index] = UNKNOWN_COLOUR;
  }
  return hollow;
}

/**
 * Returns which points are faded. If some kernels are emphasised, all other kernels are faded. Totals are never faded, and
 * neither is a selected kernel in other series.
 */
function fadedOf({ kernels, points, emphasised }: Scene): Uint8Array {
  const { row } = points;
  const { same } = kernels;
  const faded = new Uint8Array(row.length);
  const numbers = new Set(same ? Array.from(emphasised, (one) => same[one]) : []);
  for (let index = 0; index < row.length && emphasised.size > 0; index++) {
    const one = row[index] as number;
    faded[index] = emphasised.has(one) || isTotal(kernels, one) || (same && numbers.has(same[one])) ? 0 : 1;
  }
  return faded;
}

/**
 * Whether a position, px, is in the plot. For a kernel without FLOPs: whether the position is in the strip beside the
 * plot.
 */
export function isInSight({ plot }: Scales, ai: number, x: number, y: number): boolean {
  return (ai === 0 || (x >= plot.left && x <= plot.right)) && y >= plot.top && y <= plot.bottom;
}

/**
 * Returns the indices of all points of a row. A measured row has one point. An unmeasured row has a point on each roof.
 * In hierarchical mode a row has a point for each memory level. The indices are consecutive, and the last is the row's
 * home point.
 */
export function indicesOf({ points: { row: rows, home } }: Scene, row: number): number[] {
  const found: number[] = [];
  for (let index = home[row] ?? -1; rows[index] === row; index--) found.push(index);
  return found.reverse();
}

/** At rest a ceiling nearer to its roof than this is not drawn, px. */
const MIN_CEILING_PX = 12;

/** Returns the ceilings that are drawn: at rest only those that are clear of the roof. */
export const ceilingsIn = ({ subRoofs, isRoofHovered, ...scene }: Scene): readonly SubRoof[] =>
  isRoofHovered ? subRoofs : subRoofs.filter((sub) => !isNearRoof(sub, scene));

export function isNearRoof(
  { kind, peak, bandwidth }: Pick<SubRoof, "kind" | "peak" | "bandwidth">,
  { focus, scales: { y } }: Pick<Scene, "focus" | "scales">,
) {
  if (!focus) return false;
  const [own, roof] = kind === "bandwidth" ? [bandwidth, focus.bandwidth] : [peak, focus.peak];
  return Math.abs(y(own) - y(roof)) < MIN_CEILING_PX;
}

/** The x positions of the lines that tie the marks of a hovered or selected unmeasured kernel on several roofs, px. */
export function tiesOf({ points, at, levels, scales, marked }: Scene): number[] {
  const xs = new Set<number>();
  const few = points.n <= MAX_POINTS_WITH_TIES && levels.length === 0;
  for (let index = 0; index < points.n && few; index++) {
    const x = at.x[index] as number;
    const isWithin = x >= scales.plot.left && x <= scales.plot.right;
    const isTied = !isMeasured(points, index) && points.x[index] !== 0 && marked.includes(points.row[index] as number);
    if (isTied && isWithin) xs.add(Math.round(x));
  }
  return [...xs];
}

/**
 * Returns the lines that join the points of a kernel in hierarchical mode: of marked kernels, and of the first kernel or
 * of all kernels. If there are very many points, not all kernels have these lines.
 */
export function joinsOf({ points, at, levels, marked, ranked, named, allJoins }: Scene): Join[] {
  if (levels.length === 0) return [];
  const joins = new Map<number, Join>();
  // Kernels without FLOPs have all their points at one place in the strip.
  const first = (ranked.length > 0 ? ranked : named).find((row) => points.x[points.home[row] ?? -1] !== 0);
  const isAll = allJoins && points.n <= MAX_POINTS_WITH_TIES * levels.length;
  for (let index = 0; index < points.n; index++) {
    const row = points.row[index] as number;
    if (points.x[index] === 0 || !(isAll || row === first || marked.includes(row))) continue;
    const [x, y] = spotAt(at, index);
    const join = joins.get(row) ?? { row, from: x, to: x, y };
    joins.set(row, { ...join, from: Math.min(join.from, x), to: Math.max(join.to, x) });
  }
  return [...joins.values()].filter(({ from, to }) => from < to);
}
