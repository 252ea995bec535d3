// What is written on the chart, and where: names of roofs, ridge points, regions and kernels, and call-outs.

import { shortNameOf } from "../../text/describe.ts";
import { formatRatio, formatTenths } from "../../text/numbers.ts";
import { fusionWords, strings } from "../../words/words.ts";
import type { Gap } from "../layers/gaps.tsx";
import type { TrailLine } from "../layers/trails.tsx";
import { isMeasured, radiusAt } from "../points/painter.ts";
import { isShown } from "../points/visible.ts";
import { type Box, isNarrow, type Scales } from "../scales.ts";
import { type Join, joinsOf, type Scene } from "../scene.ts";
import { arrowBox, gapLabels } from "./call_outs.ts";
import { column } from "./column.ts";
import { lineBoxes, MOST, markings, rings, stripBoxes } from "./obstacles.ts";
import { type Label, type Mark, type Place, type Placed, placeLabels, shorten } from "./place.ts";
import { roofLabels } from "./roof_names.ts";

const SIZE = 12;
/** The ticks' text stands left of this, px. */
const TICKS = 46;

/** Of kernels that nobody asked for, so many are named in a narrow chart. */
const FEW = 5;
/** Letters of a name where its first 24 have no room. */
const BRIEF = 12;

/**
 * Every label that has room; those in `choices` stay where they were. In the order of importance: roofs and ridge points,
 * the gaps of what is marked, what has changed, kernels, their gaps, regions.
 */
export function annotations(
  scene: Scene,
  gaps: readonly Gap[],
  choices?: ReadonlyMap<string, number>,
  trails: readonly TrailLine[] = [],
  others: readonly Label[] = [],
  shadows: readonly Box[] = [],
  inMotion = false,
  arrows: readonly Box[] = [],
): Placed[] {
  const { scales } = scene;
  const { plot, width, gutter } = scales;
  const bounds: Box = { left: TICKS, top: 2, right: gutter > 0 ? plot.right : width - 2, bottom: plot.bottom - 2 };
  const names = column(scene, choices);
  // Names that had no room before the drag do not flicker in and out during it.
  const hasPlace = (key: string) => !choices || choices.has(key);
  const weak = gapLabels(scene, gaps, false, inMotion);
  const labels = [
    ...roofLabels(scene),
    ...gapLabels(scene, gaps, true, inMotion),
    ...trailLabels(scene, trails),
    ...others,
    ...kernelLabels(scene, choices),
    ...weak,
    ...regionLabels(scene),
    // What has room left takes it, far off as it may be, and with it what stands by no name else.
    ...(scene.points.n > MOST ? [] : [...kernelLabels(scene, choices, true), ...weak]),
  ];
  const points = [...markings(scene), ...shadows];
  const steady = labels.filter(({ key, bold }) => hasPlace(key) || bold || !/^(?:ridge|sub) /.test(key));
  // In motion names stand still whatever passes under them.
  const drawn = {
    lines: choices ? [] : lineBoxes(scene),
    arrows: [...stripBoxes(scene), ...gaps.map(arrowBox), ...arrows],
    rings: inMotion ? [] : rings(scene),
  };
  return [...names, ...placeLabels(steady, bounds, points, choices, drawn)];
}

/** Of those that have no place beside them, and none along a line of theirs, some are led to from afar. */
function kernelLabels(scene: Scene, choices: ReadonlyMap<string, number> | undefined, isFar = false): Label[] {
  const { kernels, points, at, scales, theme, marked, named, levels, selected } = scene;
  const joins = new Map(joinsOf(scene).map((join) => [join.row, join]));
  const drawn = isFar ? markings(scene) : [];
  const rows = [...new Set(named)].slice(0, isNarrow(scales) ? FEW : undefined);
  return [...new Set([...marked, ...rows])].flatMap((row) => {
    const index = points.home[row] ?? -1;
    const isMarked = marked.includes(row);
    const before = choices?.get(`kernel ${row}`);
    if (index < 0 || (choices && !isMarked && before === undefined)) return [];
    const mark = { x: at.x[index] as number, y: at.y[index] as number, radius: radiusAt(points, index) };
    if (!isShown(scene, index)) return [];
    const places = [
      ...around(mark.x, mark.y, mark.radius + 4).slice(0, -1),
      ...besideJoin(joins.get(row)),
      ...(isMeasured(points, index) || levels.length > 0 ? [] : besideTie(mark.x, scales)),
    ];
    // Where it had none beside it before a drag it gets none in it; along a line of its own there is none far off.
    if (isFar ? joins.has(row) : before !== undefined && before >= places.length) return [];
    const name = shortNameOf(kernels, row);
    // Far off it is by no other point, and above and below its own as near to it as beside it.
    const about = mark.radius + 8;
    const own = { left: mark.x - about, right: mark.x + about, top: 0, bottom: scales.height };
    return {
      key: `kernel ${row}`,
      text: shorten(name, 24),
      ...(isFar && { brief: [shorten(name, BRIEF)], near: [[own], drawn.filter((one) => one.row !== row)] }),
      size: SIZE,
      bold: isMarked,
      colour: selected.size === 0 || isMarked ? theme.text : theme.muted,
      // What stands along the line that joins its points is near to it there.
      ...(joins.has(row) ? {} : { mark }),
      // Over what is selected its ruler has the room.
      places: isFar ? [...places, ...far(mark).slice(0, selected.has(row) ? 16 : 32)] : places,
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
    text: fusionWords.trail(ratio < 10 ? formatTenths(ratio) : formatRatio(ratio)),
    size: SIZE,
    bold: true,
    must: true,
    colour: theme.text,
    places: around((from[0] + 2 * bend[0] + to[0]) / 4, (from[1] + 2 * bend[1] + to[1]) / 4, 4),
  }));
}

function regionLabels({ focus, levels, points, scales, theme }: Scene): Label[] {
  if (!focus || (isNarrow(scales) && points.n > 0)) return [];
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
    // Under a zoom one of them may be out of sight.
    places:
      right - left < 24
        ? []
        : [
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

/** Along the line that ties an unmeasured kernel's marks, from below. */
function besideTie(x: number, { plot }: Scales): Place[] {
  return [0, 1, 2, 3, 4].flatMap((step): Place[] => {
    const y = plot.bottom - 26 - 16 * step;
    return [
      { x: x + 5, y, anchor: "start", isLed: true },
      { x: x - 5, y, anchor: "end", isLed: true },
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

/** In rows at both sides, ever farther under it, and then over it, where its gap and its ruler are. */
const far = ({ x, y, radius }: Mark): Place[] =>
  Array.from({ length: 32 }, (_, at): Place => {
    const row = Math.floor(at / 2);
    const [off, anchor] = at % 2 === 0 ? ([radius + 22, "start"] as const) : ([-radius - 22, "end"] as const);
    return { x: x + off, y: y + 4 + 15 * (row < 8 ? row : 7 - row), anchor };
  });

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
