// The labels of the time view: isochrones, the diagonal, its two regions, launch overhead, kernels and gaps.

import { judge } from "../../roofline/bound.ts";
import { gapText } from "../../text/describe.ts";
import { briefNamesOf } from "../../text/names.ts";
import { formatQuantity } from "../../text/numbers.ts";
import { strings } from "../../words/words.ts";
import { squareAround } from "../labels/box_index.ts";
import { type Label, MUTED, type PlacedLabel, placeLabels, TEXT } from "../labels/engine.ts";
import { kernelLabels } from "../labels/kernel_labels.ts";
import { pointBoxes } from "../labels/obstacles.ts";
import { MAX_ROOF_LETTERS } from "../labels/roof_labels.ts";
import type { LabelContext } from "../labels/roofline_labels.ts";
import { RULES } from "../labels/rules.ts";
import { FONT_PX, shortenToWords, textWidth } from "../labels/text_fitting.ts";
import { ghostBox } from "../layers/moved_kernels.tsx";
import { between, type Spot } from "../paths.ts";
import type { Box } from "../scales.ts";
import { diagonalEnd, diagonalStart, type TimeGap, type TimeScene, tickText } from "./scene.ts";

export function timeLabels(scene: TimeScene, gaps: readonly TimeGap[], context: LabelContext = {}): PlacedLabel[] {
  const { before, others = [], ghosts = [] } = context;
  const { outer } = scene.scales;
  const labels = [
    ...others,
    ...kernelLabels(scene, before),
    // A moved kernel has a note instead of the text of its gap.
    ...gapLabels(
      scene,
      gaps.filter(({ row }) => !ghosts.some((ghost) => ghost.row === row)),
    ),
    ...emptyLabel(scene),
    ...lineLabels(scene),
    ...regionLabels(scene),
    ...isochroneLabels(scene),
  ];
  const surroundings = {
    bounds: { ...outer, left: outer.left + 2, bottom: outer.bottom - 2 },
    points: [...pointBoxes(scene), ...ghosts.map(ghostBox)],
    // During a drag labels keep their places, even if lines move under the labels.
    lines: before ? [] : lineBoxes(scene, [...gaps, ...ghosts]),
    isochrones: before ? [] : scene.isochrones.flatMap((seconds) => cornerBoxes(seconds, scene.scales)),
  };
  return placeLabels(labels, surroundings, before);
}

/** The label that says why the plane is empty. */
function emptyLabel({ focus, points, scales }: TimeScene): Label[] {
  if (points.n > 0) return [];
  const text = focus ? strings.time.empty : strings.noChip;
  return [{ kind: "empty", key: "empty", text, colour: TEXT, positions: RULES.empty.positions(scales) }];
}

/** The labels of the square of launch overhead and of the diagonal. */
function lineLabels({ focus, overhead, names, scales }: TimeScene): Label[] {
  if (!focus) return [];
  const { x, y, outer } = scales;
  const [right, top] = [Math.min(x(overhead), outer.right), Math.max(y(overhead), outer.top)];
  const launches: Label = {
    ...{ kind: "overhead", key: "overhead", text: strings.time.overhead(formatQuantity(overhead, "s")) },
    ...{ colour: TEXT, positions: RULES.overhead.positions(right, top, outer.left, outer.bottom) },
  };
  const chip = shortenToWords(names.get(focus.chip.id) ?? focus.chip.name, (text) => text.length <= MAX_ROOF_LETTERS);
  const [from, to] = [diagonalStart(scales), diagonalEnd(scales)];
  const diagonal: Label = {
    ...{ kind: "diagonal", key: "diagonal", text: strings.time.diagonal(chip), bold: true },
    shorter: [chip, briefNamesOf([focus], names).get(focus.chip.id) ?? chip],
    colour: focus.chip.id,
    positions: from < to ? RULES.diagonal.positions([x(from), y(from)], [x(to), y(to)]) : [],
  };
  const hasSquare = overhead > 0 && x(overhead) > outer.left && y(overhead) < outer.bottom;
  return hasSquare ? [launches, diagonal] : [diagonal];
}

function regionLabels({ focus, scales }: TimeScene): Label[] {
  if (!focus) return [];
  const { left, top, right, bottom } = scales.plot;
  const memory = focus.levels.length > 1 ? "" : ` (${focus.level})`;
  const region = (key: string, text: string, corner: "upper left" | "lower right"): Label => ({
    ...{ kind: "timeRegion", key, text, colour: MUTED, positions: RULES.timeRegion.positions(corner, scales) },
  });
  // Under a zoom, a corner of the plot may be on the other side of the diagonal.
  const isAbove = (x: number, y: number) => scales.y.invert(y) > scales.x.invert(x);
  return [
    ...(isAbove(left + 8, top + 8) ? [region("memory region", strings.memoryRegion + memory, "upper left")] : []),
    ...(isAbove(right - 8, bottom - 8) ? [] : [region("compute region", strings.computeRegion, "lower right")]),
  ];
}

const isochroneLabels = ({ isochrones, scales: { x, y, plot } }: TimeScene) =>
  isochrones.map((seconds): Label => {
    const text = tickText(seconds);
    const maxStart = plot.right - textWidth(text);
    // If the corner of the isochrone is out of sight, the label is at the end of the isochrone's visible part.
    const positions = RULES.isochrone.positions(Math.min(x(seconds), plot.right), Math.max(y(seconds), plot.top));
    return {
      ...{ kind: "isochrone", key: `isochrone ${seconds}`, text, colour: MUTED },
      positions: positions.filter((position) => position.anchor === "end" || position.x <= maxStart),
    };
  });

/** If more kernels than this have a gap, only the gaps of marked kernels have a text. */
const MAX_GAPS_WITH_TEXT = 12;

function gapLabels({ kernels, focus, marked }: TimeScene, gaps: readonly TimeGap[]): Label[] {
  if (!focus) return [];
  const boundOf = judge(kernels, focus);
  const shown = gaps.length <= MAX_GAPS_WITH_TEXT ? gaps : gaps.filter(({ row }) => marked.includes(row));
  const isMarked = ({ row }: TimeGap) => marked.includes(row);
  const written: TimeGap[] = [];
  return [...shown.filter(isMarked), ...shown.filter((gap) => !isMarked(gap))].flatMap((gap): Label[] => {
    const { row, from, to } = gap;
    // Kernels at almost the same place have almost the same gap. The text of the gap is then written only once.
    if (written.some((other) => isNear(other.from, from) && isNear(other.to, to))) return [];
    written.push(gap);
    return [
      {
        ...{ kind: "timeGap", key: `gap ${row}`, text: gapText(boundOf(row)), bold: isMarked(gap) },
        colour: TEXT,
        positions: RULES.timeGap.positions(between(from, to)),
      },
    ];
  });
}

/** Whether two spots are so close that texts beside them would seem to belong to one mark. */
const isNear = ([x, y]: Spot, [toX, toY]: Spot) => Math.abs(x - toX) < FONT_PX / 2 && Math.abs(y - toY) < FONT_PX / 2;

const boxAround = ([x1, y1]: Spot, [x2, y2]: Spot, margin: number): Box => ({
  left: Math.min(x1, x2) - margin,
  right: Math.max(x1, x2) + margin,
  top: Math.min(y1, y2) - margin,
  bottom: Math.max(y1, y2) + margin,
});

/** The boxes of gaps, of the diagonal and of the square of launch overhead. */
function lineBoxes({ scales, overhead }: TimeScene, lines: readonly Pick<TimeGap, "from" | "to">[]): Box[] {
  const [from, to] = [diagonalStart(scales), diagonalEnd(scales)];
  const diagonal = Array.from({ length: 121 }, (_, step) => {
    const [x, y] = [scales.x, scales.y].map((scale) => scale(from) + (scale(to) - scale(from)) * (step / 120));
    return squareAround(x as number, y as number, 3);
  });
  const launches = overhead > 0 ? cornerBoxes(overhead, scales) : [];
  return [...lines.map((line) => boxAround(line.from, line.to, 2)), ...diagonal, ...launches];
}

/** Returns the boxes of the two arms of an isochrone. */
function cornerBoxes(seconds: number, { outer, x, y }: TimeScene["scales"]): Box[] {
  const [right, top] = [x(seconds), y(seconds)];
  return [
    { left: outer.left, right, top: top - 1, bottom: top + 1 },
    { left: right - 1, right: right + 1, top, bottom: outer.bottom },
  ];
}
