// Whether an answer to a question is right, and which message the learner gets. Mirrors `Question.check` in
// roofwidget/teaching/question.py.

/** How far off a wrong number is, without the factor. */
export type Band = "near" | "some" | "far";

/** The verdict on one answer. */
export interface Verdict {
  readonly isRight: boolean;
  /** Which message the learner gets: the same names as `Check.said` in Python. */
  readonly said: string;
  /**
   * The text of a listed wrong answer, of the method or of an option; for "tensor" and "kernel" its name. "" for all
   * other messages.
   */
  readonly text: string;
  /** For "direction" and "band": whether the answer is too large. */
  readonly isLarge?: boolean;
  readonly band?: Band;
  readonly merge?: Pick<MergeKey, "kernels" | "now" | "least" | "isTime">;
}

/** The parts of a question that judge a number. `tolerance`: the largest right distance from the answer, as |log2|. */
export interface NumberKey {
  readonly answer: number;
  readonly tolerance: number;
  readonly wrongAnswers: readonly (readonly [number: number, said: string])[];
  readonly method: string;
}

/** Rounding may move a number that is exactly at a limit. */
const ROUNDING = 1e-9;
const [NEAR, FAR] = [2, 10];
export const RIGHT: Verdict = { isRight: true, said: "right", text: "" };
export const INVALID: Verdict = { isRight: false, said: "invalid", text: "" };

const distance = (one: number, other: number) => Math.abs(Math.log2(one) - Math.log2(other));

function isNear(given: number, answer: number, tolerance: number): boolean {
  if (!(answer > 0) || !(given > 0)) return given === answer;
  return distance(given, answer) <= tolerance + ROUNDING;
}

function bandOf(given: number, answer: number): Band {
  const bits = distance(given, answer);
  if (bits <= Math.log2(NEAR) + ROUNDING) return "near";
  return bits <= Math.log2(FAR) + ROUNDING ? "some" : "far";
}

/** Judges a number. `attempt` counts the answers of the learner from 1: later messages say more. */
export function numberVerdict(key: NumberKey, given: number, attempt: number): Verdict {
  const { answer, tolerance, wrongAnswers, method } = key;
  if (isNear(given, answer, tolerance)) return RIGHT;
  const [listed] = [...wrongAnswers].sort(([one], [other]) => Math.abs(one - given) - Math.abs(other - given));
  if (listed && isNear(given, listed[0], tolerance)) return { isRight: false, said: "listed", text: listed[1] };
  if (attempt > 2 && method) return { isRight: false, said: "method", text: method };
  const way = { isRight: false, text: "", isLarge: given > answer };
  if (attempt === 1 || !(answer > 0) || !(given > 0)) return { ...way, said: "direction" };
  return { ...way, said: "band", band: bandOf(given, answer) };
}

/** The parts of a question that judge an option. `ids` are the names of the options in their order. */
export interface ChoiceKey {
  readonly answer: string;
  readonly options: readonly (readonly [option: string, said: string])[];
  readonly ids: readonly string[];
  /** False for a vote: each option counts as right. */
  readonly graded?: boolean | undefined;
}

/** Judges an option, which is given by its text or its id. */
export function choiceVerdict({ answer, options, ids, graded }: ChoiceKey, given: string): Verdict {
  const byId = ids.indexOf(given);
  const at = byId >= 0 ? byId : options.findIndex(([option]) => option === given);
  const [option, text] = options[at] ?? [];
  if (option === undefined || text === undefined) return INVALID;
  const isRight = option === answer;
  if (isRight && graded !== false) return { ...RIGHT, text };
  return { isRight: graded === false, said: ids[at] ?? `a${at + 1}`, text };
}

/** A partition beside a best one, by the bytes that they move or by their seconds. */
export interface MergeKey {
  readonly kernels: number;
  readonly now: number;
  readonly least: number;
  readonly isTime: boolean;
  /**
   * Returns what costs most: the largest tensor that only this partition moves between kernels, or the slowest kernel
   * that only this partition has.
   */
  largest(): string;
}

/** Judges a partition. */
export function mergeVerdict({ largest, ...merge }: MergeKey, attempt: number): Verdict {
  const { now, least, isTime } = merge;
  if (now <= least * (1 + ROUNDING)) return { ...RIGHT, merge };
  if (attempt === 1) return { isRight: false, said: "kernels", text: "", merge };
  if (attempt === 2) return { isRight: false, said: isTime ? "kernel" : "tensor", text: largest(), merge };
  return { isRight: false, said: isTime ? "time" : "bytes", text: "", merge };
}
