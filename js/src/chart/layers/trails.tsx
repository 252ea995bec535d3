// Trails of merged kernels: lines from the places of the parts to the place of the merged kernel.

import { probeOf } from "../../roofline/bound.ts";
import { MEASURED, type Points } from "../../roofline/points.ts";
import type { Roof } from "../../roofline/roofline.ts";
import type { Trails } from "../../state/trails.ts";
import { formatFactor, formatRatio, formatTenths } from "../../text/numbers.ts";
import type { Kernels } from "../../wire/columns.ts";
import { fusionWords as words } from "../../words/words.ts";
import { arrowPath, bendOf, type LabelledArrow } from "../paths.ts";
import { radiusOf } from "../points/painter.ts";
import { project, spotAt } from "../scales.ts";
import type { Scene } from "../scene.ts";
import type { Theme } from "../theme.ts";

/** If there are more merged kernels than this, their points move without trails. */
const MAX_TRAILED_KERNELS = 3;
/**
 * Returns the scene while merged points move. `share` is the progress of the movement. At share 0 a merged point is in
 * the middle of its parts. At share 1 the merged point is at its own position.
 */
export function glided(scene: Scene, trails: Trails | undefined, parts: Points | undefined, share: number): Scene {
  if (!trails || !parts || share >= 1) return scene;
  const { points, at, scales } = scene;
  const [x, y] = [at.x.slice(), at.y.slice()];
  const before = project(parts, scales);
  const rows = new Map(trails.list.map(({ row, from }) => [row, from]));
  for (let index = 0; index < points.n; index++) {
    const from = rows.get(points.row[index] as number);
    const marks = from?.flatMap((part) => marksOf(parts, part, points.roof[index] as number)) ?? [];
    const starts = marks.filter((mark) => !isLost(scene, parts, mark));
    if (starts.length === 0) continue;
    const start = (column: Float32Array) =>
      starts.reduce((sum, mark) => sum + (column[mark] as number), 0) / starts.length;
    x[index] = start(before.x) * (1 - share) + (x[index] as number) * share;
    y[index] = start(before.y) * (1 - share) + (y[index] as number) * share;
  }
  return { ...scene, at: { x, y } };
}

function marksOf({ n, row, roof }: Points, part: number, on: number): number[] {
  const found: number[] = [];
  for (let mark = 0; mark < n; mark++) if (row[mark] === part && roof[mark] === on) found.push(mark);
  return found;
}

/** Whether a part has no place on the chart, because the part has no FLOPs and the scene has no strip. */
const isLost = ({ scales }: Scene, parts: Points, mark: number) => parts.x[mark] === 0 && !scales.strip;

/** How many times as fast each merged kernel is as its parts were, by row. */
export type SpeedUps = ReadonlyMap<number, number>;

export function speedUpsOf({ list, parts }: Trails, kernels: Kernels, roof: Roof): SpeedUps {
  const [before, after] = [probeOf(parts, roof), probeOf(kernels, roof)];
  return new Map(
    list.map(({ row, from }) => [row, from.reduce((sum, part) => sum + before(part).time, 0) / after(row).time]),
  );
}

/** A smaller change of the time is no gain and no loss. */
const SAME_TIME = 0.005;

/** Returns what a merge gains. Fewer bytes save no time where something else binds the kernels. */
function gainOf(bytes: number, speedUp = Number.NaN): string {
  const ratio = bytes < 10 ? formatTenths(bytes) : formatRatio(bytes);
  if (Number.isNaN(speedUp)) return words.fewerBytes(ratio);
  if (Math.abs(speedUp - 1) < SAME_TIME) return words.fewerBytesSameTime(ratio);
  return speedUp > 1 ? words.mergeFaster(formatFactor(speedUp)) : words.mergeSlower(formatFactor(1 / speedUp));
}

/**
 * Returns a line from each part to its merged kernel. If several layers of a model have the same line, the line is
 * drawn once.
 */
export function trailLines(
  scene: Scene,
  trails: Trails | undefined,
  parts: Points | undefined,
  speedUps: SpeedUps,
): LabelledArrow[] {
  if (!trails || !parts) return [];
  const { points, at, scales } = scene;
  const before = project(parts, scales);
  const rim = radiusOf(points);
  const lines = new Map<string, LabelledArrow>();
  for (const { row, from, ratio } of trails.list) {
    const home = points.home[row] ?? MEASURED;
    if (home < 0) continue;
    const to = spotAt(at, home);
    const text = gainOf(ratio, speedUps.get(row));
    for (const part of from) {
      const mark = parts.home[part] ?? MEASURED;
      if (mark < 0 || isLost(scene, parts, mark)) continue;
      const start = spotAt(before, mark);
      const line = { key: `trail ${row}`, text, from: start, bend: bendOf(start, to), to, rim, isMarked: true };
      lines.set([...start, ...to].map(Math.round).join(), line);
    }
  }
  const kernels = new Set([...lines.values()].map(({ to }) => to.map(Math.round).join()));
  return kernels.size > MAX_TRAILED_KERNELS ? [] : [...lines.values()];
}

export function TrailMarks({ lines, theme }: { lines: readonly LabelledArrow[]; theme: Theme }) {
  return (
    <g fill="none" stroke={theme.text} stroke-opacity={0.6}>
      {lines.map((line) => (
        <g key={[...line.from, ...line.to].join()}>
          <circle cx={line.from[0]} cy={line.from[1]} r={line.rim - 1} stroke-dasharray="2 2" />
          <path d={arrowPath(line, line.rim)} stroke-width={1.25} />
        </g>
      ))}
    </g>
  );
}
