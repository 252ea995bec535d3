// The verdict as text: the headline of a chart, and the line that explains it.

import {
  busy,
  type Changes,
  exposedShare,
  type Facts,
  firstSaved,
  kernelTime,
  MAX_FIRST,
  MIN_GAP_SHARE,
  MIN_IDLE_SHARE_NAMED,
  ofBusy,
  reached,
  remaining,
  ruleOf,
  span,
  summed,
} from "../roofline/verdict.ts";
import { verdictWords as words } from "../words/words.ts";
import { shortNameOf } from "./kernel_names.ts";
import { shortNames } from "./names.ts";
import { formatFactor, formatPercent, formatQuantity } from "./numbers.ts";

export interface Verdict {
  /** The name of the rule that applies, such as "idle". */
  readonly rule: string;
  /** One sentence. Empty if there is nothing to say. */
  readonly headline: string;
  /** One or two sentences that explain the headline. */
  readonly detail: string;
  /** The detail as it is with a what-if. */
  readonly longest: string;
  /** Whether the headline names a mistake in the data or in the choice of the chip. */
  readonly isAlert: boolean;
}

/** The part of the savings from which a second category or kernel is named. */
const MIN_SHARE_NAMED = 0.1;
const NO_CHANGE = 0.01;
const MIN_FACTOR = 1.5;
/** Two partitions whose times differ by less than this share are equally fast. */
export const SAME_SPEED = 1e-9;
const MAX_NAME_LETTERS = 40;
const ALERTS = ["no match", "above"];
/** The rules that do not depend on a roof, so that a what-if does not change what they say. */
const WITHOUT_ROOF = ["no match", "runs", "no roof", "exposed"];

export function verdictOf(facts: Facts): Verdict {
  const rule = ruleOf(facts);
  const [headline, text] = TEXTS[rule]?.(facts) ?? ["", ""];
  const longest = text && !WITHOUT_ROOF.includes(rule) ? words.withWhatIf(text) : text;
  return { rule, headline, detail: facts.isWhatIf ? longest : text, longest, isAlert: ALERTS.includes(rule) };
}

const seconds = (time: number) => formatQuantity(time, "s");
const percent = formatPercent;
const join = (...sentences: readonly string[]) => sentences.filter(Boolean).join(" ");
const chipOf = ({ roof }: Facts) => (roof && shortNames([roof.chip]).get(roof.chip.id)) ?? "";
const nameOf = ({ table }: Facts, row: number) => brief(shortNameOf(table, row));
const brief = (name: string) => (name.length > MAX_NAME_LETTERS ? `${name.slice(0, MAX_NAME_LETTERS - 1)}…` : name);
/** The time that remains at every roof; its bounds if they differ. */
const remains = (facts: Facts) => {
  const [least, most] = remaining(facts);
  return seconds(least) === seconds(most) ? seconds(most) : words.between(seconds(least), seconds(most));
};
const saved = (facts: Facts) => seconds(ofBusy(facts, facts.saved));
const firstSavings = (facts: Facts) => seconds(ofBusy(facts, firstSaved(facts)));
const savings = (facts: Facts) =>
  facts.first.length > 0 ? words.savings(facts.first.length, firstSavings(facts), remains(facts)) : "";

/** The headline and the detail of each rule. */
const TEXTS: Readonly<Record<string, (facts: Facts) => readonly [headline: string, detail: string]>> = {
  "no match": ({ changes: { before, now } = NO_CHANGES }) => [
    words.noMatch,
    words.totals(seconds(before), seconds(now)),
  ],
  runs: ({ changes = NO_CHANGES }) => [runsHeadline(changes), runsDetail(changes)],
  above: (facts) => [words.above, words.aboveDetail(facts.aboveCount, facts.kernels, chipOf(facts))],
  idle: (facts) => [words.idle(facts.device, percent(facts.idle / span(facts))), idleDetail(facts)],
  exposed: (facts) => exposedTexts(facts),
  category: (facts) => [categoryHeadline(facts), categoryDetail(facts)],
  "no roof": (facts) => [words.noRoof(facts.kernels, seconds(span(facts))), words.noRoofDetail],
  unjudged: (facts) => {
    const isNone = facts.known === 0;
    const headline = isNone ? words.noneKnown(facts.kernels) : words.fewKnown(percent(facts.known / kernelTime(facts)));
    const first = facts.first.length > 0 ? words.firstSave(facts.first.length, firstSavings(facts)) : "";
    return [headline, join(isNone ? words.giveWork : words.restUnknown, first)];
  },
  one: (facts) => [
    words.one(nameOf(facts, facts.row), percent(reached(facts)), saved(facts), seconds(span(facts))),
    words.oneDetail(facts.first[0]?.regime ?? "", remains(facts)),
  ],
  near: (facts) => {
    const name = facts.kernels === 1 ? nameOf(facts, facts.row) : "";
    return [words.near(name, percent(reached(facts)), chipOf(facts)), savings(facts)];
  },
  first: (facts) => [
    words.first(facts.first.length, facts.kernels, firstSavings(facts), seconds(span(facts))),
    words.remains(remains(facts)),
  ],
  spread: (facts) => [words.spread(saved(facts), seconds(span(facts)), percent(reached(facts))), spreadDetail(facts)],
  graph: (facts) => graphTexts(facts),
  unmeasured: (facts) => [unmeasuredHeadline(facts), unmeasuredDetail(facts)],
};

const NO_CHANGES: Changes = {
  ...{ before: 0, now: 0, matched: 0, same: 0, other: 0, onlyBefore: 0, onlyNow: 0 },
  faster: [0, 0],
  slower: [0, 0],
};

function runsHeadline({ before, now }: Changes): string {
  const times = [seconds(before), seconds(now)] as const;
  if (Math.abs(now - before) <= NO_CHANGE * before) return words.noChange(times[0]);
  if (before >= MIN_FACTOR * now) return words.timesAsFast(formatFactor(before / now), ...times);
  if (now >= MIN_FACTOR * before) return words.timesAsLong(formatFactor(now / before), ...times);
  const share = percent(Math.abs(now - before) / before);
  return now < before ? words.lessTime(share, ...times) : words.moreTime(share, ...times);
}

function runsDetail({ faster, slower, same, other, matched, onlyBefore, onlyNow }: Changes): string {
  const signed = (change: number) => `${change > 0 ? "+" : "−"}${seconds(Math.abs(change))}`;
  const parts = [
    ["faster", faster[0], signed(faster[1])],
    ["slower", slower[0], signed(slower[1])],
    ["same", same, ""],
    ["other", other, ""],
  ] as const;
  const where = onlyBefore || onlyNow ? words.only(onlyBefore, onlyNow) : words.inBoth(matched);
  return join(words.changed(parts.filter(([, count]) => count > 0)), where);
}

function idleDetail(facts: Facts): string {
  const running = kernelTime(facts);
  if (!(facts.kernels > 0 && running > 0)) return words.noneRan(seconds(facts.time));
  const times = [seconds(busy(facts)), seconds(span(facts))] as const;
  const { gap, gapStart } = facts.activity ?? { gap: 0, gapStart: 0 };
  const run =
    gap > 0 && gap >= MIN_GAP_SHARE * facts.idle
      ? words.runWithGap(...times, seconds(gap), seconds(gapStart))
      : words.run(...times, facts.launches, seconds(running / facts.launches));
  return join(run, savings(facts));
}

function exposedTexts({ communication, waited, overLink }: Facts): readonly [string, string] {
  if (!communication) return ["", ""];
  const { time, hidden } = communication;
  const headline = words.exposed(percent(exposedShare(communication)));
  if (overLink) {
    const [rate, now, before] = overLink;
    return [headline, words.overLink(formatQuantity(rate, "B/s"), seconds(now), seconds(before))];
  }
  const run = words.exposedDetail(seconds(time), hidden > 0 ? percent(hidden / time) : "");
  return [headline, join(run, waited > 0 ? words.waited(seconds(waited)) : "")];
}

function categoryHeadline(facts: Facts): string {
  const [family, longest] = facts.families[0] as readonly [string, number];
  const idle = facts.idle / span(facts);
  const share = idle >= MIN_IDLE_SHARE_NAMED ? percent(idle) : "";
  return words.category(brief(family), percent(longest / facts.time), facts.device, share);
}

function categoryDetail(facts: Facts): string {
  const family = facts.families[0]?.[0] ?? null;
  const rows = facts.first.filter((one) => one.family === family);
  const saving =
    facts.first.length > 0 ? words.firstSaveOf(facts.first.length, firstSavings(facts), seconds(span(facts))) : "";
  const [one] = rows;
  if (!one) return saving;
  const total = (of: "bound" | "measured") => rows.reduce((sum, row) => sum + row[of], 0);
  const isAlike = rows.every(({ regime, limit }) => regime === one.regime && limit === one.limit);
  const share = percent(total("bound") / total("measured"));
  return join(words.slowest(family ?? "", rows.length, isAlike ? one.regime : "", one.limit, share), saving);
}

function spreadDetail(facts: Facts): string {
  const most = (parts: readonly (readonly [string | null, number])[]) => {
    const named = parts.filter(([name]) => name).slice(0, 2);
    const shares = named.map(([name, part]) => [brief(name as string), part / facts.saved] as const);
    const told = shares.filter(([, share], at) => at === 0 || share >= MIN_SHARE_NAMED);
    return told.length > 0 ? words.mostIn(told.map(([name, share]) => `${name} (${percent(share)})`)) : "";
  };
  if (facts.savers <= MAX_FIRST) {
    return most(
      summed(
        facts.first,
        ({ row }) => nameOf(facts, row),
        ({ saved }) => saved,
      ),
    );
  }
  return join(words.noneStandsOut(facts.first.length, firstSavings(facts)), most(facts.savedByFamily));
}

function graphTexts(facts: Facts): readonly [string, string] {
  const { fusion } = facts;
  if (!fusion) return ["", ""];
  const isFaster = fusion.bestSeconds < fusion.seconds * (1 - SAME_SPEED);
  const headline = isFaster
    ? words.fused(fusion.bestKernels, formatFactor(fusion.seconds / fusion.bestSeconds))
    : words.bestPartition(chipOf(facts), fusion.isExact);
  const [moved, least] = [formatQuantity(fusion.bytes, "B"), formatQuantity(fusion.leastBytes, "B")];
  return [headline, words.graphDetail(fusion.isUnfused, fusion.memoryBound, fusion.kernels, moved, least)];
}

const REGIMES = ["memory", "compute", "network", "overhead", "unknown"] as const;

function unmeasuredHeadline(facts: Facts): string {
  if (!facts.roof) return words.noTimes(facts.kernels);
  const parts = REGIMES.flatMap((regime) => {
    const count = facts.regimes.get(regime) ?? 0;
    return count > 0 ? [[regime, count] as const] : [];
  });
  const name = facts.kernels === 1 ? nameOf(facts, facts.row) : "";
  return words.unmeasured(name, facts.kernels, parts, chipOf(facts));
}

function unmeasuredDetail({ roof, kernels, least, regimes }: Facts): string {
  if (!roof) return words.showAChip(kernels);
  return least > 0 ? words.atRoofs(kernels, seconds(least), !regimes.get("unknown")) : "";
}
