// Which chip kernels were measured on: where the focus is on another, what is told of time is judged by that one.

import type { Kernels } from "../wire/columns.ts";
import { ALL, isRoof, type Roof, roofOf } from "./roofline.ts";

/** The roof, by its data sheet, of the chip they ran on if that is another than the roof's and its figures are known. */
export function roofElsewhere({ chip }: Kernels, roof: Roof): Roof | undefined {
  if (!chip || chip.id === roof.chip.id) return undefined;
  const [main] = roof.chip.memories.keys();
  const memory = roof.levels.length > 1 ? ALL : roof.level === main ? "main" : roof.level;
  const own = roofOf(chip, "auto", memory, {}, roof.conditions);
  return isRoof(own) ? own : undefined;
}
