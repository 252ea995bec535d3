// What each roof allows at one place: where a vertical line crosses the lines that are drawn.

import type { SubRoof } from "./ceilings.ts";
import type { Level, Roof } from "./roofline.ts";
import { attainable } from "./roofline.ts";

export interface CrossedLines {
  readonly roofs: readonly Roof[];
  readonly focus: Roof | undefined;
  /** In hierarchical mode those of the focus chip that have a roof. */
  readonly levels: readonly Level[];
  readonly subRoofs: readonly SubRoof[];
  /** What chips are called, by id. */
  readonly names: ReadonlyMap<string, string>;
}

export interface Crossing {
  readonly key: string;
  readonly name: string;
  /** Whose line it is. */
  readonly chip: string;
  /** FLOP/B; 0 where nothing is computed. */
  readonly ai: number;
  /** FLOP/s; where nothing is computed, bytes/s. */
  readonly rate: number;
  /** Whether it is a peak or a bandwidth itself. */
  readonly isFigure: boolean;
}

/** The lowest first; `aiAt` tells the intensity at a level of the focus chip, NaN where its bytes are unknown. */
export function crossingsAt({ roofs, focus, levels, subRoofs, names }: CrossedLines, aiAt: (level?: string) => number) {
  const cross = (key: string, name: string, chip: string, ai: number, rates: { peak: number; bandwidth: number }) => {
    const rate = ai === 0 ? rates.bandwidth : attainable(ai, rates);
    return { key, name, chip, ai, rate, isFigure: ai === 0 || rate === rates.peak };
  };
  const crossings: Crossing[] = [];
  // In hierarchical mode the focus chip has one roof a level, and its own is the main one's.
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
      // A lower peak is drawn from its own ridge point on, a lower bandwidth up to it.
      const ridge = sub.peak / sub.bandwidth;
      const isThere = sub.kind === "communication" || (sub.kind === "compute" ? ai >= ridge : ai <= ridge);
      if (isThere) crossings.push(cross(`sub ${sub.key}`, sub.name, id, ai, sub));
    }
  }
  return crossings.filter(({ rate }) => rate > 0).sort((a, b) => a.rate - b.rate);
}
