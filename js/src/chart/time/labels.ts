// What is written on the time view, and where: isochrones, the diagonal, its two regions, launches, kernels, gaps.

import { judge } from "../../roofline/bound.ts";
import { gapText, shortNameOf } from "../../text/describe.ts";
import { briefNamesOf } from "../../text/names.ts";
import { formatQuantity } from "../../text/numbers.ts";
import { strings } from "../../words/words.ts";
import { markings } from "../labels/obstacles.ts";
import { inWords, type Label, type Place, type Placed, placeLabels, shorten, textWidth } from "../labels/place.ts";
import { boxOfShadow, type Shadow } from "../layers/moved_kernels.tsx";
import type { Spot } from "../paths.ts";
import { radiusAt } from "../points/painter.ts";
import { isShown } from "../points/visible.ts";
import type { Box, Scale } from "../scales.ts";
import { end, start, type TimeGap, type TimeScene, tickText } from "./scene.ts";

/** More gaps than this: numbers only at those of marked kernels. */
const FEW = 12;

/** Every label that has room; those in `choices` stay where they were. */
export function timeLabels(
  scene: TimeScene,
  gaps: readonly TimeGap[],
  choices?: ReadonlyMap<string, number>,
  shadows: readonly Shadow[] = [],
  notes: readonly Label[] = [],
): Placed[] {
  const { marked, named, scales } = scene;
  const { outer } = scales;
  const bounds = { ...outer, left: outer.left + 2, bottom: outer.bottom - 2 };
  const kernels = [...new Set([...marked, ...named])].flatMap((row) => kernelLabel(scene, row));
  // What is asked of a kernel is told in the place of its gap.
  const numbers = gapLabels(
    scene,
    gaps.filter(({ row }) => !shadows.some((one) => one.row === row)),
  );
  const bold = [...kernels, ...numbers].filter((label) => label.bold);
  const rest = [...kernels, ...numbers].filter((label) => !label.bold);
  const names = [...notes, ...bold, ...emptyLabel(scene), ...lineLabels(scene), ...rest];
  const places = [...regionLabels(scene), ...isochroneLabels(scene)];
  if (choices) {
    // What had no room before the drag does not flicker in and out during it.
    const steady = names.filter((label) => choices.has(label.key) || label.bold || !/^(kernel|gap) /.test(label.key));
    return placeLabels([...steady, ...places], bounds, [], choices);
  }
  const taken = [...markings(scene), ...shadows.map(boxOfShadow)];
  // The bytes of a kernel move it up or down.
  const lines = lineBoxes(scene, [...gaps, ...shadows]);
  // A name may lie across an isochrone where it must; what is written on the plot itself rather not.
  const kept = new Map(placeLabels(names, bounds, taken, undefined, { lines }).map(({ key, choice }) => [key, choice]));
  const all = [...names.filter(({ key }) => kept.has(key)), ...places];
  return placeLabels(all, bounds, [...taken, ...isochroneBoxes(scene)], kept, { lines });
}

/** Why there is nothing to see. */
function emptyLabel({ focus, points, scales: { plot }, theme }: TimeScene): Label[] {
  if (points.n > 0) return [];
  const x = (plot.left + plot.right) / 2;
  const places = [0.4, 0.34, 0.28, 0.22, 0.16, 0.1].flatMap((share): Place[] => {
    const y = plot.top + share * (plot.bottom - plot.top);
    return [
      { x, y, anchor: "middle" },
      { x: plot.left + 8, y, anchor: "start" },
    ];
  });
  const text = focus ? strings.time.empty : strings.noChip;
  return [{ key: "empty", text, size: 12, colour: theme.text, must: true, places }];
}

/** The launches' square and the diagonal. */
function lineLabels({ focus, overhead, names, colours, scales, theme }: TimeScene): Label[] {
  if (!focus) return [];
  const { x, y, outer } = scales;
  const hasSquare = overhead > 0 && x(overhead) > outer.left && y(overhead) < outer.bottom;
  const [right, top] = [Math.min(x(overhead), outer.right), Math.max(y(overhead), outer.top)];
  const square: Place[] = [
    { x: right - 6, y: outer.bottom - 8, anchor: "end" },
    { x: outer.left + 6, y: top - 6, anchor: "start" },
    { x: outer.left + 6, y: top + 16, anchor: "start" },
    { x: right + 6, y: outer.bottom - 8, anchor: "start" },
  ];
  const launches: Label = {
    key: "overhead",
    text: strings.time.overhead(formatQuantity(overhead, "s")),
    size: 12,
    colour: theme.text,
    must: true,
    places: square,
  };
  const chip = inWords(names.get(focus.chip.id) ?? focus.chip.name, (text) => text.length <= 26);
  const diagonal: Label = {
    key: "diagonal",
    text: strings.time.diagonal(chip),
    brief: [chip, briefNamesOf([focus], names).get(focus.chip.id) ?? chip],
    size: 12,
    bold: true,
    colour: colours.get(focus.chip.id) ?? theme.text,
    must: true,
    places: alongDiagonal(scales),
  };
  return hasSquare ? [launches, diagonal] : [diagonal];
}

function regionLabels({ focus, scales, theme }: TimeScene): Label[] {
  if (!focus) return [];
  const { left, top, right, bottom } = scales.plot;
  const memory = focus.levels.length > 1 ? "" : ` (${focus.level})`;
  const region = (key: string, text: string, anchor: Place["anchor"], x: number, y: number, step: number): Label => {
    const away = [0, 1, 2, 3, 4, 5];
    const places = [y, y + step].flatMap((at) => away.map((k): Place => ({ x: x + k * step, y: at, anchor })));
    return { key, text, size: 12, colour: theme.muted, must: true, places };
  };
  const isAbove = (px: number, py: number) => scales.y.invert(py) > scales.x.invert(px);
  const all = [
    region("memory region", strings.memoryRegion + memory, "start", left + 8, top + 16, 20),
    region("compute region", strings.computeRegion, "end", right - 8, bottom - 8, -20),
  ];
  // Of a part of the plane one corner may be the other region's.
  const isHere = [isAbove(left + 8, top + 8), !isAbove(right - 8, bottom - 8)];
  return all.filter((_, index) => isHere[index]);
}

const isochroneLabels = ({ isochrones, scales: { x, y, plot }, theme }: TimeScene) =>
  isochrones.map((seconds): Label => {
    // An arm whose corner is out of sight is told where it leaves the plot.
    const text = tickText(seconds);
    const room = plot.right - textWidth(text, 12);
    const places = besideCorner(Math.min(x(seconds), plot.right), Math.max(y(seconds), plot.top)).filter(
      (place) => place.anchor === "end" || place.x <= room,
    );
    return { key: `isochrone ${seconds}`, text, size: 12, colour: theme.muted, places };
  });

function kernelLabel(scene: TimeScene, row: number): Label[] {
  const { kernels, points, at, marked, selected, theme } = scene;
  const index = points.home[row] ?? -1;
  if (index < 0 || !isShown(scene, index)) return [];
  const bold = marked.includes(row);
  const colour = selected.size === 0 || bold ? theme.text : theme.muted;
  const places = around(at.x[index] as number, at.y[index] as number, radiusAt(points, index) + (bold ? 7 : 5));
  return [{ key: `kernel ${row}`, text: shorten(shortNameOf(kernels, row), 24), size: 12, bold, colour, places }];
}

function gapLabels({ kernels, focus, marked, theme }: TimeScene, gaps: readonly TimeGap[]): Label[] {
  if (!focus) return [];
  const boundOf = judge(kernels, focus);
  const told = gaps.length <= FEW ? gaps : gaps.filter(({ row }) => marked.includes(row));
  return told.map(({ row, from, to }) => {
    const places = around((from[0] + to[0]) / 2, (from[1] + to[1]) / 2, 5);
    const text = gapText(boundOf(row));
    return { key: `gap ${row}`, text, size: 12, bold: marked.includes(row), colour: theme.text, places };
  });
}

const boxAround = ([x1, y1]: Spot, [x2, y2]: Spot, half: number): Box => ({
  left: Math.min(x1, x2) - half,
  right: Math.max(x1, x2) + half,
  top: Math.min(y1, y2) - half,
  bottom: Math.max(y1, y2) + half,
});

/** What labels keep clear of if they can: gaps, the diagonal and the launches' square. */
function lineBoxes({ scales, overhead }: TimeScene, gaps: readonly Pick<TimeGap, "from" | "to">[]): Box[] {
  const [from, to] = [start(scales), end(scales)];
  const diagonal = Array.from({ length: 121 }, (_, step) => {
    const between = (scale: Scale) => scale(from) + (scale(to) - scale(from)) * (step / 120);
    const spot: Spot = [between(scales.x), between(scales.y)];
    return boxAround(spot, spot, 3);
  });
  const launches = overhead > 0 ? cornerOf(overhead, scales) : [];
  return [...gaps.map((gap) => boxAround(gap.from, gap.to, 2)), ...diagonal, ...launches];
}

const isochroneBoxes = ({ isochrones, scales }: TimeScene) => isochrones.flatMap((time) => cornerOf(time, scales));

/** The two arms of one time. */
function cornerOf(seconds: number, { outer, x, y }: TimeScene["scales"]): Box[] {
  const [right, top] = [x(seconds), y(seconds)];
  return [
    { left: outer.left, right, top: top - 1, bottom: top + 1 },
    { left: right - 1, right: right + 1, top, bottom: outer.bottom },
  ];
}

/** Turned to run along the diagonal, above it or below it, from its upper end downwards. */
function alongDiagonal(scales: TimeScene["scales"]): Place[] {
  const { x, y } = scales;
  const [from, to] = [start(scales), end(scales)];
  if (from >= to) return [];
  const [left, bottom, right, top] = [x(from), y(from), x(to), y(to)];
  const turn = Math.atan2(top - bottom, right - left);
  const angle = Math.round((turn * 1800) / Math.PI) / 10;
  return [0.82, 0.7, 0.6, 0.5, 0.4, 0.3, 0.25].flatMap((share) =>
    // Nearer above, its letters would lie on the line.
    [-8, 17].map((off): Place => {
      const [px, py] = [left + share * (right - left), bottom + share * (top - bottom)];
      return { x: px - off * Math.sin(turn), y: py + off * Math.cos(turn), anchor: "middle", angle };
    }),
  );
}

/** Over the level arm of an isochrone or beside its upright one, by its corner. */
const besideCorner = (x: number, y: number): Place[] => [
  { x: x - 8, y: y - 5, anchor: "end" },
  { x: x + 5, y: y + 24, anchor: "start" },
  { x: x - 48, y: y - 5, anchor: "end" },
  { x: x + 5, y: y + 48, anchor: "start" },
  { x: x - 48, y: y + 16, anchor: "end" },
  { x: x - 5, y: y + 24, anchor: "end" },
];

function around(x: number, y: number, gap: number): Place[] {
  const sides = [4, 15, -7].flatMap((shift): Place[] => [
    { x: x + gap, y: y + shift, anchor: "start" },
    { x: x - gap, y: y + shift, anchor: "end" },
  ]);
  const ends = [-gap - 2, gap + 10].map((shift): Place => ({ x, y: y + shift, anchor: "middle" }));
  // Above, from the point on: where an edge is near.
  const over: Place = { x: x - gap, y: y - gap - 3, anchor: "start" };
  return [...sides.slice(0, 2), ...ends, ...sides.slice(2), over];
}
