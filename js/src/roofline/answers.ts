// Whether an answer to a question is right. Mirrors `Question.check` in roofwidget/teaching/question.py.

/** What one answer is worth. `factor`: the answer divided by the right one; NaN if this is not defined. */
export interface Verdict {
  readonly isRight: boolean;
  readonly factor: number;
}

/** Rounding may move a number that is exactly at the limit. */
const ROUNDING = 1e-9;

/** Judges a number. `tolerance`: the largest right distance from the answer, as |log2|. */
export function numberVerdict(answer: number, tolerance: number, given: number): Verdict {
  if (!(answer > 0) || !(given > 0)) return { isRight: given === answer, factor: Number.NaN };
  const distance = Math.log2(given) - Math.log2(answer);
  return { isRight: Math.abs(distance) <= tolerance + ROUNDING, factor: 2 ** distance };
}

/** Judges a partition by the bytes that it moves. */
export const mergeVerdict = (least: number, moved: number): Verdict => ({
  isRight: moved <= least,
  factor: moved / least,
});
