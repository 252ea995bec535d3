// How many questions of a course's page are answered. The page keeps it in the browser, and the contents of the course
// read it. A browser may refuse the storage, or keep it for each file alone: then nothing is known, which is not zero.

import type { Story } from "../wire/types.ts";
import type { Answers } from "./kept_answers.ts";

/** The answers to one story of a page. Its place counts the stories from 1. */
export interface Told {
  readonly place: number;
  readonly story: Story;
  readonly answers: Answers;
}

export interface Progress {
  readonly asked: number;
  readonly answered: number;
  /** The address of the first step with an open question, such as "#step=3"; "" if all are answered. */
  readonly next: string;
}

const isCount = (value: unknown) => Number.isInteger(value);
const isStep = (value: unknown) => typeof value === "string" && /^(#(story=\d+&)?step=\d+)?$/.test(value);
const keyOf = (address: string) => `roofwidget progress ${new URL(address).pathname}`;

/** Returns the address of a step within its page: that of the first story needs no number. */
export const stepAddress = (story: number, step: number): string =>
  story === 1 ? `#step=${step}` : `#story=${story}&step=${step}`;

export function progressOf(stories: readonly Told[]): Progress {
  const steps = stories.flatMap(({ place, story, answers }) =>
    story.steps.flatMap(({ question }, at) =>
      question ? [{ address: stepAddress(place, at + 1), isAnswered: (answers[question.key]?.length ?? 0) > 0 }] : [],
    ),
  );
  const open = steps.filter(({ isAnswered }) => !isAnswered);
  return { asked: steps.length, answered: steps.length - open.length, next: open[0]?.address ?? "" };
}

/** Keeps the progress of the page with this address. Returns whether the browser has done so. */
export function keepProgress(address: string, progress: Progress, storage: () => Storage): boolean {
  try {
    storage().setItem(keyOf(address), JSON.stringify(progress));
    return true;
  } catch {
    return false;
  }
}

/** Returns the progress of a page that asks so many questions; undefined if the browser has none. */
export function keptProgress(address: string, asked: number, storage: () => Storage): Progress | undefined {
  try {
    const kept = JSON.parse(storage().getItem(keyOf(address)) ?? "null") as Progress;
    return kept.asked === asked && isCount(kept.answered) && isStep(kept.next) ? kept : undefined;
  } catch {
    return undefined;
  }
}

/** Shows an element with its text: that of its attribute, in which the counts replace their names. */
export function showProgress(element: HTMLElement, { asked, answered }: Progress): void {
  const words = element.dataset["progress"] ?? "";
  element.textContent = words.replace("{answered}", `${answered}`).replace("{asked}", `${asked}`);
  element.hidden = false;
}
