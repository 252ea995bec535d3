// The additional lines of the focus roof: peaks of other precisions, the chip's own ceilings, and roofs lowered by
// exposed communication.

import type { Kernels } from "../wire/columns.ts";
import { flopKindsOf, type Operation, operationIn } from "./operations.ts";
import { ALL_LEVELS, CLASSES, type Level, peakFor, type Roof } from "./roofline.ts";

/** A ceiling that the user can switch on. */
export interface PossibleCeiling {
  readonly key: string;
  readonly name: string;
  readonly rate: number;
  readonly unit: `${Operation}/s` | "B/s";
  /** The memory level that the ceiling belongs to; null for a compute ceiling. */
  readonly memory: string | null;
  readonly measured: boolean;
  readonly on: boolean;
}

/** An additional line of the focus roof: a slope, a flat line, or a lowered copy of the roof. */
export interface SubRoof {
  readonly key: string;
  readonly name: string;
  /** "compute" is a flat line, "bandwidth" is a slope, and "communication" is the full roof, lowered. */
  readonly kind: "compute" | "bandwidth" | "communication";
  readonly peak: number;
  readonly bandwidth: number;
  readonly level: string;
  readonly style: "measured" | "ceiling" | "communication";
  /** The unit of the operations that `peak` counts. */
  readonly operation: Operation;
}

/**
 * Returns the ceilings that can be drawn under a roof. `choice` has the keys of the ceilings that are on. If `choice`
 * is null, the chip's own ceilings are on. `memory` is the chosen level or "all".
 */
export function possibleCeilings(roof: Roof, memory: string, choice: readonly string[] | null): PossibleCeiling[] {
  const wanted = choice?.map((key) => key.toLowerCase());
  const fits = (level: string | null, precision: string | null) =>
    level === null ? precision === null || precision === roof.precision : memory === ALL_LEVELS || level === roof.level;
  const own = roof.chip.ceilings
    .filter((ceiling) => fits(ceiling.memory, ceiling.precision))
    .map(({ key, name, rate, memory: level, measured, precision }): PossibleCeiling => {
      const unit = level === null ? (`${operationIn(precision ?? roof.precision)}/s` as const) : "B/s";
      const spoken = level === null || memory !== ALL_LEVELS ? name : key;
      return {
        key,
        name: spoken,
        rate,
        unit,
        memory: level,
        measured,
        on: wanted?.includes(key.toLowerCase()) ?? true,
      };
    });
  const others = [...roof.peaks]
    .filter(([precision, rate]) => precision !== roof.precision && rate < roof.peak)
    .map(([name, rate]): PossibleCeiling => {
      const on = wanted?.includes(name) ?? false;
      return { key: name, name, rate, unit: `${operationIn(name)}/s`, memory: null, measured: false, on };
    });
  return [...own, ...others];
}

/**
 * Returns the lines of the ceilings that are switched on, and the lowered roofs. There is one lowered roof for each
 * fraction of exposed communication: for the fractions in `exposedRoofs`, and for the fraction in the conditions of
 * `roof`. `nameOf` returns the name of a lowered roof.
 */
export function subRoofsOf(
  roof: Roof,
  ceilings: readonly PossibleCeiling[],
  exposedRoofs: readonly number[],
  nameOf: (fraction: number) => string,
): SubRoof[] {
  const drawn = ceilings
    .filter(({ on }) => on)
    .map(
      ({ key, name, rate, memory, measured, unit }): SubRoof => ({
        key: `ceiling ${key}`,
        name,
        kind: memory === null ? "compute" : "bandwidth",
        peak: memory === null ? rate : roof.peak,
        bandwidth: memory === null ? roof.bandwidth : rate,
        level: memory ?? roof.level,
        style: measured ? "measured" : "ceiling",
        operation: unit === "OP/s" ? "OP" : "FLOP",
      }),
    );
  const judging = roof.conditions.exposedComm;
  const shares = judging > 0 && !exposedRoofs.includes(judging) ? [judging, ...exposedRoofs] : exposedRoofs;
  const effective = shares.map(
    (fraction): SubRoof => ({
      key: `exposed ${fraction}`,
      name: nameOf(fraction),
      kind: "communication",
      peak: roof.peak * (1 - fraction),
      bandwidth: roof.bandwidth * (1 - fraction),
      level: roof.level,
      style: "communication",
      operation: operationIn(roof.precision),
    }),
  );
  return [...drawn, ...effective];
}

/**
 * Returns the precision that all FLOPs of the kernels share. Returns undefined if the precisions differ, or if some
 * FLOPs have no precision.
 */
export function commonPrecision(kernels: Kernels): string | undefined {
  const plain = (key: string) => key === "" || CLASSES.includes(key);
  const found = new Set(flopKindsOf(kernels).map(([key, own]) => (plain(key) ? own : key)));
  const [only] = found;
  return found.size === 1 && only ? only : undefined;
}

/**
 * Returns flat lines at the peaks that apply to kernels but differ from the roof's peak. A line has the name of a
 * precision. If the class of the FLOPs has another peak than the precision, the line has the name of the class. Leaves
 * out the lines that are in `drawn`.
 */
export function flatsOf(kernels: Kernels, roof: Roof, drawn: readonly SubRoof[]): SubRoof[] {
  const used = new Map<string, readonly [peak: number | undefined, operation: Operation]>();
  for (const [key, own] of flopKindsOf(kernels)) {
    const peak = peakFor(roof, key, own);
    const isPlain = key === "" || (CLASSES.includes(key) && peak === peakFor(roof, "", own));
    used.set((isPlain ? own : key) ?? "", [
      peak,
      operationIn(CLASSES.includes(key) ? (own ?? roof.precision) : key || (own ?? "")),
    ]);
  }
  return [...used].flatMap(([name, [peak, operation]]): SubRoof[] => {
    const key = `ceiling ${name}`;
    if (!name || peak === undefined || peak === roof.peak || drawn.some((other) => other.key === key)) return [];
    const { bandwidth, level } = roof;
    return [{ key, name, kind: "compute", peak, bandwidth, level, style: "ceiling", operation }];
  });
}

/**
 * Returns the levels that get a line. If `all` is true, these are all levels of the roof. Otherwise, these are
 * `roof.level` and the levels in `binding`.
 */
export function levelsDrawn(roof: Roof, binding: ReadonlySet<string>, all: boolean): Level[] {
  return roof.levels.filter(({ name }) => all || name === roof.level || binding.has(name));
}
