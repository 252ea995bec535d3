// What is written on the chart, and where: names of roofs, ridge points, regions and kernels, and the call-outs of gaps.

import { gapText, shortNameOf } from "../describe.ts";
import { formatRatio } from "../format.ts";
import { judge } from "../judging.ts";
import { roofElsewhere } from "../measured.ts";
import { ridgePoint } from "../roofline.ts";
import type { Box, Scales } from "../scales.ts";
import { fusionWords, strings } from "../strings.ts";
import { column } from "./column.ts";
import type { Gap, Join } from "./gaps.tsx";
import { isMeasured, radiusAt } from "./kernels.ts";
import { type Label, type Place, type Placed, placeLabels, shorten, textWidth } from "./labels.ts";
import { roofLabels } from "./roofnames.ts";
import { joinsOf, type Scene } from "./scene.ts";
import type { TrailLine } from "./trails.tsx";

const SIZE = 12;
/** The ticks' text stands left of this, px. */
const TICKS = 46;
/** More measured kernels than this: arrows only for those that are hovered, selected or to be fixed first. */
const FEW = 12;

/** None on another chip than the one that kernels ran on: no change of theirs closes the distance to its roof. */
export function gapsOf(scene: Scene, first: readonly number[] = []): Gap[] {
  const { kernels, points, at, focus, scales, marked } = scene;
  if (!focus || roofElsewhere(kernels, focus)) return [];
  const boundOf = judge(kernels, focus);
  const rows = scene.selected.size > 0 ? [] : points.measured <= FEW ? scene.named : first;
  return [...new Set([...marked, ...rows])].flatMap((row) => {
    const index = points.home[row] ?? -1;
    if (index < 0 || !isMeasured(points, index)) return [];
    const { utilization } = boundOf(row);
    // What is possible is not the roof's where launches or the link take longer.
    const possible = (points.y[index] as number) / utilization;
    const roof = points.x[index] === 0 ? scales.strip?.y(possible) : scales.y(possible);
    // Above its roof, or its utilization is unknown: no arrow.
    if (roof === undefined || !(utilization <= 1)) return [];
    const [x, y] = [at.x[index] as number, at.y[index] as number];
    const rim = radiusAt(points, index) + 2;
    return Math.abs(y - roof) < rim + 7 ? [] : [{ row, x, from: y, rim, to: roof, strong: marked.includes(row) }];
  });
}

/** Every label that has room; those in `choices` stay where they were. */
export function annotations(
  scene: Scene,
  gaps: readonly Gap[],
  choices?: ReadonlyMap<string, number>,
  trails: readonly TrailLine[] = [],
  others: readonly Label[] = [],
): Placed[] {
  const { scales } = scene;
  const { plot, width, gutter } = scales;
  const bounds: Box = { left: TICKS, top: 2, right: gutter > 0 ? plot.right : width - 2, bottom: plot.bottom - 2 };
  const names = column(scene, choices);
  const labels = [
    ...roofLabels(scene),
    ...gapLabels(scene, gaps, true),
    ...trailLabels(scene, trails),
    ...others,
    ...kernelLabels(scene),
    ...gapLabels(scene, gaps, false),
    ...regionLabels(scene),
  ];
  const fixed = frame(scene);
  if (!choices) return [...names, ...placeLabels(labels, bounds, [...fixed, ...obstacles(scene)])];
  // Names that had no room before the drag do not flicker in and out during it.
  const steady = labels.filter(({ key, bold }) => choices.has(key) || bold || !/^(?:kernel|ridge|sub) /.test(key));
  return [...names, ...placeLabels(steady, bounds, fixed, choices)];
}

function kernelLabels(scene: Scene): Label[] {
  const { kernels, points, at, scales, theme, marked, named, levels, selected } = scene;
  const joins = new Map(joinsOf(scene).map((join) => [join.row, join]));
  return [...new Set([...marked, ...named])].flatMap((row) => {
    const index = points.home[row] ?? -1;
    if (index < 0) return [];
    const mark = { x: at.x[index] as number, y: at.y[index] as number, radius: radiusAt(points, index) };
    return {
      key: `kernel ${row}`,
      text: shorten(shortNameOf(kernels, row), 24),
      size: SIZE,
      bold: marked.includes(row),
      colour: selected.size === 0 || marked.includes(row) ? theme.text : theme.muted,
      // What stands along the line that joins its points is near to it there.
      ...(joins.has(row) ? {} : { mark }),
      places: [
        ...around(mark.x, mark.y, mark.radius + 4),
        ...besideJoin(joins.get(row)),
        ...(isMeasured(points, index) || levels.length > 0 ? [] : besideTie(mark.x, scales)),
      ],
    };
  });
}

function gapLabels({ kernels, focus, scales: { plot }, theme }: Scene, gaps: readonly Gap[], strong: boolean): Label[] {
  if (!focus) return [];
  const boundOf = judge(kernels, focus);
  const told: Gap[] = [];
  return gaps
    .filter((gap) => gap.strong === strong)
    .flatMap((gap) => {
      // Kernels that stand on one another have about the same gap: it is told once.
      if (told.some(({ x, from }) => Math.abs(x - gap.x) < SIZE / 2 && Math.abs(from - gap.from) < SIZE)) return [];
      told.push(gap);
      const middle = (gap.from + gap.to) / 2 + 4;
      const text = gapText(boundOf(gap.row));
      // Across a line it may be written, not across the numbers of the strip.
      const hasRoom = gap.x < plot.left || gap.x - 7 - textWidth(text, SIZE, strong) > plot.left;
      return {
        key: `gap ${gap.row}`,
        text,
        size: SIZE,
        bold: strong,
        must: true,
        colour: theme.text,
        places: [0, -14, 14].flatMap((shift): Place[] => [
          { x: gap.x + 7, y: middle + shift, anchor: "start" },
          ...(hasRoom ? [{ x: gap.x - 7, y: middle + shift, anchor: "end" } as const] : []),
        ]),
      };
    });
}

/** One a merged kernel, at the middle of its longest trail. */
function trailLabels({ theme }: Scene, trails: readonly TrailLine[]): Label[] {
  const length = ({ from, to }: TrailLine) => Math.hypot(to[0] - from[0], to[1] - from[1]);
  const longest = new Map<number, TrailLine>();
  for (const line of trails) {
    const other = longest.get(line.row);
    if (!other || length(line) > length(other)) longest.set(line.row, line);
  }
  return [...longest.values()].map(({ row, ratio, from, bend, to }) => ({
    key: `trail ${row}`,
    // "4.0": the tenth is there, and it is none.
    text: fusionWords.trail(ratio < 10 ? ratio.toFixed(1) : formatRatio(ratio)),
    size: SIZE,
    bold: true,
    must: true,
    colour: theme.text,
    places: around((from[0] + 2 * bend[0] + to[0]) / 4, (from[1] + 2 * bend[1] + to[1]) / 4, 2),
  }));
}

function regionLabels({ focus, levels, scales, theme }: Scene): Label[] {
  if (!focus) return [];
  const { plot, x } = scales;
  const ridges = [focus.bandwidth, ...levels.map(({ bandwidth }) => bandwidth)].map((rate) => x(focus.peak / rate));
  const within = (at: number) => Math.max(plot.left, Math.min(at, plot.right));
  const [from, to] = [within(Math.min(...ridges)), within(Math.max(...ridges))];
  const memory = strings.memoryRegion;
  const y = plot.bottom - 8;
  const region = (key: string, text: string, left: number, right: number): Label => ({
    key,
    text,
    size: SIZE,
    colour: theme.muted,
    places: [
      { x: (left + right) / 2, y, anchor: "middle" },
      { x: left + 8, y, anchor: "start" },
      { x: right - 8, y, anchor: "end" },
      { x: (left + right) / 2, y: y - 16, anchor: "middle" },
    ],
  });
  return [
    // Left of every ridge point it is one level or another that binds.
    region("memory region", levels.length > 0 ? memory : `${memory} (${focus.level})`, plot.left, from),
    // Right of one level's ridge point another level may bind: only a single level has a compute side.
    ...(levels.length > 0 ? [] : [region("compute region", strings.computeRegion, to, plot.right)]),
  ];
}

/** What no label may cover: the strip. */
function frame({ scales: { strip } }: Scene): Box[] {
  return strip ? [{ ...strip, right: strip.right + 2 }] : [];
}

/** What labels rather keep clear of: points, and roofs where they run. */
function obstacles(scene: Scene): Box[] {
  const { points, at, roofs, focus, levels, subRoofs, scales } = scene;
  const { x, y } = scales;
  const boxes: Box[] = [];
  if (points.n <= 400) {
    for (let index = 0; index < points.n; index++) {
      const around = radiusAt(points, index) + 1;
      const [px, py] = [at.x[index] as number, at.y[index] as number];
      boxes.push({ left: px - around, right: px + around, top: py - around, bottom: py + around });
    }
  }
  for (const { from, to, y: line } of joinsOf(scene)) {
    boxes.push({ left: from, right: to, top: line - 1, bottom: line + 1 });
  }
  const near = levels.filter(({ name }) => name !== focus?.level);
  const lines = [...roofs, ...near.map(({ bandwidth }) => ({ peak: focus?.peak ?? 0, bandwidth })), ...subRoofs];
  const [low, high] = x.domain;
  for (const roof of lines) {
    const ridge = ridgePoint(roof);
    const flat = y(roof.peak);
    boxes.push({ left: x(ridge), right: x(Math.max(ridge, high)), top: flat - 2, bottom: flat + 2 });
    // The slope as small boxes, so that names stand beside it and not on it.
    const steps = 60;
    for (let step = 0; step < steps; step++) {
      const ai = low * (ridge / low) ** (step / steps);
      const [px, py] = [x(ai), y(ai * roof.bandwidth)];
      boxes.push({ left: px - 2, right: px + 2, top: py - 2, bottom: py + 2 });
    }
  }
  return boxes;
}

/** Along the line that ties an unmeasured kernel's marks, from below. */
function besideTie(x: number, { plot }: Scales): Place[] {
  return [0, 1, 2, 3, 4].flatMap((step): Place[] => {
    const y = plot.bottom - 26 - 16 * step;
    return [
      { x: x + 5, y, anchor: "start" },
      { x: x - 5, y, anchor: "end" },
    ];
  });
}

/** Over or under the line that joins a kernel's points. */
function besideJoin(join: Join | undefined): Place[] {
  if (!join) return [];
  return [0.5, 0.25, 0.75].flatMap((share): Place[] => {
    const x = join.from + (join.to - join.from) * share;
    return [
      { x, y: join.y - 6, anchor: "middle" },
      { x, y: join.y + 15, anchor: "middle" },
    ];
  });
}

export function around(x: number, y: number, gap: number): Place[] {
  return [
    { x: x + gap + 2, y: y + 12, anchor: "start" },
    { x: x + gap + 2, y: y + 4, anchor: "start" },
    { x: x, y: y + gap + 12, anchor: "middle" },
    { x: x - gap - 2, y: y + 4, anchor: "end" },
    { x: x - gap - 2, y: y - 6, anchor: "end" },
    { x: x, y: y - gap - 3, anchor: "middle" },
    { x: x + gap + 2, y: y - 6, anchor: "start" },
    { x: x, y: y + gap + 28, anchor: "middle" },
  ];
}
