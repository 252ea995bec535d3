// The slice of the lesson: the current step of a story, its question, the answers, and the kernels that are hidden until
// the answer.

import { computed, type ReadonlySignal, signal } from "@preact/signals";
import { groupBytes } from "../fusion/partition.ts";
import { mergeVerdict, numberVerdict, type Verdict } from "../roofline/answers.ts";
import type { Roof } from "../roofline/roofline.ts";
import { steady } from "../ui/equal.ts";
import { lookUp } from "../ui/keys.ts";
import type { Attempt, Question } from "../wire/types.ts";
import type { Edits } from "./edits.ts";
import type { Entry } from "./history.ts";
import type { Workload } from "./workload.ts";

const NOTHING: ReadonlySet<string> = new Set();

type Lesson = ReturnType<typeof createLesson>;

/** Which kernels are hidden: their names, or all. */
export type Hidden = ReadonlySet<string> | "all";

/** The state of a story that needs neither roofs nor points. */
export function createLesson(edits: Edits, workload: ReadonlySignal<Workload | undefined>) {
  const { story, step, answers } = edits.signals;
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
  const hides = steady(() => (isRevealed.value ? false : (current.value?.hides ?? false)));
  const hidden = computed((): Hidden => {
    if (typeof hides.value === "boolean") return hides.value ? "all" : NOTHING;
    return new Set(hides.value);
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
    giveAnswer(given: Attempt) {
      const asked = question.value;
      if (asked) edits.set({ answers: { ...answers.value, [asked.key]: [...attempts.value, given] } });
    },
    forgetAnswers: () => edits.set({ answers: {} }),
    judge: (given: Attempt) => question.value && verdictOf(question.value, given, workload.value),
    /** Returns the values of all traits that a step sets. */
    valuesAt: (at: number) => edits.decoded({ ...story.value?.base, ...story.value?.steps[at]?.changes }),
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
