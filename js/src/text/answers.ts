// The verdict on an answer as text.

import type { Verdict } from "../roofline/answers.ts";
import type { Attempt, Question } from "../wire/types.ts";
import { storyWords as words } from "../words/words.ts";
import { formatFactor } from "./numbers.ts";

/** Above this factor, and below its inverse, the text has no factor. */
const MAX_FACTOR = 10_000;

export function verdictText(question: Question, given: Attempt, verdict: Verdict | undefined): string {
  const { kind, answer, options } = question;
  if (kind === "choice") {
    const said = options.find(([option]) => option === given)?.[1] ?? "";
    return `${verdict?.isRight ? words.right : words.notYet}${said ? ` ${said}` : ""}`;
  }
  if (!verdict) return words.notYet;
  if (verdict.isRight) return words.right;
  const { factor } = verdict;
  if (kind === "merge") return Number.isNaN(factor) ? words.notYet : words.moreBytes(formatFactor(factor));
  // A factor with very many digits does not help.
  if (!(factor < MAX_FACTOR && factor > 1 / MAX_FACTOR))
    return (given as number) > (answer as number) ? words.tooLarge : words.tooSmall;
  return factor > 1 ? words.large(formatFactor(factor)) : words.small(formatFactor(1 / factor));
}
