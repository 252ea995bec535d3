// Where a vertical line crosses the drawn lines: what each roof allows at that intensity.

import type { SubRoof } from "./ceilings.ts";
import type { Level, Roof } from "./roofline.ts";
import { attainable } from "./roofline.ts";

export interface CrossedLines {
  readonly roofs: readonly Roof[];
  readonly focus: Roof | undefined;
  /** In hierarchical mode, the focus chip's levels that have a roof; else empty. */
  readonly levels: readonly Level[];
  readonly subRoofs: readonly SubRoof[];
  /** Displayed names of chips, by id. */
  readonly names: ReadonlyMap<string, string>;
}

export interface Crossing {
  readonly key: string;
  readonly name: string;
  /** Id of the chip that the line belongs to. */
  readonly chip: string;
  /** FLOP/B; 0 for a kernel without FLOPs. */
  readonly ai: number;
  /** FLOP/s; for a kernel without FLOPs, bytes/s. */
  readonly rate: number;
  /** Whether the rate is a peak or a bandwidth itself. */
  readonly isFigure: boolean;
}

/**
 * Returns the crossings, the lowest first. `aiAt` returns the intensity at a level of the focus chip; NaN if unknown.
 */
export function crossingsAt({ roofs, focus, levels, subRoofs, names }: CrossedLines, aiAt: (level?: string) => number) {
  const cross = (key: string, name: string, chip: string, ai: number, rates: { peak: number; bandwidth: number }) => {
    const rate = ai === 0 ? rates.bandwidth : attainable(ai, rates);
    return { key, name, chip, ai, rate, isFigure: ai === 0 || rate === rates.peak };
  };
  const crossings: Crossing[] = [];
  // In hierarchical mode the focus chip has one roof per level; the loop below adds those.
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
      // A lower peak is drawn from its ridge point rightwards, a lower bandwidth up to it.
      const ridge = sub.peak / sub.bandwidth;
      const isThere = sub.kind === "communication" || (sub.kind === "compute" ? ai >= ridge : ai <= ridge);
      if (isThere) crossings.push(cross(`sub ${sub.key}`, sub.name, id, ai, sub));
    }
  }
  return crossings.filter(({ rate }) => rate > 0).sort((a, b) => a.rate - b.rate);
}
