// The labels of roofs: names along flats and slopes, numbers at ridge points, and names of memory levels and ceilings.

import type { SubRoof } from "../../roofline/ceilings.ts";
import { operationIn } from "../../roofline/operations.ts";
import { type Roof, ridgePoint } from "../../roofline/roofline.ts";
import { briefNamesOf } from "../../text/names.ts";
import { strings } from "../../words/words.ts";
import type { Units } from "../axis_units.ts";
import { isNarrow } from "../scales.ts";
import type { Scene } from "../scene.ts";
import { overlap } from "./box_index.ts";
import { hasFlatInSight, isInPlot } from "./candidates.ts";
import { CLEARLY_PX, type Label, squareAround, TEXT } from "./engine.ts";
import { RIDGE_PX, ridgeBoxes } from "./obstacles.ts";
import { RULES } from "./rules.ts";
import { shortenToWords } from "./text_fitting.ts";

/** Maximum number of letters of a chip's name on a roof. */
export const MAX_ROOF_LETTERS = 26;

export function roofLabels(scene: Scene): Label[] {
  const { roofs, scales } = scene;
  // Whether the column beside the plot contains the name of the roof.
  const isInColumn = (roof: Roof) => scales.gutter > 0 && (!scales.whole || hasFlatInSight(roof, scales));
  return [
    ...roofs.filter((roof) => !isInColumn(roof)).map((roof) => nameLabel(roof, scene)),
    ...roofs.flatMap((roof) => ridgeLabels(roof, scene)),
    ...levelLabels(scene),
    ...ceilingLabels(scene),
  ];
}

function nameLabel(roof: Roof, { roofs, focus, names, scales }: Scene): Label {
  const name = names.get(roof.chip.id) ?? roof.chip.name;
  return {
    kind: "roof",
    // The column uses other keys for the names in it. A previous choice is an index into a list of candidate positions,
    // and the column has other lists.
    key: `${scales.gutter > 0 ? "slope" : "roof"} ${roof.chip.id}`,
    text: shortenToWords(name, (text) => text.length <= MAX_ROOF_LETTERS),
    shorter: [briefNamesOf(roofs, names).get(roof.chip.id) ?? roof.chip.name],
    bold: roof === focus,
    colour: roof.chip.id,
    positions: RULES.roof.positions(roof, scales),
  };
}

/** The label with the number of a ridge point. */
function ridgeLabels(roof: Roof, scene: Scene): Label[] {
  const { focus, scales, units } = scene;
  const ai = ridgePoint(roof);
  const isFocus = roof === focus;
  const [x, y] = [scales.x(ai), scales.y(roof.peak)];
  const number = units.intensityAlone(ai, 4);
  const label: Label = {
    kind: "ridge",
    key: `ridge ${roof.chip.id}`,
    text: number,
    bold: isFocus,
    colour: roof.chip.id,
    near: nearRidge(scene, x, y),
    positions: isInPlot(scales, x, y) ? RULES.ridge.positions([x, y], isFocus) : [],
  };
  if (!isFocus) return [label];
  const brief = strings.ridgeAt(number, units.terms);
  const text = isNarrow(scales)
    ? brief
    : strings.ridgeAt(units.intensity(ai, 4, operationIn(roof.precision)), units.terms);
  const own: Label = { ...label, mark: { x, y, radius: 5 } };
  // A number without the word "ridge" could be read as a kernel's intensity. The number alone is used only if the
  // longer text does not fit.
  return [{ ...own, text, shorter: [brief] }, own];
}

/**
 * Returns the names of the focus chip's memory levels along the levels' slopes, and the numbers of the levels' ridge
 * points.
 */
function levelLabels(scene: Scene): Label[] {
  const { focus, levels, scales, units } = scene;
  if (!focus) return [];
  const colour = focus.chip.id;
  return levels.flatMap(({ name, bandwidth }): Label[] => {
    const rates = { peak: focus.peak, bandwidth };
    const ridge = ridgePoint(rates);
    const [x, y] = [scales.x(ridge), scales.y(focus.peak)];
    const label: Label = {
      ...{ kind: "level", key: `level ${name}`, colour, positions: RULES.level.positions(rates, scales) },
      text: strings.level(name, units.bandwidth(bandwidth, 4), focus.chip.illustrative.includes(name)),
    };
    if (name === focus.level) return [label];
    const number: Label = {
      ...{ kind: "levelRidge", key: `ridge level ${name}`, colour, text: units.intensityAlone(ridge, 4) },
      near: nearRidge(scene, x, y),
      positions: isInPlot(scales, x, y) ? RULES.levelRidge.positions([x, y], false) : [],
    };
    return [label, number];
  });
}

function ceilingLabels({ focus, levels, subRoofs, scales, units }: Scene): Label[] {
  const colour = focus?.chip.id ?? TEXT;
  const kind = levels.length > 0 ? "levelCeiling" : "ceiling";
  // If the chart has a column of names, the column contains the names of ceilings with a flat.
  const outside = subRoofs.filter((sub) => sub.kind === "bandwidth" || scales.gutter === 0);
  return outside.map((sub): Label => {
    const positions = RULES.ceiling.positions(sub, scales);
    return { kind, key: `sub ${sub.key}`, text: ceilingText(sub, units), colour, positions };
  });
}

/** Returns the name of a ceiling and its number. If the name already contains the number, returns only the name. */
export function ceilingText({ name, kind, peak, bandwidth, operation }: SubRoof, units: Units): string {
  if (kind === "communication") return name;
  return `${name} ${kind === "compute" ? units.rate(peak, 4, operation) : units.bandwidth(bandwidth, 4)}`;
}

/**
 * Returns boxes for the number of the ridge point at (`x`, `y`). `own` has the box of this ridge point. `others` has
 * the boxes of the other ridge points, except the ridge points at the same place. The number must be clearly closer to
 * `own` than to `others`.
 */
const nearRidge = (scene: Scene, x: number, y: number): NonNullable<Label["near"]> => ({
  own: [squareAround(x, y, RIDGE_PX + CLEARLY_PX)],
  others: ridgeBoxes(scene).filter((box) => !overlap(box, squareAround(x, y, 0))),
});
