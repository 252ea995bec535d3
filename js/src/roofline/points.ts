// Which kernels are points of the chart, and where the points are.

import { memoize } from "../ui/memoize.ts";
import { everyRow, type Kernels } from "../wire/columns.ts";
import {
  hasTime,
  MIN_UTILIZATION_ABOVE_ROOF,
  networkBytes,
  type Probe,
  peaksByPrecision,
  perByte,
  probeOf,
  type Regime,
  TIE_TOLERANCE,
} from "./bound.ts";
import { idleRows, MEASURED, measuredPlaces, minorRows, type Places, radii } from "./positions.ts";
import { pointsAffected, type RoofLimits } from "./roof_change_index.ts";
import { ALL_LEVELS, bytesAt, bytesByLevel, type Roof } from "./roofline.ts";
import { isProgram, isTotal } from "./totals.ts";

export { MEASURED, type Places };

/**
 * The points of the chart. A measured kernel has one point. An unmeasured kernel has a point on each shown roof. If all
 * memory levels are shown, only the focus chip has points, and a kernel has a point for each level whose bytes are
 * known.
 */
export interface Points extends Places {
  /**
   * What binds the kernel of each point, as a value of `SIDES`: memory (or unknown), compute, outside (network or
   * launch overhead), or program. The last value is for the total of a program.
   */
  readonly side: Uint8Array;
  readonly aboveRoof: Uint8Array;
  /** The levels that bind at least one kernel under the judging roof (see `pointsOf`). */
  readonly binding: ReadonlySet<string>;
  /**
   * `side` is the previous `side` column. `points` has the points whose present side may differ from the previous side.
   * A point may be listed more than once.
   */
  readonly since?: { readonly side: Uint8Array; readonly points: readonly Int32Array[] } | undefined;
}

export const SIDES = { memory: 0, compute: 1, outside: 2, program: 3 } as const;

export function sideOf(regime: Regime): number {
  if (regime === "network" || regime === "overhead") return SIDES.outside;
  return regime === "compute" ? SIDES.compute : SIDES.memory;
}

/**
 * Returns the points of these rows. Later points are drawn on top of earlier points. The focus roof judges the points.
 * If the focus roof is not shown, the first shown roof judges the points.
 */
export function pointsOf(
  table: Kernels,
  roofs: readonly Roof[],
  focus: Roof | undefined,
  rows: Int32Array = everyRow(table),
): Points {
  const kernels = perByte(table);
  const judging = focus && roofs.includes(focus) ? focus : roofs[0];
  if (!judging) return pointsWithoutRoof(kernels, rows);
  const [level] = judging.levels;
  const bytes = level && judging.levels.length === 1 && bytesAt(kernels, judging.chip, level.name);
  const places = bytes && measuredPlaces(kernels, rows, bytes);
  return places
    ? { ...places, ...judgeMeasured(kernels, judging, places) }
    : pointsOnRoofs(kernels, roofs, judging, rows);
}

const codes = memoize<Int32Array>();
/** With fewer points, a full pass is cheap and needs no index. */
const MIN_POINTS_FOR_INDEX = 2000;

/** Represents a chip whose memory is unknown. */
const UNKNOWN_CHIP = { memories: new Map([["main", null]]) };
const measuredRows = memoize<Int32Array>();

/** Returns the points if no roof is shown. Measured kernels keep their places. */
function pointsWithoutRoof(kernels: Kernels, all: Int32Array): Points {
  const rows = measuredRows(all, [kernels], () => all.filter((row) => hasTime(kernels, row)));
  const bytes = bytesAt(kernels, UNKNOWN_CHIP, "main");
  const places = measuredPlaces(kernels, rows, bytes) as Places;
  const side = Uint8Array.from(places.row, (row) => (isProgram(kernels, row) ? SIDES.program : SIDES.memory));
  return { ...places, side, aboveRoof: new Uint8Array(places.n), binding: new Set() };
}

type Judgement = Pick<Points, "side" | "aboveRoof" | "binding" | "since">;

/** Returns the side of each measured point under a roof, and whether the point is above the roof. */
function judgeMeasured(kernels: Kernels, roof: Roof, places: Places): Judgement {
  const peaks = plainPeaks(kernels, roof);
  return peaks ? judgeByLimits(kernels, roof, places, peaks) : judgeByTime(kernels, roof, places);
}

function judgeByTime(kernels: Kernels, roof: Roof, { n, row }: Places): Judgement {
  const [side, aboveRoof] = [new Uint8Array(n), new Uint8Array(n)];
  const probe = probeOf(kernels, roof);
  let isBinding = false;
  for (let at = 0; at < n; at++) {
    const one = row[at] as number;
    const { time, regime } = probe(one);
    isBinding ||= regime === "memory";
    side[at] = isProgram(kernels, one) ? SIDES.program : sideOf(regime);
    aboveRoof[at] = time / (kernels.time[one] as number) > MIN_UTILIZATION_ABOVE_ROOF ? 1 : 0;
  }
  return { side, aboveRoof, binding: bindingOf(roof, isBinding) };
}

const bindingOf = ({ levels }: Roof, isBinding: boolean) => new Set(isBinding ? [levels[0]?.name ?? ""] : []);

/**
 * The latest judgement per set of places. The next judgement starts from it and judges only the points that may have
 * changed.
 */
const latestJudgement = new WeakMap<
  Places,
  { readonly kernels: Kernels; readonly limits: RoofLimits; readonly judgement: Judgement }
>();
const lowest = memoize<Float64Array>();

/**
 * Fast path of `judgeByTime` for a roof where only peak and bandwidth limit a kernel. It handles 100,000 points per
 * frame, because it judges only the points that a moved roof can change.
 */
function judgeByLimits(kernels: Kernels, roof: Roof, places: Places, peaks: Float64Array): Judgement {
  const { n, row, x, y } = places;
  const { bandwidth } = roof;
  const code = codes(row, [kernels], () => row.map((one) => kernels.precision.codes[one] as number));
  const before = latestJudgement.get(places);
  const limits = { peaks, bandwidth };
  const some =
    n > MIN_POINTS_FOR_INDEX && before?.kernels === kernels ? pointsAffected(places, before.limits, limits) : undefined;
  const side = some && before ? before.judgement.side.slice() : new Uint8Array(n);
  const aboveRoof = some && before ? before.judgement.aboveRoof.slice() : new Uint8Array(n);
  function judge(at: number) {
    const ai = x[at] as number;
    const rate = y[at] as number;
    const peak = peaks[code[at] as number] as number;
    const slope = ai * bandwidth;
    const isFlat = slope * (1 + TIE_TOLERANCE) >= peak;
    side[at] = isProgram(kernels, row[at] as number) ? SIDES.program : isFlat ? SIDES.compute : SIDES.memory;
    aboveRoof[at] =
      rate / (ai === 0 ? bandwidth : isFlat ? peak : slope < peak ? slope : Number.NaN) > MIN_UTILIZATION_ABOVE_ROOF
        ? 1
        : 0;
  }
  if (some) for (const part of some) for (let of = 0; of < part.length; of++) judge(part[of] as number);
  else for (let at = 0; at < n; at++) judge(at);
  const least = lowest(row, [kernels, x], () => lowestIntensities(places, code, peaks.length));
  const binding = bindingOf(
    roof,
    least.some((ai, of) => ai * bandwidth < (peaks[of] as number)),
  );
  const judgement = {
    side,
    aboveRoof,
    binding,
    since: some && before && { side: before.judgement.side, points: some },
  };
  latestJudgement.set(places, { kernels, limits, judgement });
  return judgement;
}

/** Returns the lowest intensity per precision; infinity for a precision without points. */
function lowestIntensities({ n, x }: Places, code: Int32Array, precisions: number): Float64Array {
  const least = new Float64Array(precisions).fill(Number.POSITIVE_INFINITY);
  for (let at = 0; at < n; at++) {
    const of = code[at] as number;
    least[of] = Math.min(least[of] as number, x[at] as number);
  }
  return least;
}

/**
 * Returns the peak for each precision code. The last entry is for kernels without a precision. Returns undefined if
 * something other than peak and bandwidth limits kernels.
 */
function plainPeaks(kernels: Kernels, roof: Roof): Float64Array | undefined {
  const { overlap, exposedComm, launchOverhead } = roof.conditions;
  const [key] = kernels.flops.keys();
  const isPlain = overlap === 1 && exposedComm === 0 && launchOverhead === 0 && kernels.flops.size === 1;
  if (!isPlain || key === undefined || networkBytes(kernels)) return undefined;
  return peaksByPrecision(kernels, roof, key);
}

/** Returns empty columns with space for `most` points. */
export const emptyPoints = (kernels: Kernels, most: number) => ({
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
  isMinor: new Uint8Array(most),
  home: new Int32Array(kernels.n).fill(-1),
  measured: 0,
  notDrawn: 0,
  binding: new Set<string>(),
});

/** Returns the points in the general case: some kernels are unmeasured, or have points at several levels. */
function pointsOnRoofs(kernels: Kernels, roofs: readonly Roof[], judging: Roof, rows: Int32Array): Points {
  const points = emptyPoints(kernels, rows.length * Math.max(1, roofs.length, judging.levels.length));
  // The levels of different chips do not correspond. With all levels, only the points of one chip are drawn.
  const marked = judging.memory === ALL_LEVELS ? [judging] : roofs;
  const moved = new Map([judging, ...marked].map((roof) => [roof, bytesByLevel(kernels, roof)] as const));
  const probes = new Map([judging, ...marked].map((roof) => [roof, probeOf(kernels, roof)] as const));

  const radiusOf = radii(kernels);
  const isMinor = minorRows(kernels);
  const put = (row: number, roof: Roof, index: number) => {
    const probe = (probes.get(roof) as (row: number) => Readonly<Probe>)(row);
    const measured = kernels.time[row] as number;
    // An unmeasured kernel is drawn on its roof. Exposed communication lowers this roof. Network and launch overhead do
    // not lower it.
    const least = Math.max(probe.computeTime, probe.memoryTime) / (1 - roof.conditions.exposedComm);
    const time = index === MEASURED ? measured : least;
    const flops = kernels.totalFlops[row] as number;
    const columns = moved.get(roof) as readonly Float64Array[];
    const before = points.n;
    const boundBy = probe.regime === "memory" ? probe.slowest : -1;
    if (roof === judging && boundBy >= 0) points.binding.add(roof.levels[boundBy]?.name ?? "");
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
      points.isMinor[at] = Number(isMinor(row));
      points.aboveRoof[at] = index === MEASURED && probe.time / measured > MIN_UTILIZATION_ABOVE_ROOF ? 1 : 0;
      return true;
    };
    if (columns.length === 1) stand(0);
    else {
      // The point of the binding level comes last, so that it is drawn on top. A kernel without FLOPs has only this
      // point, in bytes/s.
      const levels = columns.map((_, level) => level).filter((level) => !Number.isNaN(columns[level]?.[row] as number));
      const binds = levels.find((level) => level === boundBy) ?? levels[0];
      if (flops === 0) [binds ?? 0, ...levels].some(stand);
      else for (const level of levels.filter((other) => other !== binds)) stand(level);
      if (flops !== 0 && binds !== undefined) stand(binds);
    }
    if (points.n === before) return false;
    const home = points.n - 1;
    points.binds[home] = 1;
    points.home[row] = home;
    return true;
  };
  const isIdle = idleRows(kernels);
  for (const row of rows) {
    const before = points.n;
    if (hasTime(kernels, row)) {
      if (hasPlace(kernels, row, moved.get(judging)) && put(row, judging, MEASURED)) points.measured++;
    } else {
      // The point of the judging roof comes last, so that it is drawn on top where roofs coincide.
      const last = roofs.indexOf(judging);
      for (const roof of marked) if (roof !== judging) put(row, roof, roofs.indexOf(roof));
      if (last >= 0) put(row, judging, last);
    }
    if (points.n === before && !isTotal(kernels, row) && !isIdle(row)) points.notDrawn++;
  }
  return points;
}

function hasPlace(kernels: Kernels, row: number, moved: readonly Float64Array[] | undefined): boolean {
  return !!moved?.some((bytes) => !Number.isNaN((kernels.totalFlops[row] as number) + (bytes[row] as number)));
}
