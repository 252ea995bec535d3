// The verdict on an answer as text.

import type { Verdict } from "../roofline/answers.ts";
import { storyWords as words } from "../words/words.ts";
import { formatQuantity } from "./numbers.ts";

/** Returns the message to the learner. It never has the factor between the answer and the right one. */
export function verdictText({ isRight, said, text, isLarge, band, merge }: Verdict): string {
  const way = isLarge ? words.tooLarge : words.tooSmall;
  if (said === "direction") return `${words.notYet}: ${way}.`;
  if (said === "band") return `${words.notYet}: ${way}, ${words.bands[band ?? "far"]}`;
  if (merge && !isRight) {
    const { kernels, moved, least } = merge;
    const bytes = (amount: number) => formatQuantity(amount, "B", 4);
    if (said === "kernels") return `${words.notYet}: ${words.fewerBytes(kernels)}`;
    if (said === "tensor") return `${words.notYet}: ${words.costsMost(kernels, text)}`;
    return `${words.notYet}: ${words.leastBytes(kernels, bytes(moved), bytes(least))}`;
  }
  return [isRight ? words.right : `${words.notYet}.`, text].filter(Boolean).join(" ");
}
