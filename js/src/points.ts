// Which kernels are points of the chart, and where they stand in its units.

import type { Roof } from "./roofline.ts";
import { boundOf, bytesAt } from "./roofline.ts";
import type { Kernels } from "./wire.ts";

/** The roof of a measured point: it stands where it was measured, not on a roof. */
export const MEASURED = -1;

/** Points in columns; a kernel without a time has one on every shown roof. */
export interface Points {
  readonly n: number;
  readonly row: Int32Array;
  /** Index into the shown roofs, or MEASURED. */
  readonly roof: Int16Array;
  /** FLOP/B: infinite at zero bytes. At zero FLOPs, 0. */
  readonly x: Float64Array;
  /** FLOP/s; at zero FLOPs bytes/s, for the strip at the left edge. */
  readonly y: Float64Array;
  readonly computeBound: Uint8Array;
  readonly aboveRoof: Uint8Array;
  /** For each row the point that stands for it: measured, or on the focus roof; -1 when there is none. */
  readonly home: Int32Array;
  /** How many points are measured. */
  readonly measured: number;
  /** Rows without a place: FLOPs or bytes are unknown, or both zero. */
  readonly notDrawn: number;
}

/** The rows that are named where there is room: the measured ones that take longest, then the others as they come. */
export function rowsByWeight(kernels: Kernels, most: number): number[] {
  const weight = (row: number) => kernels.time[row] || 0;
  return Array.from({ length: kernels.n }, (_, row) => row)
    .sort((a, b) => weight(b) - weight(a) || a - b)
    .slice(0, most);
}

export function pointsOf(kernels: Kernels, roofs: readonly Roof[], focus: Roof | undefined): Points {
  const judge = focus && roofs.includes(focus) ? focus : roofs[0];
  const most = kernels.n * Math.max(1, roofs.length);
  const points = {
    n: 0,
    row: new Int32Array(most),
    roof: new Int16Array(most),
    x: new Float64Array(most),
    y: new Float64Array(most),
    computeBound: new Uint8Array(most),
    aboveRoof: new Uint8Array(most),
    home: new Int32Array(kernels.n).fill(-1),
    measured: 0,
    notDrawn: 0,
  };
  if (!judge) return points;
  const bytes = new Map<Roof, Float64Array>();
  for (const roof of [judge, ...roofs]) bytes.set(roof, bytesAt(kernels, roof.chip, roof.level));

  const put = (row: number, roof: Roof, index: number) => {
    const moved = bytes.get(roof)?.[row] as number;
    const flops = kernels.totalFlops[row] as number;
    const bound = boundOf(kernels, row, roof, moved);
    const time = index === MEASURED ? (kernels.time[row] as number) : bound.time;
    const y = (flops > 0 ? flops : moved) / time;
    if (!(y > 0 && Number.isFinite(y))) return false;
    const at = points.n++;
    points.row[at] = row;
    points.home[row] = at;
    if (index === MEASURED) points.measured++;
    points.roof[at] = index;
    points.x[at] = flops / moved;
    points.y[at] = y;
    points.computeBound[at] = bound.regime === "compute" ? 1 : 0;
    points.aboveRoof[at] = index === MEASURED && bound.aboveRoof ? 1 : 0;
    return true;
  };
  for (let row = 0; row < kernels.n; row++) {
    if ((kernels.time[row] as number) > 0) {
      if (!hasPlace(kernels, row, bytes.get(judge)) || !put(row, judge, MEASURED)) points.notDrawn++;
    } else {
      // The judge's mark comes last, and so lies on top where roofs coincide.
      const last = roofs.indexOf(judge);
      const others = roofs.filter((roof, index) => index !== last && put(row, roof, index));
      const own = last >= 0 && put(row, judge, last);
      if (!own && others.length === 0) points.notDrawn++;
    }
  }
  return points;
}

function hasPlace(kernels: Kernels, row: number, bytes: Float64Array | undefined): boolean {
  return !Number.isNaN((kernels.totalFlops[row] as number) + (bytes?.[row] as number));
}
