// The slice of the lesson: the current step of a story, its question, the answers, and what is hidden until the answer.

import { computed, type ReadonlySignal, signal } from "@preact/signals";
import { timeOf } from "../fusion/forms.ts";
import { type Graph, groupName, type Ops } from "../fusion/graph.ts";
import { groupBytes } from "../fusion/partition.ts";
import { choiceVerdict, INVALID, mergeVerdict, numberVerdict, type Verdict } from "../roofline/answers.ts";
import type { Roof } from "../roofline/roofline.ts";
import { isEqual, steady } from "../ui/equal.ts";
import { lookUp } from "../ui/keys.ts";
import type { Attempt, Question } from "../wire/types.ts";
import type { Edits } from "./edits.ts";
import type { Entry } from "./history.ts";
import type { Workload } from "./workload.ts";

const NOTHING: ReadonlySet<string> = new Set();

type Lesson = ReturnType<typeof createLesson>;

/** Which kernels are hidden: their names, or all. */
export type Hidden = ReadonlySet<string> | "all";

/**
 * What can tell the answer to an open question. "headline" is the verdict above the chart; "sentence", "table",
 * "comparison", "projection" and "fusion" are panels; "operations" the counts of the ops of a graph; "points" the numbers
 * beside points; "ridge" the numbers at ridge points; "graph" the graph itself. "fusion" are the figures of
 * the panel, and what a merge does.
 */
export type Hint =
  | ("headline" | "sentence" | "table" | "comparison" | "projection" | "fusion")
  | ("operations" | "points" | "ridge" | "graph");

const OF_GRAPH: readonly Hint[] = ["headline", "fusion", "operations"];
const NUMBERS: readonly Hint[] = ["sentence", "table", "comparison", "projection", "points", ...OF_GRAPH];

/** Returns what a question hides beside kernels until it is answered. Pictures of Python hide the same. */
function hintsTo({ kind, on, kernel, unit, reading, graded }: Question): readonly Hint[] {
  if (graded === false) return [...NUMBERS, "graph"];
  const isRoof = on === "bandwidth" || on === "peak_flops";
  if (reading) return [];
  if (kind === "merge" || isRoof) return ["headline"];
  // The kernel of a marker is hidden everywhere but in its graph.
  if (kind === "drag" && kernel !== null) return OF_GRAPH;
  return unit === "FLOP/B" ? [...NUMBERS, "ridge"] : NUMBERS;
}

/** What an answer is after the learner was shown the right one. */
const SHOWN: Attempt = [];
const isShown = (given: Attempt) => isEqual(given, SHOWN);

/** The state of a story that needs neither roofs nor points. */
export function createLesson(edits: Edits, workload: ReadonlySignal<Workload | undefined>) {
  const { story, step, answers } = edits.signals;
  const prediction = signal<number | undefined>(undefined);
  const current = computed(() => story.value?.steps[Math.min(step.value, story.value.steps.length - 1)]);
  const question = computed(() => current.value?.question ?? undefined);
  const given = computed(() => lookUp(answers.value, question.value?.key ?? "") ?? []);
  const attempts = computed(() => given.value.filter((one) => !isShown(one)));
  // An earlier answer once more is no further attempt.
  const tries = computed(
    () => attempts.value.filter((one, at, all) => all.findIndex((other) => isEqual(one, other)) === at).length,
  );
  const isRevealed = computed(() => {
    const asked = question.value;
    if (!asked) return false;
    const needs = asked.kind === "merge" ? workload.value : undefined;
    return given.value.some((one, at) => isShown(one) || verdictOf(asked, one, at + 1, needs)?.isRight);
  });
  /** Whether the step shows what its question hides. */
  const isOpen = computed(() => isRevealed.value && !current.value?.keeps_hidden);
  const hides = steady(() => (isOpen.value ? false : (current.value?.hides ?? false)));
  const hidden = computed((): Hidden => {
    if (typeof hides.value === "boolean") return hides.value ? "all" : NOTHING;
    return new Set(hides.value);
  });
  const hints = steady(() => (question.value && !isOpen.value ? hintsTo(question.value) : []));
  function add(one: Attempt) {
    const asked = question.value;
    if (asked) edits.set({ answers: { ...answers.value, [asked.key]: [...given.value, one] } });
  }
  return {
    prediction,
    current,
    question,
    attempts,
    tries,
    isRevealed,
    hidden,
    hidesHint: (hint: Hint) => hints.value.includes(hint),
    reveal: () => add(SHOWN),
    giveAnswer(answer: Attempt) {
      if (!isEqual(answer, attempts.value.at(-1))) add(answer);
    },
    forgetAnswers: () => edits.set({ answers: {} }),
    verdict: computed(() => {
      const [asked, last] = [question.value, attempts.value.at(-1)];
      return asked && last !== undefined ? verdictOf(asked, last, tries.value, workload.value) : undefined;
    }),
    /** Returns the values of all traits that a step sets. */
    valuesAt: (at: number) => edits.decoded({ ...story.value?.base, ...story.value?.steps[at]?.changes }),
    steps: computed(() => story.value?.steps.length ?? 0),
  };
}

/**
 * Judges an answer, which is the learner's `attempt`-th. Returns undefined if it has another form than the question asks
 * for, or needs a missing graph.
 */
export function verdictOf(
  question: Question,
  given: Attempt,
  attempt: number,
  workload?: Workload,
): Verdict | undefined {
  const { kind, answer, tolerance, options, option_ids: ids = [] } = question;
  if (kind === "choice")
    return typeof given === "string"
      ? choiceVerdict({ answer: answer as string, options, ids, graded: question.graded }, given)
      : INVALID;
  if (kind === "merge") return workload && mergeOf(workload, question, given, attempt);
  if (typeof answer !== "number" || typeof given !== "number") return undefined;
  const { wrong_answers: wrongAnswers = [], method = "" } = question;
  return numberVerdict({ answer, tolerance: tolerance ?? 0, wrongAnswers, method }, given, attempt);
}

function mergeOf({ graph, values, forms }: Workload, { answer, chip }: Question, given: Attempt, attempt: number) {
  const [best, now] = [groupsOf(graph, answer), groupsOf(graph, given)];
  if (!best || !now) return INVALID;
  const isTime = typeof chip === "string";
  const costOf = isTime ? timeOf(forms, forms.cost) : (group: Ops) => groupBytes(graph, values, group);
  const sum = (groups: Groups) => groups.reduce((total, group) => total + costOf(group), 0);
  function slowest(): string {
    const others = (now as Groups).filter((group) => !best?.some((one) => isEqual(one, group)));
    const times = others.map(costOf);
    return groupName(graph, others[times.indexOf(Math.max(...times))] ?? []);
  }
  const largest = isTime ? slowest : () => largestBetween(graph, values.bytes, now, best);
  return mergeVerdict({ kernels: now.length, now: sum(now), least: sum(best), isTime, largest }, attempt);
}

type Groups = readonly (readonly number[])[];

/** Returns the numbers of the ops of a partition. Undefined if an op is missing, unknown or twice in the groups. */
function groupsOf({ ops }: Graph, groups: Attempt): Groups | undefined {
  if (!Array.isArray(groups)) return undefined;
  const place = new Map(ops.map(({ name }, at) => [name, at]));
  const named = (groups as string[][]).map((group) => group.map((name) => place.get(name)));
  const all = named.flat();
  const isPartition = new Set(all).size === ops.length && all.length === ops.length && !all.includes(undefined);
  return isPartition ? (named as number[][]).map((group) => group.sort((a, b) => a - b)) : undefined;
}

/** Returns the largest tensor that one kernel writes and another reads, and that stays on chip in the best partition. */
function largestBetween(graph: Graph, bytes: ArrayLike<number>, now: Groups, best: Groups): string {
  const [still, between] = [passedBetween(graph, best), passedBetween(graph, now)];
  const costs = between.filter((tensor) => !still.includes(tensor));
  const nameOf = (tensor: number) => graph.tensors[tensor]?.name ?? "";
  const sizeOf = (tensor: number) => bytes[tensor] ?? 0;
  const sorted = (costs.length > 0 ? costs : between).sort(
    (one, other) => sizeOf(other) - sizeOf(one) || (nameOf(one) < nameOf(other) ? -1 : 1),
  );
  return nameOf(sorted[0] ?? graph.ops[0]?.inputs[0] ?? -1);
}

/** Returns the tensors that an op of one group writes and an op of another group reads. */
function passedBetween({ producer, consumers, tensors }: Graph, groups: Groups): number[] {
  const groupOf = new Map(groups.flatMap((group, at) => group.map((op) => [op, at] as const)));
  return tensors.flatMap((_, tensor) => {
    const maker = groupOf.get(producer[tensor] as number);
    const isPassed = maker !== undefined && consumers[tensor]?.some((op) => groupOf.get(op) !== maker);
    return isPassed ? [tensor] : [];
  });
}

/** What a lesson needs of the other slices. */
interface Others {
  readonly graph: ReadonlySignal<Workload | undefined>;
  readonly focusRoof: ReadonlySignal<Roof | undefined>;
  /** Shows a graph with these traits. */
  restore(entry: Entry): void;
  /** Clears what belongs to single rows. */
  clear(): void;
  hover(row: null): void;
}

/** The actions of a lesson that need the other slices. */
export function lessonActions(
  edits: Edits,
  { prediction, question, valuesAt }: Lesson,
  { graph, focusRoof, restore, clear, hover }: Others,
) {
  return {
    showStep(step: number) {
      const { phase, partition, dims, convention, dtype, ...others } = valuesAt(step);
      const isGraphSet = partition && graph.value;
      hover(null);
      prediction.value = undefined;
      edits.edit(() => {
        if (isGraphSet) {
          clear();
          restore({ phase, partition, dims, convention, dtype } as Entry);
        }
        edits.putNew({ ...others, step });
      });
    },
    /** Returns the rate of the focus roof, or the groups of the partition. */
    answerNow(): Attempt | undefined {
      const asked = question.value;
      if (asked?.kind === "merge") {
        const now = graph.value;
        return now?.partition.groups.map((group) => group.map((op) => now.graph.ops[op]?.name ?? ""));
      }
      if (asked?.on === "bandwidth") return focusRoof.value?.bandwidth;
      return asked?.on === "peak_flops" ? focusRoof.value?.peak : undefined;
    },
  };
}
