// The verdict on an answer as text.

import type { Verdict } from "../roofline/answers.ts";
import { fusionWords, storyWords as words } from "../words/words.ts";
import { formatQuantity } from "./numbers.ts";

/** Returns the message to the learner. It never has the factor between the answer and the right one. */
export function verdictText({ isRight, said, text, isLarge, band, merge }: Verdict): string {
  const way = isLarge ? words.tooLarge : words.tooSmall;
  if (said === "direction") return `${words.notYet}: ${way}.`;
  if (said === "band") return `${words.notYet}: ${way}, ${words.bands[band ?? "far"]}`;
  if (merge && !isRight) {
    const { kernels, now, least, isTime } = merge;
    const cost = (amount: number) => formatQuantity(amount, isTime ? "s" : "B", 4);
    const [fewer, most, spent] = isTime
      ? [words.lessTime, words.notFastest, words.takes]
      : [words.fewerBytes, words.costsMost, words.moves];
    const message =
      said === "kernels" || text
        ? `${fusionWords.counted(kernels)}. ${text ? most(text) : fewer}`
        : `${spent(kernels, cost(now))} ${words.reachable(cost(least))}`;
    return `${words.notYet}: ${message}`;
  }
  // The answer to a vote is neither right nor wrong.
  if (isRight && said !== "right") return text;
  return [isRight ? words.right : `${words.notYet}.`, text].filter(Boolean).join(" ");
}
