// The labels with the names of kernels, for the roofline plane and the time view.
//
// Few kernels have a label: the marked kernels, the kernels to fix first with their badges, all kernels above the roof
// together, and the kernels that take most of the time. Kernels whose points are at one place share a label.

import { busyTime, MEASURED } from "../../roofline/positions.ts";
import { isTotal } from "../../roofline/totals.ts";
import { shortNameOf } from "../../text/kernel_names.ts";
import { shortenName, shortNamesOf } from "../../text/short_names.ts";
import { memoize } from "../../ui/memoize.ts";
import { firstRow, type Kernels } from "../../wire/columns.ts";
import { strings } from "../../words/words.ts";
import { radiusAt } from "../points/painter.ts";
import { isShown } from "../points/visible.ts";
import { isOffScale, spotAt } from "../scales.ts";
import { indicesOf, joinsOf, type Scene } from "../scene.ts";
import type { Mark } from "./candidates.ts";
import { ALERT, type Choices, type Label, MUTED, TEXT } from "./engine.ts";
import { MAX_POINTS_TO_AVOID, pointBoxes } from "./obstacles.ts";
import { RULES } from "./rules.ts";
import { FONT_PX } from "./text_fitting.ts";

/** The maximum number of labels at rest, by the width of the plot, px. */
const MAX_LABELS = [
  { below: 300, count: 2 },
  { below: 560, count: 4 },
  { below: Number.POSITIVE_INFINITY, count: 7 },
];
/** Kernels that take less than this share of the time of all kernels have no label at rest. */
const MIN_SHARE = 0.01;
/** Points whose centres are nearer than this, px, share a label. */
const JOIN_PX = 6;
/** Of many selected kernels only this many have a label: the kernels with the longest times. */
const MAX_SELECTED_NAMES = 3;
/**
 * The maximum width of a name, px: `MIN_NAME_PX`, or `NAME_SHARE` of the width of the plot if this is more. `LETTER_PX` is
 * the mean width of a letter.
 */
const [MIN_NAME_PX, NAME_SHARE, LETTER_PX] = [120, 0.3, 0.55 * FONT_PX];
/** How many groups of kernels the label of the kernels above the roof names, the most first, and the letters of each. */
const [GROUPS_ABOVE, MAX_ABOVE_LETTERS] = [[3, 1], 24];
/**
 * The vertical column through a kernel's point belongs to this kernel. The column extends beyond the point by this
 * distance, px, to the left and to the right.
 */
const OWN_MARGIN_PX = 8;

/** Kernels that share a label, the most important kernel first. */
interface LabelGroup {
  readonly rows: number[];
  /** Whether the group has a name. Otherwise it has only its badge. */
  readonly isNamed: boolean;
}

/** Returns the labels. During a drag (`before` is given) only kernels that already have a label and marked kernels have labels. */
export function kernelLabels(scene: Scene, before?: Choices): Label[] {
  const { kernels, points, scales, marked, selected } = scene;
  const isRoofline = !("outer" in scales);
  const joins = new Map(joinsOf(scene).map((join) => [join.row, join]));
  const boxes = pointBoxes(scene);
  const groups = groupsOf(scene);
  const names = namesOf(
    scene,
    groups.flatMap(({ rows }) => rows),
  );
  const labels = groups.flatMap(({ rows, isNamed }): Label[] => {
    const row = rows[0] as number;
    const key = `kernel ${row}`;
    const isMarked = rows.some((each) => marked.includes(each));
    if (before && !isMarked && !before.has(key)) return [];
    const index = points.home[row] as number;
    const mark = markAt(scene, index);
    const join = joins.get(row);
    const badge = badgeOf(scene, rows);
    const text = isNamed || isMarked ? joinedName(kernels, rows, names) : "";
    const label: Label = {
      ...{ kind: "kernel", key, text, bold: isMarked, ...(badge && { badge, ...(text && { shorter: [""] }) }) },
      colour: selected.size === 0 || isMarked ? TEXT : MUTED,
      positions: RULES.kernel.positions(
        mark,
        join,
        scales,
        pointsOnOtherRoofs(scene, row).map((other) => markAt(scene, other)),
      ),
    };
    // A name beside the line that joins the kernel's points needs no leader.
    if (join) return [label];
    if (points.n > MAX_POINTS_TO_AVOID) return [{ ...label, mark }];
    const reach = mark.radius + OWN_MARGIN_PX;
    const near = {
      own: [{ left: mark.x - reach, right: mark.x + reach, top: 0, bottom: scales.height }],
      others: before?.has(key) ? [] : boxes.filter((box) => !rows.includes(box.row)),
    };
    return [{ ...label, mark, near }];
  });
  const alert = isRoofline && (!before || before.has("above")) ? aboveLabel(scene) : undefined;
  const ranks = groups.filter(({ rows }) => badgeOf(scene, rows)).length;
  return alert ? [...labels.slice(0, ranks), alert, ...labels.slice(ranks)] : labels;
}

/** Returns a point as the mark of a label, with a `margin` around it, px. */
function markAt({ points, at }: Scene, index: number, margin = 0): Mark {
  const [x, y] = spotAt(at, index);
  return { x, y, radius: radiusAt(points, index) + margin };
}

/** Whether a kernel has a point in sight. */
const isDrawn = (scene: Scene, row: number) => {
  const index = scene.points.home[row] ?? -1;
  return index >= 0 && isShown(scene, index);
};

/** Returns the kernels with a label, the most important first. The label of all kernels above the roof is not included. */
function groupsOf(scene: Scene): LabelGroup[] {
  const { kernels, marked, named, ranked, above, selected, scales } = scene;
  const max = maxLabels(scales.plot.right - scales.plot.left);
  const groups: LabelGroup[] = [];
  const taken = new Set<number>();
  const add = (each: number, isNamed: boolean, hasRoom = true) => {
    // A kernel of several series is named once: at its marked point, if there is one.
    const first = firstRow(kernels, each);
    const row = (kernels.same && marked.find((other) => firstRow(kernels, other) === first)) ?? each;
    if (taken.has(first) || !isDrawn(scene, row)) return;
    const group = groups.find(({ rows }) => distance(scene, rows[0] as number, row) < JOIN_PX);
    if (group) group.rows.push(row);
    else if (hasRoom) groups.push({ rows: [row], isNamed });
    if (group || hasRoom) taken.add(first);
  };
  // The total of a program is a star, and there is one.
  for (const row of named) if (isTotal(kernels, row)) add(row, true, groups.length < max);
  for (const row of ranked) add(row, groups.length < max);
  const rest = max - (above.some((row) => isDrawn(scene, row)) ? 1 : 0);
  const alarming = new Set(above);
  const least = MIN_SHARE * busyTimes(kernels, [], () => busyTime(kernels));
  const isHeavy = (row: number) => isTotal(kernels, row) || !(least > 0) || (kernels.selfTime[row] as number) >= least;
  for (const row of named) if (!alarming.has(row) && isHeavy(row)) add(row, true, groups.length < rest);
  const heaviest = marked
    .filter((row) => selected.has(row))
    .sort((a, b) => (kernels.time[b] as number) - (kernels.time[a] as number))
    .slice(0, MAX_SELECTED_NAMES);
  for (const [place, row] of marked.entries()) {
    const isAsked = place === 0 || !selected.has(row) || heaviest.includes(row);
    // A marked kernel does not join a label, so that no other label changes.
    if (isAsked && !taken.has(firstRow(kernels, row)) && isDrawn(scene, row))
      groups.push({ rows: [row], isNamed: true });
    taken.add(firstRow(kernels, row));
  }
  return groups;
}

/** Returns the points of an unmeasured kernel that are not on the roof that judges it. */
const pointsOnOtherRoofs = (scene: Scene, row: number) =>
  indicesOf(scene, row).filter(
    (index) => index !== scene.points.home[row] && scene.points.roof[index] !== MEASURED && isShown(scene, index),
  );

const maxLabels = (width: number) => MAX_LABELS.find(({ below }) => width < below)?.count as number;

/** The distance between the points of two kernels, px. */
function distance({ points, at }: Scene, a: number, b: number): number {
  const [[x, y], [toX, toY]] = [spotAt(at, points.home[a] as number), spotAt(at, points.home[b] as number)];
  return Math.hypot(x - toX, y - toY);
}

/** Returns the text of the badge of kernels that share a label, such as "1", "1–4" or "1, 3". Empty without a badge. */
function badgeOf({ kernels, ranked }: Scene, rows: readonly number[]): string {
  const ranks = rows
    .map((row) => 1 + ranked.findIndex((other) => firstRow(kernels, other) === firstRow(kernels, row)))
    .filter((rank) => rank > 0)
    .sort((a, b) => a - b);
  const [first, last] = [ranks[0], ranks.at(-1)];
  if (first === undefined || last === undefined) return "";
  return ranks.length > 2 && last - first === ranks.length - 1 ? `${first}–${last}` : ranks.join(", ");
}

/** Returns the names of rows, cut in the middle if they are too wide for the plot. */
function namesOf({ kernels, scales: { plot } }: Scene, rows: readonly number[]): ReadonlyMap<number, string> {
  const width = Math.max(MIN_NAME_PX, NAME_SHARE * (plot.right - plot.left));
  return shortNamesOf(kernels, rows, Math.floor(width / LETTER_PX));
}

/** Returns the name of kernels that share a label, such as "copy-done ×4" or "gelu +2". */
function joinedName(kernels: Kernels, rows: readonly number[], names: ReadonlyMap<number, string>): string {
  const name = names.get(rows[0] as number) as string;
  if (rows.length === 1) return name;
  const stems = new Set(rows.map((row) => stemOf(shortNameOf(kernels, row))));
  return stems.size === 1 ? `${[...stems][0]} ×${rows.length}` : `${name} +${rows.length - 1}`;
}

/** Returns a name without its last numbers and shapes: "copy-done" for "copy-done.4", "addmm" for "addmm 512×2048". */
export const stemOf = (name: string): string => name.replace(/(?:[ ._#-]+\(?#?\d+(?:[x×]\d+)*\)?)+$/, "") || name;

const [busyTimes, aboveTexts] = [memoize<number>(), memoize<readonly string[]>()];

/** Returns the one label of all kernels above the roof. */
function aboveLabel(scene: Scene): Label | undefined {
  const { kernels, points, above, scales } = scene;
  const heaviest = above
    .filter((row) => isDrawn(scene, row))
    .reduce(
      (best, row) => (best < 0 || (kernels.time[row] as number) > (kernels.time[best] as number) ? row : best),
      -1,
    );
  if (heaviest < 0) return undefined;
  const index = points.home[heaviest] as number;
  const mark = markAt(scene, index, 3);
  const isOff = isOffScale(scales, ...spotAt(points, index));
  const [text = "", ...shorter] = aboveTexts(above, [kernels, isOff], () => [
    ...GROUPS_ABOVE.map((most) => aboveText(kernels, above, most, isOff)),
    strings.countAbove(above.length),
  ]);
  return {
    ...{ kind: "kernel", key: "above", text, shorter },
    ...{ colour: ALERT, mark, positions: RULES.kernel.positions(mark, undefined, scales) },
  };
}

/** Returns a text such as "copy-start ×5, copy-done ×3: above the roof". */
function aboveText(kernels: Kernels, above: readonly number[], most: number, isOff: boolean): string {
  const [groups, stems] = [new Map<string, number[]>(), new Map<string, string>()];
  for (const row of above) {
    const name = shortNameOf(kernels, row);
    const stem = stems.get(name) ?? stemOf(name);
    stems.set(name, stem);
    const rows = groups.get(stem);
    if (rows) rows.push(row);
    else groups.set(stem, [row]);
  }
  const sorted = [...groups].sort(([, a], [, b]) => b.length - a.length);
  const shown = sorted.slice(0, most).map(([stem, rows]) => {
    const name = shortenName(rows.length > 1 ? stem : shortNameOf(kernels, rows[0] as number), MAX_ABOVE_LETTERS);
    return rows.length > 1 ? `${name} ×${rows.length}` : name;
  });
  const more = sorted.slice(most).reduce((sum, [, rows]) => sum + rows.length, 0);
  return strings.namesAbove(shown.join(", ") + (more > 0 ? ` +${more}` : ""), isOff);
}
