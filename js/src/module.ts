// The front end as one module of the form that anywidget defines (AFM), for pages where no Python runs: MyST, Quarto, a plain
// page. Its model has the values "saved", a state that Python compressed, and "catalogue", the chips to choose from.

import { showSaved, unpackedModel } from "./saved_view.ts";
import { addStyle } from "./wire/style.ts";

/** The style, which the build puts in front of this module. */
declare const roofwidgetStyle: string;

interface ModuleContext {
  readonly model: { get(name: string): unknown };
  readonly el: HTMLElement;
  /** Some hosts give none, and use what `render` returns. */
  readonly signal?: AbortSignal;
}

export default {
  async render({ model, el, signal }: ModuleContext): Promise<() => void> {
    const closing = new AbortController();
    signal?.addEventListener("abort", () => closing.abort());
    if (signal?.aborted) closing.abort();
    addStyle(el, roofwidgetStyle);
    const saved = model.get("saved");
    if (typeof saved !== "string") throw new Error("roofwidget: the model has no 'saved', as rw.to_myst writes it");
    const own = new Map([["catalogue", model.get("catalogue")]]);
    await showSaved(el, await unpackedModel(saved), own, closing.signal);
    return () => closing.abort();
  },
};
