// The entry of an exported page: it starts each widget of the page, without Python.

import { figureOf } from "./chart/figure/figure.tsx";
import { LIGHT } from "./chart/theme.ts";
import { answersStorage } from "./state/kept_answers.ts";
import type { Model } from "./state/model.ts";
import { type SavedState, savedModel } from "./state/saved_model.ts";
import type { DrawFigure } from "./state/saving.ts";
import type { StepLink } from "./state/step_link.ts";
import type { Store } from "./state/store.ts";
import makeWidget from "./widget.tsx";
import { inflatedText } from "./wire/packed.ts";
import type { Story } from "./wire/types.ts";

/** Draws a figure for white paper. */
const drawFigure: DrawFigure = (store, style, caption) => {
  const figure = figureOf(store as Store, { style, caption, names: null, patterns: false, ceilings: false }, LIGHT);
  return "svg" in figure ? figure.svg : "";
};

/** What the page itself has: the catalogue of chips. No file is opened, because no Python could read it. */
const OWN: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ["open_files", "nothing"],
  ["draw_figure", drawFigure],
  ["catalogue", document.querySelector("[data-catalogue]")?.textContent],
]);

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
  const packed = element.querySelector("script")?.textContent ?? "";
  const saved = savedModel(JSON.parse(await inflatedText(packed)) as SavedState);
  const story = (saved.get("story") ?? null) as Story | null;
  const place = story ? ++stories : 0;
  const storage = answersStorage(story, place, () => localStorage);
  const own = new Map<string, unknown>([
    ...OWN,
    ["step_link", story ? stepLink(place) : undefined],
    ["answers_storage", storage],
    ["answers", storage?.read()],
  ]);
  const model: Model = { ...saved, get: (name) => own.get(name) ?? saved.get(name) };
  const el = document.createElement("div");
  const { signal } = new AbortController();
  const widget = makeWidget();
  widget.initialize({ model, el, signal });
  element.prepend(el);
  await widget.render({ el, model, signal });
  for (const other of [...element.children]) if (other !== el && other.localName !== "script") other.remove();
}

for (const element of document.querySelectorAll<HTMLElement>("[data-roofwidget]")) void start(element);
