// What each widget sends in place of the whole front end: it finds the code in the one model of the kernel that has it,
// and a page imports that code once, however many widgets it shows.

import { loadWords } from "./words/words.ts";

interface Found {
  get(name: string): unknown;
}

interface Context {
  readonly model: Found & { readonly widget_manager: { get_model(id: string): Promise<Found> } };
  readonly signal: AbortSignal;
}

interface ViewContext extends Context {
  readonly el: HTMLElement;
}

interface Widget {
  initialize(context: Context): unknown;
  render(context: ViewContext): unknown;
}

interface Code {
  readonly make: () => Widget;
  readonly style: string;
  readonly digest: string;
}

type Imported = Promise<{ readonly default: () => Widget }>;

const REGISTRY = Symbol.for("roofwidget");
const PREFIX = "IPY_MODEL_";

export default () => {
  let code: Code | undefined;
  let widget: Widget | undefined;
  return {
    async initialize(context: Context) {
      try {
        code = await codeOf(context.model);
      } catch (error) {
        // Views tell it; an error here would hold up whatever Python sends.
        console.error(error);
        return;
      }
      if (context.signal.aborted) return;
      widget = code.make();
      return widget.initialize(context);
    },
    render(context: ViewContext) {
      if (!code || !widget) {
        context.el.textContent = loadWords.noCode;
        return;
      }
      dress(context.el, code);
      return widget.render(context);
    },
  };
};

async function codeOf(model: Context["model"]): Promise<Code> {
  const reference = model.get("_code");
  if (typeof reference !== "string") throw new Error("roofwidget: the model of its code was closed");
  const shared = await model.widget_manager.get_model(reference.slice(PREFIX.length));
  const digest = String(shared.get("digest"));
  const { default: make } = await imported(digest, String(shared.get("script")));
  return { make, style: String(shared.get("style")), digest };
}

/** The module of a digest. Every widget runs a loader of its own, so what is imported is kept in the page's globals. */
function imported(digest: string, script: string): Imported {
  const page = globalThis as unknown as { [REGISTRY]?: Map<string, Imported> };
  page[REGISTRY] ??= new Map();
  const registry = page[REGISTRY];
  const known = registry.get(digest);
  if (known) return known;
  const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  const module: Imported = import(/* @vite-ignore */ url).finally(() => URL.revokeObjectURL(url));
  registry.set(digest, module);
  // The next widget may have better luck.
  module.catch(() => registry.delete(digest));
  return module;
}

/** Has the style reach the view before it is drawn and, once the host has put the view in place, there too. */
function dress(el: HTMLElement, code: Code) {
  insertStyle(el, code);
  if (!el.isConnected) el.ownerDocument.defaultView?.requestAnimationFrame(() => insertStyle(el, code));
}

/** The view's shadow root, or its document, holds one style of each digest. */
function insertStyle(el: HTMLElement, { style, digest }: Code) {
  const root = el.getRootNode();
  const place = "host" in root ? (root as ShadowRoot) : el.ownerDocument.head;
  if (place.querySelector(`style[data-roofwidget="${digest}"]`)) return;
  const element = el.ownerDocument.createElement("style");
  element.dataset["roofwidget"] = digest;
  element.textContent = style;
  place.append(element);
}
