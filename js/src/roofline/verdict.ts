// What a chart shows: the facts, and the rule that says which of them is the headline. Mirrors
// roofwidget/analysis/verdict.py: the tests compare both with the same golden file.

import { type Kernels, textAt } from "../wire/columns.ts";
import type { Activity, Chip, Communication } from "../wire/types.ts";
import { headroomOf, MIN_UTILIZATION_ABOVE_ROOF, probeOf, type Regime } from "./bound.ts";
import type { Runs } from "./compare_runs.ts";
import { sentBytes, waited } from "./network.ts";
import { idleRows } from "./positions.ts";
import type { Roof } from "./roofline.ts";

/** The maximum number of kernels to fix first. */
export const MAX_FIRST = 5;
/** From this utilization on, a kernel counts as above its roof. Boost clocks explain less than that. */
export const MIN_ABOVE = 1.05;
const MIN_IDLE_SHARE = 0.2;
/** From this share on, the idle time is named beside another headline. */
export const MIN_IDLE_SHARE_NAMED = 0.05;
/** From this share of the idle time on, one gap is named instead of the launches. */
export const MIN_GAP_SHARE = 0.5;
/** Sums of the rows may differ from those of the activity by rounding. */
const SAME_TIME = 1e-6;
const MIN_EXPOSED_SHARE = 0.2;
const MIN_CATEGORY_SHARE = 0.7;
const MIN_KNOWN_SHARE = 0.5;
const MAX_SHARE_NEAR = 0.1;
const MIN_FIRST_SHARE = 0.5;

/** A kernel to fix first. Times are in seconds. */
export interface Badged {
  readonly row: number;
  readonly family: string | null;
  readonly saved: number;
  readonly measured: number;
  readonly bound: number;
  readonly regime: Regime;
  /** The memory level that binds the kernel, or the precision of its peak. */
  readonly limit: string;
}

/** Two runs: their whole times, and for faster and slower kernels their number and the change of their time. */
export interface Changes {
  readonly before: number;
  readonly now: number;
  readonly matched: number;
  readonly faster: readonly [count: number, change: number];
  readonly slower: readonly [count: number, change: number];
  readonly same: number;
  readonly other: number;
  readonly onlyBefore: number;
  readonly onlyNow: number;
}

/** A partition of a graph beside the best that is known. Times are in seconds. */
export interface Fusion {
  readonly seconds: number;
  readonly bestSeconds: number;
  readonly bestKernels: number;
  readonly isExact: boolean;
  readonly kernels: number;
  readonly memoryBound: number;
  readonly isUnfused: boolean;
  readonly bytes: number;
  readonly leastBytes: number;
}

/** Sums by name, largest first. */
type Sums = readonly (readonly [name: string | null, sum: number])[];

/** The numbers that a verdict needs. Times are in seconds, without time that is counted in another row. */
export interface Facts {
  readonly table: Kernels;
  /** The number of rows that are not idle time, and their launches. */
  readonly kernels: number;
  readonly launches: number;
  /** The first row that is not idle time. */
  readonly row: number;
  readonly time: number;
  readonly idle: number;
  readonly families: Sums;
  readonly roof: Roof | undefined;
  /** "GPU", "TPU", "CPU" or "chip". */
  readonly device: string;
  /** The time of kernels with a known bound, the time of those above their roof, and the number of those. */
  readonly known: number;
  readonly above: number;
  readonly aboveCount: number;
  /** The time of kernels at or below their roof, what they save at their roof, and how many save time. */
  readonly judged: number;
  readonly saved: number;
  readonly savers: number;
  readonly savedByFamily: Sums;
  readonly first: readonly Badged[];
  /** The number of kernels by regime. */
  readonly regimes: ReadonlyMap<Regime, number>;
  /** The time of all kernels at their roofs, as far as it is known. */
  readonly least: number;
  readonly isWhatIf: boolean;
  readonly changes: Changes | undefined;
  readonly fusion: Fusion | undefined;
  readonly communication: Communication | null;
  /** How long the device was busy and idle; null if it is unknown, or if the rows are only some of the profile. */
  readonly activity: Activity | null;
  /** How long ranks waited at most in calls of the same message. */
  readonly waited: number;
  /** The rate of the link with a what-if, bytes/s, and the least time of all messages with it and without it. */
  readonly overLink: readonly [rate: number, now: number, before: number] | undefined;
}

/** In the order in which they are tried. */
const RULES: Readonly<Record<string, (facts: Facts) => boolean>> = {
  "no match": ({ changes }) => changes?.matched === 0,
  runs: ({ changes }) => changes !== undefined,
  above: ({ above, ...facts }) => kernelTime(facts) > 0 && above > kernelTime(facts) / 2,
  idle: (facts) => facts.time > 0 && facts.idle >= MIN_IDLE_SHARE * span(facts),
  exposed: ({ communication }) => communication !== null && exposedShare(communication) >= MIN_EXPOSED_SHARE,
  category: hasMainCategory,
  "no roof": ({ time, roof }) => time > 0 && !roof,
  unjudged: (facts) => facts.known < MIN_KNOWN_SHARE * kernelTime(facts),
  one: ({ time, kernels, savers }) => time > 0 && kernels === 1 && savers === 1,
  near: (facts) => facts.saved < MAX_SHARE_NEAR * kernelTime(facts),
  first: (facts) => facts.time > 0 && facts.savers > MAX_FIRST && firstSaved(facts) >= MIN_FIRST_SHARE * facts.saved,
  spread: ({ time }) => time > 0,
  graph: ({ fusion, roof }) => fusion !== undefined && roof !== undefined,
  unmeasured: ({ kernels }) => kernels > 0,
};

/** Returns the name of the first rule that applies; "nothing" if none does. */
export const ruleOf = (facts: Facts): string => Object.keys(RULES).find((name) => RULES[name]?.(facts)) ?? "nothing";

export const RULE_NAMES = Object.keys(RULES);

/** Returns the share of the busy time in which only communication runs. */
export const exposedShare = ({ time, other, hidden }: Communication) => (time - hidden) / (time - hidden + other);

function hasMainCategory(facts: Facts): boolean {
  const { families, time, idle, kernels } = facts;
  const [family, seconds] = families[0] ?? [null, 0];
  // If the kernels are all of one category, its share says nothing.
  const hasOthers = families.length > 1 || idle >= MIN_IDLE_SHARE_NAMED * span(facts);
  return family !== null && seconds > 0 && seconds >= MIN_CATEGORY_SHARE * time && hasOthers && kernels > 1;
}

/** The time of all kernels, added. */
export const kernelTime = ({ time, idle }: Pick<Facts, "time" | "idle">) => time - idle;
/** The time in which at least one kernel runs. */
export const busy = (facts: Facts) => facts.activity?.busy ?? kernelTime(facts);
/** The time in which kernels run or the device is idle. */
export const span = ({ activity, time }: Facts) => (activity ? activity.busy + activity.idle : time);
/**
 * The least and the most time in which kernels would run at every roof. Where kernels overlap, a kernel that saves time
 * may have run beside others, so that the device stays busy.
 */
export const remaining = (facts: Facts): readonly [least: number, most: number] => [
  Math.max(busy(facts) - facts.saved, 0),
  Math.min(busy(facts), kernelTime(facts) - facts.saved),
];
/** At most how much of the busy time is saved if durations are shorter by `saved`. */
export const ofBusy = (facts: Facts, saved: number) => Math.min(saved, busy(facts));
/** What the kernels to fix first save together. */
export const firstSaved = ({ first }: Facts) => first.reduce((sum, { saved }) => sum + saved, 0);
/** The share of their roofs that kernels at or below their roof reach together. */
export const reached = ({ saved, judged }: Facts) => (judged > 0 ? 1 - saved / judged : 1);

const COLLECTIVE =
  /^(?:communication|collectives?)$|(?:all[-_ ]?reduce|all[-_ ]?gather|reduce[-_ ]?scatter|(?:ragged[-_ ])?all[-_ ]?to[-_ ]?all|collective[-_ ]?(?:permute|broadcast))(?![a-z])/i;

/** Returns the family of a category: copies of any kind are one, and so are collectives. */
export function familyOf(category: string | null): string | null {
  if (!category) return null;
  if (/^copy\b/i.test(category)) return "copy";
  return COLLECTIVE.test(category) ? "collective" : category;
}

interface Sources {
  readonly kernels: Kernels;
  /** The roof that judges; undefined without a roof. */
  readonly roof: Roof | undefined;
  readonly runs?: Runs | undefined;
  readonly fusion?: Fusion | undefined;
  readonly isWhatIf?: boolean;
  /** The rates of the link with and without its what-if, bytes/s. */
  readonly links?: readonly [now: number, sheet: number] | undefined;
  readonly topology?: string;
}

export function factsOf({ kernels, roof, runs, fusion, isWhatIf = false, links, topology = "switch" }: Sources): Facts {
  const isIdle = idleRows(kernels);
  const families = kernels.series ? undefined : kernels.category.values.map(familyOf);
  const family = (row: number) => families?.[kernels.category.codes[row] as number] ?? null;
  const own = (row: number) => kernels.selfTime[row] || 0;
  const rows = Array.from({ length: kernels.n }, (_, row) => row).filter((row) => !isIdle(row));
  const time = sum(kernels.selfTime);
  const running = sum(rows.map(own));
  const idle = rows.length === kernels.n ? 0 : time - running;
  return {
    table: kernels,
    kernels: rows.length,
    launches: sum(rows.map((row) => (own(row) > 0 ? (kernels.count[row] as number) : 0))),
    row: rows[0] ?? -1,
    time,
    idle,
    families: summed(rows, family, own),
    roof,
    device: deviceOf(kernels.chip ?? roof?.chip),
    isWhatIf,
    changes: runs && changesOf(runs, kernels),
    fusion,
    communication: kernels.communication,
    activity: isActivityOf(kernels.activity, running, idle) ? kernels.activity : null,
    waited: waited(kernels.messages),
    overLink: links && links[0] !== links[1] ? overLink(sentBytes(kernels.messages, topology), links) : undefined,
    ...judgedBy(roof, kernels, rows, family),
  };
}

/** Whether rows with these sums are all of the profile. */
const isActivityOf = (activity: Activity | null, added: number, idle: number): boolean =>
  activity !== null && isSame(activity.added, added) && isSame(activity.idle, idle);
const isSame = (one: number, other: number) => Math.abs(one - other) <= SAME_TIME * Math.max(one, other);

const overLink = (sent: number, [now, sheet]: readonly [number, number]) =>
  sent > 0 ? ([now, sent / now, sent / sheet] as const) : undefined;

const DEVICES = ["GPU", "TPU", "CPU"];

/** Returns the word for a chip. Profilers often name a chip without its kind, such as "TPU v6 Lite". */
function deviceOf(chip: Chip | undefined): string {
  const words = chip ? [chip.kind, ...chip.name.split(" ")].map((word) => word.toUpperCase()) : [];
  return words.find((word) => DEVICES.includes(word)) ?? "chip";
}

function judgedBy(
  roof: Roof | undefined,
  kernels: Kernels,
  rows: readonly number[],
  family: (row: number) => string | null,
) {
  const found = { known: 0, above: 0, aboveCount: 0, judged: 0, saved: 0, least: 0 };
  const regimes = new Map<Regime, number>();
  const savings: Badged[] = [];
  const probe = roof && probeOf(kernels, roof);
  for (const row of probe ? rows : []) {
    const { time: bound, regime, slowest } = (probe as NonNullable<typeof probe>)(row);
    regimes.set(regime, (regimes.get(regime) ?? 0) + 1);
    found.least += bound || 0;
    const own = kernels.selfTime[row] || 0;
    const measured = kernels.time[row] as number;
    const gain = headroomOf(kernels, row, bound);
    if (Number.isNaN(gain)) continue;
    found.known += own;
    if (bound > MIN_ABOVE * measured) {
      found.above += own;
      found.aboveCount += 1;
    }
    if (bound / measured > MIN_UTILIZATION_ABOVE_ROOF) continue;
    found.judged += own;
    if (!(gain > 0)) continue;
    found.saved += gain;
    const level = roof?.levels[slowest]?.name ?? "";
    const limit = regime === "compute" ? (textAt(kernels.precision, row) ?? roof?.precision ?? "") : level;
    savings.push({ row, family: family(row), saved: gain, measured, bound, regime, limit });
  }
  return {
    ...found,
    regimes,
    savers: savings.length,
    savedByFamily: summed(
      savings,
      (one) => one.family,
      (one) => one.saved,
    ),
    first: savings.sort((a, b) => b.saved - a.saved || a.row - b.row).slice(0, MAX_FIRST),
  };
}

/** Returns the sums by name, largest first. Equal sums keep their order. */
export function summed<T>(
  parts: readonly T[],
  name: (part: T) => string | null,
  amount: (part: T) => number,
): readonly (readonly [string | null, number])[] {
  const sums = new Map<string | null, number>();
  for (const part of parts) sums.set(name(part), (sums.get(name(part)) ?? 0) + amount(part));
  return [...sums].sort((a, b) => b[1] - a[1]);
}

function sum(values: ArrayLike<number>): number {
  let total = 0;
  for (let at = 0; at < values.length; at++) total += values[at] || 0;
  return total;
}

function changesOf({ before, changes, onlyBefore, onlyNow }: Runs, kernels: Kernels): Changes | undefined {
  if (!(before.totalTime > 0 && kernels.totalTime > 0)) return;
  const [wasIdle, isIdle] = [idleRows(before), idleRows(kernels)];
  const matched = changes.filter(({ earlier }) => !wasIdle(earlier));
  const of = (word: string) => {
    const rows = matched.filter(({ verdict }) => verdict === word);
    const change = rows.map(({ earlier, row }) => (kernels.time[row] as number) - (before.time[earlier] as number));
    return [rows.length, sum(change)] as const;
  };
  const [faster, slower, same] = [of("faster"), of("slower"), of("same")[0]];
  return {
    before: before.totalTime,
    now: kernels.totalTime,
    matched: matched.length,
    faster,
    slower,
    same,
    other: matched.length - faster[0] - slower[0] - same,
    onlyBefore: onlyBefore.filter((row) => !wasIdle(row)).length,
    onlyNow: onlyNow.filter((row) => !isIdle(row)).length,
  };
}
