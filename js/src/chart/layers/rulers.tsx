// Rulers: a vertical line from a point to every roof above the point, with the rate that each roof allows. If the
// pointer is on empty space, the line starts at the horizontal axis.

import type { ReadonlySignal } from "@preact/signals";
import type { VNode } from "preact";
import { intensityAt } from "../../roofline/bound.ts";
import { type CrossedLines, type Crossing, crossingsAt } from "../../roofline/crossings.ts";
import { type Operation, operationOf } from "../../roofline/operations.ts";
import type { Store } from "../../state/store.ts";
import { shortNames } from "../../text/names.ts";
import { formatFactor } from "../../text/numbers.ts";
import { rulerWords as words } from "../../words/words.ts";
import {
  coveredBy,
  type Label,
  labelColour,
  leaderOf,
  MUTED,
  type PlacedLabel,
  placeLabels,
} from "../labels/engine.ts";
import { lineBoxes, pointBoxes, ridgeBoxes, stripBoxes } from "../labels/obstacles.ts";
import { RULES } from "../labels/rules.ts";
import { isMeasured, radiusAt } from "../points/painter.ts";
import { type Box, clamp, isNarrow, spotAt } from "../scales.ts";
import { isInSight, type Scene, unitsIn } from "../scene.ts";
import { Labels } from "./marks.tsx";

/** A position on the chart, px. */
export interface PointerPosition {
  readonly x: number;
  readonly y: number;
}

type Boxes = readonly Box[];
type Names = readonly PlacedLabel[];

interface RulerTick extends PointerPosition {
  readonly colour: string;
}

interface Ruler {
  /** The vertical lines, as an SVG path. */
  readonly d: string;
  readonly ticks: readonly RulerTick[];
  readonly labels: readonly PlacedLabel[];
  readonly isLight: boolean;
}

/** The ratio of a roof's rate to the kernel's rate is written only if it is at least this. */
const MIN_RATIO = 1.005;

/** A crossing of the ruler and a roof, with its texts. */
interface RulerLimit extends Crossing {
  readonly text: string;
  readonly brief: readonly string[];
}

/** The parts of a scene that determine the limits, which are the rates that the roofs above a point allow. */
type Judged = CrossedLines & Pick<Scene, "kernels" | "points" | "units">;

/**
 * Describes the roofs above a kernel for screen readers. Empty if rulers are hidden or no roof is above the kernel, and
 * if there is one roof only, because the sentence of the kernel says what this roof allows.
 */
export function roofsAbove(store: Store, row: number): string {
  const {
    rows: { drawn, points },
    rates: { shownRoofs, focusRoof, shownLevels, subRoofs, chips },
    view: { rulers },
  } = store;
  const [focus, index] = [focusRoof.value, points.value.home[row] ?? -1];
  if (!rulers.value || store.view.plane.value !== "roofline" || index < 0) return "";
  const lines = { roofs: shownRoofs.value, focus, subRoofs: subRoofs.value, names: shortNames(chips.value) };
  const levels = focus && focus.levels.length > 1 ? shownLevels.value : [];
  if (lines.roofs.length + levels.length + lines.subRoofs.length < 2) return "";
  const judged = { ...lines, levels, kernels: drawn.value, points: points.value, units: unitsIn(store, focus) };
  const limits = limitsOver(judged, index).map(({ text }) => text);
  return limits.length > 0 ? words.roofsAbove(limits) : "";
}

/**
 * Returns the rate that each roof above a point allows. If the kernel is unmeasured, the roof on which its point is
 * drawn is included.
 */
export function limitsOver(scene: Judged, index: number): RulerLimit[] {
  const { kernels, points, focus } = scene;
  const row = points.row[index] as number;
  const [ai, rate] = spotAt(points, index);
  const aiAt = (level?: string) => (level !== undefined && focus ? intensityAt(kernels, row, focus.chip, level) : ai);
  const unit = operationOf(kernels, row, focus?.precision ?? "");
  const least = isMeasured(points, index) ? 1 : 1 - 1e-9;
  return crossingsAt(scene, aiAt).flatMap((crossing): RulerLimit[] => {
    const ratio = crossing.rate / rate;
    if (!(ratio >= least)) return [];
    const [limit, alone] = textsOf(scene, crossing, unit);
    if (ratio < MIN_RATIO) return [{ ...crossing, text: limit, brief: [alone] }];
    return [{ ...crossing, text: `${limit} · ${formatFactor(ratio)}×`, brief: [limit, alone] }];
  });
}

/** Returns two texts of a limit: with the name of the roof and without the name. */
function textsOf(
  { units }: Judged,
  { name, ai, rate, isFigure }: Crossing,
  unit?: Operation,
): [limit: string, rate: string] {
  const digits = isFigure ? 4 : 3;
  const text = ai === 0 ? units.bandwidth(rate, digits) : units.rate(rate, digits, unit);
  return [`${name} ${text}`, text];
}

/**
 * Returns the ruler above a point. The ruler's labels avoid the labels in `names` and the boxes in `others` and
 * `arrows`. For example, `others` contains the tooltip.
 */
export function rulerOver(scene: Scene, index: number, names: Names, others: Boxes = [], arrows: Boxes = []): Ruler {
  const { at, points } = scene;
  const [x, y] = spotAt(at, index);
  const rim = radiusAt(points, index) + 3;
  // The label of the gap already says how far away the focus roof is, so the ruler's label omits the factor.
  const isTold = names.some(({ key }) => key === `gap ${points.row[index]}`);
  const limits = limitsOver(scene, index).map((limit) => {
    const [text = limit.text, ...brief] = limit.brief;
    return isTold && limit.key === `roof ${scene.focus?.chip.id}` ? { ...limit, text, brief } : limit;
  });
  return rulerOf(scene, limits, { x, y: y - rim }, names, others, arrows);
}

/**
 * Returns the ruler above the hovered point, or above the selected kernel if no point is hovered. Also returns a box
 * for the tooltip. Among the possible boxes this box leaves the most room for the ruler.
 */
export function rulerBeside(
  { view: { rulers }, rows: { selected, pointed } }: Pick<Store, "view" | "rows">,
  scene: Scene,
  names: Names,
  index: number,
  boxes: Boxes = [],
  arrows: Boxes = [],
): { ruler?: Ruler; box?: Box } {
  const [row] = pointed.value === null && selected.value.length === 1 ? selected.value : [];
  const meant = index >= 0 || row === undefined ? index : (scene.points.home[row] ?? -1);
  if (!rulers.value || meant < 0) return {};
  const options = (boxes.length > 0 ? boxes : [undefined]).map((box) => {
    return { ruler: rulerOver(scene, meant, names, box ? [box] : [], arrows), ...(box && { box }) };
  });
  return options.reduce((best, other) => (other.ruler.labels.length > best.ruler.labels.length ? other : best));
}

/**
 * Returns the ruler at the pointer on empty space, with the intensity at the pointer. Returns undefined if the pointer
 * is outside the plot.
 */
export function rulerAt(scene: Scene, { x, y }: PointerPosition, names: Names, arrows: Boxes = []): Ruler | undefined {
  const { plot, x: across } = scene.scales;
  const ai = across.invert(x);
  if (x <= plot.left || !isInSight(scene.scales, ai, x, y)) return undefined;
  const limits = crossingsAt(scene, () => ai).map((crossing): RulerLimit => {
    const [text, alone] = textsOf(scene, crossing);
    return { ...crossing, text, brief: [alone] };
  });
  const foot: Label = {
    ...{ kind: "foot", key: "ruler foot", text: scene.units.intensity(ai), colour: MUTED },
    positions: RULES.foot.positions(x, scene.scales),
  };
  return rulerOf(scene, limits, { x, y: plot.bottom }, names, [], arrows, foot);
}

function rulerOf(
  scene: Scene,
  limits: readonly RulerLimit[],
  from: PointerPosition,
  names: Names,
  others: Boxes,
  arrows: Boxes,
  foot?: Label,
): Ruler {
  const { scales } = scene;
  const { plot, strip } = scales;
  const spots = limits.map((limit) => ({
    limit,
    x: limit.ai > 0 && Number.isFinite(limit.ai) ? scales.x(limit.ai) : from.x,
    y: limit.ai === 0 && strip ? strip.y(limit.rate) : scales.y(limit.rate),
  }));
  const rank = ({ limit: { key, chip } }: (typeof spots)[number]) =>
    key.startsWith("sub ") ? 2 : chip === scene.focus?.chip.id ? 0 : 1;
  // The order of importance: limits of the focus chip, then limits of other chips, then ceilings. In each of these
  // groups higher limits are first.
  const isSeen = ({ limit, x, y }: (typeof spots)[number]) => isInSight(scales, limit.ai, x, y);
  const seen = spots.filter(isSeen).sort((a, b) => rank(a) - rank(b) || a.y - b.y);
  // In a narrow chart the names of ceilings do not fit. The labels of limits do not cover lines, because the tooltip
  // shows the same numbers.
  const narrow = isNarrow(scales);
  const named = narrow ? seen.filter((spot) => rank(spot) < 2) : seen;
  const labels = named.map(
    ({ limit, x, y }): Label => ({
      ...{ kind: narrow && !foot ? "narrowLimit" : "limit", key: `ruler ${limit.key}`, colour: limit.chip },
      ...{ text: limit.text, shorter: limit.brief, mark: { x, y, radius: 2 } },
      positions: RULES.limit.positions(x, y, limit.ai === 0 ? plot.left : undefined),
    }),
  );
  const bounds = { left: plot.left, right: plot.right, top: 2, bottom: plot.bottom - 2 };
  const surroundings = {
    bounds,
    texts: [...others, ...names.flatMap(coveredBy)],
    points: pointBoxes(scene),
    lines: lineBoxes(scene),
    arrows: [...stripBoxes(scene), ...arrows],
    ridges: ridgeBoxes(scene),
  };
  const all = foot ? [...labels, foot] : labels;
  const ranked = placeLabels(all, surroundings);
  // If a label found no room, place all labels again, from top to bottom.
  const isFull = ranked.length === all.length;
  const falling = isFull
    ? ranked
    : placeLabels(
        [...all].sort((a, b) => (a.mark?.y ?? 0) - (b.mark?.y ?? 0)),
        surroundings,
      );
  return {
    // A line to a roof above the plot ends at the top of the plot.
    d: columnsOf(
      spots.filter((spot) => isSeen({ ...spot, y: from.y })),
      from,
      plot.top,
    ),
    ticks: seen.map(({ limit, x, y }) => ({ x, y, colour: labelColour({ colour: limit.chip }, scene) })),
    labels: falling.length > ranked.length ? falling : ranked,
    isLight: foot !== undefined,
  };
}

/** Returns one vertical line at each x. The line ends at the highest roof at this x. */
function columnsOf(spots: readonly PointerPosition[], from: PointerPosition, top: number): string {
  const ends = new Map<number, number>();
  for (const { x, y } of spots) {
    const at = Math.round(x * 10) / 10;
    ends.set(at, clamp(y, top, ends.get(at) ?? from.y));
  }
  return [...ends].map(([x, y]) => `M${x},${from.y}V${y}`).join("");
}

interface RulersProps {
  readonly scene: Scene;
  readonly names: Names;
  readonly arrows: Boxes;
  /** The ruler above a point. Undefined if no point has a ruler. */
  readonly ruler: Ruler | undefined;
  /** The position of the pointer on empty space. The position is a signal, so that a move redraws only the ruler. */
  readonly spot?: ReadonlySignal<PointerPosition | undefined> | undefined;
}

export function Rulers({ scene, names, arrows, ruler, spot }: RulersProps): VNode | null {
  const shown = spot?.value ? rulerAt(scene, spot.value, names, arrows) : ruler;
  if (!shown) return null;
  const { theme } = scene;
  return (
    <g class="rw-ruler" data-light={shown.isLight}>
      <path
        d={shown.d}
        fill="none"
        stroke={theme.text}
        stroke-width={1}
        stroke-opacity={shown.isLight ? 0.45 : 0.75}
        stroke-dasharray="3 3"
      />
      <path d={shown.labels.map(leaderOf).join("")} fill="none" stroke={theme.text} stroke-opacity={0.4} />
      {shown.ticks.map(({ x, y, colour }) => (
        <circle key={`${x} ${y}`} cx={x} cy={y} r={2.5} fill={colour} stroke={theme.background} />
      ))}
      <Labels labels={shown.labels} scene={scene} />
    </g>
  );
}
