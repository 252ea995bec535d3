// A widget that shows a saved state, where no Python runs: in an exported page, and in the module that other pages import.

import { figureOf } from "./chart/figure/figure.tsx";
import { LIGHT } from "./chart/theme.ts";
import type { Model } from "./state/model.ts";
import { type SavedState, savedModel } from "./state/saved_model.ts";
import type { DrawFigure } from "./state/saving.ts";
import type { Store } from "./state/store.ts";
import makeWidget from "./widget.tsx";
import { inflatedText } from "./wire/packed.ts";

/** Draws a figure for white paper. */
const drawFigure: DrawFigure = (store, style, caption) => {
  const figure = figureOf(store as Store, { style, caption, names: null, patterns: false, ceilings: false }, LIGHT);
  return "svg" in figure ? figure.svg : "";
};

/** Returns the model of a state that Python compressed. */
export const unpackedModel = async (packed: string): Promise<Model> =>
  savedModel(JSON.parse(await inflatedText(packed)) as SavedState);

/** Draws a widget into an element. `own` has values of the page in place of those of the saved state. */
export async function showSaved(
  el: HTMLElement,
  saved: Model,
  own: ReadonlyMap<string, unknown>,
  signal: AbortSignal,
): Promise<void> {
  // No file is opened, because no Python could read it.
  const values = new Map<string, unknown>([["open_files", "nothing"], ["draw_figure", drawFigure], ...own]);
  const model: Model = {
    ...saved,
    get: (name) => (values.get(name) === undefined ? saved.get(name) : values.get(name)),
  };
  const widget = makeWidget();
  widget.initialize({ model, el, signal });
  await widget.render({ el, model, signal });
}
