// The script of a course's contents: how many questions of each lesson are answered, and with which lesson to continue.

import { keptProgress, showProgress } from "./state/progress.ts";

const resume = document.querySelector<HTMLElement>("[data-continue]");

function showAll() {
  /** The lesson with which to continue: the last one begun that has open questions, else the one after it. */
  let next: { title: string; address: string } | undefined;
  let isBegun = false;
  for (const element of document.querySelectorAll<HTMLElement>("[data-progress]")) {
    const link = element.closest("li")?.querySelector("a") as HTMLAnchorElement;
    const progress = keptProgress(link.href, Number(element.dataset["asked"]), () => localStorage);
    if (progress) showProgress(element, progress);
    const lesson = { title: link.textContent ?? "", address: link.href + (progress?.next ?? "") };
    if (progress && progress.answered > 0) {
      isBegun = true;
      next = progress.next ? lesson : undefined;
    } else if (isBegun) next ??= lesson;
  }
  if (!resume) return;
  resume.hidden = !next;
  resume.querySelector("a")?.remove();
  if (!next) return;
  const link = document.createElement("a");
  link.href = next.address;
  link.textContent = (resume.dataset["continue"] ?? "").replace("{title}", next.title);
  resume.append(link);
}

showAll();
// What a lesson keeps may reach this page after it was opened, or while it lay in the history or in another tab.
addEventListener("storage", showAll);
addEventListener("pageshow", ({ persisted }) => persisted && showAll());
