// The headline above the chart: the sentences that Python's tests read too, from exact fractions.

import { describe, expect, it } from "vitest";
import golden from "../../../tests/golden/verdicts.json";
import { runsOf } from "../../src/roofline/compare_runs.ts";
import { type Fusion, factsOf, RULE_NAMES } from "../../src/roofline/verdict.ts";
import { verdictOf } from "../../src/text/verdict.ts";
import { type KernelSpec, makeChip, makeKernels, makeRoof } from "../helpers.ts";

type Case = (typeof golden)[number];

const roofOf = ({ chip, what_if: rates }: Case) => {
  if (!chip) return;
  const { peak_flops: peak, bandwidth, ...names } = chip;
  const made = makeChip({ ...names, peaks: { bf16: peak }, memories: { HBM: bandwidth } });
  return makeRoof(made, "auto", "main", rates ? { [made.id]: { bandwidth: { HBM: rates.bandwidth } } } : {});
};

function runs({ earlier, kernels }: Case) {
  if (!earlier) return;
  const before = makeKernels(earlier.kernels as KernelSpec[]);
  const words = [...new Set(earlier.verdicts)];
  const codes = Int32Array.from(earlier.verdicts, (word) => words.indexOf(word));
  const baseline = {
    kernels: before,
    match: Int32Array.from(earlier.match),
    verdict: { values: words, codes },
    isPerLaunch: new Int32Array(before.n),
  };
  return runsOf(baseline, makeKernels(kernels as KernelSpec[]));
}

function fusionOf({ fusion }: Case): Fusion | undefined {
  if (!fusion) return;
  const { best_seconds, best_kernels, is_exact, memory_bound, is_unfused, least_bytes, ...rest } = fusion;
  return {
    ...rest,
    ...{ bestSeconds: best_seconds, bestKernels: best_kernels, isExact: is_exact, memoryBound: memory_bound },
    ...{ isUnfused: is_unfused, leastBytes: least_bytes },
  };
}

describe("the headline and the line below it", () => {
  it.each(golden)("are the sentences of the exact fractions: $case", (one) => {
    // Python tells which kernels are collectives without bytes over their link.
    const rows: readonly KernelSpec[] = one.kernels as KernelSpec[];
    const unlinked = Int32Array.from(rows, ({ name = "" }) => (name.startsWith("all-reduce") ? 1 : 0));
    const messages = (one.messages ?? []).map((told) => ({ ...told, group: "", waiting: told.waiting ?? Number.NaN }));
    const { communication, topology } = one;
    const activity = one.activity && { ...one.activity, gapStart: one.activity.gap_start };
    const kernels = { ...makeKernels(rows), unlinked, communication, activity, messages };
    const isWhatIf = one.what_if !== null;
    const facts = factsOf({
      kernels,
      roof: roofOf(one),
      runs: runs(one),
      fusion: fusionOf(one),
      isWhatIf,
      links: one.links as [number, number] | undefined,
      topology,
    });
    const { rule, headline, detail, isAlert } = verdictOf(facts);
    expect({ rule, headline, detail, is_alert: isAlert }).toEqual({
      rule: one.rule,
      headline: one.headline,
      detail: one.detail,
      is_alert: one.is_alert,
    });
  });
  it("have a case for each rule", () => {
    expect([...new Set(golden.map(({ rule }) => rule))].sort()).toEqual([...RULE_NAMES, "nothing"].sort());
  });
});
