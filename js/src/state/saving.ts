// Files that are made of the state: Python makes them, and an exported page draws its own figures.

import type { Model } from "./model.ts";
import type { Requests } from "./requests.ts";

export type FigureStyle = "paper-1col" | "paper-2col" | "slide";

/** Draws a figure of the store as SVG text. An exported page has this function. */
export type DrawFigure = (store: object, style: FigureStyle, caption: boolean) => string;

/** Copies the address of the graph. Returns what is said then. An exported page has this function. */
export type ShareGraph = (store: object, workload: object) => Promise<string | undefined>;

export function createSaving(model: Model, requests: Requests) {
  const own = model.get("draw_figure") as DrawFigure | undefined;
  async function made(
    name: "svg" | "html" | "json",
    options: { readonly style?: FigureStyle; readonly caption?: boolean },
  ) {
    const { saved, refused = "" } = await requests.ask({ ask: "save", name, ...options });
    if (typeof saved !== "string") throw new Error(refused);
    return saved;
  }
  return {
    canAskPython: own === undefined,
    shareGraph: model.get("share_graph") as ShareGraph | undefined,
    figureText: async (store: object, style: FigureStyle, caption: boolean) =>
      own ? own(store, style, caption) : made("svg", { style, caption }),
    fileText: (name: "html" | "json") => made(name, {}),
  };
}
