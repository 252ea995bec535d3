// Where a vertical line at one intensity crosses the drawn lines. Each crossing has the rate that a drawn line allows
// at this intensity.

import type { SubRoof } from "./ceilings.ts";
import type { Level, Rates, Roof } from "./roofline.ts";
import { attainable } from "./roofline.ts";

export interface CrossedLines {
  readonly roofs: readonly Roof[];
  readonly focus: Roof | undefined;
  /** The levels of the focus chip that have a roof in hierarchical mode. Empty in any other mode. */
  readonly levels: readonly Level[];
  readonly subRoofs: readonly SubRoof[];
  /** The displayed names of chips, by chip id. */
  readonly names: ReadonlyMap<string, string>;
}

export interface Crossing {
  readonly key: string;
  readonly name: string;
  /** The id of the chip that the line belongs to. */
  readonly chip: string;
  /** Intensity in FLOP/B; 0 for a kernel without FLOPs. */
  readonly ai: number;
  /** Rate in FLOP/s. For a kernel without FLOPs, the rate is in bytes/s. */
  readonly rate: number;
  /** Whether the rate is the peak or the bandwidth of the drawn line, and not a rate on the slope of the line. */
  readonly isFigure: boolean;
}

/**
 * Returns the crossings, lowest rate first. `aiAt()` is the intensity of the vertical line. `aiAt(level)` is the
 * intensity at a level of the focus chip; NaN if unknown.
 */
export function crossingsAt({ roofs, focus, levels, subRoofs, names }: CrossedLines, aiAt: (level?: string) => number) {
  const cross = (key: string, name: string, chip: string, ai: number, rates: Rates) => {
    const rate = ai === 0 ? rates.bandwidth : attainable(ai, rates);
    return { key, name, chip, ai, rate, isFigure: ai === 0 || rate === rates.peak };
  };
  const crossings: Crossing[] = [];
  // In hierarchical mode, the focus chip has a roof per level. Therefore this loop skips the focus roof, and the next
  // loop adds a crossing per level.
  for (const roof of roofs) {
    const { id, name } = roof.chip;
    if (roof !== focus || levels.length === 0)
      crossings.push(cross(`roof ${id}`, names.get(id) ?? name, id, aiAt(), roof));
  }
  if (focus) {
    const { id } = focus.chip;
    for (const { name, bandwidth } of levels) {
      crossings.push(cross(`level ${name}`, name, id, aiAt(name), { peak: focus.peak, bandwidth }));
    }
    for (const sub of subRoofs) {
      const ai = aiAt(levels.length > 0 ? sub.level : undefined);
      // If the peak of a ceiling is below that of the roof, its line is horizontal and starts at its ridge point. If
      // the bandwidth is below that of the roof, the line is sloped and ends at the ridge point.
      const ridge = sub.peak / sub.bandwidth;
      const isThere = sub.kind === "communication" || (sub.kind === "compute" ? ai >= ridge : ai <= ridge);
      if (isThere) crossings.push(cross(`sub ${sub.key}`, sub.name, id, ai, sub));
    }
  }
  return crossings.filter(({ rate }) => rate > 0).sort((a, b) => a.rate - b.rate);
}
