// Why a chip has no roof at the chosen precision and memory, in words.

import type { Missing } from "../roofline/roofline.ts";
import type { Chip } from "../wire/decode.ts";
import { strings } from "../words/words.ts";

export function reasonOf(chip: Chip, missing: Missing): string {
  return missing.quantity === "peak_flops"
    ? strings.lacksPeakReason(chip.name, missing.name)
    : strings.lacksBandwidthReason(chip.name, missing.name);
}

export function shortReasonOf(missing: Missing): string {
  return missing.quantity === "peak_flops" ? strings.lacksPeak(missing.name) : strings.lacksBandwidth(missing.name);
}
