// Texts that explain why something is not possible: a chip has no roof at the chosen precision and memory, or a
// dimension cannot have a size.

import type { BrokenCondition } from "../fusion/conditions.ts";
import { formula } from "../fusion/expressions.ts";
import { networkBytes } from "../roofline/bound.ts";
import { bytesElsewhere, type Missing, type Roof } from "../roofline/roofline.ts";
import type { Kernels } from "../wire/columns.ts";
import type { Chip, WireExpression } from "../wire/types.ts";
import { strings, workloadWords } from "../words/words.ts";

export function reasonOf(chip: Chip, missing: Missing): string {
  return missing.quantity === "peak_flops"
    ? strings.lacksPeakReason(chip.name, missing.name)
    : strings.lacksBandwidthReason(chip.name, missing.name);
}

export function shortReasonOf(missing: Missing): string {
  return missing.quantity === "peak_flops" ? strings.lacksPeak(missing.name) : strings.lacksBandwidth(missing.name);
}

/**
 * Returns why the bound of a kernel is unknown although bytes of the kernel are known. The first reason: the kernel has
 * bytes to other chips, but the roof's chip has no known link. The second reason: the kernel's bytes are at memory
 * levels that the roof does not use. If neither reason applies, returns undefined.
 */
export function bytesReasonOf(kernels: Kernels, row: number, roof: Roof): string | undefined {
  if (roof.chip.link === null && networkBytes(kernels)?.[row]) return strings.noLinkForKernel(roof.chip.name);
  const levels = bytesElsewhere(kernels, row, roof);
  const own = levels.filter((level) => roof.chip.memories.has(level));
  const rated = own.some((level) => typeof roof.chip.memories.get(level) === "number");
  if (levels.length === 0) return undefined;
  const where = levels.join(", ");
  if (rated) return strings.bytesElsewhere(where, roof.level);
  if (own[0]) return strings.bytesUnrated(where, roof.chip.name, own[0]);
  return strings.bytesLacked(where, roof.chip.name, [...roof.chip.memories.keys()].join(", "));
}

export function sizeReasonOf({ condition, count, divisor }: BrokenCondition): string {
  const inNumbers = (wire: WireExpression, value: number) =>
    typeof wire === "number" ? `${value}` : `${formula(wire)} = ${value}`;
  const whole = inNumbers(condition.count, count);
  return condition.divisor === 0
    ? workloadWords.tooSmall(condition.whose, whole)
    : workloadWords.noMultiple(condition.whose, whole, inNumbers(condition.divisor, divisor));
}
