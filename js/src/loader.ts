// The loader: the small part of the front end that Python sends with each widget, as text in the starter (starter.ts). All
// other code and the texts are in a model that all widgets of a Jupyter kernel share. The loader gets the code and the texts
// from this model, and compares them with their digests before they run. A page imports the same code and texts only once,
// for all widgets of the page.

import { importText } from "./wire/import_text.ts";
import { inflated } from "./wire/packed.ts";
import { addStyle } from "./wire/style.ts";
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
      addStyle(context.el, found.code.style);
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
  if (context.model.get("digests")) {
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
  if (typeof reference !== "string") throw new Error("roofwidget: its code was closed");
  return codeIn(await model.widget_manager.get_model(reference.slice(MODEL_PREFIX.length)), language);
}

function codeIn(shared: WidgetModel, language: string): Promise<FrontEnd> {
  const words = (shared.get("words") as Record<string, Compressed>)[language];
  if (words === undefined) throw new Error(`roofwidget: its code has no words in '${language}'`);
  const [script, style] = ["script", "style"].map((name) => shared.get(name) as Compressed) as [Compressed, Compressed];
  const digests = shared.get("digests") as Record<string, string>;
  return once([words, script, style].join(" "), async () => {
    await Promise.all([
      check(`words.${language}`, words, digests),
      check("script", script, digests),
      check("style", style, digests),
    ]);
    const [first, second, css] = await Promise.all([words, script, style].map(inflated));
    const make = await importText<FrontEnd["make"]>([first as ArrayBuffer, "\n", second as ArrayBuffer]);
    return { make, style: new TextDecoder().decode(css) };
  });
}

/**
 * Throws an error if a file does not have its SHA-256 digest. Browsers compute digests only for pages from https and
 * from the same machine. In other pages nothing is compared.
 */
async function check(name: string, file: Compressed, digests: Record<string, string>) {
  const { subtle } = crypto as { subtle?: SubtleCrypto };
  if (!subtle) return;
  const bytes = new Uint8Array(await subtle.digest("SHA-256", new TextEncoder().encode(file)));
  const digest = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  if (digest !== digests[name]) throw new Error(`roofwidget: '${name}' of its code has another digest`);
}

/**
 * Returns the front end with this content. If the page has not loaded the front end yet, loads it. A page has a
 * loader for each language and version. All of them share one global map, so that the page imports each front end only
 * once. The key is the content itself: a model that names the digest of another front end cannot take its place.
 */
function once(content: string, load: () => Promise<FrontEnd>): Promise<FrontEnd> {
  const page = globalThis as unknown as { [REGISTRY]?: Map<string, Promise<FrontEnd>> };
  page[REGISTRY] ??= new Map();
  const registry = page[REGISTRY];
  const known = registry.get(content);
  if (known) return known;
  const loading = load();
  registry.set(content, loading);
  // Remove a failed import, so that the next widget tries to import the code again.
  loading.catch(() => registry.delete(content));
  return loading;
}
