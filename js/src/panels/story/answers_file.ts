// The file with a learner's answers. `roofwidget/export/answers.py` writes the same form, and `roofwidget.grade` reads it.

import type { Store } from "../../state/store.ts";
import { fileName, saveFile } from "../../ui/download.ts";
import { plainText } from "./text_nodes.tsx";

const [FORMAT, VERSION] = ["roofwidget answers", 1];

/** Returns the text of the file. */
export function answersText({ story, answers }: Pick<Store["lesson"], "story" | "answers">, head = {}): string {
  const questions = story.value?.steps.flatMap(({ question }) => question ?? []) ?? [];
  const records = questions.map(({ prompt, explanation, ...rest }) => ({
    ...rest,
    prompt: plainText(prompt),
    explanation: plainText(explanation),
  }));
  const record = { format: FORMAT, version: VERSION, questions: records, answers: answers.value, ...head };
  return `${JSON.stringify(record, null, 1)}\n`;
}

export function saveAnswers(store: Store, page: Document): void {
  // The page of a student says whose answers these are. `roofwidget/teaching/classroom/pages.py` writes it.
  const { file, ...head } = JSON.parse(page.querySelector("[data-hand-in]")?.textContent ?? "{}");
  if (file) head.saved_at = new Date();
  const name = file ?? fileName(`answers ${store.view.title.value}`, "json", "answers");
  saveFile(page, name, new Blob([answersText(store.lesson, head)], { type: "application/json" }));
}
