// Which kernels are points of the chart, and where they stand in its units.

import { ABOVE, networkOf, type Probe, peaksOf, probing, type Regime, TIE } from "./judging.ts";
import { keeping } from "./kept.ts";
import { bytesAt, type Roof } from "./roofline.ts";
import { radii } from "./sizes.ts";
import { isProgram, isTotal } from "./totals.ts";
import type { Kernels } from "./wire.ts";

/** The roof of a measured point: it stands where it was measured, not on a roof. */
export const MEASURED = -1;

/** Points in columns, but for what a roof says of them. */
export interface Places {
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
  /** px; NaN for one whose size says nothing. */
  readonly radius: Float32Array;
  /** For each row the point that stands for it: measured, or on the focus roof; -1 when there is none. */
  readonly home: Int32Array;
  /** How many kernels of them are measured. */
  readonly measured: number;
  /** Rows without a place: FLOPs or bytes are unknown, or both zero. */
  readonly notDrawn: number;
}

/**
 * A measured kernel has one point, another one on every shown roof; with all levels of memory each has one a level whose
 * bytes are known, under the focus chip alone.
 */
export interface Points extends Places {
  /** What binds it: memory (or unknown), compute, or what is outside the chip's roof; or that it is a program. */
  readonly side: Uint8Array;
  readonly aboveRoof: Uint8Array;
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
  if (!judging) return pointsAlone(kernels, rows);
  const [level] = judging.levels;
  const bytes = level && judging.levels.length === 1 && bytesAt(kernels, judging.chip, level.name);
  const places = bytes && measured(rows, [kernels, bytes], () => measuredPlaces(kernels, rows, bytes));
  return places ? { ...places, ...judged(kernels, judging, places) } : pointsOnRoofs(kernels, roofs, judging, rows);
}

/** Where all rows would stand if they were measured; `y` is 0 of those that have no place. */
interface Grounds {
  readonly x: Float64Array;
  readonly y: Float64Array;
  readonly radius: Float32Array;
}

/** Where measured kernels stand is not for a roof to say: while it is dragged they keep their columns. With others none. */
const measured = keeping<Places | undefined>();
const grounds = keeping<Grounds>();
const codes = keeping<Int32Array>();

function measuredPlaces(kernels: Kernels, rows: Int32Array, bytes: Float64Array): Places | undefined {
  const { time } = kernels;
  for (let at = 0; at < rows.length; at++) if (!((time[rows[at] as number] as number) > 0)) return undefined;
  // A filter has other rows, and these columns as they were.
  const all = grounds(bytes, [kernels], () => groundsOf(kernels, bytes));
  const row = new Int32Array(rows.length);
  const [x, y] = [new Float64Array(rows.length), new Float64Array(rows.length)];
  const radius = new Float32Array(rows.length);
  const home = new Int32Array(kernels.n).fill(-1);
  let [n, notDrawn] = [0, 0];
  for (let at = 0; at < rows.length; at++) {
    const one = rows[at] as number;
    const rate = all.y[one] as number;
    if (rate === 0) {
      if (!isTotal(kernels, one)) notDrawn++;
      continue;
    }
    row[n] = one;
    x[n] = all.x[one] as number;
    y[n] = rate;
    radius[n] = all.radius[one] as number;
    home[one] = n++;
  }
  return {
    ...{ n, row: row.subarray(0, n), x: x.subarray(0, n), y: y.subarray(0, n), radius: radius.subarray(0, n), home },
    ...{ roof: new Int16Array(n).fill(MEASURED), level: new Int8Array(n), binds: new Uint8Array(n).fill(1) },
    ...{ measured: n, notDrawn },
  };
}

function groundsOf(kernels: Kernels, bytes: Float64Array): Grounds {
  const { n, totalFlops, time } = kernels;
  const [x, y, radius] = [new Float64Array(n), new Float64Array(n), new Float32Array(n)];
  const radiusOf = radii(kernels);
  for (let row = 0; row < n; row++) {
    const [flops, moved] = [totalFlops[row] as number, bytes[row] as number];
    const rate = (flops > 0 ? flops : moved) / (time[row] as number);
    if (!(rate > 0 && Number.isFinite(rate)) || Number.isNaN(flops + moved)) continue;
    x[row] = flops / moved;
    y[row] = rate;
    radius[row] = radiusOf(row);
  }
  return { x, y, radius };
}

/** Stands for the main memory of a chip that is not known. */
const NOWHERE = { memories: new Map([["main", null]]) };
const timed = keeping<Int32Array>();

/** Without a roof those that were measured still stand where they were measured. */
function pointsAlone(kernels: Kernels, all: Int32Array): Points {
  const rows = timed(all, [kernels], () => all.filter((row) => (kernels.time[row] as number) > 0));
  const bytes = bytesAt(kernels, NOWHERE, "main");
  const places = measured(rows, [kernels, bytes], () => measuredPlaces(kernels, rows, bytes)) as Places;
  const side = Uint8Array.from(places.row, (row) => (isProgram(kernels, row) ? SIDES.program : SIDES.memory));
  return { ...places, side, aboveRoof: new Uint8Array(places.n), binding: new Set() };
}

type Judged = Pick<Points, "side" | "aboveRoof" | "binding">;

/** What the roof says of each point that stands where it was measured. */
function judged(kernels: Kernels, roof: Roof, { n, row, x, y }: Places): Judged {
  const [side, aboveRoof] = [new Uint8Array(n), new Uint8Array(n)];
  const name = roof.levels[0]?.name ?? "";
  const peaks = plainPeaks(kernels, roof);
  let isBinding = false;
  if (peaks) {
    // Two limits of which the lower one counts: as what `probing` says of times, for a hundred thousand in a frame.
    const { bandwidth } = roof;
    const code = codes(row, [kernels], () => row.map((one) => kernels.precision.codes[one] as number));
    for (let at = 0; at < n; at++) {
      const [ai, rate, peak] = [x[at] as number, y[at] as number, peaks[code[at] as number] as number];
      const slope = ai * bandwidth;
      const isFlat = slope * (1 + TIE) >= peak;
      side[at] = isFlat ? SIDES.compute : SIDES.memory;
      isBinding ||= slope < peak;
      aboveRoof[at] = rate / (ai === 0 ? bandwidth : isFlat ? peak : slope < peak ? slope : Number.NaN) > ABOVE ? 1 : 0;
    }
  } else {
    const probe = probing(kernels, roof);
    for (let at = 0; at < n; at++) {
      const one = row[at] as number;
      const { time, regime } = probe(one);
      isBinding ||= regime === "memory";
      side[at] = sideOf(regime);
      aboveRoof[at] = time / (kernels.time[one] as number) > ABOVE ? 1 : 0;
    }
  }
  for (let at = 0; at < n; at++) if (isProgram(kernels, row[at] as number)) side[at] = SIDES.program;
  return { side, aboveRoof, binding: new Set(isBinding ? [name] : []) };
}

/** The peak of each precision, the last that of kernels without one, where nothing but peak and slope limits kernels. */
function plainPeaks(kernels: Kernels, roof: Roof): Float64Array | undefined {
  const { overlap, exposedComm, launchOverhead } = roof.conditions;
  const [key] = kernels.flops.keys();
  const isPlain = overlap === 1 && exposedComm === 0 && launchOverhead === 0 && kernels.flops.size === 1;
  if (!isPlain || key === undefined || networkOf(kernels)) return undefined;
  return peaksOf(kernels, roof, key);
}

/** Where some kernels are not measured, or stand at several levels. */
function pointsOnRoofs(kernels: Kernels, roofs: readonly Roof[], judging: Roof, rows: Int32Array): Points {
  const binding = new Set<string>();
  const most = rows.length * Math.max(1, roofs.length, judging.levels.length);
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
  // Other chips' levels are other levels: with all of them only one chip's kernels can be told apart.
  const marked = judging.levels.length > 1 ? [judging] : roofs;
  const moved = new Map([judging, ...marked].map((roof) => [roof, columnsOf(kernels, roof)] as const));
  const probes = new Map([judging, ...marked].map((roof) => [roof, probing(kernels, roof)] as const));

  const radiusOf = radii(kernels);
  const put = (row: number, roof: Roof, index: number) => {
    const probe = (probes.get(roof) as (row: number) => Readonly<Probe>)(row);
    const measured = kernels.time[row] as number;
    // An unmeasured kernel stands on its roof, which neither the link nor its launches lower.
    const time = index === MEASURED ? measured : Math.max(probe.computeTime, probe.memoryTime);
    const flops = kernels.totalFlops[row] as number;
    const columns = moved.get(roof) as readonly Float64Array[];
    const before = points.n;
    const boundBy = probe.regime === "memory" ? probe.slowest : -1;
    if (roof === judging && boundBy >= 0) binding.add(roof.levels[boundBy]?.name ?? "");
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
      points.side[at] = isProgram(kernels, row) ? SIDES.program : sideOf(probe.regime);
      points.radius[at] = radiusOf(row);
      points.aboveRoof[at] = index === MEASURED && probe.time / measured > ABOVE ? 1 : 0;
      return true;
    };
    if (columns.length === 1) stand(0);
    else {
      // The one that binds comes last, and so lies on top; without FLOPs there is one place, by bytes a second.
      const levels = columns.map((_, level) => level).filter((level) => !Number.isNaN(columns[level]?.[row] as number));
      const binds = levels.find((level) => level === boundBy) ?? levels[0];
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

export function everyRow({ n }: Pick<Kernels, "n">): Int32Array {
  const rows = new Int32Array(n);
  for (let row = 0; row < n; row++) rows[row] = row;
  return rows;
}
const columnsOf = (kernels: Kernels, roof: Roof) => roof.levels.map(({ name }) => bytesAt(kernels, roof.chip, name));

function hasPlace(kernels: Kernels, row: number, moved: readonly Float64Array[] | undefined): boolean {
  return !!moved?.some((bytes) => !Number.isNaN((kernels.totalFlops[row] as number) + (bytes[row] as number)));
}
