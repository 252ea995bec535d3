// Texts that explain why something is not possible: a chip has no roof at the chosen precision and memory, or a
// dimension cannot have a size.

import type { BrokenCondition } from "../fusion/conditions.ts";
import { formula } from "../fusion/expressions.ts";
import type { Missing } from "../roofline/roofline.ts";
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

export function sizeReasonOf({ condition, count, divisor }: BrokenCondition): string {
  const inNumbers = (wire: WireExpression, value: number) =>
    typeof wire === "number" ? `${value}` : `${formula(wire)} = ${value}`;
  const whole = inNumbers(condition.count, count);
  return condition.divisor === 0
    ? workloadWords.tooSmall(condition.whose, whole)
    : workloadWords.noMultiple(condition.whose, whole, inNumbers(condition.divisor, divisor));
}
