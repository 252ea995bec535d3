// Answers on an exported page. No Python gets them, so the browser keeps them for the next time that the page is opened.

import { effect, type ReadonlySignal, signal } from "@preact/signals";
import type { Attempt, Story } from "../wire/types.ts";
import type { Model } from "./model.ts";

/** All answers to the questions of a story, by key. */
export type Answers = Readonly<Record<string, readonly Attempt[]>>;

/** Where the browser keeps the answers to one story of a page. */
interface AnswersStorage {
  /** Returns the answers that were kept; undefined if there are none. */
  read(): Answers | undefined;
  /** Keeps the answers in place of those before. Returns whether the browser has done so. */
  write(answers: Answers): boolean;
}

/**
 * Returns the storage of a story's answers; undefined if the story asks nothing. Its key depends on the questions, so a
 * page with other questions has other answers. `place` distinguishes equal stories of one page. `storage` throws an
 * error if the browser refuses it.
 */
export function answersStorage(story: Story | null, place: number, storage: () => Storage): AnswersStorage | undefined {
  const questions = story?.steps.flatMap(({ question }) => question ?? []) ?? [];
  if (questions.length === 0) return undefined;
  const key = `roofwidget answers ${hashOf(JSON.stringify(questions))} ${place}`;
  return {
    read() {
      try {
        return answersOf(JSON.parse(storage().getItem(key) ?? "null"));
      } catch {
        return undefined;
      }
    },
    write(answers) {
      try {
        storage().setItem(key, JSON.stringify(answers));
        return true;
      } catch {
        return false;
      }
    },
  };
}

/**
 * Keeps the answers whenever they change, until `abort`. The result is undefined except on an exported page; otherwise
 * it says whether the browser has refused to keep the answers.
 */
export function keepAnswers(
  model: Model,
  answers: ReadonlySignal<Answers>,
  abort: AbortSignal,
): ReadonlySignal<boolean> | undefined {
  const storage = model.get("answers_storage") as AnswersStorage | undefined;
  if (!storage) return undefined;
  const isRefused = signal(false);
  const first = answers.peek();
  const stop = effect(() => {
    const now = answers.value;
    if (now !== first) isRefused.value = !storage.write(now);
  });
  abort.addEventListener("abort", stop);
  return isRefused;
}

const isText = (value: unknown) => typeof value === "string";
const isListOf = (value: unknown, isPart: (part: unknown) => boolean) => Array.isArray(value) && value.every(isPart);
const isAttempt = (value: unknown) =>
  isText(value) || Number.isFinite(value) || isListOf(value, (group) => isListOf(group, isText));

/** Returns the value if it has the form of answers. Other pages of the same origin could write there. */
function answersOf(value: unknown): Answers | undefined {
  const isAnswers =
    typeof value === "object" && value !== null && Object.values(value).every((given) => isListOf(given, isAttempt));
  return isAnswers && !Array.isArray(value) ? (value as Answers) : undefined;
}

/** Returns a short text that differs for different texts, with a probability of about 1 - 2^-64 (two FNV-1a hashes). */
function hashOf(text: string): string {
  let [one, other] = [0x811c9dc5, 0x1b873593];
  for (let at = 0; at < text.length; at++) {
    one = Math.imul(one ^ text.charCodeAt(at), 0x01000193);
    other = Math.imul(other ^ text.charCodeAt(at), 0x85ebca6b);
  }
  return [one, other].map((part) => (part >>> 0).toString(36)).join("");
}
