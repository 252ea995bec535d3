// Which kernels are points of the chart, and where they stand in its units.

import type { Bound, Regime, Roof } from "./roofline.ts";
import { bytesAt, judge } from "./roofline.ts";
import { radii } from "./sizes.ts";
import { isProgram, isTotal } from "./totals.ts";
import type { Kernels } from "./wire.ts";

/** The roof of a measured point: it stands where it was measured, not on a roof. */
export const MEASURED = -1;

/**
 * Points in columns. A measured kernel has one, another one on every shown roof; with all levels of memory each has
 * one a level whose bytes are known, under the focus chip alone.
 */
export interface Points {
  readonly n: number;
  readonly row: Int32Array;
  /** Index into the shown roofs, or MEASURED. */
  readonly roof: Int16Array;
  /** Index into the levels of the roof that judges it. */
  readonly level: Int8Array;
  /** Whether it stands at the level that binds; of a kernel that no level binds, at the first. */
  readonly binds: Uint8Array;
  /** FLOP/B: infinite at zero bytes. At zero FLOPs, 0. */
  readonly x: Float64Array;
  /** FLOP/s; at zero FLOPs bytes/s, for the strip at the left edge. */
  readonly y: Float64Array;
  /** What binds it: memory (or unknown), compute, or what is outside the chip's roof; or that it is a program. */
  readonly side: Uint8Array;
  readonly aboveRoof: Uint8Array;
  /** px; NaN for one whose size says nothing. */
  readonly radius: Float32Array;
  /** For each row the point that stands for it: measured, or on the focus roof; -1 when there is none. */
  readonly home: Int32Array;
  /** How many kernels of them are measured. */
  readonly measured: number;
  /** Rows without a place: FLOPs or bytes are unknown, or both zero. */
  readonly notDrawn: number;
  /** The levels of the judging roof that bind some kernel. */
  readonly binding: ReadonlySet<string>;
}

export const SIDES = { memory: 0, compute: 1, outside: 2, program: 3 } as const;

export function sideOf(regime: Regime): number {
  if (regime === "network" || regime === "overhead") return SIDES.outside;
  return regime === "compute" ? SIDES.compute : SIDES.memory;
}

/** Points of these rows, the later on top. */
export function pointsOf(
  kernels: Kernels,
  roofs: readonly Roof[],
  focus: Roof | undefined,
  rows: Int32Array = everyRow(kernels),
): Points {
  const judging = focus && roofs.includes(focus) ? focus : roofs[0];
  const binding = new Set<string>();
  const most = rows.length * Math.max(1, roofs.length, judging?.levels.length ?? 0);
  const points = {
    n: 0,
    row: new Int32Array(most),
    roof: new Int16Array(most),
    level: new Int8Array(most),
    binds: new Uint8Array(most),
    x: new Float64Array(most),
    y: new Float64Array(most),
    side: new Uint8Array(most),
    aboveRoof: new Uint8Array(most),
    radius: new Float32Array(most).fill(Number.NaN),
    home: new Int32Array(kernels.n).fill(-1),
    measured: 0,
    notDrawn: 0,
    binding,
  };
  if (!judging) return points;
  // Other chips' levels are other levels: with all of them only one chip's kernels can be told apart.
  const marked = judging.levels.length > 1 ? [judging] : roofs;
  const moved = new Map([judging, ...marked].map((roof) => [roof, columnsOf(kernels, roof)] as const));
  const bounds = new Map([judging, ...marked].map((roof) => [roof, judge(kernels, roof)] as const));

  const radiusOf = radii(kernels);
  const put = (row: number, roof: Roof, index: number) => {
    const bound = bounds.get(roof)?.(row) as Bound;
    const time = index === MEASURED ? (kernels.time[row] as number) : rateTime(bound);
    const flops = kernels.totalFlops[row] as number;
    const columns = moved.get(roof) as readonly Float64Array[];
    const before = points.n;
    if (roof === judging && bound.regime === "memory") binding.add(bound.boundBy);
    const stand = (level: number) => {
      const bytes = columns[level]?.[row] as number;
      const y = (flops > 0 ? flops : bytes) / time;
      if (!(y > 0 && Number.isFinite(y)) || Number.isNaN(bytes)) return false;
      const at = points.n++;
      points.row[at] = row;
      points.roof[at] = index;
      points.level[at] = level;
      points.x[at] = flops / bytes;
      points.y[at] = y;
      points.side[at] = isProgram(kernels, row) ? SIDES.program : sideOf(bound.regime);
      points.radius[at] = radiusOf(row);
      points.aboveRoof[at] = index === MEASURED && bound.aboveRoof ? 1 : 0;
      return true;
    };
    if (columns.length === 1) stand(0);
    else {
      // The one that binds comes last, and so lies on top; without FLOPs there is one place, by bytes a second.
      const levels = columns.map((_, level) => level).filter((level) => !Number.isNaN(columns[level]?.[row] as number));
      const binds = levels.find((level) => roof.levels[level]?.name === bound.boundBy) ?? levels[0];
      if (flops === 0) levels.some(stand);
      else for (const level of levels.filter((other) => other !== binds)) stand(level);
      if (flops !== 0 && binds !== undefined) stand(binds);
    }
    if (points.n === before) return false;
    const home = points.n - 1;
    points.binds[home] = 1;
    points.home[row] = home;
    return true;
  };
  for (const row of rows) {
    const before = points.n;
    if ((kernels.time[row] as number) > 0) {
      if (hasPlace(kernels, row, moved.get(judging)) && put(row, judging, MEASURED)) points.measured++;
    } else {
      // The judge's mark comes last, and so lies on top where roofs coincide.
      const last = roofs.indexOf(judging);
      for (const roof of marked) if (roof !== judging) put(row, roof, roofs.indexOf(roof));
      if (last >= 0) put(row, judging, last);
    }
    if (points.n === before && !isTotal(kernels, row)) points.notDrawn++;
  }
  return points;
}

export const everyRow = ({ n }: Pick<Kernels, "n">) => Int32Array.from({ length: n }, (_, row) => row);
const columnsOf = (kernels: Kernels, roof: Roof) => roof.levels.map(({ name }) => bytesAt(kernels, roof.chip, name));

/** An unmeasured kernel stands on its roof, which neither the link nor its launches lower. */
const rateTime = (bound: Bound) => Math.max(bound.computeTime, bound.memoryTime);

function hasPlace(kernels: Kernels, row: number, moved: readonly Float64Array[] | undefined): boolean {
  return !!moved?.some((bytes) => !Number.isNaN((kernels.totalFlops[row] as number) + (bytes[row] as number)));
}
