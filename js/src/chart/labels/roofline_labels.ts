// The labels of the roofline plane: roofs, ridge points, regions, kernels, and how far kernels are from their roofs.

import { judge } from "../../roofline/bound.ts";
import { belowRoofText, upToText } from "../../text/describe.ts";
import { strings } from "../../words/words.ts";
import { rateBoxes } from "../layers/axes.tsx";
import { type Ghost, ghostBox } from "../layers/moved_kernels.tsx";
import type { Gap, LabelledArrow } from "../paths.ts";
import { type Box, isNarrow } from "../scales.ts";
import type { Scene } from "../scene.ts";
import { type Choices, type Label, MUTED, type PlacedLabel, placeLabels, TEXT } from "./engine.ts";
import { kernelLabels } from "./kernel_labels.ts";
import { gapBox, type KernelBox, lineBoxes, pointBoxes, ridgeBoxes, stripBoxes } from "./obstacles.ts";
import { roofLabels } from "./roof_labels.ts";
import { RULES } from "./rules.ts";
import { FONT_PX, textWidth } from "./text_fitting.ts";

/**
 * If there are more points than this, a number beside a gap arrow could seem to belong to another point. Only marked
 * kernels then have a number.
 */
const MAX_POINTS_BESIDE_GAPS = 2000;

/** What a plane draws in addition to its scene. */
export interface LabelContext {
  /** The choices of the previous frame. Given during a drag, and while the pointer is on a point. */
  readonly before?: Choices | undefined;
  readonly isMoving?: boolean;
  /** Labels of other layers. */
  readonly others?: readonly Label[];
  /** The marks of moved kernels. Labels avoid these marks. */
  readonly ghosts?: readonly Ghost[];
  /** The boxes of arrows from other layers. Labels avoid these boxes. */
  readonly arrows?: readonly Box[];
}

export function rooflineLabels(scene: Scene, gaps: readonly Gap[], context: LabelContext = {}): PlacedLabel[] {
  const { before, isMoving = false, others = [], ghosts = [], arrows = [] } = context;
  const { plot } = scene.scales;
  const labels = [
    ...roofLabels(scene),
    ...gapLabels(scene, gaps, isMoving),
    ...others,
    ...kernelLabels(scene, before),
    ...regionLabels(scene),
  ];
  const surroundings = {
    bounds: { ...plot, top: isNarrow(scene.scales) ? 2 : plot.top, bottom: plot.bottom - 2 },
    texts: rateBoxes(scene.scales, scene.units),
    points: [...pointBoxes(scene), ...ghosts.map(ghostBox)],
    // During a drag labels keep their places, even if lines move under the labels.
    lines: before ? [] : lineBoxes(scene),
    arrows: [...gaps.map(gapBox), ...arrows],
    ridges: isMoving ? [] : ridgeBoxes(scene),
    strip: stripBoxes(scene),
  };
  return placeLabels(labels, surroundings, before);
}

/**
 * Returns the labels that say how far kernels are from their roofs. During a drag these labels ignore the points,
 * because comparing each label with all points would be too slow.
 */
function gapLabels(scene: Scene, gaps: readonly Gap[], isMoving: boolean): Label[] {
  const { kernels, points, focus, scales, ranked } = scene;
  const marked = gaps.filter(({ isMarked }) => isMarked);
  // At rest only the kernel to fix first has words beside its arrow.
  const rest = points.n > MAX_POINTS_BESIDE_GAPS ? [] : gaps.filter(({ row }) => row === ranked[0]);
  const shown = marked.length > 0 ? marked : rest;
  if (!focus || shown.length === 0) return [];
  const boxes: readonly KernelBox[] = [
    ...gaps.map(gapBox),
    ...(isMoving ? [] : pointBoxes(scene, MAX_POINTS_BESIDE_GAPS)),
  ];
  const boundOf = judge(kernels, focus);
  const narrow = isNarrow(scales);
  const written: Gap[] = [];
  return shown.flatMap((gap): Label[] => {
    const { row, x, from, to, isMarked } = gap;
    // Kernels at almost the same place have almost the same gap. The text of the gap is then written only once.
    if (written.some((other) => Math.abs(other.x - x) < FONT_PX / 2 && Math.abs(other.from - from) < FONT_PX))
      return [];
    written.push(gap);
    const brief = upToText(boundOf(row));
    const text = narrow ? brief : belowRoofText(boundOf(row));
    const isInStrip = x < scales.plot.left;
    return [
      {
        ...{ kind: "gap", key: `gap ${row}`, text, shorter: [brief], bold: isMarked },
        colour: TEXT,
        // A narrow chart names few kernels. If the kernel's name is missing, the number would seem to belong to a
        // neighbouring kernel.
        needs: narrow && !isMarked && `kernel ${row}`,
        positions: RULES.gap.positions(gap, scales, textWidth(text, isMarked)),
        ...(isInStrip
          ? { mark: { x, y: (from + to) / 2, radius: 1 } }
          : { near: { own: boxes.filter((box) => box.row === row), others: boxes.filter((box) => box.row !== row) } }),
      },
    ];
  });
}

/** Returns the labels of arrows from other layers. The labels are at the middles of the arrows. */
export const arrowLabels = (kind: "trail" | "run", arrows: readonly LabelledArrow[]): Label[] =>
  arrows.map((arrow) => ({
    ...{ kind, key: arrow.key, text: arrow.text, bold: arrow.isMarked, colour: TEXT },
    positions: RULES[kind].positions(arrow),
  }));

/** In a chart narrower than this, px, no words tell the regimes. */
const MIN_REGION_PX = 560;

function regionLabels({ focus, levels, scales }: Scene): Label[] {
  const { plot, x, width } = scales;
  if (!focus || width < MIN_REGION_PX) return [];
  const ridges = [focus, ...levels].map(({ bandwidth }) => x(focus.peak / bandwidth));
  const [first, last] = [Math.min(...ridges), Math.max(...ridges)];
  const region = (key: string, text: string, at: number, side: "left" | "right"): Label[] =>
    at < plot.left || at > plot.right
      ? []
      : [{ kind: "region", key, text, colour: MUTED, positions: RULES.region.positions(at, side, scales) }];
  // Between the ridge points of several memory levels, memory or compute bounds a kernel.
  return [
    ...region("memory region", `◂ ${strings.memoryRegion}`, first, "left"),
    ...region("compute region", `${strings.computeRegion} ▸`, last, "right"),
  ];
}
