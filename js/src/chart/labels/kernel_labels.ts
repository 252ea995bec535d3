// The labels with the names of kernels, for the roofline plane and the time view.

import { shortNamesOf } from "../../text/short_names.ts";
import { firstRow } from "../../wire/columns.ts";
import { isMeasured, radiusAt } from "../points/painter.ts";
import { isShown } from "../points/visible.ts";
import { joinsOf, type Scene } from "../scene.ts";
import { type Choices, type Label, MUTED, TEXT } from "./engine.ts";
import { MAX_POINTS_TO_AVOID, pointBoxes } from "./obstacles.ts";
import { RULES } from "./rules.ts";

/** Maximum number of letters of a kernel's name, in the full text and in the brief text. */
const [MAX_NAME_LETTERS, MAX_BRIEF_LETTERS] = [24, 12];
/**
 * The vertical column through a kernel's point belongs to this kernel. The column extends beyond the point by this
 * distance, px, to the left and to the right.
 */
const OWN_MARGIN_PX = 8;

/**
 * Returns labels of the marked kernels and of at most `max` other kernels. During a drag (`before` is given) only
 * marked kernels and kernels that already have a label get labels.
 */
export function kernelLabels(scene: Scene, before?: Choices, max = Number.POSITIVE_INFINITY): Label[] {
  const { kernels, points, at, scales, marked, named, levels, selected } = scene;
  const isRoofline = !("outer" in scales);
  const joins = new Map(joinsOf(scene).map((join) => [join.row, join]));
  const boxes = pointBoxes(scene);
  const canBeFar = points.n <= MAX_POINTS_TO_AVOID;
  const isDrawn = (row: number) => {
    const index = points.home[row] ?? -1;
    return index >= 0 && isShown(scene, index);
  };
  const first = (row: number) => firstRow(kernels, row);
  const taken = new Set(marked.map(first));
  // A kernel of several series is named once.
  const once = named.filter((row) => isDrawn(row) && !taken.has(first(row)) && taken.add(first(row)));
  const rows = [...new Set([...marked.filter(isDrawn), ...once.slice(0, max)])];
  const texts = shortNamesOf(kernels, rows, MAX_NAME_LETTERS);
  const briefs = shortNamesOf(kernels, rows, MAX_BRIEF_LETTERS);
  return rows.flatMap((row): Label[] => {
    const key = `kernel ${row}`;
    const index = points.home[row] as number;
    const isMarked = marked.includes(row);
    if (before && !isMarked && !before.has(key)) return [];
    const mark = { x: at.x[index] as number, y: at.y[index] as number, radius: radiusAt(points, index) };
    const join = joins.get(row);
    const isTied = isRoofline && !isMeasured(points, index) && levels.length === 0;
    // The ruler of a selected kernel needs the space above the kernel's point.
    const far = canBeFar ? (selected.has(row) ? "below" : "all") : "none";
    const text = texts.get(row) as string;
    const label: Label = {
      ...{ kind: "kernel", key, text, bold: isMarked },
      colour: selected.size === 0 || isMarked ? TEXT : MUTED,
      positions: RULES.kernel.positions(mark, join, isTied ? mark.x : undefined, far, scales),
    };
    // A name beside the line that joins the kernel's points needs no leader.
    if (join) return [label];
    if (!canBeFar) return [{ ...label, mark }];
    const reach = mark.radius + OWN_MARGIN_PX;
    const near = {
      own: [{ left: mark.x - reach, right: mark.x + reach, top: 0, bottom: scales.height }],
      others: before?.has(key) ? [] : boxes.filter((box) => box.row !== row),
    };
    const brief = briefs.get(row) as string;
    return [{ ...label, mark, shorter: brief.length < text.length ? [brief] : [], near }];
  });
}
