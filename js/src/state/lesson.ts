// The steps of a story: the current step, its question, the answers, and the kernels that are hidden until the answer.

import { computed, type ReadonlySignal, signal } from "@preact/signals";
import { groupBytes } from "../fusion/partition.ts";
import { mergeVerdict, numberVerdict, type Verdict } from "../roofline/answers.ts";
import type { Roof } from "../roofline/roofline.ts";
import { lookUp } from "../ui/keys.ts";
import type { Attempt, Question } from "../wire/types.ts";
import type { Workload } from "./graph.ts";
import type { Sync } from "./sync.ts";

const NOTHING: ReadonlySet<string> = new Set();

/** Which kernels are hidden: their names, or all. */
export type Hidden = ReadonlySet<string> | "all";

/** The state of a story that needs neither roofs nor points. */
export function createLesson(
  { signals: { story, step, answers } }: Pick<Sync, "signals">,
  workload: ReadonlySignal<Workload | undefined>,
) {
  const prediction = signal<number | undefined>(undefined);
  /** The keys of the questions for which the learner has chosen "Show the answer". */
  const revealed = signal<ReadonlySet<string>>(NOTHING);
  const current = computed(() => story.value?.steps[Math.min(step.value, story.value.steps.length - 1)]);
  const question = computed(() => current.value?.question ?? undefined);
  const attempts = computed(() => lookUp(answers.value, question.value?.key ?? "") ?? []);
  const isRevealed = computed(() => {
    const asked = question.value;
    // Python can take all answers back. Then the question is asked again.
    if (!asked || attempts.value.length === 0) return false;
    if (revealed.value.has(asked.key)) return true;
    const needs = asked.kind === "merge" ? workload.value : undefined;
    return attempts.value.some((given) => verdictOf(asked, given, needs)?.isRight);
  });
  let last: Hidden = NOTHING;
  const hidden = computed((): Hidden => {
    const hides = current.value?.hides ?? false;
    const now = !hides || isRevealed.value ? NOTHING : hides === true ? "all" : new Set(hides);
    // The same object while the same kernels are hidden, so that values memoized for it stay valid.
    if (
      now === "all" ||
      last === "all" ||
      now.size !== last.size ||
      [...now].some((name) => !(last as Set<string>).has(name))
    )
      last = now;
    return last;
  });
  return {
    prediction,
    current,
    question,
    attempts,
    isRevealed,
    hidden,
    reveal() {
      if (question.value) revealed.value = new Set([...revealed.value, question.value.key]);
    },
    /** Returns the values on the wire of all traits that a step sets. */
    valuesAt: (at: number) => ({ ...story.value?.base, ...story.value?.steps[at]?.changes }),
    steps: computed(() => story.value?.steps.length ?? 0),
  };
}

/** Judges an answer. Returns undefined if it has another form than the question asks for, or needs a missing graph. */
export function verdictOf(question: Question, given: Attempt, workload?: Workload): Verdict | undefined {
  const { kind, answer, tolerance } = question;
  if (kind === "choice") return { isRight: given === answer, factor: Number.NaN };
  if (kind === "merge") return workload && mergeOf(workload, answer, given);
  if (typeof answer !== "number" || typeof given !== "number") return undefined;
  return numberVerdict(answer, tolerance ?? 0, given);
}

function mergeOf({ graph, values }: Workload, answer: Attempt, given: Attempt): Verdict | undefined {
  const place = new Map(graph.ops.map(({ name }, at) => [name, at]));
  const moved = (groups: Attempt): number => {
    if (!Array.isArray(groups)) return Number.NaN;
    const named = (groups as string[][]).map((group) => group.map((name) => place.get(name)));
    const isPartition = new Set(named.flat()).size === graph.ops.length && named.flat().length === graph.ops.length;
    if (!isPartition || named.flat().includes(undefined)) return Number.NaN;
    return (named as number[][]).reduce((sum, group) => sum + groupBytes(graph, values, group), 0);
  };
  return mergeVerdict(moved(answer), moved(given));
}

/** Returns what the chart itself answers now: the rate of the focus roof, or the groups of the partition. */
export function answerOnChart(
  { kind, on }: Question,
  roof: ReadonlySignal<Roof | undefined>,
  workload: ReadonlySignal<Workload | undefined>,
): Attempt | undefined {
  if (kind === "merge") {
    const now = workload.value;
    return now?.partition.groups.map((group) => group.map((op) => now.graph.ops[op]?.name ?? ""));
  }
  return on === "bandwidth" ? roof.value?.bandwidth : on === "peak_flops" ? roof.value?.peak : undefined;
}
