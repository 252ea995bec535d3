// The labels of roofs: names and rates along flats and slopes, numbers at ridge points, and names of memory levels and
// ceilings.

import type { SubRoof } from "../../roofline/ceilings.ts";
import { clockOf } from "../../roofline/clock.ts";
import { type Rates, type Roof, ridgePoint } from "../../roofline/roofline.ts";
import { briefNamesOf } from "../../text/names.ts";
import { formatQuantity } from "../../text/numbers.ts";
import { memoize } from "../../ui/memoize.ts";
import { strings } from "../../words/words.ts";
import type { Units } from "../axis_units.ts";
import { holds, isNarrow } from "../scales.ts";
import { ceilingsIn, hasChipsAlone, isNearRoof, type Scene } from "../scene.ts";
import { overlap, squareAround } from "./box_index.ts";
import { aboveFlat, hasFlatInSight, type Position } from "./candidates.ts";
import { boxesAt, CLEARLY_PX, type Label, type LabelName, MUTED } from "./engine.ts";
import { RIDGE_PX, ridgeBoxes } from "./obstacles.ts";
import { RULES } from "./rules.ts";
import { shortenToWords, textWidth } from "./text_fitting.ts";

/** Maximum number of letters of a chip's name on a roof. */
export const MAX_ROOF_LETTERS = 26;
/** Flats nearer than this share a label, px. */
const JOIN_PX = 14;
/** The name of a slope is hidden if the slope of another roof is nearer above it than this, px. */
const MIN_SLOPE_PX = 16;
/** From this number of roofs on, their labels have no rates. */
const MANY_ROOFS = 8;

export function roofLabels(scene: Scene): Label[] {
  const { roofs, focus, scales, levels } = scene;
  const flat = roofs.filter((roof) => hasFlatInSight(roof, scales));
  const isNumbered = hasChipsAlone(scene) && scene.units.hasRidges;
  const numbered = isNumbered ? roofs.filter((roof) => roof !== focus) : [];
  return [
    ...groupsOf(flat, scene).map((group) => nameLabel(group, scene)),
    // A roof without a flat in sight has its name along the slope, without the peak.
    ...roofs.filter((roof) => !flat.includes(roof)).map((roof) => nameLabel([roof], scene)),
    ...numbered.map((roof) => ridgeLabel(roof, scene)),
    ...(focus && levels.length === 0 ? slopeLabels(focus, scene) : []),
    ...levelLabels(scene),
    ...ceilingLabels(scene),
  ];
}

/** Groups roofs whose flats are near each other, from the highest flat down. The focus roof is first in its group. */
const groupsOf = (roofs: readonly Roof[], { focus, scales }: Scene): Roof[][] =>
  nearFlats(roofs, scales).map(({ flats }) => flats.sort((a, b) => Number(b === focus) - Number(a === focus)));

/** Groups flats that are near each other, from the highest flat down. */
function nearFlats<T extends Rates>(all: readonly T[], { y }: Scene["scales"]) {
  const groups: { readonly top: number; readonly flats: [T, ...T[]] }[] = [];
  for (const one of [...all].sort((a, b) => b.peak - a.peak)) {
    const last = groups.at(-1);
    if (last && y(one.peak) - last.top < JOIN_PX) last.flats.push(one);
    else groups.push({ top: y(one.peak), flats: [one] });
  }
  return groups;
}

const cutNames = memoize<ReadonlyMap<string, string>>();

/** Returns the names of chips with at most MAX_ROOF_LETTERS letters. */
const cutOf = (names: ReadonlyMap<string, string>) =>
  cutNames(names, [], () => {
    const isShort = (text: string) => text.length <= MAX_ROOF_LETTERS;
    return new Map([...names].map(([id, name]) => [id, shortenToWords(name, isShort)]));
  });

/** The label of roofs with one line: their names and their rate, and what was measured. */
function nameLabel(group: readonly Roof[], scene: Scene): Label {
  const { roofs, focus, names, scales, units } = scene;
  const [first] = group as readonly [Roof];
  const brief = briefNamesOf(roofs, names);
  const entriesOf = (isBrief: boolean): LabelName[] =>
    group.map((roof) => {
      const { id, name } = roof.chip;
      return { text: cutOf(isBrief ? brief : names).get(id) ?? name, bold: roof === focus, colour: id };
    });
  const rates = group.map((roof) => units.rate(roof.peak, 4));
  const isOne = new Set(rates).size === 1;
  const namesAlone = (entries: readonly LabelName[]) => entries.map(({ text }) => text).join(", ");
  const withRate = (entries: readonly LabelName[]) =>
    isOne ? `${namesAlone(entries)} ${rates[0]}` : entries.map(({ text }, at) => `${text} ${rates[at]}`).join(", ");
  const entries = entriesOf(group.length > 1);
  const clock = group.length === 1 ? otherClock(first) : "";
  const measured = first === focus && group.length === 1 ? measuredPeak(scene) : "";
  const hasFlat = hasFlatInSight(first, scales);
  const isBare = roofs.length >= MANY_ROOFS || !hasFlat;
  const forms = [
    ...(isBare ? [] : [withRate(entries) + clock + measured, withRate(entries) + clock]),
    namesAlone(entries),
    namesAlone(entriesOf(true)),
  ];
  const [text = "", ...shorter] = [...new Set(forms)];
  const top = Math.max(...group.map(({ peak }) => peak));
  return {
    ...{ kind: "roof", key: `roof ${first.chip.id}`, text, shorter, names: entries },
    ...{ bold: first === focus, colour: first.chip.id },
    positions: hasFlat
      ? [
          ...aboveFlat(top, Math.min(...group.map(({ peak }) => peak)), scales),
          ...RULES.roof.positions(first, scales).map((position) => ({ ...position, isFar: true })),
        ]
      : RULES.roof.positions(first, scales),
  };
}

/** Returns at which clock a roof is, if it is not that of the data sheet. */
function otherClock(roof: Roof): string {
  const clock = clockOf(roof);
  return clock === undefined || clock === roof.chip.clock ? "" : strings.atClock(formatQuantity(clock, "Hz", 4));
}

/** Returns the measured peak of the focus chip, if its line is too near to the roof to be drawn. */
function measuredPeak({ focus, subRoofs, scales, units }: Scene): string {
  const measured = subRoofs.find(({ style, kind }) => style === "measured" && kind === "compute");
  if (!focus || !measured || !isNearRoof(measured, { focus, scales })) return "";
  const [rate, own] = [units.rate(focus.peak, 4), units.rate(measured.peak, 4)];
  const [number = own, unit] = own.split(" ");
  return strings.measuredRoof(unit && rate.endsWith(` ${unit}`) ? number : own);
}

/** The name of the focus roof's slope, with its rate where no strip shows it. */
function slopeLabels(focus: Roof, { roofs, subRoofs, scales, units, isRoofHovered }: Scene): Label[] {
  const { y, strip } = scales;
  const isCrowded = roofs.some((other) => {
    const up = y(focus.bandwidth) - y(other.bandwidth);
    return other !== focus && up > 0 && up < MIN_SLOPE_PX;
  });
  if (isCrowded && !isRoofHovered) return [];
  const measured = subRoofs.find(({ style, kind }) => style === "measured" && kind === "bandwidth");
  const rate = strip && !isNarrow(scales) ? focus.level : `${focus.level} ${units.bandwidth(focus.bandwidth, 4)}`;
  const more = measured && isNearRoof(measured, { focus, scales }) ? units.bandwidth(measured.bandwidth) : "";
  const text = more ? focus.level + strings.measuredRoof(more) : rate;
  const { left, right } = scales.plot;
  const isInside = (position: Position) =>
    boxesAt(textWidth(text), position).every((box) => box.left > left && box.right < right);
  const positions = RULES.slope.positions(focus, scales).filter(isInside);
  return [{ kind: "slope", key: "slope", text, shorter: [rate, focus.level], colour: focus.chip.id, positions }];
}

/** Returns the number of a ridge point as a tick text. A narrow chart has no room for the word. */
export function ridgeNumber(roof: Roof, units: Units, isBrief: boolean): string {
  const number = units.intensityAlone(ridgePoint(roof), 4);
  return isBrief ? number : strings.ridgeAt(number, units.terms);
}

/** The label with the number of another roof's ridge point. */
function ridgeLabel(roof: Roof, scene: Scene): Label {
  const { scales, units } = scene;
  const ai = ridgePoint(roof);
  const [x, y] = [scales.x(ai), scales.y(roof.peak)];
  return {
    ...{ kind: "ridge", key: `ridge ${roof.chip.id}`, text: units.intensityAlone(ai, 4), colour: roof.chip.id },
    near: nearRidge(scene, x, y),
    positions: holds(scales.plot, x, y) ? RULES.ridge.positions([x, y], false) : [],
  };
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
    if (name === focus.level || !units.hasRidges) return [label];
    const number: Label = {
      ...{ kind: "levelRidge", key: `ridge level ${name}`, colour, text: units.intensityAlone(ridge, 4) },
      near: nearRidge(scene, x, y),
      positions: holds(scales.plot, x, y) ? RULES.levelRidge.positions([x, y], false) : [],
    };
    return [label, number];
  });
}

function ceilingLabels(scene: Scene): Label[] {
  const { levels, scales, units } = scene;
  const kind = levels.length > 0 ? "levelCeiling" : "ceiling";
  const all = ceilingsIn(scene);
  const slopes = all.filter((sub) => sub.kind === "bandwidth");
  return [
    ...slopes.map((sub): Label => {
      const positions = RULES.ceiling.positions(sub, scales);
      return { kind, key: `sub ${sub.key}`, text: ceilingText(sub, units), colour: MUTED, positions };
    }),
    ...nearFlats(
      all.filter((sub) => !slopes.includes(sub)),
      scales,
    ).map(({ flats: [first, ...others] }): Label => {
      const flats = [first, ...others];
      const peaks = flats.map(({ peak }) => peak);
      return {
        ...{ kind, key: `sub ${first.key}`, text: flats.map((sub) => ceilingText(sub, units)).join(", ") },
        ...(others.length > 0 && { shorter: [flats.map(({ name }) => name).join(", ")] }),
        colour: MUTED,
        positions: aboveFlat(Math.max(...peaks), Math.min(...peaks), scales),
      };
    }),
  ];
}

/** Returns the name of a ceiling and its number. If the name already contains the number, returns only the name. */
function ceilingText({ name, kind, peak, bandwidth, operation }: SubRoof, units: Units): string {
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
