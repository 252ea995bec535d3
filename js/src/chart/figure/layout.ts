// Where the lines and the texts of a figure are. First come the names of the roofs, then the legend and the key, then
// the names along the slopes, then those of the kernels.

import type { SubRoof } from "../../roofline/ceilings.ts";
import { type Rates, type Roof, ridgePoint } from "../../roofline/roofline.ts";
import { briefNames } from "../../text/names.ts";
import { shortenName } from "../../text/short_names.ts";
import type { Terms } from "../../wire/types.ts";
import { strings } from "../../words/words.ts";
import type { Units } from "../axis_units.ts";
import { distanceTo, squareAround } from "../labels/box_index.ts";
import type { Anchor } from "../labels/candidates.ts";
import type { Spot } from "../paths.ts";
import type { Box } from "../scales.ts";
import type { Content, Entry } from "./dots.ts";
import type { Frame, Placed } from "./frame.ts";
import {
  ASCENT_EM,
  createPlacer,
  crosses,
  DESCENT_EM,
  leaderTo,
  type Placer,
  placesAlong,
  placesAway,
  placesBeside,
  type Segment,
  textBox,
} from "./placing.ts";
import {
  CEILING_DASHES,
  DASHES,
  type FigureStyle,
  LINE_EM,
  MAX_LEADER,
  MAX_LEADER_EM,
  RIDGE_DASHES,
  THIN,
  THINNER,
  textWidth,
} from "./styles.ts";

export interface Line {
  readonly points: readonly Spot[];
  readonly width: number;
  readonly dashes: string;
  /** Whether the line is grey. */
  readonly isThin?: boolean;
}

interface Part {
  readonly text: string;
  readonly isBold?: boolean;
}

export interface Text {
  readonly x: number;
  readonly y: number;
  readonly anchor: Anchor;
  readonly angle?: number;
  readonly parts: readonly Part[];
}

/** The dot of a category in the legend. */
interface Swatch {
  readonly x: number;
  readonly y: number;
  readonly colour: string;
  readonly code: number;
}

export interface Layout {
  readonly lines: readonly Line[];
  readonly texts: readonly Text[];
  readonly leaders: readonly Segment[];
  /** The backgrounds of the legend and of texts over lines. */
  readonly plates: readonly Box[];
  readonly swatches: readonly Swatch[];
  /** The height of the figure without its caption. */
  readonly bottom: number;
}

interface Parts {
  readonly style: FigureStyle;
  readonly content: Content;
  readonly frame: Frame;
  readonly dots: readonly Placed[];
  readonly roofs: readonly Roof[];
  readonly focus: Roof | undefined;
  readonly units: Units;
  readonly nameOf: (roof: Roof) => string;
  readonly ceilings: readonly SubRoof[];
  readonly terms: Terms;
}

/** A layout that is being made. */
interface Draft {
  readonly placer: Placer;
  readonly lines: Line[];
  readonly texts: Text[];
  readonly leaders: Segment[];
  readonly plates: Box[];
  readonly swatches: Swatch[];
  bottom: number;
}

const STRICT = { dots: true, lines: true };
const [OVER_LINES, OVER_ALL] = [
  { dots: true, lines: false },
  { dots: false, lines: false },
];

export function layOut(parts: Parts): Layout {
  const { style, content, frame, dots } = parts;
  const { lines, obstacles } = linesOf(parts);
  const placer = createPlacer(dots, obstacles, 0.4 * style.font);
  const draft: Draft = { placer, lines, texts: [], leaders: [], plates: [], swatches: [], bottom: style.height };
  placeRoofNames(parts, draft);
  const inStrip = new Set(dots.filter(({ ai }) => ai === 0).map(({ row }) => row));
  // A strip has no room for names.
  const isNumbered = style.isNumbered || content.names.some(({ row }) => inStrip.has(row));
  const names = content.names.filter(({ row }) => dots.some((dot) => dot.row === row));
  placeBlock(parts, draft, content.legend, ["right bottom", "left top", "left bottom", "right top"]);
  const key = isNumbered ? names.map(({ text }, at) => ({ text, number: at + 1 })) : [];
  placeBlock(parts, draft, key, ["left top", "right bottom", "left bottom", "right top"]);
  placeSlopeNames(parts, draft);
  placeCeilingNames(parts, draft);
  if (!content.isMeasured && parts.units.hasRidges) placeRidges(parts, draft);
  const homes = names.flatMap(({ row }, at) => {
    const dot = dots.find((each) => each.row === row);
    return dot?.ai === 0 ? [{ dot, text: String(at + 1) }] : [];
  });
  placeStripNumbers(parts, draft, homes);
  if (frame.strip) placeStripRoof(parts, draft, frame.strip);
  for (const [at, { row, text }] of names.entries()) {
    if (inStrip.has(row)) continue;
    const own = dots.find((dot) => dot.row === row && dot.isHome) ?? dots.find((dot) => dot.row === row);
    if (own) placeName(parts, draft, own, isNumbered ? { text: String(at + 1), isBold: true } : { text });
  }
  return draft;
}

const widthOf = (parts: readonly Part[], font: number) =>
  parts.reduce((sum, { text, isBold }) => sum + textWidth(text, font, isBold), 0);

/** Returns the lines of the roofs, and their visible parts as obstacles. */
function linesOf({ style, frame, roofs, focus, ceilings, content }: Parts): { lines: Line[]; obstacles: Segment[] } {
  const lines: Line[] = [];
  const obstacles: Segment[] = [];
  const scaled = (dashes: string) => scaledDashes(dashes, style.roof / 1.2);
  const add = (rates: Rates, width: number, dashes = "", kind: "roof" | "slope" | "flat" = "roof") => {
    const [slope, flat] = [kind !== "flat" && slopeOf(rates, frame), kind !== "slope" && flatOf(rates, frame)];
    const segments = [slope, flat].filter((segment) => !!segment);
    obstacles.push(...segments);
    const points = slope && flat ? [...slope, flat[1]] : (segments[0] ?? []);
    if (points.length > 0) lines.push({ points, width, dashes });
  };
  for (const { kind, peak, bandwidth, style: look } of ceilings) {
    const part = kind === "compute" ? "flat" : kind === "bandwidth" ? "slope" : "roof";
    add({ peak, bandwidth }, style.roof / 2, look === "measured" ? "" : scaled(CEILING_DASHES), part);
  }
  for (const { bandwidth, name } of focus?.levels ?? []) {
    if (focus && name !== focus.level) add({ peak: focus.peak, bandwidth }, style.roof * THINNER, "", "slope");
  }
  const others = roofs.filter((roof) => roof !== focus);
  for (const [at, roof] of others.entries()) {
    const width = at < DASHES.length ? style.roof : style.roof * THINNER;
    add(roof, width, scaled(DASHES[at % DASHES.length] as string));
  }
  if (focus) add(focus, style.roof);
  // Without measured kernels, the ridge points are what the figure shows.
  for (const roof of content.isMeasured ? [focus] : roofs) {
    const ridge = roof && placeOfRidge(roof, frame);
    if (!ridge) continue;
    const points: Segment = [ridge, [ridge[0], frame.plot.bottom]];
    lines.unshift({ points, width: style.axis * THIN, dashes: scaled(RIDGE_DASHES), isThin: true });
  }
  return { lines, obstacles };
}

const scaledDashes = (dashes: string, by: number) =>
  dashes
    .split(" ")
    .map((length) => Math.round(Number(length) * by * 100) / 100)
    .join(" ");

function placeOfRidge(roof: Rates, { x, y, plot }: Frame): Spot | undefined {
  const [across, up] = [x(ridgePoint(roof)), y(roof.peak)];
  return across > plot.left && across < plot.right && up > plot.top && up < plot.bottom ? [across, up] : undefined;
}

/** Returns the part of a slope inside the axes. */
function slopeOf({ peak, bandwidth }: Rates, { x, y }: Frame): Segment | undefined {
  const from = Math.max(x.domain[0], y.domain[0] / bandwidth);
  const to = Math.min(peak / bandwidth, x.domain[1], y.domain[1] / bandwidth);
  const at = (ai: number): Spot => [x(ai), y(ai * bandwidth)];
  return from < to ? [at(from), at(to)] : undefined;
}

/** Returns the part of a flat inside the axes. */
function flatOf(rates: Rates, { x, y, plot }: Frame): Segment | undefined {
  const from = Math.max(x.domain[0], ridgePoint(rates));
  const isInside = rates.peak >= y.domain[0] && rates.peak <= y.domain[1];
  return isInside && from < x.domain[1]
    ? [
        [x(from), y(rates.peak)],
        [plot.right, y(rates.peak)],
      ]
    : undefined;
}

/** Flats nearer than this have one name, in font sizes. */
const SAME_FLAT_EM = 0.3;
/** The distance of a name from its flat, in font sizes. */
const OFF_FLAT_EM = 0.34;
/** The same if there are dots on the flat. */
const OFF_DOTS_EM = 0.75;
/** The same where the next flat is near: the letters just clear the line. */
const CLOSE_TO_FLAT_EM = 0.24;

/** Places the name of each roof and its peak at the right end of its flat, above it or below it. */
function placeRoofNames({ style, frame, roofs, focus, units, nameOf }: Parts, draft: Draft) {
  const brief = briefNames(roofs.map(nameOf));
  const { font } = style;
  const shown = roofs.filter((roof) => flatOf(roof, frame));
  const order = [...shown.filter((roof) => roof === focus), ...shown.filter((roof) => roof !== focus)];
  const done = new Set<Roof>();
  for (const roof of order) {
    if (done.has(roof)) continue;
    const flat = frame.y(roof.peak);
    const same = order.filter(
      (other) => !done.has(other) && Math.abs(frame.y(other.peak) - flat) < SAME_FLAT_EM * font,
    );
    for (const other of same) done.add(other);
    const name = { text: same.map(nameOf).join(", "), isBold: true };
    const peak = { text: units.rate(roof.peak) };
    const oneLine = [[name, { text: ` ${peak.text}` }]];
    const briefly = { text: same.map((each) => brief[roofs.indexOf(each)]).join(", "), isBold: true };
    const [x, above, below] = [
      frame.plot.right - 0.15 * font,
      flat - OFF_FLAT_EM * font,
      flat + (OFF_FLAT_EM + ASCENT_EM) * font,
    ];
    const aboveDots = flat - OFF_DOTS_EM * font;
    const tries: readonly (readonly [lines: readonly (readonly Part[])[], y: number])[] = [
      [oneLine, above],
      [oneLine, aboveDots],
      [oneLine, below],
      [[[name], [peak]], below],
      [[[name]], above],
      [[[name]], aboveDots],
      [[[name]], below],
      [[[briefly]], above],
      [[[briefly]], below],
      [[[briefly]], flat - CLOSE_TO_FLAT_EM * font],
    ];
    const others = shown.filter((other) => !same.includes(other)).map(({ peak: at }) => frame.y(at));
    // Over another flat, the text would seem to be the name of that roof.
    const isOwn = ({ top, bottom }: Box) => others.every((at) => at <= top || at >= bottom);
    const fits = (strictness: typeof STRICT) =>
      (strictness === STRICT ? tries : [...tries].reverse()).find(([lines, y]) => {
        const boxes = boxesOf(lines, x, y, font);
        return boxes.every(isOwn) && draft.placer.isClear(boxes, frame.plot, strictness);
      });
    const isClear = fits(STRICT);
    const [lines, y] = isClear ?? fits(OVER_LINES) ?? fits(OVER_ALL) ?? [];
    if (!lines || y === undefined) {
      placeOnSlope(draft, frame, slopeOf(roof, frame), [[briefly]], font);
      continue;
    }
    const boxes = boxesOf(lines, x, y, font);
    draft.placer.take(boxes);
    // The plate of a name that covers lines leaves its own line in sight.
    const half = style.roof / 2;
    for (const box of isClear ? [] : boxes)
      draft.plates.push(
        y < flat
          ? { ...box, bottom: Math.min(box.bottom, flat - half) }
          : { ...box, top: Math.max(box.top, flat + half) },
      );
    for (const [at, parts] of lines.entries())
      draft.texts.push({ x, y: y + at * LINE_EM * font, anchor: "end", parts });
  }
}

/** The room between the letters of a name and the line above it, in font sizes. */
const ROOM_EM = 0.03;

const boxesOf = (lines: readonly (readonly Part[])[], x: number, y: number, font: number): Box[] =>
  lines.map((parts, at) => {
    const box = textBox({ x, y: y + at * LINE_EM * font, anchor: "end" }, widthOf(parts, font), font);
    return { ...box, top: box.top - ROOM_EM * font };
  });

/** Places the first text with room along a slope. */
function placeOnSlope(
  draft: Draft,
  { plot }: Frame,
  slope: Segment | undefined,
  tries: readonly (readonly Part[])[],
  font: number,
) {
  for (const parts of slope ? tries : []) {
    const places = placesAlong(slope as Segment, widthOf(parts, font), font);
    const place = places.find(({ boxes }) => draft.placer.isClear(boxes, plot, STRICT));
    if (!place) continue;
    draft.placer.take(place.boxes);
    draft.texts.push({ ...place, anchor: "middle", parts });
    return;
  }
}

type Corner = `${"left" | "right"} ${"top" | "bottom"}`;

/** Places the legend or the key in the first free corner, or else under the axis. */
function placeBlock(
  { style, frame }: Parts,
  draft: Draft,
  entries: readonly (Entry & { readonly number?: number })[],
  corners: readonly Corner[],
) {
  if (entries.length === 0) return;
  const { font, width: whole } = style;
  const { plot } = frame;
  const indent = 1.15 * font;
  const widest = indent + Math.max(...entries.map(({ text }) => textWidth(text, font)));
  const line = LINE_EM * font;
  const put = (entry: (typeof entries)[number], left: number, top: number) => {
    const y = top + 0.95 * font;
    const { text, colour, code = -1, number } = entry;
    if (colour) draft.swatches.push({ x: left + 0.4 * font, y: y - 0.35 * font, colour, code });
    if (number) draft.texts.push({ x: left, y, anchor: "start", parts: [{ text: String(number), isBold: true }] });
    draft.texts.push({ x: left + indent, y, anchor: "start", parts: [{ text }] });
  };
  const pad = 0.4 * font;
  const [width, height] = [widest + 2 * pad, entries.length * line + pad];
  // Clear of the marks of the ticks, and of a roof along the edge.
  const inset = 0.5 * font;
  for (const corner of corners) {
    const left = corner.startsWith("left") ? plot.left + inset : plot.right - 0.2 * font - width;
    const top = corner.endsWith("top") ? plot.top + 0.2 * font : plot.bottom - inset - height;
    const box = { left, right: left + width, top, bottom: top + height };
    if (!draft.placer.isClear([box], plot, STRICT)) continue;
    draft.placer.take([box]);
    if (entries.some(({ colour }) => colour)) draft.plates.push(box);
    for (const [at, entry] of entries.entries()) put(entry, left + pad, top + pad / 2 + at * line);
    return;
  }
  const columns = Math.max(1, Math.floor((whole - pad) / (widest + font)));
  const across = (whole - pad) / Math.min(columns, entries.length);
  for (const [at, entry] of entries.entries())
    put(entry, pad + (at % columns) * across, draft.bottom + Math.floor(at / columns) * line);
  draft.bottom += Math.ceil(entries.length / columns) * line + pad;
}

/** Places the line of the bandwidth in the strip, and the bandwidth above it. */
function placeStripRoof({ style, frame, focus, units }: Parts, draft: Draft, strip: Box) {
  if (!focus) return;
  const { font } = style;
  const at = frame.y(focus.bandwidth * frame.x.domain[0]);
  if (at < strip.top || at > strip.bottom) return;
  draft.lines.push({
    points: [
      [strip.left, at],
      [strip.right, at],
    ],
    width: style.roof,
    dashes: "",
  });
  const x = (strip.left + strip.right) / 2 + 0.35 * font;
  const text = units.bandwidth(focus.bandwidth);
  const y = at - 0.7 * font;
  const box = { left: x - ASCENT_EM * font, right: x + DESCENT_EM * font, top: y - textWidth(text, font), bottom: y };
  if (!draft.placer.isClear([box], { ...strip, left: 0 }, STRICT)) return;
  draft.placer.take([box]);
  draft.texts.push({ x, y, anchor: "start", angle: -90, parts: [{ text }] });
}

/** Places the memory and its bandwidth along the slope of the focus roof; without measured kernels of all roofs. */
function placeSlopeNames({ style, frame, roofs, focus, units, content }: Parts, draft: Draft) {
  const { font } = style;
  const own = (focus?.levels ?? []).map(({ name, bandwidth }) => ({ name, bandwidth, peak: focus?.peak ?? 0 }));
  const others = content.isMeasured ? [] : roofs.filter((roof) => roof !== focus);
  const slopes = [...own, ...others.map(({ level, bandwidth, peak }) => ({ name: level, bandwidth, peak }))];
  for (const { name, bandwidth, peak } of slopes) {
    const isInStrip = frame.strip && name === focus?.level;
    const texts = isInStrip ? [name] : [`${name} ${units.bandwidth(bandwidth)}`, name];
    placeOnSlope(
      draft,
      frame,
      slopeOf({ peak, bandwidth }, frame),
      texts.map((text) => [{ text }]),
      font,
    );
  }
}

/** Places the name and the rate of each ceiling: above the right end of a flat, or along a slope. */
function placeCeilingNames({ style, frame, ceilings, units }: Parts, draft: Draft) {
  const { font } = style;
  for (const { name, kind, peak, bandwidth, operation } of ceilings) {
    const isSlope = kind === "bandwidth";
    const text = `${name} ${isSlope ? units.bandwidth(bandwidth) : units.rate(peak, undefined, operation)}`;
    const width = textWidth(text, font);
    const rates = { peak, bandwidth };
    if (isSlope) {
      placeOnSlope(draft, frame, slopeOf(rates, frame), [[{ text }]], font);
      continue;
    }
    const flat = flatOf(rates, frame)?.[1][1];
    if (flat === undefined) continue;
    const x = frame.plot.right - 0.15 * font;
    const y = [flat - 0.4 * font, flat + (0.4 + ASCENT_EM) * font].find((at) =>
      draft.placer.isClear([textBox({ x, y: at, anchor: "end" }, width, font)], frame.plot, STRICT),
    );
    if (y === undefined) continue;
    draft.placer.take([textBox({ x, y, anchor: "end" }, width, font)]);
    draft.texts.push({ x, y, anchor: "end", parts: [{ text }] });
  }
}

/** The numbers of ridge points nearer than this are one text, in font sizes. */
const SAME_RIDGE_EM = 0.35;

/**
 * Places the number of each ridge point beside its line to the axis. That of the focus roof is bold, with its word. The
 * others are along their lines, because the lines can be near each other.
 */
function placeRidges({ style, frame, roofs, focus, units, terms }: Parts, draft: Draft) {
  const { font } = style;
  const { bottom } = frame.plot;
  const ridges = roofs.flatMap((roof) => {
    const [x] = placeOfRidge(roof, frame) ?? [];
    return x === undefined ? [] : [{ roof, x }];
  });
  const isClear = (box: Box, own: number) =>
    draft.placer.isClear([box], frame.plot, STRICT) &&
    ridges.every(({ x }) => Math.abs(x - own) < SAME_RIDGE_EM * font || x <= box.left || x >= box.right);
  const done = new Set<Roof>();
  for (const { roof, x } of [...ridges].sort((a, b) => Number(b.roof === focus) - Number(a.roof === focus))) {
    if (done.has(roof)) continue;
    const same = ridges.filter((other) => other.roof !== roof && Math.abs(other.x - x) < SAME_RIDGE_EM * font);
    for (const other of same) done.add(other.roof);
    const isFocus = roof === focus;
    const [first = "", ...more] = [roof, ...same.map((other) => other.roof)].map((each) =>
      units.intensityAlone(ridgePoint(each), 4),
    );
    const parts: Part[] = [{ text: isFocus ? strings.ridgeAt(first, terms) : first, isBold: isFocus }];
    if (more.length > 0) parts.push({ text: more.map((number) => `, ${number}`).join("") });
    const width = widthOf(parts, font);
    const y = bottom - 0.6 * font;
    const right = Math.max(x, ...same.map((other) => other.x));
    const sides = [right + 0.35 * font, x - 0.35 * font - width].map((left) =>
      textBox({ x: left, y, anchor: "start" }, width, font),
    );
    const along = [x - 0.3 * font, x + 0.3 * font + (ASCENT_EM + DESCENT_EM) * font].map((right) => {
      const left = right - (ASCENT_EM + DESCENT_EM) * font;
      return { left, right, top: y - width, bottom: y };
    });
    const box = [...(isFocus ? sides : []), ...along].find((each) => isClear(each, x));
    if (!box) continue;
    draft.placer.take([box]);
    const turned = { x: box.right - DESCENT_EM * font, y, angle: -90 };
    const place = sides.includes(box) ? { x: box.left, y } : turned;
    draft.texts.push({ ...place, anchor: "start", parts });
  }
}

/** The distance of numbers in the strip, and of a number from its dot from which on it has a leader, in font sizes. */
const [STRIP_ROW_EM, STRIP_LEADER_EM] = [1.02, 0.5];

/** Places the numbers of kernels in the strip right of their dots, in the same order, below each other. */
function placeStripNumbers({ style, frame }: Parts, draft: Draft, marks: { dot: Placed; text: string }[]) {
  const { font } = style;
  const inOrder = [...marks].sort((a, b) => a.dot.y - b.dot.y);
  const middles: number[] = [];
  for (const { dot } of inOrder) middles.push(Math.max(dot.y, (middles.at(-1) ?? 0) + STRIP_ROW_EM * font));
  let lowest = frame.plot.bottom - 0.5 * font;
  for (const [at, middle] of [...middles.entries()].reverse()) {
    middles[at] = Math.min(middle, lowest);
    lowest = (middles[at] as number) - STRIP_ROW_EM * font;
  }
  for (const [at, { dot, text }] of inOrder.entries()) {
    const middle = middles[at] as number;
    const [x, y] = [dot.x + dot.radius + 0.35 * font, middle + 0.35 * font];
    const box = textBox({ x, y, anchor: "start" }, textWidth(text, font, true), font);
    draft.placer.take([box]);
    if (Math.abs(middle - dot.y) > STRIP_LEADER_EM * font) {
      const end: Spot = [x - 0.1 * font, middle];
      draft.leaders.push([leaderTo({ left: end[0], right: end[0], top: middle, bottom: middle }, dot)[0], end]);
    }
    draft.texts.push({ x, y, anchor: "start", parts: [{ text, isBold: true }] });
  }
}

/** A name without room is cut to this many letters. */
const BRIEF_LETTERS = 16;

/**
 * Places the name of a kernel beside its dot, or else away from it with a leader. A name without room is shortened, and
 * left out if it then has no room either. A number that is explained in the key covers lines, and so does a name if all
 * kernels have names: the one without would be missed.
 */
function placeName({ style, frame, dots, content }: Parts, draft: Draft, own: Placed, named: Part) {
  const { font } = style;
  const brief = { ...named, text: shortenName(named.text, BRIEF_LETTERS) };
  const isAlone = content.names.every(
    ({ row, text }) => row === own.row || shortenName(text, BRIEF_LETTERS) !== brief.text,
  );
  const longest = Math.max(MAX_LEADER, MAX_LEADER_EM * font);
  const isNamed = new Set(content.names.map(({ row }) => row));
  const [beside, away] = [placesBeside(own, font), placesAway(own, font, longest)];
  // A leader over another dot could seem to begin there. A number that is explained in the key must be in the plot.
  const isEach = content.names.length === content.counts.shown;
  const important = dots.filter(({ row }) => isNamed.has(row));
  const turns = [
    { ...STRICT, others: dots, part: named },
    { ...STRICT, others: important, part: named },
    ...(isAlone ? [{ ...STRICT, others: dots, part: brief }] : []),
    ...(named.isBold || isEach ? [{ ...OVER_LINES, others: important, part: named }] : []),
    ...(named.isBold ? [{ ...OVER_ALL, others: [], part: named }] : []),
  ];
  for (const { others, part, ...strictness } of turns) {
    const width = textWidth(part.text, font, part.isBold);
    for (const place of [...beside, ...away]) {
      const box = textBox(place, width, font);
      if (!draft.placer.isClear([box], frame.plot, strictness, own)) continue;
      const isBeside = beside.includes(place);
      // Beside another dot, the text would seem to name that dot.
      if (isBeside && strictness.dots && isAmbiguous(box, own, dots)) continue;
      const leader = isBeside ? undefined : leaderTo(box, own);
      if (leader && !draft.placer.isLeaderClear(leader, strictness)) continue;
      if (
        leader &&
        others.some((dot) => dot.row !== own.row && crosses(squareAround(dot.x, dot.y, dot.radius), leader))
      )
        continue;
      draft.placer.take([box], leader);
      if (leader) draft.leaders.push(leader);
      draft.texts.push({ ...place, parts: [part] });
      return;
    }
  }
}

/** Whether another dot is about as near to a text as its own dot is. */
const isAmbiguous = (box: Box, own: Placed, dots: readonly Placed[]) => {
  const away = ({ x, y, radius }: Placed) => distanceTo(box, x, y) - radius;
  const reach = away(own) + 0.35 * own.radius;
  return dots.some((dot) => dot.row !== own.row && away(dot) <= reach);
};
