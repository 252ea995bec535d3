// The entry of an exported page: it starts each widget of the page, without Python.

import { showSaved, unpackedModel } from "./saved_view.ts";
import { answersStorage } from "./state/kept_answers.ts";
import type { StepLink } from "./state/step_link.ts";
import type { Story } from "./wire/types.ts";

/** The catalogue of chips, which all widgets of the page share. */
const CATALOGUE = document.querySelector("[data-catalogue]")?.textContent;

/** The first story of a page is linked by "#step=3", the second by "#story=2&step=3", and so on. */
function stepLink(story: number): StepLink {
  const parts = () => new URLSearchParams(location.hash.slice(1));
  return {
    read: () =>
      Number(parts().get("story") ?? 1) === story ? Number.parseInt(parts().get("step") ?? "", 10) : Number.NaN,
    write(step) {
      // A page within another page has no address of its own.
      try {
        history.replaceState(null, "", story === 1 ? `#step=${step}` : `#story=${story}&step=${step}`);
      } catch {}
    },
    follow: (changed, signal) => addEventListener("hashchange", changed, { signal }),
  };
}
let stories = 0;

/** Starts a widget in the place of its picture. The element's script has the widget's state. */
async function start(element: HTMLElement) {
  const saved = await unpackedModel(element.querySelector("script")?.textContent ?? "");
  const story = (saved.get("story") ?? null) as Story | null;
  const place = story ? ++stories : 0;
  const storage = answersStorage(story, place, () => localStorage);
  const own = new Map<string, unknown>([
    ["catalogue", CATALOGUE],
    ["step_link", story ? stepLink(place) : undefined],
    ["answers_storage", storage],
    ["answers", storage?.read()],
  ]);
  const el = document.createElement("div");
  element.prepend(el);
  await showSaved(el, saved, own, new AbortController().signal);
  for (const other of [...element.children]) if (other !== el && other.localName !== "script") other.remove();
}

for (const element of document.querySelectorAll<HTMLElement>("[data-roofwidget]")) void start(element);
