// The loader: the small part of the front end that Python sends with each widget. All other code and the texts are in a
// model that all widgets of a Jupyter kernel share. The loader gets the code and the texts from this model. A page
// imports the code and the texts of a language only once, for all widgets of the page.

import { inflated } from "./wire/packed.ts";
import type { loadWords } from "./words/en.ts";
import type { Like } from "./words/words.ts";

interface WidgetModel {
  get(name: string): unknown;
}

interface LoaderContext {
  readonly model: WidgetModel & { readonly widget_manager: { get_model(id: string): Promise<WidgetModel> } };
  readonly signal: AbortSignal;
}

interface ViewContext extends LoaderContext {
  readonly el: HTMLElement;
}

interface Widget {
  initialize(context: LoaderContext): unknown;
  render(context: ViewContext): unknown;
}

interface FrontEnd {
  readonly make: () => Widget;
  readonly style: string;
  readonly digest: string;
}

/** A file that Python has compressed with gzip, in base64. */
type Compressed = string;

const REGISTRY = Symbol.for("roofwidget");
const MODEL_PREFIX = "IPY_MODEL_";

/** Returns the loader for a language. The build calls this function once per language. */
export const loaderOf = (words: Like<typeof loadWords>) => () => {
  let loading: Promise<Loaded | undefined>;
  return {
    /**
     * Starts to load the code, and returns at once. anywidget waits two seconds for the initialization. If the
     * initialization takes longer or fails, anywidget drops all messages from Python.
     */
    initialize(context: LoaderContext) {
      loading = loaded(context, words.language).catch((error: unknown) => {
        console.error(error);
        return undefined;
      });
    },
    async render(context: ViewContext) {
      const found = await loading;
      if (context.signal.aborted) return undefined;
      if (!found) {
        context.el.textContent = words.noCode;
        return undefined;
      }
      addStyle(context.el, found.code);
      return found.widget.render(context);
    },
  };
};

interface Loaded {
  readonly code: FrontEnd;
  readonly widget: Widget;
}

/**
 * Loads the code. Then starts the widget, unless its model was closed during loading. The shared model has this loader
 * too, and no view: it only loads the code, before the page has the first widget.
 */
async function loaded(context: LoaderContext, language: string): Promise<Loaded | undefined> {
  if (context.model.get("digest")) {
    await codeIn(context.model, language);
    return undefined;
  }
  const code = await codeOf(context.model, language);
  const widget = code.make();
  if (!context.signal.aborted) widget.initialize(context);
  return { code, widget };
}

async function codeOf(model: LoaderContext["model"], language: string): Promise<FrontEnd> {
  const reference = model.get("_code");
  if (typeof reference !== "string") throw new Error("roofwidget: the model of its code was closed");
  return codeIn(await model.widget_manager.get_model(reference.slice(MODEL_PREFIX.length)), language);
}

function codeIn(shared: WidgetModel, language: string): Promise<FrontEnd> {
  const digest = String(shared.get("digest"));
  const words = (shared.get("words") as Record<string, Compressed>)[language];
  if (words === undefined) throw new Error(`roofwidget: the model of its code has no words in '${language}'`);
  const [script, style] = ["script", "style"].map((name) => shared.get(name) as Compressed);
  return once(`${digest} ${language}`, async () => {
    const [first, second, css] = await Promise.all([words, script as Compressed, style as Compressed].map(inflated));
    const make = await imported([first as ArrayBuffer, "\n", second as ArrayBuffer]);
    return { make, style: new TextDecoder().decode(css), digest };
  });
}

/**
 * Returns the front end of a key. If the page has not loaded the front end yet, loads it. Each widget runs its own copy
 * of this loader. All copies share one global map, so that the page imports each front end only once.
 */
function once(key: string, load: () => Promise<FrontEnd>): Promise<FrontEnd> {
  const page = globalThis as unknown as { [REGISTRY]?: Map<string, Promise<FrontEnd>> };
  page[REGISTRY] ??= new Map();
  const registry = page[REGISTRY];
  const known = registry.get(key);
  if (known) return known;
  const loading = load();
  registry.set(key, loading);
  // Remove a failed import, so that the next widget tries to import the code again.
  loading.catch(() => registry.delete(key));
  return loading;
}

async function imported(script: BlobPart[]): Promise<FrontEnd["make"]> {
  const url = URL.createObjectURL(new Blob(script, { type: "text/javascript" }));
  try {
    return (await import(/* @vite-ignore */ url)).default;
  } finally {
    URL.revokeObjectURL(url);
  }
}

/**
 * Adds the style before the view is drawn. If the view is not in the page yet, the view's shadow root is unknown. In
 * this case, this function adds the style again in the next frame.
 */
function addStyle(el: HTMLElement, code: FrontEnd) {
  insertStyle(el, code);
  if (!el.isConnected) el.ownerDocument.defaultView?.requestAnimationFrame(() => insertStyle(el, code));
}

/**
 * Adds a style element to the view's shadow root. If the view has no shadow root, adds the element to the document. If
 * the style with this digest is already there, adds nothing.
 */
function insertStyle(el: HTMLElement, { style, digest }: FrontEnd) {
  const root = el.getRootNode();
  const place = "host" in root ? (root as ShadowRoot) : el.ownerDocument.head;
  if (place.querySelector(`style[data-roofwidget="${digest}"]`)) return;
  const element = el.ownerDocument.createElement("style");
  element.dataset["roofwidget"] = digest;
  element.textContent = style;
  place.append(element);
}
