// What is written on the time view, and where: isochrones, the diagonal, its two regions, launches, kernels, gaps.

import { gapText, nameOf } from "../describe.ts";
import { formatQuantity } from "../format.ts";
import { judge } from "../roofline.ts";
import type { Box } from "../scales.ts";
import { strings } from "../strings.ts";
import { radiusOf } from "./kernels.ts";
import { type Label, type Place, type Placed, placeLabels, shorten } from "./labels.ts";
import type { TimeGap, TimeScene } from "./timescene.ts";

const SIZE = 12;
/** More gaps than this: numbers only at those of marked kernels. */
const FEW = 12;

/** Every label that has room; those in `choices` stay where they were. */
export function timeLabels(
  scene: TimeScene,
  gaps: readonly TimeGap[],
  choices?: ReadonlyMap<string, number>,
): Placed[] {
  const { outer, width } = scene.scales;
  const bounds = { ...outer, left: outer.left + 2, right: width - 2, bottom: outer.bottom - 2 };
  const isMarked = ({ row }: TimeGap) => scene.marked.includes(row);
  const labels = [
    ...scene.marked.flatMap((row) => kernelLabel(scene, row)),
    ...gapLabels(scene, gaps.filter(isMarked), true),
    ...lineLabels(scene),
    ...scene.named.filter((row) => !scene.marked.includes(row)).flatMap((row) => kernelLabel(scene, row)),
    ...gapLabels(scene, gaps.length <= FEW ? gaps.filter((gap) => !isMarked(gap)) : [], false),
    ...regionLabels(scene),
  ];
  if (!choices) return placeLabels(labels, bounds, obstacles(scene, gaps));
  // Names that had no room before the drag do not flicker in and out during it.
  const steady = labels.filter(({ key, bold }) => choices.has(key) || bold || !key.startsWith("kernel "));
  return placeLabels(steady, bounds, [], choices);
}

/** The launches' square, the diagonal, and the isochrones. */
function lineLabels(scene: TimeScene): Label[] {
  const { focus, isochrones, overhead, names, colours, scales, theme } = scene;
  const { x, y, outer } = scales;
  const labels: Label[] = isochrones.map((seconds) => ({
    key: `isochrone ${seconds}`,
    text: formatQuantity(seconds, "s"),
    size: SIZE,
    colour: theme.muted,
    places: besideCorner(x(seconds), y(seconds), (x(seconds) - outer.left) / 2, (outer.bottom - y(seconds)) / 2),
  }));
  if (!focus) return labels;
  const diagonal = {
    key: "diagonal",
    text: strings.time.diagonal(shorten(names.get(focus.chip.id) ?? focus.chip.name, 26)),
    size: SIZE,
    bold: true,
    colour: colours.get(focus.chip.id) ?? theme.text,
    must: true,
    places: alongDiagonal(scene),
  };
  if (overhead === 0) return [diagonal, ...labels];
  const [right, top] = [x(overhead), y(overhead)];
  const square = {
    key: "overhead",
    text: strings.time.overhead(formatQuantity(overhead, "s")),
    size: SIZE,
    colour: theme.text,
    must: true,
    places: [
      { x: outer.left + 6, y: top + 16, anchor: "start" },
      { x: right - 6, y: top + 16, anchor: "end" },
      { x: outer.left + 6, y: top - 6, anchor: "start" },
      { x: right + 6, y: outer.bottom - 8, anchor: "start" },
    ],
  } as const;
  return [square, diagonal, ...labels];
}

function kernelLabel({ kernels, points, at, marked, theme }: TimeScene, row: number): Label[] {
  const index = points.home[row] ?? -1;
  if (index < 0) return [];
  const bold = marked.includes(row);
  const places = around(at.x[index] as number, at.y[index] as number, radiusOf(points) + (bold ? 8 : 6));
  const text = shorten(nameOf(kernels, row), 24);
  return [{ key: `kernel ${row}`, text, size: SIZE, bold, colour: theme.text, places }];
}

function gapLabels({ kernels, focus, theme }: TimeScene, gaps: readonly TimeGap[], bold: boolean): Label[] {
  if (!focus) return [];
  const boundOf = judge(kernels, focus);
  return gaps.map(({ row, from, to }) => {
    const [x, y] = [(from[0] + to[0]) / 2, (from[1] + to[1]) / 2];
    const places = from[0] === to[0] ? besideUpright(x, y) : besideLevel(x, y);
    return { key: `gap ${row}`, text: gapText(boundOf(row)), size: SIZE, bold, colour: theme.text, places };
  });
}

function regionLabels({ focus, scales, theme }: TimeScene): Label[] {
  if (!focus) return [];
  const { top, left, right, bottom } = scales.plot;
  const { memoryRegion, computeRegion } = strings;
  const memory = focus.levels.length > 1 ? memoryRegion : `${memoryRegion} (${focus.level})`;
  const region = (key: string, text: string, places: readonly Place[]): Label => {
    return { key, text, size: SIZE, colour: theme.muted, places };
  };
  return [
    region("memory region", memory, inRow([left + 8, left + 60, left + 120], top + 16, "start")),
    region("compute region", computeRegion, inRow([right - 8, right - 60, right - 120], bottom - 8, "end")),
  ];
}

/** What labels rather keep clear of: points, their gaps, the diagonal and the edge of the launches' square. */
function obstacles({ points, at, scales, overhead }: TimeScene, gaps: readonly TimeGap[]): Box[] {
  const { plot, outer, x, y } = scales;
  const boxes: Box[] = gaps.map(({ from, to }) => ({
    left: Math.min(from[0], to[0]) - 2,
    right: Math.max(from[0], to[0]) + 2,
    top: Math.min(from[1], to[1]) - 2,
    bottom: Math.max(from[1], to[1]) + 2,
  }));
  const dot = (px: number, py: number, half: number) =>
    boxes.push({ left: px - half, right: px + half, top: py - half, bottom: py + half });
  for (let index = 0; index < points.n && points.n <= 400; index++) {
    dot(at.x[index] as number, at.y[index] as number, radiusOf(points) + 1);
  }
  const steps = Math.ceil((plot.right - plot.left) / 6);
  for (let step = 0; step <= steps; step++) {
    const share = step / steps;
    dot(plot.left + share * (plot.right - plot.left), plot.bottom + share * (plot.top - plot.bottom), 3);
  }
  if (overhead > 0) {
    const [right, top] = [x(overhead), y(overhead)];
    boxes.push({ left: outer.left, right, top: top - 1, bottom: top + 1 });
    boxes.push({ left: right - 1, right: right + 1, top, bottom: outer.bottom });
  }
  return boxes;
}

/** Turned to run along the diagonal, above it or below it, from its upper end downwards. */
function alongDiagonal({ scales: { plot } }: TimeScene): Place[] {
  const [across, down] = [plot.right - plot.left, plot.top - plot.bottom];
  const turn = Math.atan2(down, across);
  const angle = Math.round((turn * 1800) / Math.PI) / 10;
  return [0.82, 0.7, 0.6, 0.5, 0.4, 0.3].flatMap((share) =>
    [-7, 17].map((off): Place => {
      const [x, y] = [plot.left + share * across, plot.bottom + share * down];
      return { x: x - off * Math.sin(turn), y: y + off * Math.cos(turn), anchor: "middle", angle };
    }),
  );
}

/** At an isochrone's corner over its level arm or beside its upright one, else half way along them. */
const besideCorner = (x: number, y: number, across: number, down: number): Place[] => [
  { x: x - 8, y: y - 5, anchor: "end" },
  { x: x + 5, y: y + 24, anchor: "start" },
  { x: x - 8 - across / 2, y: y - 5, anchor: "end" },
  { x: x + 5, y: y + down, anchor: "start" },
  { x: x - across, y: y - 5, anchor: "middle" },
];

const around = (x: number, y: number, gap: number): Place[] => [
  { x: x + gap, y: y + 4, anchor: "start" },
  { x: x - gap, y: y + 4, anchor: "end" },
  { x, y: y + gap + 10, anchor: "middle" },
  { x, y: y - gap, anchor: "middle" },
  { x: x + gap, y: y + 15, anchor: "start" },
  { x: x - gap, y: y + 15, anchor: "end" },
  { x: x + gap, y: y - 7, anchor: "start" },
  { x: x - gap, y: y - 7, anchor: "end" },
];

const inRow = (xs: readonly number[], y: number, anchor: Place["anchor"]) => xs.map((x): Place => ({ x, y, anchor }));

const besideUpright = (x: number, y: number): Place[] =>
  [4, -12, 20].flatMap((shift): Place[] => [
    { x: x + 6, y: y + shift, anchor: "start" },
    { x: x - 6, y: y + shift, anchor: "end" },
  ]);

const besideLevel = (x: number, y: number): Place[] =>
  [0, -24, 24].flatMap((shift) => [-6, 16].map((off): Place => ({ x: x + shift, y: y + off, anchor: "middle" })));
