// The latency roof of a kernel as text.

import { isContradicted, type LatencyRoof, latencyLimit } from "../roofline/latency.ts";
import type { Roof } from "../roofline/roofline.ts";
import type { Kernels } from "../wire/columns.ts";
import { latencyWords as words } from "../words/words.ts";
import { formatFactor, formatPercent, formatQuantity } from "./numbers.ts";

/** Returns the sentence on the latency roof of a kernel. Undefined if latency does not limit the kernel. */
export function latencySentence(kernels: Kernels, row: number, roof: Roof): string | undefined {
  const found = latencyLimit(kernels, row, roof);
  if (!found) return undefined;
  const { latency, bytes, inFlight, rate, time } = found;
  const bandwidth = formatQuantity(roof.bandwidth, "B/s", 4);
  const what =
    inFlight < bytes ? words.hasInFlight(formatQuantity(inFlight, "B")) : words.moves(formatQuantity(bytes, "B"));
  const limit = words.atMost(what, formatQuantity(latency, "s"), formatQuantity(rate, "B/s"), bandwidth);
  const measured = kernels.time[row] as number;
  if (!(measured > 0)) return limit;
  const share = time / measured;
  const told = isContradicted(found, measured)
    ? words.contradicted(formatFactor(share))
    : words.explains(formatPercent(Math.min(1, share)));
  return `${limit}; ${told}`;
}

/** Returns what latency allows a kernel. Undefined if it does not limit the kernel, or if the kernel is faster. */
export function latencyBrief(kernels: Kernels, row: number, roof: Roof): string | undefined {
  const found = latencyLimit(kernels, row, roof);
  return found && !isContradicted(found, kernels.time[row] || Number.NaN) ? latencyLabel(found)[1] : undefined;
}

/** Returns the label of a latency roof on the chart, and its short form. */
export function latencyLabel({ latency, inFlight, rate }: LatencyRoof): readonly [text: string, brief: string] {
  const most = formatQuantity(rate, "B/s");
  return [words.label(formatQuantity(latency, "s"), formatQuantity(inFlight, "B"), most), words.brief(most)];
}
