// What is written on the time view, and where: isochrones, the diagonal, its two regions, launches, kernels, gaps.

import { gapText, nameOf } from "../describe.ts";
import { formatQuantity } from "../format.ts";
import { judge } from "../roofline.ts";
import type { Box } from "../scales.ts";
import { strings } from "../strings.ts";
import { radiusOf } from "./kernels.ts";
import { type Label, type Place, type Placed, placeLabels, shorten, textWidth } from "./labels.ts";
import { start, type TimeGap, type TimeScene } from "./timescene.ts";

/** More gaps than this: numbers only at those of marked kernels. */
const FEW = 12;

/** Every label that has room; those in `choices` stay where they were. */
export function timeLabels(
  scene: TimeScene,
  gaps: readonly TimeGap[],
  choices?: ReadonlyMap<string, number>,
): Placed[] {
  const { marked, named, scales } = scene;
  const { outer, width } = scales;
  const bounds = { ...outer, left: outer.left + 2, right: width - 2, bottom: outer.bottom - 2 };
  const kernels = [...new Set([...marked, ...named])].flatMap((row) => kernelLabel(scene, row));
  const numbers = gapLabels(scene, gaps);
  const isBold = ({ bold }: Label) => bold;
  const others = (labels: readonly Label[]) => labels.filter((label) => !isBold(label));
  const lines = lineLabels(scene);
  const labels = [
    ...kernels.filter(isBold),
    ...numbers.filter(isBold),
    ...emptyLabel(scene),
    ...lines,
    ...others(kernels),
    ...others(numbers),
  ];
  if (!choices) return placeLabels(labels, bounds, obstacles(scene, gaps));
  // Names that had no room before the drag do not flicker in and out during it.
  const steady = labels.filter(({ key, bold }) => choices.has(key) || bold || !key.startsWith("kernel "));
  return placeLabels(steady, bounds, [], choices);
}

/** Why there is nothing to see. */
function emptyLabel({ focus, points, scales: { plot }, theme }: TimeScene): Label[] {
  if (points.n > 0) return [];
  const x = (plot.left + plot.right) / 2;
  const places = [0.27, 0.4, 0.5, 0.6, 0.75].map((share): Place => {
    return { x, y: plot.top + share * (plot.bottom - plot.top), anchor: "middle" };
  });
  const text = focus ? strings.time.empty : strings.noChip;
  return [{ key: "empty", text, size: 14, colour: theme.text, must: true, places }];
}

/** The launches' square, the diagonal, the isochrones, and the regions on both sides. */
function lineLabels({ focus, isochrones, overhead, names, colours, scales, theme }: TimeScene): Label[] {
  if (!focus) return [];
  const { x, y, plot, outer } = scales;
  const label = (key: string, text: string, places: readonly Place[], rest?: Partial<Label>): Label => {
    return { key, text, size: 12, colour: theme.muted, places, ...rest };
  };
  const [right, top] = [x(overhead), y(overhead)];
  const square: Place[] = [
    { x: right - 6, y: outer.bottom - 8, anchor: "end" },
    { x: outer.left + 6, y: top + 16, anchor: "start" },
    { x: right + 6, y: outer.bottom - 8, anchor: "start" },
    { x: outer.left + 6, y: top - 6, anchor: "start" },
  ];
  const launches = label("overhead", strings.time.overhead(formatQuantity(overhead, "s")), square, { must: true });
  const chip = shorten(names.get(focus.chip.id) ?? focus.chip.name, 26);
  const low = start(scales);
  const room = Math.hypot(plot.right - x(low), plot.top - y(low)) - 48;
  const sentence = strings.time.diagonal(chip);
  const name = textWidth(sentence, 12, true) < room ? sentence : chip;
  const own = { bold: true, must: true, colour: colours.get(focus.chip.id) ?? theme.text };
  const memory = focus.levels.length > 1 ? "" : ` (${focus.level})`;
  return [
    ...(overhead > 0 ? [launches] : []),
    label("diagonal", name, alongDiagonal(scales), own),
    ...isochrones.map((seconds) =>
      label(`isochrone ${seconds}`, formatQuantity(seconds, "s"), besideCorner(x(seconds), y(seconds))),
    ),
    label("memory region", strings.memoryRegion + memory, [
      { x: plot.left + 8, y: plot.top + 16, anchor: "start" },
      { x: plot.left + 8, y: plot.top + 34, anchor: "start" },
    ]),
    label("compute region", strings.computeRegion, [
      { x: plot.right - 8, y: plot.bottom - 8, anchor: "end" },
      { x: plot.right - 8, y: plot.bottom - 26, anchor: "end" },
    ]),
  ];
}

function kernelLabel({ kernels, points, at, marked, theme }: TimeScene, row: number): Label[] {
  const index = points.home[row] ?? -1;
  if (index < 0) return [];
  const bold = marked.includes(row);
  const places = around(at.x[index] as number, at.y[index] as number, radiusOf(points) + (bold ? 7 : 5));
  return [
    { key: `kernel ${row}`, text: shorten(nameOf(kernels, row), 24), size: 12, bold, colour: theme.text, places },
  ];
}

function gapLabels({ kernels, focus, marked, theme }: TimeScene, gaps: readonly TimeGap[]): Label[] {
  if (!focus) return [];
  const boundOf = judge(kernels, focus);
  return gaps.flatMap(({ row, from, to }): Label[] => {
    const bold = marked.includes(row);
    const places = around((from[0] + to[0]) / 2, (from[1] + to[1]) / 2, 5);
    const text = gapText(boundOf(row));
    return bold || gaps.length <= FEW ? [{ key: `gap ${row}`, text, size: 12, bold, colour: theme.text, places }] : [];
  });
}

/** What labels rather keep clear of: points, their gaps, the diagonal, the isochrones and the launches' square. */
function obstacles({ points, at, scales, isochrones, overhead }: TimeScene, gaps: readonly TimeGap[]): Box[] {
  const { plot, outer, x, y } = scales;
  const boxes: Box[] = [];
  const line = (x1: number, y1: number, x2: number, y2: number, half: number) =>
    boxes.push({
      left: Math.min(x1, x2) - half,
      right: Math.max(x1, x2) + half,
      top: Math.min(y1, y2) - half,
      bottom: Math.max(y1, y2) + half,
    });
  for (const { from, to } of gaps) line(...from, ...to, 2);
  for (let index = 0; index < points.n && points.n <= 400; index++) {
    const [px, py] = [at.x[index] as number, at.y[index] as number];
    line(px, py, px, py, radiusOf(points) + 1);
  }
  const low = start(scales);
  for (let step = 0; step <= 120; step++) {
    const seconds = low * (x.domain[1] / low) ** (step / 120);
    line(x(seconds), y(seconds), x(seconds), y(seconds), 3);
  }
  for (const seconds of [...isochrones, ...(overhead > 0 ? [overhead] : [])]) {
    line(outer.left, y(seconds), x(seconds), y(seconds), 1);
    line(x(seconds), y(seconds), x(seconds), outer.bottom, 1);
  }
  return boxes;
}

/** Turned to run along the diagonal, above it or below it, from its upper end downwards. */
function alongDiagonal(scales: TimeScene["scales"]): Place[] {
  const { plot, x, y } = scales;
  const [left, bottom] = [x(start(scales)), y(start(scales))];
  const turn = Math.atan2(plot.top - bottom, plot.right - left);
  const angle = Math.round((turn * 1800) / Math.PI) / 10;
  return [0.82, 0.7, 0.6, 0.5, 0.4, 0.3].flatMap((share) =>
    [-7, 17].map((off): Place => {
      const [px, py] = [left + share * (plot.right - left), bottom + share * (plot.top - bottom)];
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
];

function around(x: number, y: number, gap: number): Place[] {
  const sides = [4, 15, -7].flatMap((shift): Place[] => [
    { x: x + gap, y: y + shift, anchor: "start" },
    { x: x - gap, y: y + shift, anchor: "end" },
  ]);
  const ends = [gap + 10, -gap].map((shift): Place => ({ x, y: y + shift, anchor: "middle" }));
  return [...sides.slice(0, 2), ...ends, ...sides.slice(2)];
}
